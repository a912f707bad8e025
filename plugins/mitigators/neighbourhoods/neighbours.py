"""The nearest words of some vectors in a vocabulary of any size, in bounded memory.

Nothing is kept here from one search to the next: that is for `known_neighbours`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Reals, Vectors, unit_rows
from harness.vocabulary import Vocabulary

BLOCK = 8192
"""Words of a block: 8 MB of cosines with the vectors that are compared at once."""
COMPARED = 256
"""Vectors that are compared with a block at once."""
SAME = 1 - 1e-6
"""Cosine from which a vector is the word's own: in float32 it comes out some 1e-7 off 1."""
NONE = np.uint64(2**64 - 1)  # a key after all others; as a cosine it reads NaN

Places = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Neighbours:
    """The n nearest words of each of m vectors, nearest first; fewer words leave −1 at the end.

    Parameters
    ----------
    vectors
        (v + 1, d) float32, of length 1: the words that are a neighbour of any, and a row of NaN.
    at
        (m, n) which of them; −1, the row of NaN, for none.
    cosines
        (m, n) with each; NaN for none.
    """

    vectors: Vectors
    at: npt.NDArray[np.integer]
    cosines: Reals

    def gathered(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> Vectors:
        """Return the neighbours' vectors, (m, n, d), of all or of the given of the m."""
        found: Vectors = self.vectors[self.at[rows]]
        return found


def nearest(rows: Reals, words: Vocabulary, n: int) -> Neighbours:
    """Return the `n` nearest words by cosine of each of `rows`, (m, d), of length 1.

    A word whose vector is the row's own, itself or another of the same vector, is none. Of equally
    near words those that come first in the vocabulary count.
    """
    places, cosines = nearest_places(rows, words, n)
    used, at = np.unique(places, return_inverse=True)
    at = at.reshape(places.shape) - (len(used) and used[0] == -1)
    return Neighbours(unit_vectors(words, used[used >= 0], rows.shape[1]), at, cosines)


def nearest_places(rows: Reals, words: Vocabulary, n: int) -> tuple[Places, Vectors]:
    """Return where in the vocabulary the neighbours stand, (m, n), −1 for none, and the cosines.

    The first of them are what a search for fewer finds.
    """
    queries = np.asarray(rows, dtype=np.float32)
    parts = [
        _Search(queries[start : start + COMPARED], n) for start in range(0, len(queries), COMPARED)
    ]
    start = 0
    for _, block in words.blocks(BLOCK):
        unit = _unit(block)
        for part in parts:
            part.compare(unit, start)
        start += len(block)
    keys = np.concatenate([np.empty((0, n), np.uint64), *(part.keys() for part in parts)])
    places = (keys & np.uint64(2**32 - 1)).astype(np.int64)
    return np.where(keys == NONE, -1, places), _cosines(keys)


def unit_vectors(words: Vocabulary, places: Places, d: int) -> Vectors:
    """Return the (v + 1, d) unit vectors of the words at `places`, (v,), ascending, then NaN."""
    vectors = np.full((len(places) + 1, d), np.nan, dtype=np.float32)
    start = 0
    for _, block in words.blocks(BLOCK):
        low, high = np.searchsorted(places, [start, start + len(block)])
        if high > low:
            vectors[low:high] = unit_rows(block[places[low:high] - start])
        start += len(block)
    return vectors


class _Search:
    """The nearest words so far of a few vectors, (m, d), as keys: (m, n), in no order.

    A key is a cosine's place from the highest down, in the upper 32 bits, and the word's in the
    vocabulary: the least keys are the nearest words, of equally near ones the first.
    """

    def __init__(self, queries: Vectors, n: int) -> None:
        # A product with a single vector is rounded otherwise, and whether a word is asked about
        # alone must not change what is near to it.
        self._queries = queries if len(queries) > 1 else np.repeat(queries, 2, axis=0)
        self._n = n
        self._best = np.full((len(queries), n), NONE)
        self._waiting: list[tuple[npt.NDArray[np.uint16], Keys]] = []  # rows, ascending, and keys

    def compare(self, unit: Vectors, start: int) -> None:
        """Take in a block of words, (b, d), that begins at the place `start`."""
        cosines = (self._queries @ unit.T)[: len(self._best)]
        if start == 0 and len(unit) > self._n:  # nothing is known yet: not all are candidates
            others = np.where(cosines < SAME, cosines, -np.inf)
            least = np.partition(others, -self._n, axis=1)[:, -self._n, None]
            flat = np.flatnonzero(cosines >= least)
        else:
            flat = np.flatnonzero(cosines > self._least())
        found = cosines.ravel()[flat]
        flat, found = flat[found < SAME], found[found < SAME]
        keys = _upper(found) | (flat % len(unit) + start).astype(np.uint64)
        self._waiting.append(((flat // len(unit)).astype(np.uint16), keys))
        if sum(len(keys) for _, keys in self._waiting) >= self._best.size:
            self._settle()

    def keys(self) -> Keys:
        """Return the keys of the nearest words, (m, n), nearest first."""
        self._settle()
        return np.sort(self._best, axis=1)

    def _least(self) -> Vectors:
        """Return the cosine, (m, 1), that a word must exceed, as far as was settled."""
        least = _cosines(self._best.max(axis=1, keepdims=True))
        least[np.isnan(least)] = -np.inf
        return least

    def _settle(self) -> None:
        """Keep the nearest of those known and those that wait."""
        if not self._waiting:
            return
        rows = np.concatenate([rows for rows, _ in self._waiting])
        keys = np.concatenate([keys for _, keys in self._waiting])
        self._waiting = []
        order = np.argsort(rows, kind="stable")  # by radix: they have 16 bits
        counts = np.bincount(rows, minlength=len(self._best))
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.full((len(self._best), self._n + counts.max(initial=0)), NONE)
        table[:, : self._n] = self._best
        table[rows[order], self._n + rank] = keys[order]
        self._best = np.partition(table, self._n - 1, axis=1)[:, : self._n].copy()


def _upper(cosines: Vectors) -> Keys:
    """Return keys, less the words' places, whose order is that of the cosines from 1 down."""
    bits = (cosines + np.float32(0)).view(np.int32)  # of two zeros one
    rising = bits ^ ((bits >> 31) & np.int32(2**31 - 1))  # as integers in the order of floats
    falling: Keys = (~rising).view(np.uint32).astype(np.uint64) ^ np.uint64(2**31)
    return falling << np.uint64(32)


def _cosines(keys: Keys) -> Vectors:
    """Return the cosines that keys were made of; NaN for `NONE`."""
    falling = ((keys >> np.uint64(32)) ^ np.uint64(2**31)).astype(np.uint32)
    rising = ~falling.view(np.int32)
    return (rising ^ ((rising >> 31) & np.int32(2**31 - 1))).view(np.float32)


def _unit(block: Reals) -> Vectors:
    """Return unit rows in float32; words without a usable vector become 0, near to nothing."""
    rows = np.array(block, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    usable = np.isfinite(lengths) & (lengths > 0)
    rows /= np.where(usable, lengths, 1)[:, None]
    rows[~usable] = 0
    return rows
