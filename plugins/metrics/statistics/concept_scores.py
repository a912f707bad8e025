"""Scores along a concept's direction g, however it was found (Uriot 2024, equations 2 and 3).

The correlation of the attributes' projections with human labels, its null distribution of random
directions, and how well g separates the pairs. `concept_direction` and `concept_plane` find g.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Contrast, Interval, Null, Samples, Scale, Score

from . import intervals
from .intervals import (
    Codes,
    pearson,
    spearman,
    to_auc,
    to_pearson,
)
from .nulls import DRAWS as NULL_DRAWS
from .nulls import SIDES, TIE, shuffled_sides, two_sided

# Searches for a concept's direction g among the components of its pairs (Uriot 2024, equation 1).
#
# A search takes the projections of both sides of the pairs on the components, so that it can be
# repeated cheaply for shuffled pairs.


ROUNDING = 1e-12  # AUCs that differ by less are equal
RIDGE = 1e-9  # of the scatter: it makes the classifier of two pairs unique


@dataclass(frozen=True)
class Found:
    """A direction among k components.

    Parameters
    ----------
    weights
        (k,) coordinates of the unit vector g, towards the second side.
    components
        Indices of the components that it lies in.
    auc
        AUC of the projections of the two sides on g, in [0.5, 1].
    """

    weights: Floats
    components: tuple[int, ...]
    auc: float


Search: TypeAlias = Callable[[Floats, Floats, Floats], Found]
"""Takes (n, k) projections of both sides, and the (k,) shares that the components explain."""


def along_a_component(z_1: Floats, z_2: Floats, explained: Floats) -> Found:
    """Return the component with the highest AUC up to sign."""
    n, k = z_1.shape
    ranks = _ranks(np.vstack([z_1, z_2]))
    areas = 0.5 + (ranks[n:] - ranks[:n]).sum(axis=0) / (2 * n * n)
    best = int(np.argmax(np.maximum(areas, 1 - areas)))
    weights = np.zeros(k)
    weights[best] = -1.0 if areas[best] < 0.5 else 1.0
    return Found(weights, (best,), float(max(areas[best], 1 - areas[best])))


def _ranks(values: Floats) -> Floats:
    """Return the rank of each of (n, k) values in its column, from 1; equal ones share the mean."""
    order = np.argsort(values, axis=0)
    ascending = np.take_along_axis(values, order, axis=0)
    places = np.arange(1.0, len(values) + 1)[:, None]
    larger = ascending[1:] > ascending[:-1]
    if not larger.all():
        edge = np.ones((1, values.shape[1]), dtype=bool)
        first = np.where(np.concatenate([edge, larger]), places, 0.0)
        last = np.where(np.concatenate([larger, edge]), places, np.inf)
        first = np.maximum.accumulate(first, axis=0)
        last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
        places = (first + last) / 2
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, places, axis=0)
    return ranks


def in_a_plane(z_1: Floats, z_2: Floats, explained: Floats) -> Found:
    """Return Fisher's classifier in the plane of two components where its AUC is highest.

    Of planes with the same AUC it is the one that explains most. A single component is the answer
    where there is only one.
    """
    k = z_1.shape[1]
    if k < 2:
        return along_a_component(z_1, z_2, explained)
    i, j = np.triu_indices(k, 1)
    order = np.argsort(-(explained[i] + explained[j]), kind="stable")
    planes = np.stack([i[order], j[order]], axis=1)
    scatter = np.cov(z_1.T, bias=True) + np.cov(z_2.T, bias=True)
    scatter = scatter + RIDGE * max(float(np.trace(scatter)), 1.0) * np.eye(k)
    gap = z_2.mean(axis=0) - z_1.mean(axis=0)
    blocks = scatter[planes[:, :, None], planes[:, None, :]]
    w = np.linalg.solve(blocks, gap[planes][:, :, None])[:, :, 0]
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    w /= np.where(lengths > 0, lengths, 1.0)
    areas = _areas(*((z[:, planes] * w).sum(axis=2) for z in (z_1, z_2)))
    w = np.where(areas[:, None] < 0.5, -w, w)
    areas = np.maximum(areas, 1 - areas)
    best = int(np.flatnonzero(areas >= areas.max() - ROUNDING)[0])
    weights = np.zeros(k)
    weights[planes[best]] = w[best]
    return Found(weights, (int(planes[best, 0]), int(planes[best, 1])), float(areas[best]))


def _areas(first: Floats, second: Floats) -> Floats:
    """Return (p,) AUCs of (n, p) projections: P(second > first) + ½ P(equal)."""
    above = second[:, None, :] - first[None, :, :]
    areas: Floats = (above > 0).mean(axis=(0, 1)) + (above == 0).mean(axis=(0, 1)) / 2
    return areas


# What a concept's direction shows by chance: the search for it repeated on shuffled pairs.
#
# Everything is computed from the inner products of the pairs' words, so that a repetition costs a
# decomposition of an (n, n) matrix at most. Swapping the sides of pairs only turns the signs of
# their differences: the components stay, and no decomposition is needed at all.


DRAWS = 200
"""Number of repetitions of a search, each for shuffled sides and for words paired anew."""
WORDS = "words of the pairs"
NEGLIGIBLE = 1e-12  # of the largest eigenvalue: such a component is rounding only


@dataclass(frozen=True)
class Pool:
    """The words of n pairs: first all first sides, then all second sides.

    Parameters
    ----------
    products
        (2n, 2n) inner products of the words.
    attributes
        (m, 2n) inner products of the attributes with the words.
    """

    products: Floats
    attributes: Floats

    @classmethod
    def of(cls, x_1: Floats, x_2: Floats, attributes: Floats) -> Pool:
        """Return the pool of (n, d) pairs and (m, d) attributes."""
        words = np.vstack([x_1, x_2])
        return cls(words @ words.T, attributes @ words.T)

    @property
    def pairs(self) -> int:
        """Number n of pairs."""
        return len(self.products) // 2

    def components(self, first: Codes, second: Codes) -> _Projected | None:
        """Return the projections on the components of pairs of words; None if no pair differs."""
        rows = self.products[second] - self.products[first]  # differences with all words
        values, vectors = np.linalg.eigh(rows[:, second] - rows[:, first])
        values, vectors = values[::-1], vectors[:, ::-1]
        if values[0] <= 0 or np.sqrt(values[0]) <= np.sqrt(NEGLIGIBLE * self.products.max()):
            return None
        kept = values > NEGLIGIBLE * values[0]
        basis = vectors[:, kept] / np.sqrt(values[kept])
        of_attributes = self.attributes[:, second] - self.attributes[:, first]
        explained = values[kept] / values[kept].sum()
        return _Projected(rows.T @ basis, of_attributes @ basis, explained)


@dataclass(frozen=True)
class _Projected:
    """Projections on k components: (2n, k) of the words, (m, k) of the attributes."""

    words: Floats
    attributes: Floats
    explained: Floats

    def search(self, search: Search, first: Codes, second: Codes) -> Found:
        return search(self.words[first], self.words[second], self.explained)


def held_out(pool: Pool, search: Search) -> float | None:
    """Return the share of pairs that are the right way round along a g found without them.

    Chance is 1/2. None if there are fewer than two pairs.
    """
    n = pool.pairs
    if n < 2:
        return None
    right = []
    for left_out in range(n):
        first = np.delete(np.arange(n), left_out)
        projected = pool.components(first, first + n)
        gap = 0.0
        if projected is not None:
            g = projected.search(search, first, first + n)
            gap = float((projected.words[left_out + n] - projected.words[left_out]) @ g.weights)
        right.append(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)
    return float(np.mean(right))


def shuffled_aucs(pool: Pool, search: Search, *, draws: int, rng: np.random.Generator) -> Floats:
    """Return the (draws,) AUCs of g where the sides of the pairs are swapped at random."""
    first = np.arange(pool.pairs)
    projected = pool.components(first, first + pool.pairs)
    if projected is None:
        return np.empty(0)
    if search is along_a_component:
        return _swapped_aucs(projected, pool.pairs, draws=draws, rng=rng)
    aucs = np.empty(draws)
    for i, signs in enumerate(shuffled_sides(pool.pairs, rng=rng, draws=draws)):
        swapped = np.where(signs > 0, first, first + pool.pairs)
        other = np.where(signs > 0, first + pool.pairs, first)
        aucs[i] = projected.search(search, swapped, other).auc
    return aucs


def _swapped_aucs(projected: _Projected, n: int, *, draws: int, rng: np.random.Generator) -> Floats:
    """Return what `along_a_component` finds with swapped sides, in one product.

    A swap moves no word, so all draws have the same ranks. Their sums are exact.
    """
    ranks = _ranks(projected.words)
    signs = shuffled_sides(n, rng=rng, draws=draws)
    areas = 0.5 + signs @ (ranks[n:] - ranks[:n]) / (2 * n * n)
    aucs: Floats = np.maximum(areas, 1 - areas).max(axis=1)
    return aucs


def shuffled_correlations(
    pool: Pool, search: Search, labels: Floats, *, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the (draws,) correlations with labels along g of words paired anew at random.

    NaN where no pair differs or all projections are equal.
    """
    correlations = np.full(draws, np.nan)
    for i in range(draws):
        first, second = np.split(rng.permutation(2 * pool.pairs), 2)
        projected = pool.components(first, second)
        if projected is not None:
            g = projected.search(search, first, second)
            correlations[i] = pearson(projected.attributes @ g.weights, labels)[0]
    return correlations


# Direction of a concept: the principal components of the differences of word pairs.
#
# This module chooses no component. The first one is the direction of Bolukbasi et al. (2016),
# section 5.1.


Subspace = Literal["centred-pairs", "unit-differences"]
"""Definition of the direction, named as in the mitigator `hard-debias`."""
EQUAL_SIDES = "the two sides of every pair are equal"
"""Reason for a missing score where no pair differs."""
NEGLIGIBLE_COMPONENT = 1e-10  # of the largest singular value: such a component is rounding only
NO_OVERLAP = 1e-6
"""Largest |cos| with a direction that counts as 0: float32 leaves that much of a word vector that
was made orthogonal to the direction."""


@dataclass(frozen=True)
class Components:
    """Principal components, without those that are rounding only.

    Parameters
    ----------
    vectors
        (k, d) orthonormal rows, in the order of the variance that they explain. Each points
        towards the second side of the pairs.
    explained
        (k,) share of the differences' sum of squares along each component, in [0, 1]; the sum
        is 1.
    """

    vectors: Floats
    explained: Floats


def pair_components(
    first: Reals, second: Reals, *, subspace: Subspace = "unit-differences"
) -> Components | None:
    """Return the components of the pairs' differences as in the paper.

    Words are set to length 1. The differences, second − first, are not centred, because their mean
    is the concept itself. Pairs of equal vectors are left out.

    Parameters
    ----------
    first, second
        (n, d) vectors of the definitional pairs.
    subspace
        `unit-differences`: the differences are set to length 1, too, so that no single pair
        dominates (section 5.1). `centred-pairs`: they keep their lengths, which gives the
        components of the words minus the mean of their pair (section 6, step 1), the ones that
        `hard-debias` removes.

    Returns
    -------
    Components or None
        None if no pair differs.

    Raises
    ------
    InvalidOption
        If `subspace` is unknown.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.1 and figure 6.
    """
    if subspace not in ("centred-pairs", "unit-differences"):
        raise InvalidOption(f"subspace={subspace}: use 'centred-pairs' or 'unit-differences'")
    if subspace == "unit-differences":
        return components_of(unit_differences(first, second))
    return components_of(unit_rows(second) - unit_rows(first))


def unit_differences(first: Reals, second: Reals) -> Floats:
    """Return the (n, d) differences of pairs of unit words, at length 1; 0 for equal vectors."""
    return unit_rows(unit_rows(second) - unit_rows(first))


def components_of(differences: Floats) -> Components | None:
    """Return the components of (n, d) differences as they are; None if all are zero."""
    differences = differences[differences.any(axis=1)]
    if len(differences) == 0:
        return None
    _, singular_values, vectors = np.linalg.svd(differences, full_matrices=False)
    kept = singular_values > NEGLIGIBLE_COMPONENT * singular_values[0]
    squares = singular_values[kept] ** 2
    signs = np.where(vectors[kept] @ differences.sum(axis=0) < 0, -1.0, 1.0)
    return Components(vectors[kept] * signs[:, None], squares / squares.sum())


CONTRAST = Contrast(sides=("attributes",), towards=("pairs_1", "pairs_2"), labels="labels")
CHUNK = 1_000  # random directions projected at once
SCALES = {
    "correlation": Scale(
        ideal=0,
        bounds=(-1, 1),
        help="Pearson correlation of projections on the concept's direction and human labels",
    ),
    "auc": Scale(
        ideal="higher",
        bounds=(0.5, 1),
        help="separation of the pairs' sides by the direction; below 0.8 it is no concept",
    ),
}
"""The two scores of a direction."""


@dataclass(frozen=True)
class Direction:
    """The direction of a concept.

    Parameters
    ----------
    vector
        (d,) unit vector, from the first side of the pairs to the second.
    auc
        AUC of the projections of the two sides, in [0.5, 1].
    component
        Index of the right singular vector, from 0; of a plane the indices of its two.
    explained
        Share of the differences' sum of squares along the component or components, in [0, 1].
    details
        What else the scores say about it.
    """

    vector: Floats
    auc: float
    component: int | tuple[int, int]
    explained: float
    details: Mapping[str, object] = field(default_factory=dict)

    def as_details(self) -> dict[str, object]:
        """Return the details of both scores."""
        return {"component": self.component, "explained": self.explained, **self.details}


@dataclass(frozen=True)
class Inputs:
    """The vectors of a task, in float64 and at the length of the metric's option.

    Parameters
    ----------
    x_1, x_2
        (n, d) vectors X_1 and X_2 of the pairs.
    a
        (m, d) vectors A of the attributes.
    y
        (m,) human labels.
    """

    x_1: Floats
    x_2: Floats
    a: Floats
    y: Floats

    @classmethod
    def of(
        cls, pairs_1: Reals, pairs_2: Reals, attributes: Reals, labels: Reals, *, unit_length: bool
    ) -> Inputs:
        """Return float64 inputs, with `unit_length` set to length 1."""
        x_1, x_2, a, y = (np.asarray(x, np.float64) for x in (pairs_1, pairs_2, attributes, labels))
        if unit_length:
            x_1, x_2, a = unit_rows(x_1), unit_rows(x_2), unit_rows(a)
        return cls(x_1, x_2, a, y)


def scores_along(
    g: Direction | None,
    inputs: Inputs,
    *,
    search: Search,
    projections: int,
    null_draws: int,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None,
    texts: Mapping[str, Sequence[str]] | None,
) -> dict[str, Score]:
    """Return the scores `correlation` and `auc` of a direction; options as in the metrics.

    They are undefined if g is None, because no pair differs. `search` is how g was found.
    """
    if g is None:
        undefined = Score(float("nan"), n=len(inputs.x_1), reason=EQUAL_SIDES)
        return {"correlation": undefined, "auc": undefined}
    x_1, x_2, a, y = inputs.x_1, inputs.x_2, inputs.a, inputs.y
    names = {
        name: (texts or {}).get(name) or [f"{name} {i}" for i in range(1, len(rows) + 1)]
        for name, rows in (("pairs_1", x_1), ("pairs_2", x_2), ("attributes", a))
    }
    pool = Pool.of(x_1, x_2, a)
    aucs = shuffled_aucs(pool, search, draws=null_draws, rng=rng)
    if "held_out" not in g.details:
        g = dataclasses.replace(g, details={**g.details, "held_out": held_out(pool, search)})
    area = _auc_score(g, aucs, x_1, x_2, (names["pairs_1"], names["pairs_2"]))
    a_g = a @ g.vector
    rho = float(pearson(a_g, y)[0]) if len(y) > 1 else float("nan")
    if np.isnan(rho):
        reason = "fewer than two attributes, or all labels or all projections are equal"
        return {"correlation": Score(rho, n=len(y), reason=reason), "auc": area}
    interval = intervals.jackknife_interval(
        partial(pearson, a_g, y),
        [len(y)],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["attributes"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(-1, 1),
    )
    null = _null(a, y, projections, rng) if projections > 0 else None
    shuffled = shuffled_correlations(pool, search, y, draws=null_draws, rng=rng)
    correlation = _correlation_score(rho, interval, shuffled, null, g, a_g, y, names["attributes"])
    return {"correlation": correlation, "auc": area}


def _auc_score(
    g: Direction,
    shuffled: Floats,
    x_1: Floats,
    x_2: Floats,
    texts: tuple[Sequence[str], Sequence[str]],
) -> Score:
    """Return the score AUC; `shuffled` are those of swapped sides, of which it is the p-value."""
    first, second = x_1 @ g.vector, x_2 @ g.vector
    rows = zip(*texts, first.tolist(), second.tolist(), strict=True)
    columns = ("first", "second", "projection_1", "projection_2")
    details, p_value = g.as_details(), None
    if len(shuffled):
        hits = int(np.count_nonzero(shuffled >= g.auc - TIE))
        p_value = (hits + 1) / (len(shuffled) + 1)
        details |= {"alternative": "greater", "shuffled": SIDES, "floor": float(shuffled.mean())}
    return Score(
        g.auc,
        p_value=p_value,
        n=len(x_1),
        details=details,
        tables={"pairs": [dict(zip(columns, row, strict=True)) for row in rows]},
        samples=[
            Samples(
                ("pairs_1", "pairs_2"),
                np.mean(to_auc(second, first), axis=0),
                {"projection_1": first, "projection_2": second},
            )
        ],
    )


def _correlation_score(
    rho: float,
    interval: Interval | None,
    shuffled: Floats,
    null: Floats | None,
    g: Direction,
    a_g: Floats,
    y: Floats,
    texts: Sequence[str],
) -> Score:
    """Return the score ρ with its p-values and table.

    `shuffled` are the correlations of words paired anew, `null` those of random directions.
    """
    details: dict[str, object] = {"spearman": float(spearman(a_g, y)[0]), **g.as_details()}
    if null is not None:
        hits = int(np.count_nonzero(np.abs(null) >= abs(rho) - 1e-12))
        isotropic = (hits + 1) / (len(null) + 1)
        details |= {"p_isotropic": isotropic, "null_spread": float(null.std())}
    columns = ("text", "label", "projection")
    rows = zip(texts, y.tolist(), a_g.tolist(), strict=True)
    return Score(
        rho,
        p_value=two_sided(rho, shuffled),
        null=Null(shuffled, WORDS) if len(shuffled) else None,
        interval=interval,
        n=len(y),
        details=details,
        tables={"attributes": [dict(zip(columns, row, strict=True)) for row in rows]},
        samples=[Samples("attributes", to_pearson(a_g, y), {"label": y, "projection": a_g})],
    )


def _null(a: Floats, y: Floats, projections: int, rng: np.random.Generator) -> Floats:
    """Return the (projections,) correlations of equation 3: random directions with labels."""
    # With Aᵀ = QT, A r = Tᵀ (Qᵀ r), and Qᵀ r is as random as r in fewer dimensions.
    t = np.linalg.qr(a.T, mode="r")
    chunks = []
    for start in range(0, projections, CHUNK):
        r = rng.standard_normal((min(CHUNK, projections - start), len(t)))
        chunks.append(pearson(r @ t, y, np.ones((len(r), len(y)))))
    return np.concatenate(chunks)


# Directions between random words: what a direction of a concept shows by chance.
#
# Uniformly random directions are no yardstick. They point into dimensions that the words hardly
# use, so what they show falls with the number of dimensions. Vectors of 50 dimensions with 250
# zeros appended have the same cosines, but uniform directions then overlap with them less than half
# as much. A direction from one word to another lies where the words lie.


DIRECTIONS = "directions between two random words"
"""What is drawn at random, for `Null.shuffled`."""
SAME = 1e-6  # squared distance of two unit vectors that count as equal: pruned tables share vectors


@dataclass(frozen=True)
class RandomDirections:
    """Directions between pairs of words.

    Parameters
    ----------
    vectors
        (draws, d) of length 1.
    others
        (draws, n): whether a word's vector is neither of the pair. The words of the pair overlap
        with their direction in any space.
    """

    vectors: Floats
    others: npt.NDArray[np.bool_]


def random_directions(
    words: Reals, *, rng: np.random.Generator, draws: int = NULL_DRAWS
) -> RandomDirections | None:
    """Return the directions between random pairs of (n, d) words, at length 1.

    None if fewer than three words have different vectors.

    Parameters
    ----------
    words
        (n, d) vectors; they are set to length 1. Rows of NaN are left out.
    rng
        Random number generator of the pairs.
    draws
        Number of directions.
    """
    units = unit_rows(words)
    known = units[np.isfinite(units).all(axis=1)]
    distinct = known[np.sort(np.unique(np.round(known, 6), axis=0, return_index=True)[1])]
    if len(distinct) < 3:
        return None
    first = rng.integers(len(distinct), size=draws)
    second = (first + rng.integers(1, len(distinct), size=draws)) % len(distinct)
    x, y = distinct[first], distinct[second]
    others = (x @ units.T < 1 - SAME / 2) & (y @ units.T < 1 - SAME / 2)
    return RandomDirections(unit_rows(y - x), others)


def correlations_along(
    items: Floats,
    labels: Floats,
    *,
    ranks: bool = False,
    rng: np.random.Generator,
    draws: int = NULL_DRAWS,
) -> Floats:
    """Return the correlations of labels with the items' places along directions between two items.

    What a direction that has nothing to do with the labels shows: items of any kind lie in few
    directions, and labels follow each of them to some degree. Shuffled labels do not know that.
    Items that differ in little but the label follow it along any direction: then nothing is found.

    Parameters
    ----------
    items
        (n, d) vectors; their products with a direction of length 1 are the places.
    labels
        (n,) numbers.
    ranks
        Whether the correlation is Spearman's, not Pearson's.
    rng
        Random number generator of the pairs.
    draws
        Number of directions.

    Returns
    -------
    (draws,) float64
        Over all items but the two of each direction. Without a value if fewer than three items have
        different vectors.
    """
    directions = random_directions(items, rng=rng, draws=draws) if draws else None
    if directions is None:
        return np.empty(0)
    places = directions.vectors @ items.T
    if ranks:
        from scipy.stats import rankdata  # it takes a second to import

        places, labels = rankdata(places, axis=1), rankdata(labels)
    return pearson(places, labels, directions.others.astype(np.float64))


def mean_over_others(values: Floats, directions: RandomDirections) -> Floats:
    """Return the (draws,) means of (draws, n) values, without the words of each direction."""
    kept = directions.others
    means: Floats = (values * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    return means
