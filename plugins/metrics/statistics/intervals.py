"""Confidence intervals of statistics over items, or over the clusters that items share.

A statistic is vectorised over resamples. It takes one array of counts per set of items (how
often each item counts) and returns one value per resample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import jackknife
from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.scores import Interval

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""(n,) cluster code of each item."""
CONFIDENCE = 0.95
RESAMPLES = 1_000
MAX_CELLS = 2_000_000  # counts held at once: 16 MB


def jackknife_interval(
    statistic: Callable[..., Floats],
    sizes: Sequence[int],
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    bounds: tuple[float, float] | None = None,
) -> Interval | None:
    """Return the confidence interval of a statistic of one or several sets of items.

    It is Student's interval by the jackknife: each item is left out in turn, or each cluster of
    items; `harness.jackknife` has the formula. Items of all sets count as drawn at random from
    more items like them.

    What nominal 95 % intervals cover in simulations stands in docs/using.md.

    Parameters
    ----------
    statistic
        Takes one (b, n) array of counts per set (how often each of its n items counts in each of
        b resamples) and returns (b,) values; NaN where a resample leaves it undefined.
    sizes
        Number of items of each set.
    rng
        Random number generator. It joins units, where there are more than `resamples`.
    clusters
        For each set, the (n,) cluster codes of its items; None where each item is its own
        cluster.
    resamples
        Most units to leave out, over all sets; more are joined at random into so many groups. 0
        for no interval.
    confidence
        Level of the interval, between 0 and 1.
    bounds
        Lowest and highest possible value of a statistic that may be near them, such as a
        correlation or a share: the interval stays inside, and is not symmetric. None for others.

    Returns
    -------
    Interval or None
        In the unit of the statistic. None if `resamples` is 0, if a set has fewer than five items
        or clusters, or if the statistic is undefined, or the same, without each of them.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(f"confidence={confidence}: must be between 0 and 1, such as 0.95")
    if resamples <= 0:
        return None
    codes = [None] * len(sizes) if clusters is None else clusters
    units = [units_of(size, of_set) for size, of_set in zip(sizes, codes, strict=True)]
    clustered = any(n < size for (n, _), size in zip(units, sizes, strict=True))
    if min(n for n, _ in units) < jackknife.FEWEST:
        return None
    most = max(jackknife.FEWEST, resamples // len(sizes))
    groups = [_joined(n, members, most, rng) for n, members in units]
    value, left_out = _left_out(statistic, groups)
    if not np.isfinite(value):
        return None
    ends = jackknife.t_interval(value, left_out, confidence=confidence, bounds=bounds)
    if ends is None:
        return None
    scale = "" if bounds is None else " on Fisher's z"
    method = f"jackknife t of {'clusters' if clustered else 'items'}{scale}"
    return Interval(ends.low, ends.high, confidence, method)


def inside(interval: Interval | None, low: float, high: float) -> Interval | None:
    """Return an interval cut off at the bounds of a statistic, such as one whose fair value is one.

    On Fisher's z, as `bounds` of `jackknife_interval` has it, no interval reaches a bound.
    """
    if interval is None:
        return None
    first, last = (min(max(end, low), high) for end in (interval.low, interval.high))
    return Interval(first, last, interval.level, interval.method)


def codes_of(
    clusters: Mapping[str, Codes] | None, names: Sequence[str]
) -> list[Codes | None] | None:
    """Return the cluster codes of the inputs `names`; None for inputs without clusters."""
    return None if clusters is None else [clusters.get(name) for name in names]


def units_of(size: int, codes: Codes | None) -> tuple[int, Codes]:
    """Return the number of clusters of a set, and the cluster of each of its items from 0."""
    if codes is None:
        return size, np.arange(size)
    distinct, inverse = np.unique(np.asarray(codes), return_inverse=True)
    return len(distinct), inverse


def _joined(units: int, members: Codes, most: int, rng: np.random.Generator) -> Codes:
    """Return the group of each item: its unit, or one of `most` groups of about as many units."""
    if units <= most:
        return members
    groups: Codes = rng.permutation(np.arange(units) % most)[members]
    return groups


def _left_out(statistic: Callable[..., Floats], groups: Sequence[Codes]) -> tuple[float, Any]:
    """Return the statistic of all items, and for each set what it is without each group."""
    counts = [int(of_items.max()) + 1 for of_items in groups]
    first = np.cumsum([0, *counts])  # the row of the first group of each set; row -1 keeps all
    rows = np.arange(-1, first[-1])
    step = max(1, MAX_CELLS // sum(map(len, groups)))
    values = np.concatenate(
        [
            statistic(
                *(
                    (rows[start : start + step, None] != of_items + offset).astype(np.float64)
                    for of_items, offset in zip(groups, first, strict=False)
                )
            )
            for start in range(0, len(rows), step)
        ]
    )
    return float(values[0]), np.split(values[1:], first[1:-1])
