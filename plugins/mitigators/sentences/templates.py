"""A concept's words in template sentences, because text encoders are trained on sentences.

The templates are our own and neutral: any noun, pronoun or name fits into each. Liang et al. (2020)
use sentences of corpora that contain the words instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.concept import Concept
from harness.errors import NotApplicable

TEMPLATES: Sequence[str] = (
    "{text}",
    "This is about {text}.",
    "We talked about {text}.",
    "They wrote about {text}.",
    "I was thinking of {text} yesterday.",
    "Everybody here has heard of {text}.",
    "The story begins with {text}.",
    "There was a question about {text}.",
    "The letter was from {text}.",
    "It reminds me of {text}.",
    "The film is about {text}.",
    "Nothing was said about {text}.",
    "The news today is about {text}.",
)
"""The word alone, and twelve sentences."""

BY_LANGUAGE: Mapping[str, Sequence[str]] = {
    "en": TEMPLATES,
    "de": (
        "{text}",
        "Hier steht das Wort {text}.",
        "In der Nachricht steht {text}.",
        "Auf dem Zettel stand nur {text}.",
        "Das Thema heute ist {text}.",
        "Der Titel des Films ist {text}.",
        "In der Geschichte kommt das Wort {text} vor.",
    ),
    "es": (
        "{text}",
        "Aquí está la palabra {text}.",
        "En el mensaje dice {text}.",
        "En la nota solo decía {text}.",
        "El tema de hoy es {text}.",
        "El título de la película es {text}.",
        "En el cuento aparece la palabra {text}.",
    ),
    "fr": (
        "{text}",
        "Voici le mot {text}.",
        "Le message dit {text}.",
        "Sur la note il y avait seulement {text}.",
        "Le sujet du jour est {text}.",
        "Le titre du film est {text}.",
        "Dans le récit on trouve le mot {text}.",
    ),
    "tr": (
        "{text}",
        "Burada {text} kelimesi var.",
        "Mesajda {text} yazıyor.",
        "Notta sadece {text} yazıyordu.",
        "Bugünün konusu {text}.",
        "Filmin adı {text}.",
        "Hikâyede {text} kelimesi geçiyor.",
    ),
}
"""The word alone and sentences, by ISO 639-1 code. Other languages than English need sentences in
which a word has no case and no article, so that any word fits."""


def defining_sets(concept: Concept | None) -> list[tuple[str, ...]]:
    """Return the definitional sets of a concept; if it has none, its definitional pairs."""
    if concept is None:
        return []
    return list(concept.definitional_sets or concept.definitional_pairs)


def templates(language: str) -> Sequence[str]:
    """Return the templates of a language.

    Raises
    ------
    NotApplicable
        If there are none.
    """
    if language not in BY_LANGUAGE:
        known = ", ".join(BY_LANGUAGE)
        raise NotApplicable(f"there are no template sentences in '{language}', only in {known}")
    return BY_LANGUAGE[language]


def in_templates(words: Iterable[str], language: str = "en") -> list[tuple[str, ...]]:
    """Return, for each template, the template with each of `words`; underscores become spaces."""
    spaced = [word.replace("_", " ") for word in words]
    return [
        tuple(template.format(text=word) for word in spaced) for template in templates(language)
    ]


def template_texts(words: Iterable[str], language: str = "en") -> list[str]:
    """Return each of `words` in each template, without duplicates."""
    return list(dict.fromkeys(t for word in words for (t,) in in_templates([word], language)))


def sets_in_templates(sets: Iterable[Sequence[str]], language: str = "en") -> list[tuple[str, ...]]:
    """Return sets of sentences: each of `sets` in each template, so many times as many.

    The sentences of a set differ in the word alone.
    """
    return [sentences for members in sets for sentences in in_templates(members, language)]
