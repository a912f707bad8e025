"""Why a score should not rank: the limits of a valid instrument."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from harness.plugins.validity.checks import POWER
from harness.plugins.validity.planting import AMPLITUDES
from harness.results.scale import loss
from harness.scores import Scale

ABOVE_NOISE = 0.5
"""Random vectors may stand this many standard deviations of the floor above it, on average over all
dimensions. The mean of 90 draws is within .2 in 95 % of cases."""
REJECTED = 0.10
"""Share of shuffled sides that may be found biased at the level of 5 %: twice the level. With 150
draws a correct test is above it once in 250 times."""
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
    rejected = figures.get("rejected")
    if rejected is not None and rejected > REJECTED:
        failed.append(f"finds bias in {rejected:.0%} of shuffled sides")
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
    for side in (1, -1):
        away = [loss(planted[side * a if a else a], scale.ideal, scale.bounds) for a in AMPLITUDES]
        step = 1e-6 * max(map(abs, away), default=1.0)
        turned = "" if side == 1 else " the other way round"
        if away[-1] - away[0] <= step or not all(map(math.isfinite, away)):
            failed.append(f"does not move with planted bias{turned}")
        elif any(b < a - step for a, b in itertools.pairwise(away)):
            failed.append(f"not monotone in planted bias{turned}")
    if figures.get("detectable") is None:
        failed.append(f"planted bias of amplitude 1 is found in less than {POWER:.0%} of draws")
    return failed
