"""The nearest words of some vectors in a vocabulary of any size, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.vocabulary import Vocabulary

BLOCK = 8192
"""Words of a block: 32 MB of cosines with 1,024 vectors."""
SAME = 1 - 1e-6
"""Cosine from which a vector is the word's own: in float32 it comes out some 1e-7 off 1."""


@dataclass(frozen=True)
class Neighbours:
    """The n nearest words of each of m vectors, nearest first; fewer words leave NaN at the end.

    `vectors` are (m, n, d) float32 of length 1, `cosines` (m, n).
    """

    vectors: Vectors
    cosines: Floats


def nearest(rows: Reals, words: Vocabulary, n: int) -> Neighbours:
    """Return the `n` nearest words by cosine of each of `rows`, (m, d), of length 1.

    A word whose vector is the row's own, itself or another of the same vector, is none. Of equally
    near words those that come first in the vocabulary count.
    """
    queries = np.asarray(rows, dtype=np.float32)
    m, d = queries.shape
    best = np.full((m, n), -np.inf, dtype=np.float32)
    at = np.full((m, n), -1, dtype=np.int64)
    waiting: list[tuple[npt.NDArray[np.int64], Vectors, npt.NDArray[np.int64]]] = []
    start = 0
    for _, block in words.blocks(BLOCK):
        cosines = queries @ _unit(block).T
        cosines[cosines >= SAME] = -np.inf
        least = best[:, -1:]
        if start == 0 and len(block) > n:  # nothing is known yet: not all of them are candidates
            least = np.nextafter(np.partition(cosines, -n, axis=1)[:, -n, None], -np.inf)
        flat = np.flatnonzero(cosines > least)
        found = cosines.ravel()[flat]
        waiting.append((flat // len(block), found, flat % len(block) + start))
        start += len(block)
        if sum(len(item[0]) for item in waiting) >= m * n:
            best, at = _merged(best, at, waiting)
            waiting = []
    best, at = _merged(best, at, waiting)
    return Neighbours(_gathered(words, at, d), np.where(at < 0, np.nan, best).astype(np.float64))


def _merged(
    best: Vectors,
    at: npt.NDArray[np.int64],
    waiting: list[tuple[npt.NDArray[np.int64], Vectors, npt.NDArray[np.int64]]],
) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """Return the nearest of those known, (m, n), and those that wait: rows, cosines, words."""
    m, n = best.shape
    rows = np.concatenate([np.repeat(np.arange(m), n), *(item[0] for item in waiting)])
    values = np.concatenate([best.ravel(), *(item[1] for item in waiting)])
    places = np.concatenate([at.ravel(), *(item[2] for item in waiting)])
    order = np.lexsort((places, -values, rows))
    counts = np.bincount(rows, minlength=m)
    first = np.cumsum(counts) - counts
    chosen = order[(first[:, None] + np.arange(n)).ravel()]
    return values[chosen].reshape(m, n), places[chosen].reshape(m, n)


def _gathered(words: Vocabulary, at: npt.NDArray[np.int64], d: int) -> Vectors:
    """Return the (m, n, d) unit vectors of the words at `at`, (m, n); NaN where it is -1."""
    vectors = np.full((*at.shape, d), np.nan, dtype=np.float32)
    flat, targets = at.ravel(), vectors.reshape(-1, d)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    start = 0
    for _, block in words.blocks(BLOCK):
        low, high = np.searchsorted(ordered, [start, start + len(block)])
        if high > low:
            used, inverse = np.unique(ordered[low:high] - start, return_inverse=True)
            targets[order[low:high]] = unit_rows(block[used])[inverse]
        start += len(block)
    return vectors


def _unit(block: Reals) -> Vectors:
    """Return unit rows in float32; words without a usable vector become 0, near to nothing."""
    rows = np.array(block, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    usable = np.isfinite(lengths) & (lengths > 0)
    rows /= np.where(usable, lengths, 1)[:, None]
    rows[~usable] = 0
    return rows
