"""Vectors of word sets, as they are or at unit length, and the means of their resamples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows


def rows(vectors: Reals, *, unit_length: bool) -> Floats:
    """Return (n, d) vectors in float64, as they are or at length 1."""
    return unit_rows(vectors) if unit_length else np.asarray(vectors, dtype=np.float64)


def means(counts: Floats, vectors: Floats) -> Floats:
    """Return the (b, d) means of b resamples: (b, n) counts of n vectors, (n, d)."""
    resampled: Floats = counts @ vectors / counts.sum(axis=1, keepdims=True)
    return resampled


def empty(arrays: Mapping[str, Reals]) -> str | None:
    """Return the reason for a missing score if a set is empty, by the set's name; else None."""
    return next((f"{name} is empty" for name, array in arrays.items() if len(array) == 0), None)
