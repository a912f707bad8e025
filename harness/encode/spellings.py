"""Which texts a model reads alike, such as a word in upper and in lower case; words in texts.

A word embedder looks a word up as it is, then lower-cased, then with `_` for spaces, then with
composed and decomposed accents; an uncased encoder lower-cases every text. Other models distinguish
these texts. Word sets count such texts once.
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
    """

    alike: Mapping[str, frozenset[str]]

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
        start = 0
        for group in suspected:
            rows = None if vectors is None else vectors[start : start + len(group)]
            alike |= _alike(group, rows)
            start += len(group)
        return cls(alike)

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


# Words in texts, as whole words. In a language that writes no spaces none is found inside a text.


@dataclass(frozen=True)
class Held:
    """The words that a text holds.

    Parameters
    ----------
    words
        The words in their order, in lower case.
    frame
        Hash of the rest of the text. Texts of one frame differ in the words alone.
    """

    words: tuple[str, ...]
    frame: int


class Finder:
    """Finds words in texts, in any case: `her` in `her's` and in `To her.`, not in `other`.

    Parameters
    ----------
    words
        Words, or phrases of several.
    """

    def __init__(self, words: Iterable[str]) -> None:
        spelled = {letters.plain(word).strip() for word in words}
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
        read = letters.plain(text)
        if self._firsts.isdisjoint(letters.words(read)):
            return None
        parts = self._pattern.split(read)  # what is around the words, and between them the words
        frame, words = tuple(parts[::2]), tuple(parts[1::2])
        return Held(words, hash(frame)) if words else None
