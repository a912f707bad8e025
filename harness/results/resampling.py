"""Intervals of paired differences by the jackknife: over families of tasks, and over items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from harness import jackknife
from harness.results.record_parts import IntervalPart

if TYPE_CHECKING:
    from harness.arrays import Floats, Reals

LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 6
"""Fewest families or clusters for an interval."""
Pair: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The rows of one item."""


def over_families(differences: Reals) -> IntervalPart | None:
    """Return Student's interval of the mean of (n,) differences; None for few families."""
    import numpy as np

    d = np.asarray(differences, dtype=np.float64)
    n = len(d)
    if n < FEWEST:
        return None
    return _interval(float(d.mean()), [(d.sum() - d) / (n - 1)], "jackknife t of families of tasks")


def over_items(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> IntervalPart | None:
    """Return the interval of the difference of two scores, over their items.

    Items are paired, and their clusters are left out in turn, within each input. If targets and
    attributes split the score in two ways, both vary. What the items share, such as the spread in
    an effect size, stays as it is.

    Parameters
    ----------
    a, b
        The samples of both scores: a row for each item, with its `contribution`.

    Returns
    -------
    IntervalPart or None
        None if the scores are no means of the same items, or there are few clusters.
    """
    if not _are_same_items([item(row) for row in a], [item(row) for row in b]):
        return None
    if [_is_counted(row) for row in a] != [_is_counted(row) for row in b]:
        return None
    pairs = [pair for pair in zip(a, b, strict=True) if _is_counted(pair[0])]
    if not pairs:
        return None
    difference = fmean(_difference(pair) for pair in pairs)
    left_out: list[Floats] = []
    for part in _parts(pairs):
        strata: dict[Any, dict[Any, list[float]]] = {}
        for i, pair in enumerate(part):
            clusters = strata.setdefault(pair[0].get("input"), {})
            cluster = pair[0].get("cluster", f"item {i}")
            clusters.setdefault(cluster, []).append(_difference(pair))
        if sum(map(len, strata.values())) < FEWEST:
            return None
        left_out += [difference + _changes(clusters, len(part)) for clusters in strata.values()]
    return _interval(difference, left_out, "jackknife t of clusters of paired items")


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


def _changes(clusters: Mapping[Any, Sequence[float]], items: int) -> Floats:
    """Return by how much the mean of all items changes without each cluster of an input.

    The input keeps its share of the items.
    """
    import numpy as np

    sums = np.array([sum(values) for values in clusters.values()])
    sizes = np.array([len(values) for values in clusters.values()])
    total, n = sums.sum(), sizes.sum()
    rest = n - sizes
    without = np.divide(total - sums, rest, out=np.full(len(sums), np.nan), where=rest > 0)
    changes: Floats = (without - total / n) * n / items
    return changes


def _are_same_items(a: Sequence[Mapping[str, str]], b: Sequence[Mapping[str, str]]) -> bool:
    """Return whether two lists name the same items in the same order.

    Texts that differ are no names, such as a model's answer to a question, if the others still
    tell apart all items.
    """
    if len(a) != len(b):
        return False
    answers = {
        key
        for x, y in zip(a, b, strict=True)
        for key in x.keys() | y.keys()
        if x.get(key) != y.get(key)
    }
    if not answers:
        return True
    names = [tuple(text for key, text in x.items() if key not in answers) for x in a]
    return all(names) and len(set(names)) == len({tuple(x.values()) for x in a})


def _difference(pair: Pair) -> float:
    return float(pair[1]["contribution"] - pair[0]["contribution"])


def _is_counted(row: Mapping[str, Any]) -> bool:
    return row.get("contribution") is not None


def item(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what names an item: its text and input or, for a pair, the text of each input."""
    of_pair = [key for key in row if not key.endswith("_embedded")]
    keys = ("input", "text") if "text" in row else of_pair
    return {key: row[key] for key in keys if isinstance(row.get(key), str)}


def _interval(value: float, left_out: Sequence[Floats], method: str) -> IntervalPart | None:
    import numpy as np

    if np.allclose(np.concatenate(left_out), value, rtol=1e-12, atol=1e-12):
        ends = jackknife.Ends(value, value)  # all differences are equal
    else:
        interval = jackknife.t_interval(value, left_out, confidence=LEVEL)
        if interval is None:
            return None
        ends = interval
    return IntervalPart(low=ends.low, high=ends.high, level=LEVEL, method=method)
