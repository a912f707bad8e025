"""A word embedder with chosen vectors, for tests of mitigators and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.embedder import ModelInfo


class Vocabulary:
    """A word embedder; the vector of a missing word is NaN.

    Parameters
    ----------
    rows
        Vectors by word.
    lower
        Whether a missing word is looked up in lower case.
    """

    def __init__(self, rows: Mapping[str, Any], *, lower: bool = True) -> None:
        self.rows = {word: np.asarray(row, np.float32) for word, row in rows.items()}
        self.lower = lower
        self.info = ModelInfo(name="vocabulary", kind="word", fingerprint="v")

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return (n, d) float32 vectors."""
        d = len(next(iter(self.rows.values())))
        vectors = [self.rows.get(t, self.rows.get(t.lower() if self.lower else t)) for t in texts]
        rows = [np.full(d, np.nan) if vector is None else vector for vector in vectors]
        return np.reshape(rows, (len(texts), d)).astype(np.float32)
