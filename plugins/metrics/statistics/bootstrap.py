"""Percentile bootstrap intervals over items, or over the clusters that items share.

A statistic is vectorised over resamples. It takes one array of counts per group of items (how
often each item was drawn) and returns one value per resample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.scores import Interval

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""(n,) cluster code of each item."""
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
    """Return the percentile bootstrap interval of a statistic of one or several groups of items.

    Items are drawn with replacement, each group independently of the others. With `clusters`,
    whole clusters are drawn instead of items.

    Parameters
    ----------
    statistic
        Takes one (b, n) array of counts per group (how often each of its n items was drawn in
        each of b resamples) and returns (b,) values; NaN where a resample leaves it undefined.
    sizes
        Number of items of each group.
    rng
        Random number generator of the draws.
    clusters
        For each group, the (n,) cluster codes of its items; None where each item is its own
        cluster.
    resamples
        Number of resamples; 0 for no interval.
    confidence
        Level of the interval, between 0 and 1.

    Returns
    -------
    Interval or None
        In the unit of the statistic. None if `resamples` is 0, if no group has two or more
        clusters, or if fewer than half of the resamples have a value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(f"confidence={confidence}: must be between 0 and 1, such as 0.95")
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
    """Return the cluster codes of the inputs `names`; None for inputs without clusters."""
    return None if clusters is None else [clusters.get(name) for name in names]


def _members(size: int, codes: Codes | None) -> tuple[int, Codes]:
    """Return the number of clusters of a group, and the cluster of each of its items from 0."""
    if codes is None:
        return size, np.arange(size)
    units, inverse = np.unique(np.asarray(codes), return_inverse=True)
    return len(units), inverse


def _draw(rng: np.random.Generator, resamples: int, units: int, members: Codes) -> Floats:
    """Return the (resamples, n) counts of items. This is faster than multinomial draws."""
    drawn = rng.integers(units, size=(resamples, units))
    drawn += units * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units)
    return counts[:, members].astype(np.float64)
