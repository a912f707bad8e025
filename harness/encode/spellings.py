"""Which texts a model reads alike, such as a word in upper and in lower case; words in texts.

A word embedder looks a word up as it is, then lower-cased, then with `_` for spaces, then with
composed and decomposed accents; an uncased encoder lower-cases every text. Other models distinguish
these texts. The leak checks of runs and of studies use this to compare texts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness import letters
from harness.arrays import Vectors, has_direction
from harness.errors import HarnessError

SAME = 1e-2
"""Largest relative difference of two vectors of the same text: in half precision, or from an
endpoint, they differ by about 1e-3. In a cased model the difference of `us` and `US` is far
larger."""


@dataclass(frozen=True)
class Spellings:
    """The texts of a collection that a model reads alike.

    Parameters
    ----------
    alike
        By text, all texts that the model reads like it. A text that is not listed has no other
        spelling.
    reads_case
        Whether any two of the texts that differ in case alone have different vectors.
    """

    alike: Mapping[str, frozenset[str]]
    reads_case: bool = False

    @classmethod
    def of(cls, texts: Iterable[str], encode: Callable[[Sequence[str]], Vectors]) -> Spellings:
        """Return which of `texts` a model reads alike.

        Compares the vectors of texts that differ only in case, in `_` for a space, or in the
        encoding of accents. If the vectors cannot be computed, the texts count as alike.

        Parameters
        ----------
        texts
            Any number of texts.
        encode
            Returns the (n, d) vectors of texts.
        """
        suspected = letters.variants(texts)
        if not suspected:
            return cls({})
        try:
            vectors = encode([text for group in suspected for text in group])
        except HarnessError:
            vectors = None
        alike: dict[str, frozenset[str]] = {}
        reads_case = False
        start = 0
        for group in suspected:
            rows = None if vectors is None else vectors[start : start + len(group)]
            same = _alike(group, rows)
            reads_case = reads_case or _differ_by_case(group, rows, same)
            alike |= same
            start += len(group)
        return cls(alike, reads_case)

    def like(self, texts: Iterable[str]) -> set[str]:
        """Return `texts` in every spelling that the model reads alike."""
        return {spelling for text in texts for spelling in self.alike.get(text, (text,))}

    def firsts(self, texts: Iterable[str]) -> list[bool]:
        """Return whether each text is no other spelling of one before it."""
        seen: set[str] = set()
        firsts = []
        for text in texts:
            firsts.append(text in seen or seen.isdisjoint(self.like([text])))
            seen.update([text] if firsts[-1] else ())
        return firsts


def _alike(group: Sequence[str], vectors: Vectors | None) -> dict[str, frozenset[str]]:
    """Return for each text of a group those with the same vector; without vectors, all of them."""
    if vectors is None:
        return dict.fromkeys(group, frozenset(group))
    known = has_direction(vectors)
    rows = np.where(known[:, None], vectors, 0.0).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    same = (apart <= SAME * np.maximum(lengths[:, None], lengths[None])) & known[:, None] & known
    return {
        text: frozenset({text, *itertools.compress(group, row.tolist())})
        for text, row in zip(group, same, strict=True)
    }


def _differ_by_case(
    group: Sequence[str], vectors: Vectors | None, alike: Mapping[str, frozenset[str]]
) -> bool:
    """Return whether texts of a group that have a vector, and differ in case alone, are apart."""
    if vectors is None:
        return False
    known = itertools.compress(group, has_direction(vectors).tolist())
    return any(
        a.casefold() == b.casefold() and b not in alike[a]
        for a, b in itertools.combinations(known, 2)
    )


# Words in texts, as whole words. In a language that writes no spaces none is found inside a text.


@dataclass(frozen=True)
class Held:
    """The words that a text holds.

    Parameters
    ----------
    words
        The words in their order, in lower case if case is ignored.
    frame
        Hash of the rest of the text. Texts of one frame differ in the words alone.
    alone
        Whether the text is one of the words, and nothing else.
    """

    words: tuple[str, ...]
    frame: int
    alone: bool


class Finder:
    """Finds words in texts: `her` in `her's` and in `to her.`, not in `other`.

    Parameters
    ----------
    words
        Words, or phrases of several.
    ignoring_case
        Whether `He` is `he`. Otherwise a word is found as it is written, and with a capital, which
        the first word of a sentence has.
    """

    def __init__(self, words: Iterable[str], *, ignoring_case: bool) -> None:
        self._ignoring_case = ignoring_case
        spelled = {self._read(word).strip() for word in words}
        if not ignoring_case:
            spelled |= {word[:1].upper() + word[1:] for word in spelled}
        found = {word: letters.words(word) for word in spelled}
        self._firsts = {first for first, *_ in filter(None, found.values())}
        self._pattern = letters.whole(
            r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", word)))
            for word in sorted(spelled, key=len, reverse=True)
            if found[word]
        )

    def held(self, text: str) -> Held | None:
        """Return the words that a text holds; None if there are none."""
        if not self._firsts:
            return None
        read = self._read(text)
        if self._firsts.isdisjoint(letters.words(read)):
            return None
        parts = self._pattern.split(read)  # what is around the words, and between them the words
        frame, words = tuple(parts[::2]), tuple(parts[1::2])
        return Held(words, hash(frame), alone=frame == ("", "")) if words else None

    def _read(self, text: str) -> str:
        text = text.casefold() if self._ignoring_case else text
        return letters.composed(text.replace("_", " "))
