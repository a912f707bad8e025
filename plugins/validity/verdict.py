"""Why a score should not rank: the limits of a valid instrument."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from harness.plugins.validity.checks import POWER
from harness.plugins.validity.planting import AMPLITUDES
from harness.results.scale import loss
from harness.scores import Scale

ABOVE_NOISE = 0.5
"""Random vectors may stand this many standard deviations of the floor above it, on average over all
dimensions. The mean of 90 draws is within .2 in 95 % of cases."""
ABOVE_FAIR = 3.0
"""Without a bias the score may stand this many standard deviations of the floor above it."""
RELIABILITY = 0.5
"""Least reliability. Below it more than half of what tells models apart is the choice of the
words. A family that averages four tasks of .5 has .8 (Spearman–Brown)."""


def failures(figures: Mapping[str, Any], scale: Scale) -> tuple[str, ...]:
    """Return why a score should not rank, a short line each.

    Parameters
    ----------
    figures
        The figures of `harness.task.validity.Validity`, by name.
    scale
        Scale of the score.
    """
    failed = []
    if figures.get("planted"):
        failed += _sensitivity(figures, scale)
    reliability = figures.get("reliability")
    if reliability is not None and reliability < RELIABILITY:
        failed.append(f"reliability {reliability:.2f}, below {RELIABILITY:g}")
    above = [value for value in figures.get("noise", {}).values() if value is not None]
    if above and sum(above) / len(above) > ABOVE_NOISE:
        mean = sum(above) / len(above)
        failed.append(f"random vectors stand {mean:.1f} SD above the floor")
    return tuple(failed)


def _sensitivity(figures: Mapping[str, Any], scale: Scale) -> list[str]:
    planted = {float(key): value for key, value in figures["planted"].items()}
    if any(value is None for value in planted.values()):
        return ["has no value where bias is planted"]
    failed = []
    values = [planted[a] for a in sorted(planted)]
    away = {a: loss(value, scale.ideal, scale.bounds) for a, value in planted.items()}
    sides = [[away[side * a if a else a] for a in AMPLITUDES] for side in (1, -1)]
    step = 1e-6 * max(away.values(), default=1.0)
    if any(side[-1] - side[0] <= step for side in sides):
        failed.append("does not move with planted bias, or to one side only")
    elif not (_is_monotone(values, step) or all(_rises(side, step) for side in sides)):
        failed.append("not monotone in planted bias")
    floor, spread = figures.get("floor"), figures.get("spread")
    if floor is not None and spread is not None and away[0.0] > floor + ABOVE_FAIR * spread:
        failed.append(f"shows {planted[0.0]:.3f} where there is no bias")
    if figures.get("detectable") is None:
        failed.append(f"planted bias of amplitude 1 is found in less than {POWER:.0%} of draws")
    return failed


def _rises(values: Sequence[float], step: float) -> bool:
    return all(b >= a - step for a, b in itertools.pairwise(values))


def _is_monotone(values: Sequence[float], step: float) -> bool:
    return _rises(values, step) or _rises(values[::-1], step)
