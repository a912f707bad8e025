"""The permutation test of two sets: all partitions of their union where few, else a sample.

The statistic is the difference of the two means, so a partition counts only by the sum over its
first part: one number an item is all that is needed. Knows no embeddings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from harness.arrays import Floats
from harness.errors import InvalidOption

Alternative: TypeAlias = Literal["greater", "less", "two-sided"]
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
    """

    p_value: float
    kind: str
    partitions: int


def partition_test(
    first: Floats,
    second: Floats,
    *,
    rng: np.random.Generator,
    alternative: Alternative = "greater",
    exact_limit: int = EXACT_LIMIT,
    permutations: int = PERMUTATIONS,
) -> PartitionTest:
    """Test whether the mean of `first` is higher than that of `second` by more than chance.

    Every partition of the union into parts of the observed sizes is equally likely under the
    null hypothesis. Up to `exact_limit` partitions all are counted, the observed one among them;
    beyond, `permutations` are drawn, each without replacement, and p = (hits + 1) / (draws + 1).

    Parameters
    ----------
    first, second
        (n,) and (m,) values; the sizes may differ, and the partitions keep them.
    rng
        Source of the draws.
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
    Caliskan et al. (2017), Semantics derived automatically from language corpora, methods;
    Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    if permutations < 1:
        raise InvalidOption(f"permutations={permutations}: 1 or more are needed")
    values = np.concatenate([first, second]).astype(np.float64)
    values -= values.mean()  # so that the sum of a part alone tells the difference of the means
    partitions = math.comb(len(values), len(first))
    tolerance = TIE * max(1.0, np.abs(values).sum())
    observed = values[: len(first)].sum()

    def hits(sums: Floats) -> int:
        if alternative == "greater":
            return int(np.count_nonzero(sums >= observed - tolerance))
        if alternative == "less":
            return int(np.count_nonzero(sums <= observed + tolerance))
        return int(np.count_nonzero(np.abs(sums) >= abs(observed) - tolerance))

    if partitions <= exact_limit:
        found = hits(_all_sums(values, len(first)))
        return PartitionTest(found / partitions, "exact", partitions)
    step = max(1, MAX_CELLS // len(values))
    found = sum(
        hits(_sampled_sums(values, len(first), min(step, permutations - start), rng))
        for start in range(0, permutations, step)
    )
    p_value = (found + 1) / (permutations + 1)
    return PartitionTest(p_value, f"{permutations} permutations", partitions)


def _all_sums(values: Floats, size: int) -> Floats:
    """Return the (C(n, size),) sums of all subsets of `size` values.

    Adds one value after the other: a subset of j either leaves it out or takes it.
    """
    sums = [np.zeros(1)] + [np.empty(0)] * size  # by the number of values taken so far
    for i, value in enumerate(values):
        left = len(values) - i - 1
        for taken in range(min(i + 1, size), max(1, size - left) - 1, -1):
            sums[taken] = np.concatenate([sums[taken], sums[taken - 1] + value])
    return sums[size]


def _sampled_sums(values: Floats, size: int, permutations: int, rng: np.random.Generator) -> Floats:
    """Return the (permutations,) sums of random subsets of `size` values.

    A subset is where the `size` smallest of n random keys lie; 64-bit keys do not tie.
    """
    keys = rng.integers(0, 2**64, size=(permutations, len(values)), dtype=np.uint64)
    largest = np.partition(keys, size - 1, axis=1)[:, size - 1 : size]
    sums: Floats = (keys <= largest) @ values
    return sums
