"""A concept's words in sentences: what text encoders are asked, who seldom meet a bare word.

The sentences are the harness's own and say nothing of the words, so that a word of any concept, a
noun, a pronoun or a name, can stand in each. After Liang et al. (2020), who take sentences in which
the words are found.
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
"""A word alone, and in twelve sentences."""


def defining_sets(concept: Concept | None) -> list[tuple[str, ...]]:
    """Return the sets whose words differ in the concept alone: definitional sets, else pairs."""
    if concept is None:
        return []
    return list(concept.definitional_sets or concept.definitional_pairs)


def in_contexts(words: Iterable[str]) -> list[tuple[str, ...]]:
    """Return, for each template, the `words` in it; an underscore in a word becomes a space."""
    plain = [word.replace("_", " ") for word in words]
    return [tuple(template.format(text=word) for word in plain) for template in TEMPLATES]


def contexts(words: Iterable[str]) -> list[str]:
    """Return each of `words` in each template, each text once."""
    return list(dict.fromkeys(text for word in words for (text,) in in_contexts([word])))


def contextualised(sets: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return sets of sentences: each of `sets` in each template, so len(TEMPLATES) times as many.

    The sentences of a set differ in nothing but their words.
    """
    return [sentences for members in sets for sentences in in_contexts(members)]
