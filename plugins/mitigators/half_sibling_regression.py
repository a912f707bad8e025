"""Half-sibling regression (Yang and Feng 2020): what gendered words predict is subtracted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from harness.arrays import Reals, Vectors
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting import listed_words
from harness.plugins.mitigators.fitting.needed import needed

BLOCK = 4096  # rows in float64 that stay in a processor's cache: 1.6 MB at 50 dimensions
SINGULAR = 1e-6  # of the largest singular value: what float32 vectors leave where nothing is


class HalfSiblingRegression(Mitigator):
    """Subtract from each neutral word what the words about the concept predict of it.

    With X, (d, m), the vectors of the m words about the concept as columns, a neutral word w is
    regressed on them by ridge, W = (XᵀX + αI)⁻¹ Xᵀw, without intercept, and left with w − XW. That
    is one (d, d) matrix for all neutral words, I − X(XᵀX + αI)⁻¹Xᵀ, so that they are independent of
    each other once it is fitted. Words about the concept stay as they are: definitional pairs
    and sets, equalize sets and specific words, each counted once. The specific words alone are
    what the paper and WEFE's example regress on.

    Texts are looked up among them as they are, then lower-cased; without regard to case at all if
    the embedder has none.

    Parameters
    ----------
    alpha
        Weight of the penalty α, in units of squared length: vectors of unit length need less of it
        than GloVe's, of length 5. 0 is least squares.

    Attributes
    ----------
    kept_
        (d, d) symmetric matrix I − X(XᵀX + αI)⁻¹Xᵀ; a neutral row is multiplied by it.
    left_alone_
        Words about the concept.
    missing_
        Those of them that the embedder lacks.
    ignores_case_
        Whether the embedder gives these words the same vector in lower case.

    References
    ----------
    Yang and Feng (2020), A causal inference method for reducing gender bias in word embedding
    relations.
    """

    needs: ClassVar[tuple[str, ...]] = ("definitional_sets or equalize_sets or specific_words",)

    def __init__(self, alpha: float = 60.0) -> None:
        self.alpha = alpha

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words about the concept, as written and lower-cased."""
        return listed_words.with_lower_case(_about(concept))

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the matrix that is left of neutral words; return self.

        Raises
        ------
        InvalidOption
            If `alpha` is negative.
        NotApplicable
            If the concept has no words, the embedder none of them, or the fit is singular.
        """
        if not self.alpha >= 0:
            raise InvalidOption(f"half-sibling-regression: alpha={self.alpha}: 0 or more is needed")
        told = "half-sibling-regression needs a concept with words about it"
        concept = needed(concept, _about, told)
        words = _about(concept)
        vectors = listed_words.look_up(embedder, listed_words.with_lower_case(words), unit=False)
        self.missing_ = sorted(set(words) - set(vectors))
        self.ignores_case_ = listed_words.ignores_case(vectors, words)
        found = {self._key(word): vectors[word] for word in words if word in vectors}
        if not found:
            raise NotApplicable(
                f"half-sibling-regression: '{embedder.info.name}' has none of the {len(words)} "
                f"words about concept '{concept.name}'"
            )
        # In the axes of X = U S Vᵀ, X(XᵀX + αI)⁻¹Xᵀ is U S²/(S² + α) Uᵀ.
        axes, strengths, _ = np.linalg.svd(np.array(list(found.values())).T, full_matrices=False)
        d, rank = len(axes), int((strengths > SINGULAR * strengths[0]).sum())
        if self.alpha == 0 and (rank < len(found) or rank == d):
            raise NotApplicable(
                f"half-sibling-regression: alpha=0 with {len(found)} words about concept "
                f"'{concept.name}', which span {rank} of the {d} dimensions of "
                f"'{embedder.info.name}', is singular or leaves nothing of any word; give an alpha "
                "above 0, such as 60"
            )
        predicted = (axes * (strengths**2 / (strengths**2 + self.alpha))) @ axes.T
        self.kept_ = np.eye(d) - predicted
        self.left_alone_ = {self._key(word) for word in words}
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors: neutral words without what is predicted, others as they were."""
        vectors = np.asarray(vectors)
        out = np.empty(vectors.shape, dtype=np.float32)
        for start in range(0, len(vectors), BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = vectors[block].astype(np.float64) @ self.kept_
        listed = list(listed_words.find(texts, self.left_alone_, ignoring_case=self.ignores_case_))
        out[listed] = vectors[listed]
        return out

    def _key(self, word: str) -> str:
        return word.lower() if self.ignores_case_ else word


def _about(concept: Concept | None) -> list[str]:
    """Return the words about a concept, each once."""
    if concept is None:
        return []
    sets = (*concept.definitional_pairs, *concept.definitional_sets, *concept.equalize_sets)
    listed = [word for members in sets for word in members]
    return list(dict.fromkeys([*listed, *concept.specific_words]))
