"""Random assignments of items to sides: what a score shows without the bias that it measures.

A metric computes its score for each assignment and returns the values as `Score.null`. The mean
of their distances from the ideal is the floor of the score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.errors import InvalidOption
from harness.metrics import Null, t_p_value

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
MAX_CELLS = 200_000  # random keys held at once: 1.6 MB, which a processor's cache holds
FEW_CELLS = 10_000  # keys that are drawn sooner than the state of the generator is looked up
KEPT = 1_000  # masks that are kept: up to 25 MB
_KEPT: dict[tuple[object, ...], tuple[npt.NDArray[np.uint8], Mapping[str, Any]]] = {}
"""Masks as bits, and the state of the generator after them, by what they were drawn from. A task is
scored under one mitigator after the other, by the same draws."""


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
        Number of possible partitions, or of swaps of pairs; None if it was not counted.
    permute
        Unit that the partitions move: `clusters` if some items share a cluster, else `items`.
    """

    p_value: float
    two_sided: float
    kind: str
    partitions: int | None
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
    before = rng.bit_generator.state if permutations * n > FEW_CELLS else {}
    key = n, size, permutations, repr(before)
    if before and key in _KEPT:
        bits, rng.bit_generator.state = _KEPT[key]
        return np.unpackbits(bits, axis=1, count=n).view(np.bool_)
    keys = rng.integers(0, 2**64, size=(permutations, n), dtype=np.uint64)
    largest = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    chosen: Chosen = keys <= largest
    # The state of other generators is too long to be a key.
    if before.get("bit_generator") == "PCG64" and chosen.size <= MAX_CELLS:
        _KEPT[key] = np.packbits(chosen, axis=1), rng.bit_generator.state
        if len(_KEPT) > KEPT:
            del _KEPT[next(iter(_KEPT))]
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
    # Not bool: numpy shuffles numbers of eight bytes in two thirds of the time, in the same order.
    chosen = np.tile((np.arange(first) < in_first).astype(np.intp), (draws, 1))
    masks: Mask = rng.permuted(chosen, axis=1).astype(np.bool_)
    if first == sum(sizes):  # the columns lie as an index leaves them: sums have the same rounding
        return np.asfortranarray(masks)
    return masks[:, unit]


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


def one_sided(value: float, null: Floats, *, tolerance: float = TIE) -> float | None:
    """Return the one-sided p-value of a score: the share of draws that are at least as high.

    Parameters
    ----------
    value
        The score.
    null
        (draws,) values of the score with its sides shuffled.
    tolerance
        Values that are lower by less count as equal.
    """
    if len(null) == 0:
        return None
    return (int(np.count_nonzero(null >= value - tolerance)) + 1) / (len(null) + 1)


# Items assigned to two sides at random: what a contrast shows without them.
#
# The sides of pairs are swapped, or the members of both sets are drawn anew. Items that share a
# cluster or a text move together.


SHUFFLES = 10_000
INPUTS = ("targets_1", "targets_2")
ENOUGH_PAIRS = 6
"""Fewest pairs whose swaps can have a two-sided p-value below 5 %: 2 of 64."""
Units = tuple[Codes | None, Codes | None]


@dataclass(frozen=True, eq=False)
class Shuffled:
    """One side of a contrast assigned at random, and the test of the observed assignment.

    Parameters
    ----------
    values
        (draws,) values of the score.
    shuffled
        What was assigned at random.
    test
        The test of the observed assignment, by the score.
    weights
        (draws, n + m): weights of the items whose sum is the score; none where it is no sum.
    units
        Number of pairs or items that move on their own: two pairs leave no p-value below .5. None
        where it is not counted.
    """

    values: Floats
    shuffled: str
    test: PartitionTest
    weights: Floats = field(default_factory=lambda: np.empty((0, 0)))
    units: int | None = None


@dataclass(frozen=True, eq=False)
class Chance:
    """What a contrast shows by chance: its p-value and its floor, over each side that is shuffled.

    Targets drawn from other words keep a chance difference between the attributes, and other
    attributes one between the targets. Each shuffle alone takes the other side for granted: with
    real targets and random words as attributes it finds a difference far too often. A bias needs
    both sides, so the p-value is the larger of the two, and so is the floor. Where either side is
    exchangeable, the larger p-value is below 5 % at most as often as that side's own
    (an intersection-union test, Berger 1982).

    Parameters
    ----------
    sides
        Each side that is shuffled, by its name in the details: `targets`, `attributes`. A single
        one is a published variant.
    ideal
        The fair value of the score.
    """

    sides: Mapping[str, Shuffled]
    ideal: float = 0.0

    @property
    def deciding(self) -> Shuffled:
        """The side with the larger p-value."""
        return max(self.sides.values(), key=lambda side: side.test.p_value)

    @property
    def p_value(self) -> float | None:
        """The larger p-value; None if no side is shuffled."""
        return self.deciding.test.p_value if self.sides else None

    @property
    def two_sided(self) -> float:
        """The larger two-sided p-value, whatever the alternative; 1 if no side is shuffled."""
        return max((side.test.two_sided for side in self.sides.values()), default=1.0)

    @property
    def null(self) -> Null | None:
        """Values of the score on the side with the larger floor; None without a draw."""
        found = (Null(side.values, side.shuffled) for side in self.sides.values())
        return larger_floor(*found, ideal=self.ideal)

    @property
    def p_values(self) -> dict[str, float]:
        """`p_targets` and `p_attributes`, of the sides that are shuffled."""
        return {f"p_{name}": side.test.p_value for name, side in self.sides.items()}


def larger_floor(*nulls: Null, ideal: float = 0.0) -> Null | None:
    """Return the null with the larger mean distance from the ideal; None if none has a value."""
    floors = {
        float(np.mean(np.abs(values - ideal))): null
        for null in nulls
        if len(values := null.values[np.isfinite(null.values)])
    }
    return floors[max(floors)] if floors else None


def shuffled_sets(
    first: Floats,
    second: Floats,
    *,
    shuffled: str,
    units: Units = (None, None),
    alternative: Alternative = "two-sided",
    exact_limit: int = SHUFFLES,
    permutations: int = SHUFFLES,
    draws: int = DRAWS,
    rng: np.random.Generator,
) -> Shuffled:
    """Draw the members of two sets from their union, and test the difference of their means.

    Parameters
    ----------
    first, second
        (n,) and (m,) values.
    shuffled
        What they are, such as `members of the target sets`.
    units
        Codes of the items of both sets that move together; None where each moves on its own.
    alternative, exact_limit, permutations
        As for `partition_test`.
    draws
        Number of random assignments for the floor.
    rng
        Random number generator.

    Raises
    ------
    InvalidOption
        If `permutations` is below 1.
    """
    test = partition_test(
        first,
        second,
        rng=rng,
        clusters=units,
        alternative=alternative,
        exact_limit=exact_limit,
        permutations=permutations,
    )
    in_first = shuffled_members((len(first), len(second)), rng=rng, clusters=units, draws=draws)
    moved = units_of(len(first), units[0])[0] + units_of(len(second), units[1])[0]
    sizes: Any = len(first)
    if moved < in_first.shape[1]:  # sets of clusters have various numbers of items
        sizes = in_first.sum(axis=1, keepdims=True)
    weights = np.where(in_first, 1 / sizes, -1 / (in_first.shape[1] - sizes))
    return Shuffled(weights @ np.concatenate([first, second]), shuffled, test, weights, moved)


def shuffled_pairs(
    first: Floats,
    second: Floats,
    *,
    units: Codes | None = None,
    permutations: int = SHUFFLES,
    draws: int = DRAWS,
    few_by_t: bool = False,
    rng: np.random.Generator,
) -> Shuffled:
    """Swap the sides of pairs at random, and test the mean of their differences.

    Parameters
    ----------
    first, second
        (n,) values of both sides of the pairs.
    units
        Codes of the pairs that are swapped together; None where each is swapped on its own.
    permutations
        Number of random assignments for the p-value; if there are at most as many, all count.
    draws, rng
        As for `shuffled_sets`.
    few_by_t
        Whether fewer than `ENOUGH_PAIRS` are tested by Student's t over pairs: no number of swaps
        gives these a p-value below 5 %.

    Raises
    ------
    InvalidOption
        If `permutations` is below 1.
    """
    if permutations < 1:
        raise InvalidOption(f"permutations={permutations}: must be at least 1")
    number, unit = units_of(len(first), units)
    sums: Floats = np.bincount(unit, weights=first - second).astype(np.float64)
    if few_by_t and 1 < number < ENOUGH_PAIRS:
        test = _t_test(sums)
    else:
        test = _swap_test(sums, permutations, rng)
    signs = shuffled_sides(len(first), rng=rng, clusters=units, draws=draws)
    weights = np.hstack([signs, -signs]) / len(first)
    return Shuffled(weights @ np.concatenate([first, second]), SIDES, test, weights, number)


def by_draws(
    value: float,
    values: Floats,
    shuffled: str,
    *,
    ideal: float = 0.0,
    p_value: float | None = None,
) -> Shuffled:
    """Return a side of a score that is no sum of items: its (draws,) values test it, too.

    Parameters
    ----------
    value
        The observed value.
    values
        (draws,) values with the side assigned at random.
    shuffled
        What was assigned, such as `members of the target sets`.
    ideal
        The fair value.
    p_value
        The two-sided p-value, where a formula gives it; by default that of the draws, 1 without
        any.
    """
    if p_value is None:
        p_value = two_sided(value, values, ideal=ideal)
    p_value = 1.0 if p_value is None else p_value
    test = PartitionTest(p_value, p_value, f"{len(values)} permutations", None, "items")
    return Shuffled(values, shuffled, test)


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


def _t_test(sums: Floats) -> PartitionTest:
    """Return Student's test of the mean of (n,) differences; certain if all are equal."""
    error = float(sums.std(ddof=1)) / math.sqrt(len(sums))
    p_value = float(sums.mean() == 0)
    if error > TIE * np.abs(sums).max():
        p_value = float(t_p_value(sums.mean() / error, len(sums) - 1))
    return PartitionTest(p_value, p_value, f"t of {len(sums)} pairs", None, "items")


def _swap_test(sums: Floats, permutations: int, rng: np.random.Generator) -> PartitionTest:
    """Return the two-sided test of the sum of (n,) differences, each of either sign."""
    observed, room = abs(sums.sum()), TIE * max(1.0, np.abs(sums).sum())
    if 2 ** len(sums) <= permutations:
        numbers = np.arange(2 ** len(sums))[:, None]
        signs = 1.0 - 2.0 * (numbers >> np.arange(len(sums)) & 1)
        p_value, kind = float(np.mean(np.abs(signs @ sums) >= observed - room)), "exact"
    else:
        signs = shuffled_sides(len(sums), rng=rng, draws=permutations)
        hits = int(np.count_nonzero(np.abs(signs @ sums) >= observed - room))
        p_value, kind = (hits + 1) / (permutations + 1), f"{permutations} permutations"
    return PartitionTest(p_value, p_value, kind, 2 ** len(sums), "items")
