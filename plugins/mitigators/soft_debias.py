"""Soft debiasing (Bolukbasi et al. 2016): a linear map that trades bias against change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, has_direction, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder, Kind, Vocabulary, vocabulary_of
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator

from .fitting.concept_subspace import (
    about_concept,
    fit_subspace,
    pair_words,
)
from .fitting.vocabulary import VocabularyCache
from .hard_debias import HardDebias, Subspace

PSD = 1e-10  # share of the largest eigenvalue that is rounding error
ITERATIONS = 20_000  # at most
CONVERGED = 1e-12  # change of Y in a step, as a share of the norm of A


class SoftDebias(Mitigator):
    """Map all words linearly, with less bias in neutral words and little other change.

    Removes most of the component of neutral words in the concept's subspace B; keeps inner products
    as far as possible. With W all words, N the neutral words, all of unit length, the map T
    minimises

        ‖(TW)ᵀTW − WᵀW‖² + λ ‖(TN)ᵀTB‖²    (section 6, step 2b)

    over X = TᵀT, positive semidefinite. Only the d × d second moments of W and N are needed, so any
    vocabulary fits in memory. T is the symmetric root of X; another root would rotate the space,
    and B with it. All words are mapped, including those about the concept, and set to length 1.

    The scale of λ matters. The terms of the paper are sums over |W|² and |N| entries, so that λ =
    0.2 changes almost nothing in a vocabulary of thousands. With `scale=mean`, the first term is
    divided by |W|² and the second by |N|, and λ means the same for any size of vocabulary. The bias
    is lower along the original B; a direction that is fitted again on the debiased vectors can show
    more.

    The concept needs `definitional_pairs`.

    Parameters
    ----------
    lam
        λ > 0; by default 0.2, as in the paper. A higher value leaves less bias.
    scale
        `mean`, or `sum` as in the paper.
    k
        Dimensions of B, at least 1; by default 1.
    subspace
        Definition of B, as in `HardDebias`.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    transform_
        (d, d) symmetric T.
    objective_
        Value of the objective, divided according to `scale`.
    smallest_eigenvalue_
        Smallest eigenvalue of X; 0 if the constraint is active.
    missing_
        Words of the definitional pairs that the embedder does not know.

    Raises
    ------
    InvalidOption, NotApplicable
        See `fit`.

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
        """Return the words of the definitional pairs, as written and in lower case."""
        return pair_words(concept)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if not 0 < self.lam < np.inf:
            raise InvalidOption(f"soft-debias: lam={self.lam}; expected a number above 0")
        if self.scale not in ("mean", "sum"):
            raise InvalidOption(f"soft-debias: scale={self.scale}; expected mean or sum")

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find T from the pairs and the whole vocabulary; return self.

        Raises
        ------
        InvalidOption
            If `lam` or `k` is out of its range, or `scale` or `subspace` is unknown.
        NotApplicable
            If the concept has no definitional pairs, or the embedder knows too few of them, has no
            vocabulary, or has one that does not span its dimensions.
        """
        self.check_options()
        hard = fit_subspace("soft-debias", embedder, concept, k=self.k, subspace=self.subspace)
        self.subspace_, self.missing_ = hard.subspace_, hard.missing_
        words = vocabulary_of(embedder)
        a, c, n_words, n_neutral = second_moments(words, hard)
        if not n_neutral:
            raise NotApplicable(
                f"soft-debias: all words of '{embedder.info.name}' are about the concept; neutral "
                "words are required"
            )
        values = np.linalg.eigvalsh(a)
        if values[0] <= PSD * values[-1]:
            raise NotApplicable(
                f"soft-debias: the {n_words} words of '{embedder.info.name}' span fewer than its "
                f"{len(a)} dimensions; a larger vocabulary is required"
            )
        lam = self.lam if self.scale == "mean" else self.lam * n_neutral / n_words**2
        x, objective = soften(a, c, self.subspace_, lam)
        self.objective_ = objective if self.scale == "mean" else objective * float(n_words) ** 2
        values, axes = np.linalg.eigh(x)
        self.smallest_eigenvalue_ = float(values[0])
        self.transform_: Floats = axes * np.sqrt(np.maximum(values, 0.0)) @ axes.T
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors T w, with w and the result at length 1."""
        return unit_rows(unit_rows(vectors) @ self.transform_).astype(np.float32)

    def as_map(self) -> Map:
        """Return T as a map, between lengths of 1."""
        return Map(("unit", Affine(self.transform_.T), "unit"))


def second_moments(words: Vocabulary, hard: HardDebias) -> tuple[Floats, Floats, int, int]:
    """Return the means of w wᵀ over all words and over neutral words, (d, d), and the word counts.

    Words are set to length 1; zero vectors are skipped.
    """
    moment, n_words = _moment(words)
    listed = np.flatnonzero(about_concept(hard, words.words)).tolist()
    rows = [words.rows(i, i + 1) for i in listed]
    about = unit_rows(np.concatenate(rows)) if rows else np.zeros((0, len(moment)))
    about = about[has_direction(about)]
    n_neutral = n_words - len(about)
    neutral = (moment - about.T @ about) / max(n_neutral, 1)
    return moment / max(n_words, 1), neutral, n_words, n_neutral


_MOMENTS: VocabularyCache[list[tuple[Floats, int]]] = VocabularyCache(list)
"""Σ w wᵀ and the word count, for the last vocabularies."""


def _moment(words: Vocabulary) -> tuple[Floats, int]:
    """Return Σ w wᵀ over all words, (d, d), and their number, from the cache if possible."""
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

    With Y = A^½ X A^½ this is ‖Y − A‖² + λ tr(G Y C̃ Y), where C̃ = A^(−½) C A^(−½), b̃ = A^(−½) b
    and G = Σ b̃ b̃ᵀ. It is quadratic and strictly convex, with the solution

        Y = A − λ/2 Σ_j (C̃ z_j b̃_jᵀ + b̃_j z_jᵀ C̃),    z_i = Y b̃_i

    The k vectors z are the solution of a linear system with k d unknowns. If this Y is not positive
    semidefinite, projected gradients find the minimum on the cone.

    Parameters
    ----------
    a, c
        (d, d) second moments of all and of neutral words; `a` of full rank.
    b
        (k, d) orthonormal rows of B.
    lam
        λ > 0.

    Raises
    ------
    NotApplicable
        If the projected gradients do not converge.
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
    """Return Y in closed form, (d, d), without the constraint that it is positive semidefinite."""
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

    The curvature of the objective lies between 2 and L = 2 + 2 λ ‖C̃‖ ‖G‖. With Nesterov's constant
    momentum, each step reduces the error by a factor 1 − √(2/L).

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
    raise NotApplicable(f"soft-debias: no convergence after {ITERATIONS} steps; set a lower lam")
