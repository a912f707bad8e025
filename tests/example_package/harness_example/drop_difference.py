"""The mitigator `drop-difference`: projects out the mean difference of a concept's pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from harness import Concept, Embedder, Mitigator


class DropDifference(Mitigator):
    r"""Removes from every vector its part along the mean difference of the definitional pairs.

    .. math:: x' = x - \alpha \, (x \cdot u) \, u, \qquad
        u \propto \tfrac1n \textstyle\sum_i (a_i - b_i)

    Parameters
    ----------
    strength
        The share :math:`\alpha` to remove, from 0 to 1; users set `drop-difference?strength=0.5`.

    Attributes
    ----------
    direction_
        (d,) the unit vector u.
    """

    needs = ("definitional_pairs",)

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the texts that `fit` encodes: the words of the pairs."""
        return [word for pair in concept.definitional_pairs for word in pair] if concept else []

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Learn the direction from the concept's pairs; a pair with a missing vector is skipped."""
        vectors = np.asarray(embedder.encode(self.fitting_texts(concept)), dtype=np.float64)
        difference = np.nanmean(vectors[0::2] - vectors[1::2], axis=0)
        self.direction_ = difference / np.linalg.norm(difference)
        return self

    def transform(
        self, vectors: npt.NDArray[np.floating], texts: Sequence[str]
    ) -> npt.NDArray[np.float32]:
        """Return the (n, d) float32 vectors without their part along the direction."""
        along = np.outer(vectors @ self.direction_, self.direction_)
        return np.asarray(vectors - self.strength * along, dtype=np.float32)
