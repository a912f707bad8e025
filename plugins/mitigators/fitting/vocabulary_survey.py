"""What a whole vocabulary is like: its mean, its principal components, and how its words lean.

Read in blocks, once. What does not depend on a concept is not found again in a process while the
vocabulary lives; of which vocabularies, `per_vocabulary` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats, Reals
from harness.plugins.mitigators.fitting.per_vocabulary import PerVocabulary
from harness.vocabulary import Vocabulary

BLOCK = 4096  # words in float64 that stay in a processor's cache: 1.6 MB at 50 dimensions


@dataclass(frozen=True)
class Survey:
    """What one pass over a vocabulary finds.

    Parameters
    ----------
    mean
        (d,) mean of the vectors.
    components
        (d, d) principal components as rows, strongest first.
    leanings
        (n,) cosine of each word with the direction asked about; 0 of a zero vector.
    """

    mean: Floats
    components: Floats
    leanings: Floats


_KNOWN: PerVocabulary[dict[bool, tuple[Floats, Floats]]] = PerVocabulary(dict)
"""Mean and components by `unit`: some kilobytes of each of the last vocabularies."""


def survey(words: Vocabulary, direction: Floats, *, unit: bool) -> Survey:
    """Read the vocabulary.

    Parameters
    ----------
    words
        The vocabulary.
    direction
        (d,), of length 1.
    unit
        Whether the mean and the components are those of the vectors at length 1.
    """
    known = _KNOWN.of(words)  # two threads may both find what is missing, and find the same
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
    """Return what brings each of the rows, (n, d), to length 1; 1 for a zero row."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    factors: Reals = 1 / lengths
    return factors


def _rows(words: Vocabulary) -> Iterator[Floats]:
    """Yield the vectors, (b, d), some at a time, in arrays that may be written to."""
    for _, vectors in words.blocks():
        for start in range(0, len(vectors), BLOCK):
            yield np.array(vectors[start : start + BLOCK], dtype=np.float64)
