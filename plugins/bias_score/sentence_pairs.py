"""Pairs of sentences that differ in gender alone, for the gender direction of an encoder.

125 pairs are built in: five subjects with 25 plain endings, none of which is a stereotype of women
or men. Or sentences of the user, each paired with its gender-swapped version.
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
_FEMALE = {female for female, _ in (*PRONOUNS, *PEOPLE)} | {"her", "hers"}
_MALE = {male for _, male in (*PRONOUNS, *PEOPLE)} | {"him", "his"}


class SentencePairs(NamedTuple):
    """Sentences, their gender-swapped versions, and the gender of the first of each pair.

    `orientation` is 1 if the sentence in `first` is about women, −1 if about men, 0 if about both.
    """

    first: list[str]
    second: list[str]
    orientation: Floats


def shipped() -> SentencePairs:
    """Return the 125 built-in pairs, female first."""
    pairs = [(f"{she} {end}", f"{he} {end}") for she, he in SUBJECTS for end in ENDS]
    return SentencePairs([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs)))


def swapped(sentences: Iterable[str]) -> SentencePairs:
    """Return each sentence with its gender-swapped version; skip those without gendered words.

    Uses the words and the rule of `swapping.py`.
    """
    swap = Swapper().swap
    pairs = [(text, swap(text)) for text in dict.fromkeys(sentences)]
    pairs = [(text, other) for text, other in pairs if text != other]
    return SentencePairs(
        [text for text, _ in pairs],
        [other for _, other in pairs],
        np.sign([_side(text) for text, _ in pairs]),
    )


def _side(text: str) -> float:
    """Return the number of female words less that of male words."""
    return float(sum((word.text in _FEMALE) - (word.text in _MALE) for word in words(text)))
