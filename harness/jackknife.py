"""Confidence intervals from what a statistic is when each unit in turn is left out.

Arrays in, an interval out. Knows no metrics, files or records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.arrays import Floats

FEWEST = 5
"""Fewest units of a set for an interval: the spread of fewer cannot be estimated."""
ROUNDING = 1e-12
"""A spread below this, relative to the values, is rounding."""


class Ends(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def t_interval(
    value: float,
    left_out: Sequence[Floats],
    *,
    confidence: float,
    bounds: tuple[float, float] | None = None,
) -> Ends | None:
    """Return the interval of a statistic of one or several sets of units.

    With θ the value and θ₋ᵢ the value without unit i of a set of n units, the set adds
    v = (n − 1)/n Σ (θ₋ᵢ − mean of θ₋ᵢ)² to the variance of θ, and b = (n − 1)(mean of θ₋ᵢ − θ) to
    its bias. With the sums v and b of all sets the interval is::

        θ − b ± t √(v + b²)

    where t is a quantile of Student's distribution with Welch's degrees of freedom. b is an
    estimate, too, so that it widens the interval. θ is always inside.

    With `bounds` this is done on Fisher's z = artanh(u), where u is θ scaled to [−1, 1]; the spread
    there is √(v + b²)/(1 − u²). For a correlation this is Fisher's interval, for a share the one of
    its log odds.

    Parameters
    ----------
    value
        θ, finite.
    left_out
        For each set, (n,) θ₋ᵢ.
    confidence
        Level of the interval, between 0 and 1.
    bounds
        Lowest and highest possible value of the statistic; None if it has no bounds, or is seldom
        near them.

    Returns
    -------
    Ends or None
        None if a set has fewer than `FEWEST` units, if the statistic is undefined without one of
        them, or if it is the same without each: then its spread is unknown, not 0.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11. Arvesen (1969),
    Jackknifing U-statistics, for several sets and for transformations.
    """
    import numpy as np
    from scipy.special import stdtrit

    if min(map(len, left_out), default=0) < FEWEST:
        return None
    sizes = np.array([len(values) for values in left_out])
    means = np.array([values.mean() for values in left_out])
    parts = np.array([values.var() for values in left_out]) * (sizes - 1)
    variance = float(parts.sum())
    scale = max(abs(value), *(float(np.abs(values).max()) for values in left_out))
    if not variance > (ROUNDING * scale) ** 2:  # NaN, too
        return None
    bias = float(((sizes - 1) * (means - value)).sum())
    df = variance**2 / float((parts**2 / (sizes - 1)).sum())
    t = float(stdtrit(df, (1 + confidence) / 2))
    spread = t * float(np.sqrt(variance + bias**2))
    if bounds is None:
        return Ends(value - bias - spread, value - bias + spread)
    low, high = bounds
    half = (high - low) / 2
    u = (value - low) / half - 1
    if abs(u) >= 1:
        return Ends(max(low, value - bias - spread), min(high, value - bias + spread))
    slope = 1 / (1 - u * u) / half
    ends = np.tanh(np.arctanh(u) - slope * (bias + np.array([spread, -spread])))
    return Ends(*(float(low + half * (end + 1)) for end in ends))
