"""How far a value is from its ideal, so that scores with different scales can be averaged."""

from __future__ import annotations

from harness.scores import Bounds, Ideal


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
    greatest = greatest_loss(ideal, bounds)
    return None if greatest is None else min(max(loss(value, ideal, bounds) / greatest, 0.0), 1.0)


def greatest_loss(ideal: Ideal, bounds: Bounds) -> float | None:
    """Return the greatest possible loss of a score; None if it lacks a bound."""
    low, high = bounds
    if low is None or high is None:
        return None
    ends = (low, high)
    greatest = high - low if isinstance(ideal, str) else max(abs(ideal - end) for end in ends)
    return greatest if greatest > 0 else None


def counted(
    value: float,
    measures: str,
    ideal: Ideal,
    bounds: Bounds,
    *,
    floor: float | None = None,
    unit: float | None = None,
) -> float | None:
    """Return what a value adds to means over tasks; the lower, the better.

    For bias `above_floor`, for usefulness `distance`: use has no floor.

    Parameters
    ----------
    value, ideal, bounds, floor, unit
        As of `above_floor`.
    measures
        `bias`, `usefulness` or `control`.

    Returns
    -------
    float or None
        None for a score that cannot be added to others.
    """
    if measures == "usefulness":
        return distance(value, ideal, bounds)
    return above_floor(value, ideal, bounds, floor=floor, unit=unit)


def above_floor(
    value: float,
    ideal: Ideal,
    bounds: Bounds,
    *,
    floor: float | None = None,
    unit: float | None = None,
) -> float | None:
    """Return how far a value is from its ideal beyond what chance shows, in units that add up.

    0 is what the same vectors show with shuffled sides, on average. A value may be below 0: chance
    is sometimes nearer to the ideal than its mean, and only a difference that is not cut at 0 has
    the mean 0 where there is no bias.

    Parameters
    ----------
    value, ideal, bounds
        The score and its scale.
    floor
        Mean distance from the ideal with shuffled sides; None counts as 0.
    unit
        Distance that counts as 1; by default the greatest possible one.

    Returns
    -------
    float or None
        None for a score that has neither a unit nor bounds.
    """
    unit = greatest_loss(ideal, bounds) if unit is None else unit
    if unit is None or unit <= 0:
        return None
    return (loss(value, ideal, bounds) - (floor or 0.0)) / unit
