"""640 plain sentences that mention no person: a sample for fitting the covariance of an encoder.

Ten fields with eight subjects and eight predicates each, all our own. The sample is much smaller
and simpler than a corpus: a covariance fitted on it is that of simple sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.concept import Concept
from harness.errors import NotApplicable

# Sentences on which mitigators of text encoders are fitted.
#
# ====================  ============================================================== `templates`
# a concept's words, alone and in twelve template sentences `neutral_sentences`   640 plain
# sentences that mention no person ====================
# ==============================================================


FIELDS: Sequence[tuple[str, str]] = (
    (
        "The river; The old forest; A small lake; The coast; The valley; A mountain path; "
        "The desert; The island",
        "was covered in fog; attracts many birds; lies far to the north; dried out last summer; "
        "is protected by law; froze over in January; looks different in autumn; was hit by a storm",
    ),
    (
        "The night train; The new bridge; A city bus; The airport; The main road; The tram line; "
        "A ferry; The car park",
        "was closed for repairs; is often crowded; opened two years ago; costs more than before; "
        "stops near the market; had to wait for an hour; needs new signs; connects both districts",
    ),
    (
        "The soup; Fresh bread; The apple cake; A bowl of rice; The cheese; Black coffee; "
        "The salad; The stew",
        "tastes better with salt; was served cold; is ready in ten minutes; sells well on Sundays; "
        "smells of herbs; goes bad within a week; contains a lot of sugar; was too hot to eat",
    ),
    (
        "The software; A new phone; The printer; The database; The website; A search engine; "
        "The battery; The robot",
        "stopped working on Monday; has been updated twice; runs faster than the old one; "
        "uses less energy; comes with a short manual; lost some of the files; "
        "was tested for six months; is hard to repair",
    ),
    (
        "The final match; The marathon; A game of chess; The home team; The tournament; "
        "The stadium; The second half; The race",
        "ended in a draw; drew a large crowd; was delayed by rain; surprised the experts; "
        "is shown on television; began with a mistake; takes place every spring; "
        "was lost by a point",
    ),
    (
        "The novel; The exhibition; A short film; The symphony; The painting; The concert; "
        "The old song; The poem",
        "was praised by the critics; is about a long journey; lasts almost three hours; "
        "became famous abroad; was written in winter; sounds sad to many; was sold at an auction; "
        "is hard to understand",
    ),
    (
        "The experiment; A new theory; The telescope; The vaccine; The study; The sample; "
        "A rare disease; The laboratory",
        "confirmed the earlier result; raises new questions; was described in a journal; "
        "depends on the temperature; could not be repeated; took ten years to develop; "
        "is funded by a foundation; was presented at a conference",
    ),
    (
        "The tax; The election; The budget; A trade agreement; The central bank; The new law; "
        "Inflation; The strike",
        "will change next year; was discussed in parliament; affects small firms; "
        "rose to a record level; ended without a result; is opposed by the unions; "
        "was announced on Friday; surprised the markets",
    ),
    (
        "The cat; A grey horse; The dog; The owl; A swarm of bees; The fish; The elephant; A snake",
        "slept in the shade; ran away from the noise; was found near the barn; "
        "eats twice a day; moved slowly; was seen at night; lives for many years; "
        "hid under the leaves",
    ),
    (
        "The kitchen table; The roof; An old lamp; The garden; The front door; The sofa; "
        "The staircase; The blue carpet",
        "needs to be cleaned; was painted last week; is made of wood; came from a flea market; "
        "was damaged by water; looks better than before; takes up too much space; will be replaced",
    ),
)
"""Subjects and predicates of each field; every subject fits every predicate of its field."""


def neutral_sentences() -> list[str]:
    """Return all sentences."""
    return [
        f"{subject} {predicate}."
        for subjects, predicates in FIELDS
        for subject in subjects.split("; ")
        for predicate in predicates.split("; ")
    ]


# A concept's words in template sentences, because text encoders are trained on sentences.
#
# The templates are our own and neutral: any noun, pronoun or name fits into each. Liang et al.
# (2020) use sentences of corpora that contain the words instead.


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
