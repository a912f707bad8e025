"""Soft debiasing (Bolukbasi et al. 2016): one linear map that trades bias against change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Mitigator
from harness.plugins.mitigators.fitting.per_vocabulary import PerVocabulary
from harness.plugins.mitigators.hard_debias import HardDebias, Subspace
from harness.plugins.mitigators.subspaces.concept_subspace import (
    about_concept,
    fit_subspace,
    pair_words,
)
from harness.vocabulary import Vocabulary, vocabulary_of

PSD = 1e-10  # an eigenvalue of -PSD times the largest is a rounded 0
ITERATIONS = 20_000
CONVERGED = 1e-12


class SoftDebias(Mitigator):
    """Map all words linearly so that neutral ones lose most of the concept and all change little.

    With W all words, N those that should be neutral and B the concept's subspace, all of unit
    length, the map T minimises

        ‖(TW)ᵀTW − WᵀW‖² + λ ‖(TN)ᵀTB‖²    (section 6, step 2b)

    over X = TᵀT, positive semidefinite. Only the d × d second moments of W and N matter, so that
    any vocabulary fits in memory. T is the symmetric root of X: another root turns the space, and
    with it B. All words are mapped, also those about the concept, and set to length 1 after it.

    How λ is scaled decides what it does. The paper's terms are sums over |W|² and |N| entries,
    so that its λ = 0.2 changes next to nothing in a vocabulary of thousands. With `scale=mean`, the
    default, the first term is divided by |W|² and the second by |N|, and λ means the same at any
    size of vocabulary. Bias is lower along B as it was before; a direction learnt anew from
    debiased vectors can show more.

    Parameters
    ----------
    lam
        λ > 0: the higher, the less bias is left.
    scale
        `mean`, or `sum` as published.
    k
        Dimensions of B.
    subspace
        How B is found, as in hard-debias.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    transform_
        (d, d) symmetric T.
    objective_
        Value reached, divided as `scale` says.
    smallest_eigenvalue_
        Of X: how near the constraint is.
    missing_
        Words of the definitional pairs that the embedder lacks.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 6, step 2b.
    """

    kinds: ClassVar[tuple[Kind, ...]] = ("word",)
    needs: ClassVar[tuple[str, ...]] = ("definitional_pairs",)

    def __init__(
        self,
        lam: float = 0.2,
        scale: Literal["mean", "sum"] = "mean",
        k: int = 1,
        subspace: Subspace = "centred-pairs",
    ) -> None:
        self.lam = lam
        self.scale = scale
        self.k = k
        self.subspace = subspace

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of the definitional pairs, as written and lower-cased."""
        return pair_words(concept)

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find T from the pairs and the whole vocabulary; return self.

        Raises
        ------
        InvalidOption
            If `lam`, `scale`, `k` or `subspace` is none.
        NotApplicable
            If the concept has no definitional pairs, the embedder too few of them, no vocabulary,
            or one that does not span its dimensions.
        """
        if not 0 < self.lam < np.inf:
            raise InvalidOption(f"soft-debias: lam={self.lam}: it must be a number above 0")
        if self.scale not in ("mean", "sum"):
            raise InvalidOption(f"soft-debias: scale={self.scale}: there are mean, sum")
        hard = fit_subspace("soft-debias", embedder, concept, k=self.k, subspace=self.subspace)
        self.subspace_, self.missing_ = hard.subspace_, hard.missing_
        words = vocabulary_of(embedder)
        a, c, n_words, n_neutral = second_moments(words, hard)
        if not n_neutral:
            raise NotApplicable(
                f"soft-debias: all words of '{embedder.info.name}' are listed as being about the "
                "concept; it needs some that should be neutral"
            )
        values = np.linalg.eigvalsh(a)
        if values[0] <= 1e-10 * values[-1]:
            raise NotApplicable(
                f"soft-debias: the {n_words} words of '{embedder.info.name}' span fewer than its "
                f"{len(a)} dimensions; it needs a larger vocabulary"
            )
        lam = self.lam if self.scale == "mean" else self.lam * n_neutral / n_words**2
        x, objective = soften(a, c, self.subspace_, lam)
        self.objective_ = objective if self.scale == "mean" else objective * float(n_words) ** 2
        values, axes = np.linalg.eigh(x)
        self.smallest_eigenvalue_ = float(values[0])
        self.transform_: Floats = axes * np.sqrt(np.maximum(values, 0.0)) @ axes.T
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors T w of the words at length 1, at length 1 again."""
        return unit_rows(unit_rows(vectors) @ self.transform_).astype(np.float32)


def second_moments(words: Vocabulary, hard: HardDebias) -> tuple[Floats, Floats, int, int]:
    """Return the mean of w wᵀ over all words and over neutral ones, (d, d), and their numbers.

    Words are set to length 1; those with a zero vector count as none.
    """
    moment, n_words = _moment(words)
    listed = np.flatnonzero(about_concept(hard, words.words)).tolist()
    found = [words.rows(i, i + 1) for i in listed]
    about = unit_rows(np.concatenate(found)) if found else np.zeros((0, len(moment)))
    about = about[has_direction(about)]
    n_neutral = n_words - len(about)
    neutral = (moment - about.T @ about) / max(n_neutral, 1)
    return moment / max(n_words, 1), neutral, n_words, n_neutral


_MOMENTS: PerVocabulary[list[tuple[Floats, int]]] = PerVocabulary(list)
"""Sums over the last vocabularies."""


def _moment(words: Vocabulary) -> tuple[Floats, int]:
    """Return Σ w wᵀ over all words, (d, d), and their number; found once in a process."""
    known = _MOMENTS.of(words)
    if not known:
        moment, n = np.zeros((1, 1)), 0
        for _, block in words.blocks():
            rows = unit_rows(block)
            rows = rows[has_direction(rows)]
            moment, n = moment + rows.T @ rows, n + len(rows)
        known.append((moment, n))
    return known[0]


def soften(a: Floats, c: Floats, b: Floats, lam: float) -> tuple[Floats, float]:
    """Return X, (d, d), that minimises ‖A^½ (X − I) A^½‖² + λ tr(B X C X Bᵀ), and the minimum.

    In Y = A^½ X A^½ this is ‖Y − A‖² + λ tr(G Y C̃ Y), with C̃ = A^(−½) C A^(−½), b̃ = A^(−½) b
    and G = Σ b̃ b̃ᵀ: quadratic, strictly convex, and solved by

        Y = A − λ/2 Σ_j (C̃ z_j b̃_jᵀ + b̃_j z_jᵀ C̃),    z_i = Y b̃_i

    where the k vectors z come from one linear system of k d unknowns. If this Y is not positive
    semidefinite, the constraint binds, and projected gradients find the minimum on the cone.

    Parameters
    ----------
    a, c
        (d, d) second moments of all and of neutral words; `a` of full rank.
    b
        (k, d) orthonormal rows of B.
    lam
        λ > 0.
    """
    values, axes = np.linalg.eigh(a)
    inverse_root = axes / np.sqrt(values) @ axes.T
    c_tilde, b_tilde = inverse_root @ c @ inverse_root, b @ inverse_root
    y = unconstrained(a, c_tilde, b_tilde, lam)
    spectrum = np.linalg.eigvalsh(y)
    if spectrum[0] < -PSD * spectrum[-1]:
        y = on_the_cone(a, c_tilde, b_tilde, lam)
    g = b_tilde.T @ b_tilde
    objective = ((y - a) ** 2).sum() + lam * np.trace(g @ y @ c_tilde @ y)
    x = inverse_root @ y @ inverse_root
    return (x + x.T) / 2, float(objective)


def unconstrained(a: Floats, c_tilde: Floats, b_tilde: Floats, lam: float) -> Floats:
    """Return Y in closed form, (d, d), positive semidefinite or not."""
    k, d = b_tilde.shape
    gram = b_tilde @ b_tilde.T
    cb = b_tilde @ c_tilde  # rows C̃ b̃_i
    system = np.kron(gram, c_tilde) + np.einsum("jp,iq->ipjq", b_tilde, cb).reshape(k * d, k * d)
    z = np.linalg.solve(np.eye(k * d) + lam / 2 * system, (b_tilde @ a).ravel()).reshape(k, d)
    change = c_tilde @ z.T @ b_tilde
    y: Floats = a - lam / 2 * (change + change.T)
    return y


def on_the_cone(a: Floats, c_tilde: Floats, b_tilde: Floats, lam: float) -> Floats:
    """Return the positive semidefinite Y, (d, d), by accelerated projected gradients.

    The objective's curvature lies between 2 and L = 2 + 2 λ ‖C̃‖ ‖G‖, so that with Nesterov's
    constant momentum the error falls by 1 − √(2/L) a step.

    Raises
    ------
    NotApplicable
        If it does not converge.
    """
    g = b_tilde.T @ b_tilde
    curvature = 2 + 2 * lam * np.linalg.norm(c_tilde, 2) * np.linalg.norm(g, 2)
    ratio = np.sqrt(2 / curvature)
    momentum = (1 - ratio) / (1 + ratio)
    y: Floats = a
    ahead: Floats = a
    for _ in range(ITERATIONS):
        pull = c_tilde @ ahead @ g
        gradient = 2 * (ahead - a) + lam * (pull + pull.T)
        values, axes = np.linalg.eigh(ahead - gradient / curvature)
        new: Floats = axes * np.maximum(values, 0.0) @ axes.T
        ahead = new + momentum * (new - y)
        moved = np.linalg.norm(new - y)
        y = new
        if moved <= CONVERGED * np.linalg.norm(a):
            return y
    raise NotApplicable(
        f"soft-debias: no solution after {ITERATIONS} steps; a smaller lam is easier to solve"
    )
