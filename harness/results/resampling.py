"""Bootstrap intervals of paired differences: over tasks, and over the items of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.results.record import IntervalPart

if TYPE_CHECKING:
    from harness.arrays import Reals

LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 6
"""Fewest tasks or clusters for an interval: a bootstrap over fewer is overconfident."""
RESAMPLES = 2_000
BLOCK = 2_000_000
"""Number of draws in memory at once."""
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

    Items are paired, and their clusters are resampled within each input. What the items share,
    such as the spread in an effect size, stays as it is.

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

    rows = [(left, right) for left, right in zip(a, b, strict=False) if _counts(left, right)]
    is_paired = len(a) == len(b) and all(_item(x) == _item(y) for x, y in zip(a, b, strict=True))
    if not is_paired or len(rows) != sum(map(_is_counted, [*a, *b])) / 2:
        return None
    strata: dict[Any, dict[Any, list[float]]] = {}
    for i, (left, right) in enumerate(rows):
        clusters = strata.setdefault(left.get("input"), {})
        cluster = left.get("cluster", f"item {i}")
        clusters.setdefault(cluster, []).append(right["contribution"] - left["contribution"])
    if sum(map(len, strata.values())) < FEWEST:
        return None
    rng = np.random.default_rng(_SEED)
    total, count = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for clusters in strata.values():
        n = len(clusters)
        sums = np.array([sum(values) for values in clusters.values()])
        sizes = np.array([len(values) for values in clusters.values()])
        for start in range(0, RESAMPLES, step := max(1, BLOCK // n)):
            size = min(step, RESAMPLES - start)
            drawn = rng.multinomial(n, np.full(n, 1 / n), size=size)
            total[start : start + size] += drawn @ sums
            count[start : start + size] += drawn @ sizes
    return _percentiles(total / count, "percentile bootstrap of clusters of paired items")


def _is_counted(row: Mapping[str, Any]) -> bool:
    return row.get("contribution") is not None


def _counts(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return _is_counted(a) and _is_counted(b)


def _item(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what names an item: its text and input or, for a pair, the text of each input."""
    keys = ("input", "text") if "text" in row else tuple(row)
    return {key: row[key] for key in keys if key != "embedded" and isinstance(row.get(key), str)}


def _percentiles(values: Reals, method: str) -> IntervalPart:
    import numpy as np

    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return IntervalPart(low=float(low), high=float(high), level=LEVEL, method=method)
