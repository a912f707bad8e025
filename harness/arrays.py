"""Array types, and the linear algebra that the core, metrics and mitigators share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""(n, d) float32: what an embedder returns. A row of NaN stands for a missing word."""
Floats: TypeAlias = npt.NDArray[np.float64]
"""Any float64 array: statistics are computed in double precision."""
Reals: TypeAlias = npt.NDArray[np.floating[Any]]
"""Any array of floats: what a metric or mitigator accepts."""
Mask: TypeAlias = npt.NDArray[np.bool_]
"""Any array of truth values."""


def unit_rows(x: Reals) -> Floats:
    """Return the rows of `x`, (n, d), scaled to Euclidean length 1, in float64.

    A zero row stays zero: it has no direction, and its cosine with any vector is 0.
    """
    rows = np.asarray(x, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths == 0, 1.0, lengths)


def has_direction(x: Reals) -> npt.NDArray[np.bool_]:
    """Return (n,) whether each row of `x`, (n, d), is finite and not zero."""
    usable: npt.NDArray[np.bool_] = np.isfinite(x).all(axis=1) & (x != 0).any(axis=1)
    return usable


def cosines(a: Reals, b: Reals) -> Floats:
    """Return the (n, m) cosine similarities of the rows of `a`, (n, d), and `b`, (m, d)."""
    return unit_rows(a) @ unit_rows(b).T


def paired_cosines(a: Reals, b: Reals) -> Floats:
    """Return the (n,) cosine similarities of row i of `a` with row i of `b`, both (n, d)."""
    product: Floats = np.einsum("ij,ij->i", unit_rows(a), unit_rows(b))
    return product
