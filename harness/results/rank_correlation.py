"""Spearman's correlation of models or of changes by mitigators, and its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from harness import jackknife
from harness.results.record_parts import IntervalPart

LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 3
"""Fewest rows for a correlation."""


@dataclass(frozen=True)
class Point:
    """A model, or a mitigator on a model.

    Parameters
    ----------
    model, mitigator
        Their labels.
    a, b
        Mean of each group of tasks; with a mitigator its change against `none`. Lower is less bias.
    """

    model: str
    mitigator: str
    a: float
    b: float


def coefficient(points: Sequence[Point], *, ranks: bool = True) -> float | None:
    """Return Spearman's correlation, or Pearson's; None with few points or without a spread."""
    a, b = [point.a for point in points], [point.b for point in points]
    if len(points) < FEWEST or len(set(a)) == 1 or len(set(b)) == 1:
        return None
    from scipy.stats import pearsonr, spearmanr

    return float((spearmanr if ranks else pearsonr)(a, b).statistic)


def interval_of(
    over: Literal["models", "mitigators"], value: float, points: Sequence[Point]
) -> IntervalPart | None:
    """Return the interval of a correlation; see `Correlation`."""
    if len({point.model for point in points}) < jackknife.FEWEST or 1 - abs(value) < 1e-9:
        return None
    return _of_models(value, len(points)) if over == "models" else _of_changes(value, points)


def _of_models(value: float, n: int) -> IntervalPart:
    """Return the interval of Bonett and Wright (2000) for n independent points.

    In simulations of 5 to 20 points with correlations of 0, .5 and .8 it covers in 95 to 100 %, and
    is narrower than the jackknife of so few ranks.
    """
    half = NormalDist().inv_cdf(0.5 + LEVEL / 2) * math.sqrt((1 + value**2 / 2) / (n - 3))
    low, high = (math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    return IntervalPart(low=low, high=high, level=LEVEL, method="Bonett and Wright")


def _of_changes(value: float, points: Sequence[Point]) -> IntervalPart | None:
    """Return the jackknife interval over models and, with at least five, over mitigators."""
    import numpy as np

    units = [[point.model for point in points]]
    if len({point.mitigator for point in points}) >= jackknife.FEWEST:
        units.append([point.mitigator for point in points])
    left_out = []
    for names in units:
        without = [
            coefficient([p for p, name in zip(points, names, strict=True) if name != unit])
            for unit in dict.fromkeys(names)
        ]
        left_out.append(np.array([np.nan if r is None else r for r in without]))
    ends = jackknife.t_interval(value, left_out, confidence=LEVEL, bounds=(-1.0, 1.0))
    if ends is None:
        return None
    method = "jackknife t of " + " and ".join(["models", "mitigators"][: len(units)])
    return IntervalPart(low=ends.low, high=ends.high, level=LEVEL, method=method)
