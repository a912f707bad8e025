"""A concept's words in template sentences, because text encoders are trained on sentences.

The templates are our own and neutral: any noun, pronoun or name fits into each. Liang et al. (2020)
use sentences of corpora that contain the words instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.concept import Concept

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


def defining_sets(concept: Concept | None) -> list[tuple[str, ...]]:
    """Return the definitional sets of a concept; if it has none, its definitional pairs."""
    if concept is None:
        return []
    return list(concept.definitional_sets or concept.definitional_pairs)


def in_templates(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return, for each template, the template with each of `words`; underscores become spaces."""
    spaced = [word.replace("_", " ") for word in words]
    return [tuple(template.format(text=word) for word in spaced) for template in TEMPLATES]


def template_texts(words: Iterable[str]) -> list[str]:
    """Return each of `words` in each template, without duplicates."""
    return list(dict.fromkeys(text for word in words for (text,) in in_templates([word])))


def sets_in_templates(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return sets of sentences: each of `sets` in each template, len(TEMPLATES) times as many.

    The sentences of a set differ in the word alone.
    """
    return [sentences for members in sets for sentences in in_templates(members)]
