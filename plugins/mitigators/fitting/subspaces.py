"""The linear algebra of hard debiasing: a concept's subspace, neutralise, equalise.

Knows vectors only, not the words that they belong to.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.concept import Concept
from harness.embedder import Embedder
from harness.errors import InvalidOption, NotApplicable
from harness.mitigator import Affine, Map, Mitigator

from . import words
from .words import require

# Subspaces of a concept: how to find them, and how to project vectors.
#
# ==================  ================================================================ `projection`
# linear algebra: principal axes, neutralise, equalise `subspace_debias`   base class of hard
# debiasing and multiclass hard debiasing `concept_subspace`  the subspace of the definitional
# pairs, for other mitigators ==================
# ================================================================


Solver = Literal["full", "randomized", "arpack"]
SOLVERS = ("full", "randomized", "arpack")
CACHE = 2**16  # numbers of a block that fits into a processor's cache: 256 kB
ROUNDING = 1e-6  # share of a length that is rounding error of float32


@dataclass(frozen=True)
class Axes:
    """Principal axes of some rows.

    Parameters
    ----------
    components
        (k, d) orthonormal rows.
    strengths
        (k,) singular values, largest first.
    shares
        (k,) share of the rows' sum of squares along each axis, in [0, 1].
    """

    components: Floats
    strengths: Floats
    shares: Floats

    @property
    def rank(self) -> int:
        """Number of axes whose strength exceeds rounding error."""
        return int((self.strengths > ROUNDING * self.strengths[0]).sum())


def principal_axes(
    rows: Floats, k: int, *, towards: Floats, solver: Solver = "full", seed: int = 0
) -> Axes:
    """Return the first `k` principal axes of `rows`, (m, d), without centring.

    Parameters
    ----------
    rows
        (m, d) vectors; m and d are at least `k`.
    k
        Number of axes.
    towards
        (d,) vector that decides the sign of each axis: their product is at least 0.
    solver
        Named as in scikit-learn's PCA. `full` computes all axes with LAPACK; `randomized` and
        `arpack` approximate the first k, which is faster with thousands of rows.
    seed
        Seed of the random start of `randomized` and `arpack`.

    Raises
    ------
    InvalidOption
        If the solver is unknown or cannot find `k` axes.
    """
    if solver == "full":
        _, strengths, components = np.linalg.svd(rows, full_matrices=False)
    elif solver == "randomized":
        from sklearn.utils.extmath import randomized_svd

        _, strengths, components = randomized_svd(rows, k, random_state=seed)
    elif solver == "arpack":
        from scipy.sparse.linalg import svds

        limit = min(rows.shape)
        if k >= limit:
            raise InvalidOption(f"solver=arpack needs k below {limit} here, not k={k}")
        start = np.random.default_rng(seed).uniform(-1.0, 1.0, limit)
        _, strengths, components = svds(rows, k, v0=start, solver="arpack")
        strengths, components = strengths[::-1], components[::-1]
    else:
        raise InvalidOption(f"solver={solver}: expected one of {', '.join(SOLVERS)}")
    strengths, components = strengths[:k], components[:k]
    signs = np.where(components @ towards < 0, -1.0, 1.0)
    return Axes(components * signs[:, None], strengths, strengths**2 / (rows**2).sum())


def set_centred(sets: Sequence[Floats]) -> Floats:
    """Return (Σ m_i, d) words of all `sets`, (m_i, d) each, minus the mean of their set."""
    return np.concatenate([words - words.mean(axis=0) for words in sets])


def in_blocks(array: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Yield the rows of `array`, (n, d), in blocks that fit into a processor's cache.

    Yields
    ------
    (int, (b, d))
        The index of the first row of a block, and a view of the block.
    """
    size = max(1, CACHE // max(1, array.shape[1]))
    for start in range(0, len(array), size):
        yield start, array[start : start + size]


def project_out(rows: Vectors, axes: Vectors) -> Vectors:
    """Subtract from `rows`, (n, d), their components along orthonormal `axes`, (k, d), in place.

    Returns
    -------
    (n, k) the components that were subtracted
    """
    from scipy.linalg.blas import sgemm  # C ← C − BA in place; numpy has no such function

    inside: Vectors = rows @ axes.T
    sgemm(-1.0, axes.T, inside.T, 1.0, rows.T, overwrite_c=True)
    return inside


def neutralized(vectors: Reals, subspace: Floats, *, unit: bool) -> Vectors:
    """Return `vectors`, (n, d), without their components in the subspace (step 2a), in float32.

    Works in blocks, so that little memory is used besides the result. Float32 is precise enough:
    the error in the subspace is about 1e-7 of a row's length. The few rows with half or more of
    their squared length in the subspace are computed again in float64. A row of NaN stays NaN.

    Parameters
    ----------
    vectors
        (n, d).
    subspace
        (k, d) orthonormal rows.
    unit
        Whether to set the result to length 1; a row that lies in the subspace becomes 0.
    """
    vectors = np.asarray(vectors)
    axes = subspace.astype(np.float32)
    out = np.empty(vectors.shape, dtype=np.float32)
    for start, rows in in_blocks(out):
        rows[:] = vectors[start : start + len(rows)]
        inside = project_out(rows, axes)
        left = np.einsum("ij,ij->i", rows, rows)
        within = np.flatnonzero(np.einsum("ij,ij->i", inside, inside) >= left)
        if unit:
            with np.errstate(divide="ignore", invalid="ignore"):  # length 0: see below
                rows *= (1.0 / np.sqrt(left))[:, None]
        if len(within):
            rows[within] = _neutralized_exactly(vectors[start + within], subspace, unit=unit)
    return out


def without(subspace: Floats, *, unit: bool) -> Map:
    """Return `neutralized` as a map."""
    kept = np.eye(subspace.shape[1]) - subspace.T @ subspace
    return Map((Affine(kept), "unit") if unit else (Affine(kept),))


def _neutralized_exactly(vectors: Reals, subspace: Floats, *, unit: bool) -> Floats:
    """Return `vectors` without their components in the subspace, computed in float64."""
    rows = np.asarray(vectors, dtype=np.float64)
    left = rows - (rows @ subspace.T) @ subspace
    left -= (left @ subspace.T) @ subspace  # the rounding error of the first projection
    nothing = (left**2).sum(axis=1) <= ROUNDING**2 * (rows**2).sum(axis=1)
    if unit:
        left = unit_rows(left)
        left[nothing] = 0
    return left


def equalized(words: Floats, subspace: Floats) -> Floats:
    """Return the equalised words of one equalize set, (m, d) (step 2a).

    w = ν + √(r² − ‖ν‖²) (w_B − μ_B)/‖w_B − μ_B‖, with μ the mean of the set, ν its part outside B,
    and r the root mean square length of the words: 1 for unit vectors, as in the paper. A word with
    w_B = μ_B becomes ν at length r.

    Parameters
    ----------
    words
        (m, d) vectors.
    subspace
        (k, d) orthonormal rows of B.

    References
    ----------
    Bolukbasi et al. (2016), section 6, step 2a; Manzini et al. (2019).
    """
    inside = words @ subspace.T  # w_B, (m, k)
    mean = words.mean(axis=0)
    nu = mean - (subspace @ mean) @ subspace
    own = inside - inside.mean(axis=0)  # w_B − μ_B
    r_squared = (words**2).sum(axis=1).mean()
    lengths = np.sqrt((own**2).sum(axis=1, keepdims=True))
    has_own = lengths > 1e-12 * np.sqrt(r_squared)
    directions = own / np.where(has_own, lengths, 1.0)
    equal = nu + np.sqrt(max(r_squared - nu @ nu, 0.0)) * directions @ subspace
    result: Floats = np.where(has_own, equal, unit_rows(nu[None]) * np.sqrt(r_squared))
    return result


# Base class of hard debiasing: neutralise, then equalise, with a subspace of the concept.
#
# The subclasses find the subspace: `hard-debias` from pairs, `multiclass-hard-debias` from sets.


class SubspaceDebias(Mitigator):
    """Project the concept's subspace B out of all words that are not about the concept.

    *Neutralise*: a word loses its component in B and is set to length 1. *Equalise*: the words of
    an equalize set get the same part outside B. Within B they keep the direction of their
    difference from the mean of the set, with equal lengths. So every neutral word has the same
    cosine with all of them.

    Words of the definitional and equalize sets and the specific words are not neutralised;
    equalising would have no direction otherwise. A text that is not on these lists is neutral, also
    with a text encoder. Texts are looked up as written, then in lower case; if the embedder ignores
    case, in lower case only.

    Attributes
    ----------
    subspace_
        (k, d) orthonormal rows of B.
    explained_
        (k,) share of the variance within the sets along each row, in [0, 1].
    equalized_
        (d,) vector of each equalised word, by word.
    left_alone_
        Words that are not neutralised.
    missing_
        Listed words that the embedder does not know. Their pair, or their place in a set, is
        skipped.
    ignores_case_
        Whether the embedder gives each listed word the same vector in lower case.
    """

    name: ClassVar[str]
    defined_by: ClassVar[str]
    k: int | None
    normalize: bool
    equalize: bool
    solver: Solver
    seed: int

    @abstractmethod
    def _defining_sets(self, concept: Concept) -> Sequence[Sequence[str]]:
        """Return the sets of words that define the concept."""

    @abstractmethod
    def _bias_rows(self, sets: Sequence[Floats]) -> Floats:
        """Return the rows, (m, d), whose principal axes are B, from `sets` of (m_i, d) vectors."""

    def fitting_texts(self, concept: Concept | None) -> list[str]:
        """Return the words of definitional and equalize sets, as written and in lower case."""
        if concept is None:
            return []
        sets = [
            *self._defining_sets(concept),
            *(concept.equalize_sets if self.equalize else ()),
        ]
        return words.with_lower_case(word for members in sets for word in members)

    def check_options(self) -> None:
        """Raise InvalidOption if an option is out of its range."""
        if self.k is not None and self.k < 1:
            raise InvalidOption(f"{self.name}: k={self.k}; expected 1 or more")
        if self.solver not in SOLVERS:
            raise InvalidOption(
                f"{self.name}: solver={self.solver}; expected one of {', '.join(SOLVERS)}"
            )

    def fit(self, embedder: Embedder, concept: Concept | None = None) -> Self:
        """Find the subspace and the equalised vectors; return self.

        Raises
        ------
        InvalidOption
            If an option is out of its range.
        NotApplicable
            If the concept has no definitional pairs or sets, or the embedder too few of them.
        """
        self.check_options()
        requirement = f"{self.name} needs a concept with {self.defined_by}"
        concept = require(concept, self._defining_sets, requirement)
        texts = self.fitting_texts(concept)
        vectors = words.look_up(embedder, texts, unit=self.normalize)
        defining = self._defining_sets(concept)
        listed = {word for members in (*defining, *concept.equalize_sets) for word in members}
        self.missing_ = sorted((listed & set(texts)) - set(vectors))
        self.ignores_case_ = words.ignores_case(vectors, listed)
        self._find_subspace(defining, vectors, f"'{embedder.info.name}'", concept.name)
        self.equalized_ = {}
        if self.equalize:
            self.equalized_ = self._equalized(concept.equalize_sets, vectors)
        self.left_alone_ = {self._key(word) for word in listed.union(concept.specific_words)}
        return self

    def transform(self, vectors: Reals, texts: Sequence[str]) -> Vectors:
        """Return (n, d) vectors, each neutralised, equalised or unchanged according to its text."""
        vectors = np.asarray(vectors)
        out = neutralized(vectors, self.subspace_, unit=self.normalize)
        matches = words.find(texts, self.left_alone_, ignoring_case=self.ignores_case_)
        listed = list(matches)
        out[listed] = unit_rows(vectors[listed]) if self.normalize else vectors[listed]
        for row, key in matches.items():
            if key in self.equalized_ and np.isfinite(out[row]).all():
                out[row] = self.equalized_[key]
        return out

    def as_map(self) -> Map:
        """Return step 2a for neutral words as a map, which words about the concept get too."""
        equalized = f", and equalises {len(self.equalized_)} words" if self.equalized_ else ""
        omits = (
            f"{self.name} leaves {len(self.left_alone_)} words about the concept as they are where "
            f"such a word is the whole text{equalized}; the model neutralises them as any other "
            "text"
        )
        return dataclasses.replace(without(self.subspace_, unit=self.normalize), omits=(omits,))

    def _find_subspace(
        self,
        defining: Sequence[Sequence[str]],
        vectors: Mapping[str, Floats],
        model: str,
        concept: str,
    ) -> None:
        """Set `subspace_` and `explained_`."""
        k = max(map(len, defining)) - 1 if self.k is None else self.k
        known = [
            np.array([vectors[word] for word in members if word in vectors]) for members in defining
        ]
        sets = [rows for rows in known if len(rows) > 1 and np.ptp(rows, axis=0).any()]
        if sum(len(rows) - 1 for rows in sets) < k:
            raise NotApplicable(
                f"{self.name}: k={k} needs at least {k} {self.defined_by} whose words differ; "
                f"{model} has {len(sets)} of the {len(defining)} of concept '{concept}'"
            )
        axes = principal_axes(
            self._bias_rows(sets),
            k,
            towards=np.sum([rows[-1] - rows[0] for rows in sets], axis=0),
            solver=self.solver,
            seed=self.seed,
        )
        if axes.rank < k:
            raise NotApplicable(
                f"{self.name}: k={k}, but the {self.defined_by} of concept '{concept}' in {model} "
                f"span only {axes.rank} dimensions; set k={axes.rank} or less"
            )
        self.subspace_, self.explained_ = axes.components, axes.shares

    def _equalized(
        self, sets: Iterable[Sequence[str]], vectors: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """Return the equalised vectors by key; a word in two sets belongs to the first one."""
        result: dict[str, Floats] = {}
        for members in sets:
            known = {self._key(word): vectors[word] for word in members if word in vectors}
            new = {key: vector for key, vector in known.items() if key not in result}
            if len(new) > 1:
                equal = equalized(np.array(list(new.values())), self.subspace_)
                result.update(zip(new, equal, strict=True))
        return result

    def _key(self, word: str) -> str:
        return word.lower() if self.ignores_case_ else word
