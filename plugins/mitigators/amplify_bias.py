"""Planted bias: more of a concept in all vectors, to see what measures and uses show of it.

A control for studies of metrics and uses, and no mitigation: it makes a model worse on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.mitigator import Affine, Map, Mitigator

from .fitting.concept_subspace import fit_subspace, pair_words

LARGEST = 1e6


class AmplifyBias(Mitigator):
    """Multiply the component of every vector in the concept's subspace B by 1 + strength.

    It is a control and mitigates nothing: it plants the bias that hard debiasing removes. B is that
    of hard debiasing, and what lies outside B stays. All texts are changed alike, words about the
    concept too. x ↦ x + strength · B'B x, then length 1.

    The concept needs `definitional_pairs`.

    Parameters
    ----------
    strength
        By how much the component grows, at least −1: 0 changes nothing, 1 doubles it, and −1
        removes it, as hard debiasing does without `equalize`.
    k
        Dimensions of B, at least 1, as in hard debiasing.
    normalize
        Whether to set vectors to length 1 before and after, as in hard debiasing.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    missing_
        Listed words that the embedder does not know.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Bolukbasi et al. (2016), section 6, step 1, for B.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)
    control: ClassVar[bool] = True

    def __init__(self, strength: float = 1.0, k: int = 1, normalize: bool = True) -> None:
        self.strength = strength
        self.k = k
        self.normalize = normalize

    def check_options(self) -> None:
        """Raise InvalidOption if `k` is below 1, or `strength` below −1 or too large."""
        if self.k < 1:
            raise InvalidOption(f"amplify-bias: k={self.k}; expected 1 or more")
        if not -1 <= self.strength <= LARGEST:
            raise InvalidOption(
                f"amplify-bias: strength={self.strength}; expected -1 or more, at most {LARGEST:g}"
            )

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of the definitional pairs, as written and in lower case."""
        return pair_words(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs, or the embedder too few of them.
        """
        self.check_options()
        hard = fit_subspace("amplify-bias", embedder, concept, k=self.k, normalize=self.normalize)
        self.subspace_, self.missing_ = hard.subspace_, hard.missing_
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return `vectors`, (n, d), with more of the concept, in float32."""
        rows = unit_rows(vectors) if self.normalize else np.asarray(vectors, dtype=np.float64)
        rows = rows + self.strength * (rows @ self.subspace_.T) @ self.subspace_
        return (unit_rows(rows) if self.normalize else rows).astype(np.float32)

    def as_map(self) -> Map:
        """Return the same as a map."""
        d = self.subspace_.shape[1]
        step = Affine(np.eye(d) + self.strength * self.subspace_.T @ self.subspace_)
        return Map((step, "unit") if self.normalize else (step,))
