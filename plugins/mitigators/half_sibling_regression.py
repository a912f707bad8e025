"""Half-sibling regression (Yang and Feng 2020): subtracts the prediction from gendered words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator

from .fitting.words import find, ignores_case, look_up, require, with_lower_case

BLOCK = 4096  # rows in float64 that fit into a processor's cache: 1.6 MB at 50 dimensions
SINGULAR = 1e-6  # share of the largest singular value that is rounding error of float32


class HalfSiblingRegression(Mitigator):
    """Subtract from each neutral word its ridge regression on the words about the concept.

    Removes what the words about the concept predict of a neutral word. Keeps the residual, and the
    words about the concept: definitional pairs and sets, equalize sets and specific words, without
    duplicates. The paper and WEFE's example regress on the specific words only.

    With X, (d, m), the vectors of the m words about the concept as columns, a neutral word w
    becomes w − XW with W = (XᵀX + αI)⁻¹ Xᵀw, without intercept. This is the same (d, d) matrix for
    all neutral words, I − X(XᵀX + αI)⁻¹Xᵀ, so they are independent of each other.

    Texts are looked up as written, then in lower case; if the embedder ignores case, in lower case
    only. The concept needs any of these lists.

    Parameters
    ----------
    alpha
        Weight α of the penalty, at least 0, in units of squared length; by default 60, as in
        WEFE. Vectors of unit length need a lower value than those of GloVe, with length 5. 0 is
        least squares: nothing that the words about the concept predict is left. It needs more
        dimensions than they span.

    Attributes
    ----------
    kept_
        (d, d) symmetric matrix I − X(XᵀX + αI)⁻¹Xᵀ, by which neutral rows are multiplied.
    left_alone_
        Words about the concept.
    missing_
        Words about the concept that the embedder does not know.
    ignores_case_
        Whether the embedder gives each of these words the same vector in lower case.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

    References
    ----------
    Yang and Feng (2020), A causal inference method for reducing gender bias in word embedding
    relations.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_sets or equalize_sets or specific_words",)

    def __init__(self, alpha: float = 60.0) -> None:
        self.alpha = alpha

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words about the concept, as written and in lower case."""
        return with_lower_case(_about(concept))

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if not self.alpha >= 0:
            raise InvalidOption(f"half-sibling-regression: alpha={self.alpha}; expected 0 or more")

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the matrix that gives the residuals; return self.

        Raises
        ------
        InvalidOption
            If `alpha` is negative.
        NotApplicable
            If the concept has no words, the embedder knows none of them, or with alpha 0 they
            span all dimensions.
        """
        self.check_options()
        requirement = "half-sibling-regression needs a concept with words about it"
        concept = require(concept, _about, requirement)
        words = _about(concept)
        vectors = look_up(embedder, with_lower_case(words), unit=False)
        self.missing_ = sorted(set(words) - set(vectors))
        self.ignores_case_ = ignores_case(vectors, words)
        known = {self._key(word): vectors[word] for word in words if word in vectors}
        if not known:
            raise NotApplicable(
                f"half-sibling-regression: '{embedder.info.name}' knows none of the {len(words)} "
                f"words about concept '{concept.name}'"
            )
        # With X = U S Vᵀ, X(XᵀX + αI)⁻¹Xᵀ = U S²/(S² + α) Uᵀ.
        u, s, _ = np.linalg.svd(np.array(list(known.values())).T, full_matrices=False)
        d, rank = len(u), int((s > SINGULAR * s[0]).sum())
        if self.alpha == 0 and rank == d:
            raise NotApplicable(
                f"half-sibling-regression: alpha=0 with {len(known)} words about concept "
                f"'{concept.name}', which span {rank} of the {d} dimensions of "
                f"'{embedder.info.name}', removes every word; set alpha above 0, such as 60"
            )
        if self.alpha == 0:  # words that share a vector have many weights but one prediction
            u, s = u[:, :rank], s[:rank]
        predicted = (u * (s**2 / (s**2 + self.alpha))) @ u.T
        self.kept_ = np.eye(d) - predicted
        self.left_alone_ = {self._key(word) for word in words}
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors: residuals of neutral words, others unchanged."""
        vectors = np.asarray(vectors)
        out = np.empty(vectors.shape, dtype=np.float32)
        for start in range(0, len(vectors), BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = vectors[block].astype(np.float64) @ self.kept_
        listed = list(find(texts, self.left_alone_, ignoring_case=self.ignores_case_))
        out[listed] = vectors[listed]
        return out

    def as_map(self) -> Map:
        """Return the residual of neutral words as a map, which words about the concept get too."""
        omits = (
            f"half-sibling-regression leaves {len(self.left_alone_)} words about the concept as "
            "they are where such a word is the whole text; the model changes them as any other text"
        )
        return Map((Affine(self.kept_.T),), omits=(omits,))

    def _key(self, word: str) -> str:
        return word.lower() if self.ignores_case_ else word


def _about(concept: Concept | None) -> list[str]:
    """Return the words about a concept, without duplicates."""
    if concept is None:
        return []
    sets = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    listed = [word for members in sets for word in members]
    return list(dict.fromkeys([*listed, *concept.specific_words]))
