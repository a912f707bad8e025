"""The nearest words of some vectors in a vocabulary of any size, in bounded memory.

Searches are independent; `neighbour_cache` adds a cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Reals, Vectors, unit_rows
from harness.vocabulary import Vocabulary

BLOCK = 8192
"""Words in a block: 8 MB of cosines with `COMPARED` vectors."""
COMPARED = 256
"""Vectors that are compared with a block at the same time."""
SAME = 1 - 1e-6
"""At this cosine two vectors are the same: in float32 it differs from 1 by about 1e-7."""
NONE = np.uint64(2**64 - 1)  # the largest key; as a cosine it is NaN

Places = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Neighbours:
    """The n nearest words of each of m vectors, nearest first; −1 if there are fewer words.

    Parameters
    ----------
    vectors
        (v + 1, d) float32 unit vectors of all words that are a neighbour, and a row of NaN.
    at
        (m, n) rows of `vectors`; −1, the row of NaN, for no neighbour.
    cosines
        (m, n) cosine with each neighbour; NaN for no neighbour.
    """

    vectors: Vectors
    at: npt.NDArray[np.integer]
    cosines: Reals

    def gathered(self, rows: npt.NDArray[np.intp] | slice = slice(None)) -> Vectors:
        """Return the vectors of the neighbours, (m, n, d), of all or of some of the m vectors."""
        gathered: Vectors = self.vectors[self.at[rows]]
        return gathered


def nearest(rows: Reals, words: Vocabulary, n: int) -> Neighbours:
    """Return the `n` nearest words by cosine of each of `rows`, (m, d), of length 1.

    A word with the same vector as the row is not a neighbour of it. In a tie the word that comes
    first in the vocabulary is nearer.
    """
    places, cosines = nearest_places(rows, words, n)
    used, at = np.unique(places, return_inverse=True)
    at = at.reshape(places.shape) - (len(used) and used[0] == -1)
    return Neighbours(unit_vectors(words, used[used >= 0], rows.shape[1]), at, cosines)


def nearest_places(rows: Reals, words: Vocabulary, n: int) -> tuple[Places, Vectors]:
    """Return the indices of the neighbours in the vocabulary, (m, n), and the cosines, (m, n).

    An index of −1 means no neighbour. The first columns equal those of a search for fewer.
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
    """Return (v + 1, d) unit vectors of the words at ascending `places`, (v,), and a row of NaN."""
    vectors = np.full((len(places) + 1, d), np.nan, dtype=np.float32)
    start = 0
    for _, block in words.blocks(BLOCK):
        low, high = np.searchsorted(places, [start, start + len(block)])
        if high > low:
            vectors[low:high] = unit_rows(block[places[low:high] - start])
        start += len(block)
    return vectors


class _Search:
    """The nearest words so far of a few vectors, (m, d), as unsorted keys, (m, n).

    The upper 32 bits of a key are the cosine, coded so that higher cosines give lower numbers. The
    lower 32 bits are the index of the word. So the smallest keys are the nearest words, and in a
    tie the first word of the vocabulary.
    """

    def __init__(self, queries: Vectors, n: int) -> None:
        # The product with a single vector is rounded differently. The neighbours of a word must
        # not depend on whether it is searched alone.
        self._queries = queries if len(queries) > 1 else np.repeat(queries, 2, axis=0)
        self._n = n
        self._best = np.full((len(queries), n), NONE)
        self._pending: list[tuple[npt.NDArray[np.uint16], Keys]] = []  # ascending rows, and keys

    def compare(self, unit: Vectors, start: int) -> None:
        """Compare with a block of words, (b, d), whose first word has the index `start`."""
        cosines = (self._queries @ unit.T)[: len(self._best)]
        if start == 0 and len(unit) > self._n:  # first block: only the n best are candidates
            others = np.where(cosines < SAME, cosines, -np.inf)
            least = np.partition(others, -self._n, axis=1)[:, -self._n, None]
            flat = np.flatnonzero(cosines >= least)
        else:
            flat = np.flatnonzero(cosines > self._least())
        candidates = cosines.ravel()[flat]
        flat, candidates = flat[candidates < SAME], candidates[candidates < SAME]
        keys = _upper(candidates) | (flat % len(unit) + start).astype(np.uint64)
        self._pending.append(((flat // len(unit)).astype(np.uint16), keys))
        if sum(len(keys) for _, keys in self._pending) >= self._best.size:
            self._merge()

    def keys(self) -> Keys:
        """Return the keys of the nearest words, (m, n), nearest first."""
        self._merge()
        return np.sort(self._best, axis=1)

    def _least(self) -> Vectors:
        """Return the cosine, (m, 1), that a word must exceed; pending words are not counted."""
        least = _cosines(self._best.max(axis=1, keepdims=True))
        least[np.isnan(least)] = -np.inf
        return least

    def _merge(self) -> None:
        """Merge the pending words into the nearest ones."""
        if not self._pending:
            return
        rows = np.concatenate([rows for rows, _ in self._pending])
        keys = np.concatenate([keys for _, keys in self._pending])
        self._pending = []
        order = np.argsort(rows, kind="stable")  # 16 bits: numpy uses a radix sort
        counts = np.bincount(rows, minlength=len(self._best))
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.full((len(self._best), self._n + counts.max(initial=0)), NONE)
        table[:, : self._n] = self._best
        table[rows[order], self._n + rank] = keys[order]
        self._best = np.partition(table, self._n - 1, axis=1)[:, : self._n].copy()


def _upper(cosines: Vectors) -> Keys:
    """Return the upper halves of keys, which ascend as the cosines descend from 1."""
    bits = (cosines + np.float32(0)).view(np.int32)  # −0 becomes 0
    rising = bits ^ ((bits >> 31) & np.int32(2**31 - 1))  # integers in the order of the floats
    falling: Keys = (~rising).view(np.uint32).astype(np.uint64) ^ np.uint64(2**31)
    return falling << np.uint64(32)


def _cosines(keys: Keys) -> Vectors:
    """Return the cosines that are coded in keys; NaN for `NONE`."""
    falling = ((keys >> np.uint64(32)) ^ np.uint64(2**31)).astype(np.uint32)
    rising = ~falling.view(np.int32)
    return (rising ^ ((rising >> 31) & np.int32(2**31 - 1))).view(np.float32)


def _unit(block: Reals) -> Vectors:
    """Return unit rows in float32; words without a usable vector become 0, with cosine 0."""
    rows = np.array(block, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    usable = np.isfinite(lengths) & (lengths > 0)
    rows /= np.where(usable, lengths, 1)[:, None]
    rows[~usable] = 0
    return rows
