"""Nearest words with a cache, so that fits with different concepts share the search.

The cache of a vocabulary is bounded (`CAPACITY`) and is dropped with the vocabulary; see
`vocabulary_cache`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from harness.arrays import Reals, Vectors
from harness.plugins.mitigators.fitting.vocabulary_cache import VocabularyCache
from harness.plugins.mitigators.neighbourhoods.neighbours import (
    Neighbours,
    nearest,
    nearest_places,
    unit_vectors,
)
from harness.vocabulary import Vocabulary

CAPACITY = 2**22
"""Limit of the neighbours of a vocabulary in the cache: 16,384 vectors by 256, in 34 MB.

The vectors of these neighbours, without duplicates, take further memory: 16 MB for GloVe with 50
dimensions.
"""
BLOCK = 2**19
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
    size = max(1, BLOCK // n)
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
