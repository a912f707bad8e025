"""Bootstrap intervals of paired differences: over tasks, and over the items of a task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.results.record_parts import IntervalPart

if TYPE_CHECKING:
    from numpy.random import Generator as Rng

    from harness.arrays import Reals

LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 6
"""Fewest tasks or clusters for an interval: a bootstrap over fewer is overconfident."""
RESAMPLES = 2_000
BLOCK = 2_000_000
"""Number of draws in memory at once."""
Pair: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The rows of one item."""
_SEED = 0  # fixed: the same records give the same interval


def over_tasks(differences: Reals) -> IntervalPart | None:
    """Return the percentile interval of the mean of (n,) differences; None for few tasks."""
    import numpy as np

    n = len(differences)
    if n < FEWEST:
        return None
    rng = np.random.default_rng(_SEED)
    means = differences[rng.integers(n, size=(RESAMPLES, n))].mean(axis=1)
    return _percentiles(means, "percentile bootstrap of tasks")


def over_items(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> IntervalPart | None:
    """Return the percentile interval of the difference of two scores, over their items.

    Items are paired, and their clusters are resampled within each input. If targets and attributes
    split the score in two ways, both vary. What the items share, such as the spread in an effect
    size, stays as it is.

    Parameters
    ----------
    a, b
        The samples of both scores: a row for each item, with its `contribution`.

    Returns
    -------
    IntervalPart or None
        None if the scores are no means of the same items, or there are few clusters.
    """
    import numpy as np

    if [item(row) for row in a] != [item(row) for row in b]:
        return None
    if [_is_counted(row) for row in a] != [_is_counted(row) for row in b]:
        return None
    pairs = [pair for pair in zip(a, b, strict=True) if _is_counted(pair[0])]
    if not pairs:
        return None
    difference = fmean(_difference(pair) for pair in pairs)
    rng = np.random.default_rng(_SEED)
    values = np.full(RESAMPLES, difference)
    for part in _parts(pairs):
        strata: dict[Any, dict[Any, list[float]]] = {}
        for i, pair in enumerate(part):
            clusters = strata.setdefault(pair[0].get("input"), {})
            cluster = pair[0].get("cluster", f"item {i}")
            clusters.setdefault(cluster, []).append(_difference(pair))
        if sum(map(len, strata.values())) < FEWEST:
            return None
        values += _resampled(strata.values(), rng) - difference
    return _percentiles(values, "percentile bootstrap of clusters of paired items")


def _parts(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return the items by role, if each role alone has both scores as its means; else all.

    The role of an input is its name without the number: `targets` and `attributes`.
    """
    roles: dict[str, list[Pair]] = {}
    for pair in pairs:
        roles.setdefault(str(pair[0].get("input")).rstrip("_0123456789"), []).append(pair)
    for side in (0, 1):
        mean = fmean(pair[side]["contribution"] for pair in pairs)
        for part in roles.values():
            own = fmean(pair[side]["contribution"] for pair in part)
            if not math.isclose(own, mean, rel_tol=1e-6, abs_tol=1e-9):
                return [list(pairs)]
    return list(roles.values())


def _resampled(strata: Iterable[Mapping[Any, Sequence[float]]], rng: Rng) -> Reals:
    """Return resampled means: clusters are drawn with replacement within each stratum."""
    import numpy as np

    total, count = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for clusters in strata:
        n = len(clusters)
        sums = np.array([sum(values) for values in clusters.values()])
        sizes = np.array([len(values) for values in clusters.values()])
        for start in range(0, RESAMPLES, step := max(1, BLOCK // n)):
            size = min(step, RESAMPLES - start)
            drawn = rng.multinomial(n, np.full(n, 1 / n), size=size)
            total[start : start + size] += drawn @ sums
            count[start : start + size] += drawn @ sizes
    return np.asarray(total / count)


def _difference(pair: Pair) -> float:
    return float(pair[1]["contribution"] - pair[0]["contribution"])


def _is_counted(row: Mapping[str, Any]) -> bool:
    return row.get("contribution") is not None


def item(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what names an item: its text and input or, for a pair, the text of each input."""
    of_pair = [key for key in row if not key.endswith("_embedded")]
    keys = ("input", "text") if "text" in row else of_pair
    return {key: row[key] for key in keys if isinstance(row.get(key), str)}


def _percentiles(values: Reals, method: str) -> IntervalPart:
    import numpy as np

    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return IntervalPart(low=float(low), high=float(high), level=LEVEL, method=method)
