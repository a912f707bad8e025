"""Reference models, which need no files: random vectors and constant vectors.

They say what a score shows where there is nothing to find: on vectors without any meaning, and on
vectors without any difference. Leaderboards show them as reference lines.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.digest import file_sha256
from harness.embedder import Card, ModelInfo, gaussian_vectors
from harness.errors import InvalidOption

from .cards import describe

if TYPE_CHECKING:
    from harness.arrays import Vectors

WORDS = Path(__file__).parent / "data" / "words.txt.gz"
"""Vocabulary of the word models: the 13,629 words of the shipped word tasks, one a line."""


class _Reference:
    """A model without files.

    Parameters
    ----------
    card
        Its name and kind.
    dimensions
        Number of dimensions of a vector.

    Raises
    ------
    InvalidOption
        If `dimensions` is less than 1.
    """

    def __init__(self, *, card: Card, dimensions: int = 300) -> None:
        if dimensions < 1:
            raise InvalidOption(f"option dimensions={dimensions}: at least 1 is required")
        self.dimensions = dimensions
        # A word model's vocabulary is read by some tasks, so it belongs to what identifies it.
        words = f"-{file_sha256(WORDS)}" if card.kind == "word" else ""
        self.info: ModelInfo = describe(
            card,
            name=card.name,
            kind=card.kind,
            dimensions=dimensions,
            fingerprint=f"{card.name}-{dimensions}{words}",
        )

    @cached_property
    def words(self) -> Sequence[str]:
        """The vocabulary, in alphabetical order. Any other word has a vector, too."""
        return gzip.decompress(WORDS.read_bytes()).decode().splitlines()

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32; row i is the vector of `words[i]`."""
        return self.encode(self.words)

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError


class RandomVectors(_Reference):
    """A vector of independent Gaussian numbers for each text, seeded by the text."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors; the same text always gives the same vector."""
        return gaussian_vectors(texts, self.dimensions).astype("float32")


class ConstantVectors(_Reference):
    """The same vector for every text."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors, all equal."""
        import numpy as np

        return np.full((len(texts), self.dimensions), self.dimensions**-0.5, dtype=np.float32)
