"""The nearest words of some vectors in a vocabulary of any size, in bounded memory.

Searches are independent; `neighbour_cache` adds a cache.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask, Reals, Vectors, unit_rows
from harness.embedder import Vocabulary

from .vocabulary import VocabularyCache

# Nearest neighbours of words, and the objective of RAN-Debias over them.
#
# ==================  ================================================================ `neighbours`
# nearest words in a vocabulary of any size, in bounded memory `neighbour_cache`   the same, with a
# cache of earlier searches `ran_minimum`       the minimum of the objective of RAN-Debias for each
# word ==================  ================================================================
#
# Knows no concept.


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


# Nearest words with a cache, so that fits with different concepts share the search.
#
# The cache of a vocabulary is bounded (`CAPACITY`) and is dropped with the vocabulary; see
# `vocabulary_cache`.


CAPACITY = 2**22
"""Limit of the neighbours of a vocabulary in the cache: 16,384 vectors by 256, in 34 MB.

The vectors of these neighbours, without duplicates, take further memory: 16 MB for GloVe with 50
dimensions.
"""
CACHED_BLOCK = 2**19
"""Number of neighbours in a block if there are too many for the cache."""
STEP = 256
"""A search is for a multiple of this number, so that searches for fewer neighbours share it."""


def cached_nearest(rows: Reals, words: Vocabulary, n: int) -> Iterator[tuple[slice, Neighbours]]:
    """Yield the `n` nearest words of `rows`, (m, d) of length 1, in blocks of rows.

    The result is the same as that of `nearest`. Up to `CAPACITY` / n rows are one block, and only
    rows that are not in the cache are searched. More rows are searched without the cache.
    """
    if len(rows) * _width(words, n) <= CAPACITY:
        if len(rows):
            yield slice(0, len(rows)), _CACHES.of(words).nearest(rows, words, n)
        return
    size = max(1, CACHED_BLOCK // n)
    for start in range(0, len(rows), size):
        block = slice(start, min(start + size, len(rows)))
        yield block, nearest(rows[block], words, n)


class _Cache:
    """The neighbours of earlier vectors, up to `CAPACITY`; then the cache is emptied."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a second thread waits for the search and shares its result
        self._clear(0, 0, 0)

    def nearest(self, rows: Reals, words: Vocabulary, n: int) -> Neighbours:
        """Return the same as `nearest`."""
        queries = np.ascontiguousarray(rows, dtype=np.float32)
        size, content = queries.shape[1] * queries.itemsize, queries.tobytes()
        keys = [content[i : i + size] for i in range(0, len(content), size)]
        with self._lock:
            first = {key: i for i, key in enumerate(keys) if key not in self._row}
            if n > self._width or (len(self._row) + len(first)) * self._width > CAPACITY:
                self._clear(_width(words, n), len(words), queries.shape[1])
                first = {key: i for i, key in enumerate(keys)}
            if first:
                n_known = len(self._at)
                self._add(queries[list(first.values())], words)
                self._row |= {key: n_known + i for i, key in enumerate(first)}
            at = np.array([self._row[key] for key in keys])
            return Neighbours(self._vectors, self._at[at, :n], self._cosines[at, :n])

    def _clear(self, width: int, size: int, d: int) -> None:
        self._width = width
        self._row: dict[bytes, int] = {}
        self._at: npt.NDArray[np.int32] = np.empty((0, width), np.int32)
        self._cosines: Vectors = np.empty((0, width), np.float32)
        self._vectors: Vectors = np.full((1, d), np.nan, np.float32)
        # The row of `_vectors` by the word's index in the vocabulary; −1 if it has none. The last
        # entry belongs to index −1, which means no neighbour.
        self._position: npt.NDArray[np.int32] = np.full(size + 1, -1, np.int32)

    def _add(self, queries: Vectors, words: Vocabulary) -> None:
        """Search the neighbours of `queries`, (m, d), and append them."""
        places, cosines = nearest_places(queries, words, self._width)
        new = np.unique(places[(self._position[places] < 0) & (places >= 0)])
        last = len(self._vectors) - 1  # the row of NaN
        added = unit_vectors(words, new, queries.shape[1])
        self._vectors = np.concatenate([self._vectors[:last], added])
        self._position[new] = np.arange(last, last + len(new))
        at = np.concatenate([self._at, self._position[places]])
        self._at, self._cosines = at, np.concatenate([self._cosines, cosines])


def _width(words: Vocabulary, n: int) -> int:
    """Return the number of neighbours to search for if `n` are needed."""
    return max(n, min(-(-n // STEP) * STEP, len(words)))


_CACHES = VocabularyCache(_Cache)


# The minimum of the objective of RAN-Debias: in closed form where that is exact, else by Adam.
#
# The caller, `ran`, decides which neighbours repel.


BATCH = 32  # words optimised together: with 50 dimensions their neighbours fit into a cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the defaults of Kingma and Ba (2015), Adam
ROUNDING = 1e-6  # share of the weights that is rounding error of float32

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Objective:
    """F(u) = λ₁ Σ over n in S of |u·n| / |S| + λ₂ (1 − u·w) / 2 + λ₃ |u·g| of unit vectors u.

    Except for the constant λ₂/2, F is the support function of the set Z − a, with a = λ₂ w / 2 and
    the zonotope Z = {λ₁ Σ tᵢ nᵢ / |S| + λ₃ t g; all tᵢ and t in [−1, 1]}. Therefore, if a is not in
    Z, the minimum is unique and has the direction of a − z*, with z* the point of Z nearest to a.

    Parameters
    ----------
    repulsion, attraction, neutralisation
        λ₁, λ₂, λ₃ ≥ 0.
    direction
        (d,) unit vector g.
    """

    repulsion: float
    attraction: float
    neutralisation: float
    direction: Floats

    def closed_form(self, w: Floats, near: Neighbours, kept: Mask) -> tuple[Floats, Mask]:
        """Return vectors u, (m, d), and whether each is the minimum, (m,).

        At z*, tᵢ nearly always is the sign of nᵢ·w. Then only t is unknown, and with
        a' = a − λ₁ Σ tᵢ nᵢ / |S|

            u ∝ a' − clip(a'·g, −λ₃, λ₃) g

        Because Z is convex, u is the minimum if and only if every nᵢ·u has the sign tᵢ or is 0.

        Parameters
        ----------
        w
            (m, d) words, of length 1.
        near, kept
            Their neighbours, and whether each is in S, (m, n).
        """
        target = self.attraction / 2 * w - self.repulsion * _means(near, kept)
        along = np.clip(target @ self.direction, -self.neutralisation, self.neutralisation)
        target -= along[:, None] * self.direction
        lengths = np.linalg.norm(target, axis=1)
        weights = self.repulsion + self.attraction + self.neutralisation
        defined = lengths > ROUNDING * weights
        u = target / np.where(defined, lengths, 1.0)[:, None]
        # If the angles from u to w and from w to the farthest of S add up to less than 90°, all
        # nᵢ·u keep their sign. Only other words need the products.
        farthest = np.min(np.abs(near.cosines), axis=1, initial=1.0, where=kept)
        angles = _angles(np.einsum("ij,ij->i", u, w)) + _angles(farthest)
        exact = defined & (angles < np.pi / 2)
        undecided = np.flatnonzero(defined & ~exact)
        for start in range(0, len(undecided), BATCH):
            rows = undecided[start : start + BATCH]
            exact[rows] = _same_signs(u[rows], near, kept, rows)
        return u, exact

    def by_adam(
        self, w: Floats, near: Neighbours, kept: Mask, *, epochs: int, learning_rate: float
    ) -> Floats:
        """Return u, (m, d), found by Adam from `w`, (m, d), with the analytic gradient.

        The step decreases to 0; with a constant step u would oscillate around the corners of F. If
        a lies in Z there may be several minima; one of them is found.

        Parameters
        ----------
        w, near, kept
            As in `closed_form`.
        epochs, learning_rate
            Number of steps, and the first step.
        """
        order = np.argsort(-kept.sum(axis=1), kind="stable")  # sets of similar size share a batch
        u = np.empty_like(w)
        for start in range(0, len(w), BATCH):
            batch = order[start : start + BATCH]
            size = int(kept[batch].sum(axis=1).max())
            first = np.argsort(~kept[batch], axis=1, kind="stable")[:, :size]
            in_s = np.take_along_axis(kept[batch], first, axis=1)[:, :, None]
            s = near.vectors[np.take_along_axis(near.at[batch], first, axis=1)]
            u[batch] = self._adam(w[batch], np.where(in_s, s, 0.0), epochs, learning_rate)
        return u

    def _adam(self, w: Floats, s: Vectors, epochs: int, learning_rate: float) -> Floats:
        """Return u, (m, d), for words w and their sets S, (m, n, d), padded with zero rows."""
        w = w.astype(np.float32)
        g = self.direction.astype(np.float32)
        sizes = np.maximum(s.any(axis=2).sum(axis=1), 1).astype(np.float32)
        repelled = np.ascontiguousarray(s * np.float32(self.repulsion) / sizes[:, None, None])
        anchor = np.float32(self.attraction / 2) * w
        x, first, second = w.copy(), np.zeros_like(w), np.zeros_like(w)
        for step in range(1, epochs + 1):
            length = np.linalg.norm(x, axis=1, keepdims=True)
            u = x / length
            signs = np.sign(repelled @ u[:, :, None])
            pull = (signs.transpose(0, 2, 1) @ repelled)[:, 0] - anchor
            pull += np.float32(self.neutralisation) * np.sign(u @ g)[:, None] * g
            gradient = (pull - (pull * u).sum(axis=1, keepdims=True) * u) / length
            first += (1 - BETA1) * (gradient - first)
            second += (1 - BETA2) * (gradient**2 - second)
            rate = learning_rate * (1 - (step - 1) / epochs)
            corrected = np.sqrt(second / (1 - BETA2**step)) + EPSILON
            x -= np.float32(rate / (1 - BETA1**step)) * first / corrected
        return unit_rows(x)


def _means(near: Neighbours, kept: Mask) -> Floats:
    """Return Σ tᵢ nᵢ / |S|, (m, d), with tᵢ the sign of nᵢ·w; 0 if S is empty."""
    from scipy.sparse import csr_array

    sizes = kept.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    signs = np.sign(near.cosines[kept]).astype(np.float32)
    selection = csr_array((signs, near.at[kept], ends), shape=(len(kept), len(near.vectors)))
    means: Floats = (selection @ near.vectors) / np.maximum(sizes, 1)[:, None]
    return means


def _angles(cosines: Floats) -> Floats:
    angles: Floats = np.arccos(np.clip(cosines, -1.0, 1.0))
    return angles


def _same_signs(u: Floats, near: Neighbours, kept: Mask, rows: Rows) -> Mask:
    """Return (b,) whether each nᵢ·u of S has the sign of nᵢ·w or is 0; `u` belongs to `rows`."""
    products = np.einsum("ijk,ik->ij", near.gathered(rows), u)
    same: Mask = (~kept[rows] | (products * near.cosines[rows] >= 0)).all(axis=1)
    return same
