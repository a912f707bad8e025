"""Cache of results that belong to a vocabulary, because a study fits mitigators hundreds of times.

Entries belong to the vocabulary object and are dropped with it. Only the last few vocabularies are
kept. The cache does not know what the results are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from harness.arrays import Floats, Reals
from harness.embedder import Vocabulary

T = TypeVar("T")
KEPT = 2
"""Number of vocabularies in the cache: that of a model, and the same under a mitigator."""


class VocabularyCache(Generic[T]):
    """One object for each of the last vocabularies, by identity of the vocabulary.

    Parameters
    ----------
    make
        Makes the object of a vocabulary that is not in the cache. The object must not refer to the
        vocabulary, which would then never be freed.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._objects: WeakKeyDictionary[Vocabulary, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def of(self, words: Vocabulary) -> T:
        """Return the object of a vocabulary; make it if it is not in the cache."""
        with self._lock:
            value = self._objects.pop(words) if words in self._objects else self._make()
            self._objects[words] = value  # the most recent one comes last
            for old in list(self._objects)[:-KEPT]:
                del self._objects[old]
            return value


# Mean and principal components of a vocabulary, and cosines of its words with a direction.
#
# The vocabulary is read once, in blocks. The mean and the components do not depend on a concept,
# and are cached in the process (`vocabulary_cache`).


BLOCK = 4096  # words in float64 that fit into a processor's cache: 1.6 MB at 50 dimensions


@dataclass(frozen=True)
class Survey:
    """The result of one pass over a vocabulary.

    Parameters
    ----------
    mean
        (d,) mean of the vectors.
    components
        (d, d) principal components as rows, strongest first.
    leanings
        (n,) cosine of each word with the direction; 0 for a zero vector.
    """

    mean: Floats
    components: Floats
    leanings: Floats


_KNOWN: VocabularyCache[dict[bool, tuple[Floats, Floats]]] = VocabularyCache(dict)
"""Mean and components by `unit`: a few kilobytes for each vocabulary."""


def survey(words: Vocabulary, direction: Floats, *, unit: bool) -> Survey:
    """Return the mean, the components and the cosines of a vocabulary.

    Parameters
    ----------
    words
        The vocabulary.
    direction
        (d,) unit vector.
    unit
        Whether vectors are set to length 1 for the mean and the components.
    """
    known = _KNOWN.of(words)  # two threads may compute the same result twice; that does no harm
    total, products = np.zeros(len(direction)), np.zeros((len(direction),) * 2)
    leanings = []
    for rows in _rows(words):
        factors = scale(rows)
        leanings.append(rows @ direction * factors)
        if unit not in known:
            if unit:
                rows *= factors[:, None]
            total += rows.sum(axis=0)
            products += rows.T @ rows
    if unit not in known:
        mean = total / len(words)
        _, axes = np.linalg.eigh(products / len(words) - np.outer(mean, mean))
        known[unit] = mean, axes.T[::-1]
    return Survey(*known[unit], np.concatenate(leanings))


def scale(rows: Reals) -> Reals:
    """Return (n,) factors that set `rows`, (n, d), to length 1; 1 for a zero row."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    factors: Reals = 1 / lengths
    return factors


def _rows(words: Vocabulary) -> Iterator[Floats]:
    """Yield the vectors in blocks, (b, d), as arrays that the caller may change."""
    for _, vectors in words.blocks():
        for start in range(0, len(vectors), BLOCK):
            yield np.array(vectors[start : start + BLOCK], dtype=np.float64)
