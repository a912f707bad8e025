"""Texts that a model reads alike, such as a word in upper and in lower case.

A word embedder looks a word up as it is, then lower-cased, then with `_` for spaces, then with
composed and decomposed accents; an uncased encoder lower-cases every text. Other models distinguish
these texts. The leak checks of runs and of studies use this to compare texts.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
        groups: dict[str, list[str]] = {}
        for text in dict.fromkeys(texts):
            form = unicodedata.normalize("NFC", text.casefold().replace("_", " "))
            groups.setdefault(form, []).append(text)
        suspected = [group for group in groups.values() if len(group) > 1]
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
