"""Keeps the first dimensions of vectors, for models trained to put most information there.

Kusupati et al. 2022, Matryoshka representation learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.arrays import unit_rows
from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Vectors


def cut(vectors: Vectors, dimensions: int | None, *, unit: bool) -> Vectors:
    """Return (n, dimensions) float32, the first dimensions of (n, d) vectors.

    Parameters
    ----------
    vectors
        (n, d) vectors.
    dimensions
        How many to keep; None for all, unchanged.
    unit
        Whether the shortened vectors are scaled to length 1.

    Raises
    ------
    ModelError
        If the vectors have fewer dimensions.
    """
    if dimensions is None:
        return vectors
    if dimensions > vectors.shape[1]:
        raise ModelError(f"dimensions={dimensions}: the model's vectors have {vectors.shape[1]}")
    kept = vectors[:, :dimensions]
    return np.asarray(unit_rows(kept) if unit else kept, dtype=np.float32)
