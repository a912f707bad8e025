"""What a bench finds for a mitigator on held-out pairs: the values of all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.study.measures import EQUAL, Measure

Scenarios = tuple[float | None, ...]
"""A number for each scenario of a measure; None where undefined."""


@dataclass(frozen=True)
class Outcome:
    """The values of a mitigator on held-out pairs.

    Parameters
    ----------
    values
        By measure, the mean distance from fair over its scenarios; None where undefined.
    reasons
        By measure, why a value is undefined.
    signed
        By measure with a sign, the score less its fair value in each scenario.
    floors
        By measure, the mean distance from fair with the sides of the pairs swapped. None if the
        measure does not depend on sides, or if it was not read with swapped sides.
    spreads
        By measure with a sign, the standard deviation of its score with the sides of the pairs
        swapped, in each scenario; empty if it was not read with swapped sides.
    """

    values: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    signed: Mapping[str, Scenarios] = field(default_factory=dict)
    floors: Mapping[str, float | None] = field(default_factory=dict)
    spreads: Mapping[str, Scenarios] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """The scores of a measure in a scenario.

    Parameters
    ----------
    scores
        (m,) as the sides of the held-out pairs are, then with some of them swapped; only the first
        if there are no two sides.
    reason
        Why the first score is undefined; else empty.
    """

    scores: Floats
    reason: str = ""


def outcome(
    measures: Sequence[Measure], readings: Mapping[str, Sequence[tuple[str, Reading]]]
) -> Outcome:
    """Return the values of all measures.

    Parameters
    ----------
    measures
        The measures.
    readings
        By measure, the name and the reading of each scenario.
    """
    values: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    signed: dict[str, Scenarios] = {}
    floors: dict[str, float | None] = {}
    spreads: dict[str, Scenarios] = {}
    for measure in measures:
        name, named = measure.name, readings[measure.name]
        scores = [reading.scores for _, reading in named]
        values[name] = _finite(np.mean([measure.distance(of[0]) for of in scores]))
        for scenario, reading in named:
            if reading.reason:
                reasons.setdefault(name, f"{scenario}: {reading.reason}")
        if measure.signed:
            signed[name] = tuple(_finite(of[0] - float(measure.ideal)) for of in scores)
        if all(len(of) > 1 for of in scores):
            has_sides = any(np.ptp(of) > EQUAL for of in scores)
            distances = [np.mean([measure.distance(score) for score in of]) for of in scores]
            floors[name] = _finite(np.mean(distances)) if has_sides else None
            if measure.signed:
                spreads[name] = tuple(_finite(of.std()) for of in scores)
    return Outcome(values, reasons, signed, floors, spreads)


def undefined(measures: Sequence[Measure], reason: str) -> Outcome:
    """Return the outcome of a mitigator that could not be fitted."""
    names = [measure.name for measure in measures]
    signed = {m.name: (None,) * len(m.task.scenarios) for m in measures if m.signed}
    return Outcome(dict.fromkeys(names), dict.fromkeys(names, reason), signed)


def _finite(number: float | np.floating[Any]) -> float | None:
    return float(number) if np.isfinite(number) else None
