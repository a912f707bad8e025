"""The permutation test of two sets: all partitions of their union where few, else a sample.

The statistic is the difference of the two means, so a partition counts only by the sum over its
first part and by the size of that: two numbers a unit, an item or a cluster of items, are all that
is needed. Knows no embeddings.
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
from harness.plugins.metrics.statistics.bootstrap import Codes

Alternative: TypeAlias = Literal["greater", "less", "two-sided"]
Chosen: TypeAlias = npt.NDArray[np.bool_]
Unit: TypeAlias = Literal["clusters", "items"]
EXACT_LIMIT = 1_000_000
PERMUTATIONS = 100_000
TIE = 1e-12  # relative: sums of the same numbers in another order differ by less
MAX_CELLS = 2_000_000  # random keys held at once: 16 MB


@dataclass(frozen=True)
class PartitionTest:
    """The outcome of a permutation test.

    Parameters
    ----------
    p_value
        Share of partitions at least as extreme as the one observed.
    kind
        `exact`, or `N permutations`.
    partitions
        Number of partitions that there are.
    permute
        What the partitions move: `clusters` where some items share one, else `items`.
    """

    p_value: float
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
    """Test whether the mean of `first` is higher than that of `second` by more than chance.

    Every partition of the union into parts of the observed sizes is equally likely under the
    null hypothesis. Items that share a cluster move together, and the sizes kept are numbers of
    clusters; the statistic remains the difference of the means over items. Up to `exact_limit`
    partitions all are counted, the observed one among them; beyond, `permutations` are drawn,
    each without replacement, and p = (hits + 1) / (draws + 1).

    Parameters
    ----------
    first, second
        (n,) and (m,) values; the sizes may differ, and the partitions keep them.
    rng
        Source of the draws.
    clusters
        For `first` and for `second` the codes of the clusters that the items belong to, one
        code of the one set having nothing to do with that of the other; None where items are
        their own clusters.
    alternative
        `greater`, `less`, or `two-sided` (by the absolute difference of the means).
    exact_limit
        Largest number of partitions that is counted in full.
    permutations
        Number of draws beyond that.

    Raises
    ------
    InvalidOption
        If there is nothing to draw.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora;
    Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    if permutations < 1:
        raise InvalidOption(f"permutations={permutations}: 1 or more are needed")
    values = np.concatenate([first, second]).astype(np.float64)
    values -= values.mean()  # so that a part's sum and size alone tell the difference of the means
    tolerance = TIE * max(1.0, np.abs(values).sum())
    observed = values[: len(first)].sum()
    n, total = len(first), len(values)
    clustered = any(codes is not None and len(np.unique(codes)) < len(codes) for codes in clusters)
    sizes: Floats | None = None
    if clustered:
        values, sizes, n = _units(values, [len(first), len(second)], clusters)
    partitions = math.comb(len(values), n)

    def hits(sums: Floats, parts: Floats | None) -> int:
        if parts is not None:  # the means differ by Σ (1/m + 1/(total - m)) for a part of m items
            sums = sums * (len(first) * len(second)) / (parts * (total - parts))
        if alternative == "greater":
            return int(np.count_nonzero(sums >= observed - tolerance))
        if alternative == "less":
            return int(np.count_nonzero(sums <= observed + tolerance))
        return int(np.count_nonzero(np.abs(sums) >= abs(observed) - tolerance))

    permute: Unit = "clusters" if clustered else "items"
    if partitions <= exact_limit:
        found = hits(_all_sums(values, n), None if sizes is None else _all_sums(sizes, n))
        return PartitionTest(found / partitions, "exact", partitions, permute)
    found, step = 0, max(1, MAX_CELLS // len(values))
    for start in range(0, permutations, step):
        chosen = _samples(len(values), n, min(step, permutations - start), rng)
        found += hits(chosen @ values, None if sizes is None else chosen @ sizes)
    p_value = (found + 1) / (permutations + 1)
    return PartitionTest(p_value, f"{permutations} permutations", partitions, permute)


def _units(
    values: Floats, lengths: Sequence[int], clusters: Sequence[Codes | None]
) -> tuple[Floats, Floats, int]:
    """Return the sum and the size of each cluster, and how many clusters are of the first set."""
    starts, members = [0], []
    for length, codes in zip(lengths, clusters, strict=True):
        given = np.arange(length) if codes is None else codes
        found, inverse = np.unique(given, return_inverse=True)
        members.append(starts[-1] + inverse)
        starts.append(starts[-1] + len(found))
    unit = np.concatenate(members)
    sums = np.bincount(unit, weights=values).astype(np.float64)
    return sums, np.bincount(unit).astype(np.float64), starts[1]


def _all_sums(values: Floats, size: int) -> Floats:
    """Return the (C(n, size),) sums of all subsets of `size` values.

    Adds one value after the other: a subset of j either leaves it out or takes it. The order of
    the subsets depends on the numbers n and `size` alone.
    """
    sums = [np.zeros(1)] + [np.empty(0)] * size  # by the number of values taken so far
    for i, value in enumerate(values):
        left = len(values) - i - 1
        for taken in range(min(i + 1, size), max(1, size - left) - 1, -1):
            sums[taken] = np.concatenate([sums[taken], sums[taken - 1] + value])
    return sums[size]


def _samples(n: int, size: int, permutations: int, rng: np.random.Generator) -> Chosen:
    """Return random subsets of `size` of n units, (permutations, n) whether each is in it.

    A subset is where the `size` smallest of n random keys lie; 64-bit keys do not tie.
    """
    keys = rng.integers(0, 2**64, size=(permutations, n), dtype=np.uint64)
    largest = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    chosen: Chosen = keys <= largest
    return chosen
