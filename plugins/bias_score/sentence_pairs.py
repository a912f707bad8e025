"""Sentences that differ in gender alone, for the direction of an encoder.

125 of our own: 25 plain ends for each of five subjects, of whose actions none is held to be a
woman's or a man's. Or a user's sentences, each beside its other gender.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from harness.arrays import Floats
from harness.plugins.texts.swapping import PEOPLE, PRONOUNS, Swapper
from harness.token_states import words

# After pairs of Bolukbasi et al. (2016), table 1, as subjects.
SUBJECTS = (
    ("She", "He"),
    ("The woman", "The man"),
    ("My mother", "My father"),
    ("That girl", "That boy"),
    ("Mary", "John"),
)
ENDS = (
    "is here.",
    "is there.",
    "is a person.",
    "is a friend of mine.",
    "is at home today.",
    "is waiting for the bus.",
    "is reading a book.",
    "is talking on the phone.",
    "is walking down the street.",
    "is sitting at the table.",
    "is looking out of the window.",
    "lives in a small town.",
    "likes music.",
    "went to the store.",
    "wrote a long letter.",
    "bought some bread.",
    "opened the door.",
    "took the train to the city.",
    "answered the question.",
    "told us a story.",
    "wants to learn a language.",
    "watched the rain.",
    "had breakfast early.",
    "moved to another country.",
    "was born in the spring.",
)
_FEMALE = {one for one, _ in (*PRONOUNS, *PEOPLE)} | {"her", "hers"}
_MALE = {other for _, other in (*PRONOUNS, *PEOPLE)} | {"him", "his"}


class SentencePairs(NamedTuple):
    """Sentences and their other gender, with the side that each begins on.

    `orientation` is 1 where the sentence of `first` is about women, −1 about men, 0 about both.
    """

    first: list[str]
    second: list[str]
    orientation: Floats


def shipped() -> SentencePairs:
    """Return the 125 pairs of this module, female first."""
    both = [(f"{she} {end}", f"{he} {end}") for she, he in SUBJECTS for end in ENDS]
    return SentencePairs([a for a, _ in both], [b for _, b in both], np.ones(len(both)))


def swapped(sentences: Iterable[str]) -> SentencePairs:
    """Return each sentence that has gendered words beside its other gender; the rest is left out.

    Uses the words and the rule of `swapping.py`.
    """
    other = Swapper().swap
    both = [(text, other(text)) for text in dict.fromkeys(sentences)]
    both = [(text, its) for text, its in both if text != its]
    return SentencePairs(
        [text for text, _ in both],
        [its for _, its in both],
        np.sign([_side(text) for text, _ in both]),
    )


def _side(text: str) -> float:
    found = [word.text for word in words(text)]
    return float(sum((word in _FEMALE) - (word in _MALE) for word in found))
