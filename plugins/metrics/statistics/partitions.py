"""Permutation test of two sets: over all partitions of their union, or over a random sample.

The statistic is the difference of the two means. It depends on a partition only through the sum
and the size of the first part, so the test needs two numbers per unit (an item or a cluster).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.plugins.metrics.statistics.intervals import Codes, units_of

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
