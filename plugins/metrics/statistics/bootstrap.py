"""Bootstrap intervals: items, or the clusters they share, drawn again with replacement.

A statistic is written once, vectorised over resamples: it takes, for each group of items, how
often each item was drawn, and returns one value a resample. Knows no metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.metrics import Interval

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""(n,) cluster of each item."""
CONFIDENCE = 0.95
RESAMPLES = 1_000
MAX_CELLS = 2_000_000  # counts held at once: 16 MB


def percentile_interval(
    statistic: Callable[..., Floats],
    sizes: Sequence[int],
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Return the percentile bootstrap interval of a statistic of one or more groups of items.

    Parameters
    ----------
    statistic
        Takes one (b, n) array of counts for each group, how often each of its n items was drawn
        in each of b resamples, and returns (b,) values; NaN where a resample leaves it undefined.
    sizes
        Number of items of each group; groups are drawn independently.
    rng
        Source of the draws.
    clusters
        For each group the codes of the clusters that its items belong to: whole clusters are
        drawn. None where items are their own clusters.
    resamples
        Number of draws; 0 for no interval.
    confidence
        Level, between 0 and 1.

    Returns
    -------
    Interval or None
        None where there is nothing to draw from: no resamples, no group of two clusters or more,
        or fewer than half of the resamples with a value.

    Raises
    ------
    InvalidOption
        If the level is none.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(f"confidence={confidence}: a level between 0 and 1, such as 0.95")
    if resamples <= 0:
        return None
    if clusters is None:
        clusters = [None] * len(sizes)
    members = [_members(size, codes) for size, codes in zip(sizes, clusters, strict=True)]
    if max(units for units, _ in members) < 2:
        return None
    step = max(1, MAX_CELLS // max(1, sum(sizes)))
    values = np.concatenate(
        [
            statistic(*(_draw(rng, min(step, resamples - start), *group) for group in members))
            for start in range(0, resamples, step)
        ]
    )
    values = values[np.isfinite(values)]
    if 2 * len(values) < resamples:
        return None
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    clustered = any(units < size for (units, _), size in zip(members, sizes, strict=True))
    method = f"percentile bootstrap of {'clusters' if clustered else 'items'}"
    return Interval(float(low), float(high), confidence, method)


def codes_of(
    clusters: Mapping[str, Codes] | None, names: Sequence[str]
) -> list[Codes | None] | None:
    """Return the codes of the inputs called `names`, None for those that have none."""
    return None if clusters is None else [clusters.get(name) for name in names]


def _members(size: int, codes: Codes | None) -> tuple[int, Codes]:
    if codes is None:
        return size, np.arange(size)
    units, inverse = np.unique(np.asarray(codes), return_inverse=True)
    return len(units), inverse


def _draw(rng: np.random.Generator, resamples: int, units: int, members: Codes) -> Floats:
    """Return (resamples, n) counts of items. To draw and count is quicker than a multinomial."""
    drawn = rng.integers(units, size=(resamples, units))
    drawn += units * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)
    return counts[:, members].astype(np.float64)
