"""What metrics of word sets share: vectors at their own or unit length, and means of resamples.

Knows no metric.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows


def rows(vectors: Reals, *, unit_length: bool) -> Floats:
    """Return (n, d) vectors in float64, as they are or at length 1."""
    return unit_rows(vectors) if unit_length else np.asarray(vectors, dtype=np.float64)


def means(counts: Floats, vectors: Floats) -> Floats:
    """Return the (b, d) means of (n, d) vectors that count (b, n) times in b resamples."""
    found: Floats = counts @ vectors / counts.sum(axis=1, keepdims=True)
    return found


def empty(arrays: Mapping[str, Reals]) -> str | None:
    """Return what keeps sets from being scored: the first that is empty; None if none is."""
    return next((f"{name} is empty" for name, array in arrays.items() if len(array) == 0), None)
