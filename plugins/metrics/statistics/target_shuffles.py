"""Target words assigned to two sides at random: what an association shows without its targets.

The sides of pairs are swapped, or the members of both sets are drawn anew. Words that share a
cluster or a text move together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.plugins.metrics.statistics.intervals import Codes, units_of
from harness.plugins.metrics.statistics.nulls import (
    MEMBERS,
    SIDES,
    shuffled_members,
    shuffled_sides,
)
from harness.plugins.metrics.statistics.partitions import TIE, partition_test

PERMUTATIONS = 10_000
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
    permutations: int = PERMUTATIONS,
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
