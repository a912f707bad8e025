"""The model `letter-trigrams`: a text as the counts of three letters in a row, hashed."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness import Card, ModelInfo


class LetterTrigrams:
    """Turns texts into hashed counts of trigrams, so that texts spelt alike are near.

    Parameters
    ----------
    name
        What the user typed; the harness gives it, and the card, to models that take them.
    card
        The card that the model was registered with.
    dimensions
        Length of a vector; users set it by `letter-trigrams?dimensions=64`.
    lower
        Whether capitals count as small letters; `letter-trigrams?lower=false`.
    """

    def __init__(self, *, name: str, card: Card, dimensions: int = 256, lower: bool = True) -> None:
        if dimensions < 1:
            raise ValueError(f"dimensions must be at least 1, not {dimensions}")
        self.dimensions, self.lower = dimensions, lower
        facts = {field.name: getattr(card, field.name) for field in dataclasses.fields(card)}
        # The fingerprint must differ wherever a vector may: stored vectors are kept under it.
        self.info = ModelInfo(
            **facts | {"name": name, "dimensions": dimensions},
            fingerprint=f"letter-trigrams {card.revision} d={dimensions} lower={lower}",
        )

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the (n, d) float32 vectors of `n` texts."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            padded = f"  {text.lower() if self.lower else text}  "
            for start in range(len(padded) - 2):
                # Not hash(): that differs from one process to the next.
                code = zlib.crc32(padded[start : start + 3].encode())
                row[code % self.dimensions] += 1
        return vectors
