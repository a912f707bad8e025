"""The model `letter-trigrams`: hashed counts of sequences of three characters."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness import Card, ModelInfo


class LetterTrigrams:
    """Embeds a text as hashed counts of its trigrams; similar spellings give similar vectors.

    Parameters
    ----------
    name
        The name that the user typed. The harness passes `name` and `card` to models with these
        parameters.
    card
        The card of the model, from `plugin.py`.
    dimensions
        Length of a vector; users set it with `letter-trigrams?dimensions=64`.
    lower
        Whether to lower-case texts first; `letter-trigrams?lower=false`.
    """

    def __init__(self, *, name: str, card: Card, dimensions: int = 256, lower: bool = True) -> None:
        if dimensions < 1:
            raise ValueError(f"dimensions must be at least 1, not {dimensions}")
        self.dimensions, self.lower = dimensions, lower
        facts = {field.name: getattr(card, field.name) for field in dataclasses.fields(card)}
        # Cached vectors are found by the fingerprint: it must differ whenever a vector may.
        self.info = ModelInfo(
            **facts | {"name": name, "dimensions": dimensions},
            fingerprint=f"letter-trigrams {card.revision} d={dimensions} lower={lower}",
        )

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the (n, d) float32 vectors of n texts."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            padded = f"  {text.lower() if self.lower else text}  "
            for start in range(len(padded) - 2):
                # Not hash(), which differs between processes.
                code = zlib.crc32(padded[start : start + 3].encode())
                row[code % self.dimensions] += 1
        return vectors
