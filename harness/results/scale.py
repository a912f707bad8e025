"""How far a value is from its ideal, so that scores with different scales can be averaged."""

from __future__ import annotations

from harness.scores import Ideal

Bounds = tuple[float | None, float | None]


def loss(value: float, ideal: Ideal, bounds: Bounds) -> float:
    """Return how far a value is from its ideal, in the unit of the score; lower is better.

    If `ideal` is `higher` or `lower`, the distance is from the bound on that side, or from 0
    where the score has none: it orders values, but may be negative.
    """
    low, high = bounds
    if ideal == "higher":
        return (0.0 if high is None else high) - value
    if ideal == "lower":
        return value - (0.0 if low is None else low)
    return abs(value - float(ideal))


def distance(value: float, ideal: Ideal, bounds: Bounds) -> float | None:
    """Return the distance to the ideal: 0 at the ideal, 1 as far from it as the score can be.

    None for a score that lacks a bound: it has no greatest distance.
    """
    low, high = bounds
    if low is None or high is None:
        return None
    ends = (low, high)
    greatest = high - low if isinstance(ideal, str) else max(abs(ideal - end) for end in ends)
    if greatest <= 0:
        return None
    return min(max(loss(value, ideal, bounds) / greatest, 0.0), 1.0)
