"""Random assignments of items to sides: what a score shows without the bias that it measures.

A metric computes its score for each assignment and returns the values as `Score.null`. The mean
of their distances from the ideal is the floor of the score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.errors import InvalidOption

from .intervals import Codes, units_of

# Permutation test of two sets: over all partitions of their union, or over a random sample.
#
# The statistic is the difference of the two means. It depends on a partition only through the sum
# and the size of the first part, so the test needs two numbers per unit (an item or a cluster).


Alternative: TypeAlias = Literal["greater", "less", "two-sided"]
Chosen: TypeAlias = npt.NDArray[np.bool_]
Hits: TypeAlias = npt.NDArray[np.int64]
Unit: TypeAlias = Literal["clusters", "items"]
EXACT_LIMIT = 1_000_000
PERMUTATIONS = 100_000
TIE = 1e-12  # relative: the order of summation changes a sum by less
MAX_CELLS = 2_000_000  # random keys held at once: 16 MB


@dataclass(frozen=True)
class PartitionTest:
    """Result of a permutation test.

    Parameters
    ----------
    p_value
        Share of partitions that are at least as extreme as the observed one, in (0, 1].
    two_sided
        The same by the absolute difference of the means, whatever the alternative.
    kind
        `exact`, or `N permutations`.
    partitions
        Number of possible partitions.
    permute
        Unit that the partitions move: `clusters` if some items share a cluster, else `items`.
    """

    p_value: float
    two_sided: float
    kind: str
    partitions: int
    permute: Unit


def partition_test(
    first: Floats,
    second: Floats,
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] = (None, None),
    alternative: Alternative = "greater",
    exact_limit: int = EXACT_LIMIT,
    permutations: int = PERMUTATIONS,
) -> PartitionTest:
    """Test the difference of the means of `first` and `second` by permutation.

    Under the null hypothesis, every partition of the union into parts of the observed sizes is
    equally likely. Items that share a cluster move together; the sizes are then numbers of
    clusters, and the statistic remains the difference of the means over items. If there are at
    most `exact_limit` partitions, all are counted, the observed one included. Otherwise
    `permutations` random partitions are drawn and p = (hits + 1) / (permutations + 1).

    Parameters
    ----------
    first, second
        (n,) and (m,) values; the sizes may differ.
    rng
        Random number generator of the partitions.
    clusters
        For `first` and for `second`, the cluster codes of the items; None where each item is its
        own cluster. The same code in both sets means two different clusters.
    alternative
        `greater`, `less`, or `two-sided` (by the absolute difference of the means).
    exact_limit
        Largest number of partitions that are all counted.
    permutations
        Number of random partitions if there are more.

    Returns
    -------
    PartitionTest

    Raises
    ------
    InvalidOption
        If `permutations` is below 1.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases. Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    if permutations < 1:
        raise InvalidOption(f"permutations={permutations}: must be at least 1")
    values = np.concatenate([first, second]).astype(np.float64)
    values -= values.mean()  # then a part's sum and size give the difference of the means
    tolerance = TIE * max(1.0, np.abs(values).sum())
    observed = values[: len(first)].sum()
    n, total = len(first), len(values)
    clustered = any(codes is not None and len(np.unique(codes)) < len(codes) for codes in clusters)
    sizes: Floats | None = None
    if clustered:
        values, sizes, n = _units(values, [len(first), len(second)], clusters)
    partitions = math.comb(len(values), n)

    def hits(sums: Floats, parts: Floats | None) -> Hits:
        if parts is not None:  # the means differ by Σ (1/m + 1/(total - m)) for a part of m items
            sums = sums * (len(first) * len(second)) / (parts * (total - parts))
        two_sided = np.abs(sums) >= abs(observed) - tolerance
        as_extreme = two_sided
        if alternative == "greater":
            as_extreme = sums >= observed - tolerance
        elif alternative == "less":
            as_extreme = sums <= observed + tolerance
        return np.array([np.count_nonzero(as_extreme), np.count_nonzero(two_sided)])

    permute: Unit = "clusters" if clustered else "items"
    if partitions <= exact_limit:
        counts = hits(_all_sums(values, n), None if sizes is None else _all_sums(sizes, n))
        p_value, two_sided = (counts / partitions).tolist()
        return PartitionTest(p_value, two_sided, "exact", partitions, permute)
    counts, step = np.zeros(2, dtype=np.int64), max(1, MAX_CELLS // len(values))
    for start in range(0, permutations, step):
        chosen = _samples(len(values), n, min(step, permutations - start), rng)
        counts += hits(chosen @ values, None if sizes is None else chosen @ sizes)
    p_value, two_sided = ((counts + 1) / (permutations + 1)).tolist()
    return PartitionTest(p_value, two_sided, f"{permutations} permutations", partitions, permute)


def _units(
    values: Floats, lengths: Sequence[int], clusters: Sequence[Codes | None]
) -> tuple[Floats, Floats, int]:
    """Return the sum and the size of each cluster, and the number of clusters of the first set."""
    starts, members = [0], []
    for length, codes in zip(lengths, clusters, strict=True):
        number, unit_of = units_of(length, codes)
        members.append(starts[-1] + unit_of)
        starts.append(starts[-1] + number)
    unit = np.concatenate(members)
    sums = np.bincount(unit, weights=values).astype(np.float64)
    return sums, np.bincount(unit).astype(np.float64), starts[1]


def _all_sums(values: Floats, size: int) -> Floats:
    """Return the (C(n, size),) sums of all subsets of `size` values.

    Values are added one by one: a subset either takes the next value or not. The order of the
    subsets depends only on n and `size`.
    """
    sums = [np.zeros(1)] + [np.empty(0)] * size  # by the number of values taken so far
    for i, value in enumerate(values):
        remaining = len(values) - i - 1
        for taken in range(min(i + 1, size), max(1, size - remaining) - 1, -1):
            sums[taken] = np.concatenate([sums[taken], sums[taken - 1] + value])
    return sums[size]


def _samples(n: int, size: int, permutations: int, rng: np.random.Generator) -> Chosen:
    """Return (permutations, n) masks of random subsets with `size` of n units.

    A subset is the positions of the `size` smallest of n random keys; 64-bit keys do not tie.
    """
    keys = rng.integers(0, 2**64, size=(permutations, n), dtype=np.uint64)
    largest = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    chosen: Chosen = keys <= largest
    return chosen


DRAWS = 500
"""Number of assignments: the standard error of a floor is then some 3 % of its value."""
LABELS = "labels of the items"
MEMBERS = "members of the target sets"
ATTRIBUTES = "members of the attribute sets"
SIDES = "sides of the pairs"


def shuffled_members(
    sizes: tuple[int, int],
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] = (None, None),
    draws: int = DRAWS,
) -> Mask:
    """Return which items of the union of two sets are in the first one, at random.

    Parameters
    ----------
    sizes
        Number of items n and m of both sets.
    rng
        Random number generator of the assignments.
    clusters
        For each set, the cluster codes of its items, which move together; None where each item is
        its own cluster. The same code in both sets means two different clusters. The number of
        clusters of a set stays the same; its number of items may not.
    draws
        Number of assignments.

    Returns
    -------
    (draws, n + m) bool
    """
    units, first = [], 0
    for size, codes in zip(sizes, clusters, strict=True):
        number, unit = units_of(size, codes)
        units.append(unit + first)
        first += number
    unit = np.concatenate(units)
    in_first = int(units[0].max()) + 1 if sizes[0] else 0
    chosen = np.tile(np.arange(first) < in_first, (draws, 1))
    masks: Mask = rng.permuted(chosen, axis=1)[:, unit]
    return masks


def differences_of_means(values: Floats, in_first: Mask) -> Floats:
    """Return the (draws,) means of (n,) values in random first sets, less those of the others."""
    sizes = in_first.sum(axis=1)
    sums = in_first @ values
    differences: Floats = sums / sizes - (values.sum() - sums) / (len(values) - sizes)
    return differences


def shuffled_sides(
    pairs: int,
    *,
    rng: np.random.Generator,
    clusters: Codes | None = None,
    draws: int = DRAWS,
) -> Floats:
    """Return for each pair 1 if its sides stay, or −1 if they are swapped, at random.

    Parameters
    ----------
    pairs
        Number n of pairs.
    rng
        Random number generator of the swaps.
    clusters
        (n,) cluster codes of the pairs; the pairs of a cluster are swapped together.
    draws
        Number of assignments.

    Returns
    -------
    (draws, n) float64
    """
    number, unit = units_of(pairs, clusters)
    signs: Floats = rng.choice([-1.0, 1.0], size=(draws, number))[:, unit]
    return signs


def exchanged_within(codes: Codes, *, rng: np.random.Generator, draws: int = DRAWS) -> Codes:
    """Return (draws, n) rows: at the place of each item a random item of its class.

    Parameters
    ----------
    codes
        (n,) code of the class of each item.
    rng
        Random number generator of the exchanges.
    draws
        Number of exchanges.
    """
    ordered = np.argsort(codes, kind="stable")
    drawn = np.argsort(codes + rng.random((draws, len(codes))), axis=1)
    rows: Codes = np.empty_like(drawn)
    rows[:, ordered] = drawn
    return rows


def shuffled_correlations(
    x: Floats, y: Floats, *, rng: np.random.Generator, draws: int = DRAWS
) -> Floats:
    """Return the (draws,) Pearson correlations of (n,) x with (n,) y in random order.

    NaN if one of them is constant. Of midranks, they are Spearman correlations.
    """
    dx, dy = (np.asarray(values, dtype=np.float64) - np.mean(values) for values in (x, y))
    scale = float(np.sqrt((dx @ dx) * (dy @ dy)))
    if scale == 0:
        return np.full(draws, np.nan)
    correlations: Floats = rng.permuted(np.tile(dy, (draws, 1)), axis=1) @ dx / scale
    return np.clip(correlations, -1.0, 1.0)


def two_sided(value: float, null: Floats, *, ideal: float = 0.0) -> float | None:
    """Return the two-sided p-value of a score: the share of draws as far from its ideal.

    (hits + 1)/(draws + 1), as for any sampled null. None without a draw.

    Parameters
    ----------
    value
        The score.
    null
        (draws,) values of the score with its sides shuffled; those that are NaN do not count.
    ideal
        The fair value.
    """
    far = np.abs(null[np.isfinite(null)] - ideal)
    if len(far) == 0:
        return None
    distance = abs(value - ideal)
    hits = int(np.count_nonzero(far >= distance - TIE * max(1.0, distance)))
    return (hits + 1) / (len(far) + 1)


# Target words assigned to two sides at random: what an association shows without its targets.
#
# The sides of pairs are swapped, or the members of both sets are drawn anew. Words that share a
# cluster or a text move together.


SHUFFLES = 10_000
INPUTS = ("targets_1", "targets_2")
Units = tuple[Codes | None, Codes | None]


@dataclass(frozen=True)
class Shuffled:
    """Random assignments of n + m targets, and the test of the observed one.

    Parameters
    ----------
    weights
        (draws, n + m): weights of the targets whose sum is the difference of the sides' means.
    p_value
        Share of assignments with a difference of the means at least as far from 0 as the observed.
    kind
        `exact` if all assignments were counted, else their number.
    shuffled
        What was assigned at random.
    units
        Number of pairs or targets that move on their own: two pairs leave no p-value below .5.
    """

    weights: Floats
    p_value: float
    kind: str
    shuffled: str
    units: int


def shuffled_targets(
    s_1: Floats,
    s_2: Floats,
    *,
    paired: bool,
    units: Units,
    permutations: int = SHUFFLES,
    rng: np.random.Generator,
) -> Shuffled:
    """Assign targets to sides at random and test the difference of their mean associations.

    Parameters
    ----------
    s_1, s_2
        (n,) and (m,) associations of the targets.
    paired
        Whether rows of both sets are pairs, so that only their sides are swapped.
    units
        Codes of the targets of both sets, as from `target_units`.
    permutations
        Number of random assignments for the p-value; if there are at most as many, all count.
    rng
        Random number generator.

    Raises
    ------
    InvalidOption
        If `permutations` is below 1.
    """
    if permutations < 1:
        raise InvalidOption(f"permutations={permutations}: must be at least 1")
    if paired:
        signs = shuffled_sides(len(s_1), rng=rng, clusters=units[0])
        p_value, kind = _swap_test(s_1 - s_2, units[0], permutations, rng)
        weights = np.hstack([signs, -signs]) / len(s_1)
        return Shuffled(weights, p_value, kind, SIDES, units_of(len(s_1), units[0])[0])
    first = shuffled_members((len(s_1), len(s_2)), rng=rng, clusters=units)
    sizes_1 = first.sum(axis=1, keepdims=True)
    weights = np.where(first, 1 / sizes_1, -1 / (first.shape[1] - sizes_1))
    test = partition_test(
        s_1,
        s_2,
        rng=rng,
        clusters=units,
        alternative="two-sided",
        exact_limit=permutations,
        permutations=permutations,
    )
    moved = units_of(len(s_1), units[0])[0] + units_of(len(s_2), units[1])[0]
    return Shuffled(weights, test.p_value, test.kind, MEMBERS, moved)


def target_units(
    clusters: Mapping[str, Codes] | None,
    texts: Mapping[str, Sequence[str]] | None,
    *,
    sizes: tuple[int, int],
    paired: bool,
) -> Units:
    """Return the codes of what moves together: words of one cluster or of the same text.

    Pairs that share a word on either side move together; both sets then have the same codes.

    Raises
    ------
    InvalidOption
        If pairs are announced, but the sets differ in size.
    """
    if paired and sizes[0] != sizes[1]:
        both = f"{sizes[0]} and {sizes[1]}"
        raise InvalidOption(f"paired_targets: the target sets have {both} items, so no pairs")
    of_sets = [
        [
            np.arange(size) if codes is None else codes
            for codes in (
                (clusters or {}).get(name),
                None if texts is None or name not in texts else _codes(texts[name]),
            )
        ]
        for name, size in zip(INPUTS, sizes, strict=True)
    ]
    if paired:
        units = _joined(of_sets[0] + of_sets[1])
        return units, units
    return _joined(of_sets[0]), _joined(of_sets[1])


def _codes(texts: Sequence[str]) -> Codes:
    return np.unique(np.asarray(texts, dtype=str), return_inverse=True)[1]


def _joined(codes: Sequence[Codes]) -> Codes:
    """Return codes of the items that share any of several codes, directly or through others."""
    joined = np.arange(len(codes[0]))
    while True:
        before = joined
        for own in codes:
            unit = np.unique(own, return_inverse=True)[1]
            lowest = np.full(len(unit), len(unit))
            np.minimum.at(lowest, unit, joined)
            joined = lowest[unit]
        if np.array_equal(joined, before):
            return joined


def _swap_test(
    differences: Floats, units: Codes | None, permutations: int, rng: np.random.Generator
) -> tuple[float, str]:
    """Return the two-sided p-value of the mean of (n,) differences of pairs, and its kind."""
    sums = np.bincount(units_of(len(differences), units)[1], weights=differences)
    observed, room = abs(sums.sum()), TIE * max(1.0, np.abs(sums).sum())
    if 2 ** len(sums) <= permutations:
        numbers = np.arange(2 ** len(sums))[:, None]
        signs = 1.0 - 2.0 * (numbers >> np.arange(len(sums)) & 1)
        return float(np.mean(np.abs(signs @ sums) >= observed - room)), "exact"
    signs = shuffled_sides(len(sums), rng=rng, draws=permutations)
    hits = int(np.count_nonzero(np.abs(signs @ sums) >= observed - room))
    return (hits + 1) / (permutations + 1), f"{permutations} permutations"
