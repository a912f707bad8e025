"""What a whole vocabulary is like: its mean, its principal components, and how its words lean.

Read in blocks. What does not depend on a concept is found once in a process (`survey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats, Reals
from harness.plugins.mitigators.per_vocabulary import PerVocabulary
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
    """

    mean: Floats
    components: Floats


_SURVEYS: PerVocabulary[dict[bool, Survey]] = PerVocabulary(dict)
"""Surveys by `unit`: some kilobytes of each of the last vocabularies."""


def survey(words: Vocabulary, *, unit: bool) -> Survey:
    """Return the survey of `words`, or of them at length 1 if `unit`.

    It is made once and kept while the vocabulary lives; which are kept, `per_vocabulary` says.
    """
    known = _SURVEYS.of(words)
    if unit not in known:  # two threads may both make it, and find the same
        known[unit] = _surveyed(words, unit=unit)
    return known[unit]


def leanings(words: Vocabulary, direction: Floats) -> Floats:
    """Return the cosine, (n,), of each word with `direction`, (d,), of length 1."""
    return np.concatenate([rows @ direction * scale(rows) for rows in _rows(words)])


def scale(rows: Reals) -> Reals:
    """Return what brings each of the rows, (n, d), to length 1; 1 for a zero row."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    factors: Reals = 1 / lengths
    return factors


def _surveyed(words: Vocabulary, *, unit: bool) -> Survey:
    _, first = words.head(1)
    total, products = np.zeros(first.shape[1]), np.zeros((first.shape[1],) * 2)
    for rows in _rows(words):
        if unit:
            rows *= scale(rows)[:, None]
        total += rows.sum(axis=0)
        products += rows.T @ rows
    mean = total / len(words)
    _, axes = np.linalg.eigh(products / len(words) - np.outer(mean, mean))
    return Survey(mean, axes.T[::-1])


def _rows(words: Vocabulary) -> Iterator[Floats]:
    """Yield the vectors, (b, d), some at a time, in arrays that may be written to."""
    for _, vectors in words.blocks():
        for start in range(0, len(vectors), BLOCK):
            yield np.array(vectors[start : start + BLOCK], dtype=np.float64)
