"""Nearest words, each sought once in a process: fits that differ in the concept alone share them.

What is kept of a vocabulary lives as long as it does and is bounded (`PLACES`); which vocabularies
are, `per_vocabulary` says.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from harness.arrays import Reals, Vectors
from harness.plugins.mitigators.fitting.per_vocabulary import PerVocabulary
from harness.plugins.mitigators.neighbourhoods.neighbours import (
    Neighbours,
    nearest,
    nearest_places,
    unit_vectors,
)
from harness.vocabulary import Vocabulary

PLACES = 2**22
"""Neighbours of a vocabulary that are kept at most: 16,384 vectors by 256, in 34 MB.

Beside them the vectors of the words that they are, each once: 16 MB of GloVe's at 50 dimensions.
"""
AT_ONCE = 2**19
"""Neighbours that are sought at once where there are too many to keep."""
STEP = 256
"""Neighbours sought of a vector are a multiple of it, so that searches for fewer share one."""


def sought(rows: Reals, words: Vocabulary, n: int) -> Iterator[tuple[slice, Neighbours]]:
    """Yield the `n` nearest words of `rows`, (m, d) of length 1, block of rows by block.

    As `nearest` finds them, whether they were known or not. Those of up to `PLACES` / n rows come
    in one block, and only rows never asked about are sought; of more, nothing is kept.
    """
    if len(rows) * _width(words, n) <= PLACES:
        if len(rows):
            yield slice(0, len(rows)), _KNOWN.of(words).nearest(rows, words, n)
        return
    size = max(1, AT_ONCE // n)
    for start in range(0, len(rows), size):
        block = slice(start, min(start + size, len(rows)))
        yield block, nearest(rows[block], words, n)


class _Known:
    """The neighbours of all vectors asked about, up to `PLACES`; then it begins anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a second thread waits for the search, and shares it
        self._forget(0, 0, 0)

    def nearest(self, rows: Reals, words: Vocabulary, n: int) -> Neighbours:
        """Return what `nearest` does."""
        queries = np.ascontiguousarray(rows, dtype=np.float32)
        size, content = queries.shape[1] * queries.itemsize, queries.tobytes()
        keys = [content[i : i + size] for i in range(0, len(content), size)]
        with self._lock:
            first = {key: i for i, key in enumerate(keys) if key not in self._row}
            if n > self._width or (len(self._row) + len(first)) * self._width > PLACES:
                self._forget(_width(words, n), len(words), queries.shape[1])
                first = {key: i for i, key in enumerate(keys)}
            if first:
                known = len(self._at)
                self._learn(queries[list(first.values())], words)
                self._row |= {key: known + i for i, key in enumerate(first)}
            at = np.array([self._row[key] for key in keys])
            return Neighbours(self._vectors, self._at[at, :n], self._cosines[at, :n])

    def _forget(self, width: int, size: int, d: int) -> None:
        self._width = width
        self._row: dict[bytes, int] = {}
        self._at: npt.NDArray[np.int32] = np.empty((0, width), np.int32)
        self._cosines: Vectors = np.empty((0, width), np.float32)
        self._vectors: Vectors = np.full((1, d), np.nan, np.float32)
        # The row of `_vectors` by a word's place in the vocabulary; −1 for none, also of place −1.
        self._position: npt.NDArray[np.int32] = np.full(size + 1, -1, np.int32)

    def _learn(self, queries: Vectors, words: Vocabulary) -> None:
        """Seek the neighbours of `queries`, (m, d), and put them behind the others."""
        places, cosines = nearest_places(queries, words, self._width)
        new = np.unique(places[(self._position[places] < 0) & (places >= 0)])
        last = len(self._vectors) - 1  # the row of NaN
        added = unit_vectors(words, new, queries.shape[1])
        self._vectors = np.concatenate([self._vectors[:last], added])
        self._position[new] = np.arange(last, last + len(new))
        at = np.concatenate([self._at, self._position[places]])
        self._at, self._cosines = at, np.concatenate([self._cosines, cosines])


def _width(words: Vocabulary, n: int) -> int:
    """Return how many neighbours to seek where `n` are asked for."""
    return max(n, min(-(-n // STEP) * STEP, len(words)))


_KNOWN = PerVocabulary(_Known)
