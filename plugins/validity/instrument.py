"""A metric on the inputs of one task and model, to be read again on changed vectors."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import HarnessError
from harness.metrics import Contrast, Metric
from harness.results.scale import loss
from harness.run.metric_inputs import MetricInputs
from harness.run.recording import floor_of
from harness.scores import Score

CHEAPER = {"resamples": 20, "permutations": 199, "null_draws": 99}
"""Options of metrics that cost time here and change no value; intervals are not read."""
WITHOUT_FLOOR = CHEAPER | {"null_draws": 0}
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Reading:
    """What a score shows.

    Parameters
    ----------
    value
        The value; NaN if it is undefined.
    distance
        Its distance from the ideal.
    p_value
        Its p-value; None if it has none.
    above_floor
        Distance above its own floor, in standard deviations of the floor; None without a floor.
    """

    value: float
    distance: float
    p_value: float | None
    above_floor: float | None


@dataclass(frozen=True, eq=False)
class Instrument:
    """A score of a metric, with the inputs that a task gives it and the vectors of a model.

    Parameters
    ----------
    metric, score
        The metric, and the name of its score.
    options
        Options that the task sets.
    inputs
        The inputs as they are.
    groups
        Group of each input: those of one group are aligned row by row.
    """

    metric: Metric
    score: str
    options: Mapping[str, Any]
    inputs: MetricInputs
    groups: Mapping[str, str]

    @functools.cached_property
    def contrast(self) -> Contrast | None:
        """Where bias can be planted: the sides that the task has; None if it cannot be."""
        contrast = self.metric.contrast
        if contrast is None or not self.inputs.arrays.keys() >= {*contrast.towards}:
            return None
        sides = tuple(name for name in contrast.sides if name in self.inputs.arrays)
        return dataclasses.replace(contrast, sides=sides) if sides else None

    @functools.cached_property
    def has_p_values(self) -> bool:
        """Whether the score has a p-value on the inputs as they are; it may need the floor."""
        return self.read_floor(self.inputs, np.random.default_rng(0)).p_value is not None

    def read(self, inputs: MetricInputs, rng: np.random.Generator) -> Reading:
        """Return what the score shows on inputs, without its own floor where that is for free."""
        return self._read(inputs, rng, CHEAPER if self.has_p_values else WITHOUT_FLOOR)

    def read_floor(self, inputs: MetricInputs, rng: np.random.Generator) -> Reading:
        """Return what the score shows on inputs, also above its own floor."""
        return self._read(inputs, rng, CHEAPER)

    def _read(
        self, inputs: MetricInputs, rng: np.random.Generator, options: Mapping[str, Any]
    ) -> Reading:
        metric = self.metric
        cheaper = {name: value for name, value in options.items() if name in metric.options}
        try:
            scores = metric.measure(
                inputs.arrays,
                dict(self.options) | cheaper,
                rng=rng,
                clusters=inputs.clusters,
                texts=inputs.texts,
            )
        except HarnessError:  # such as sets that are too small to be scored
            return Reading(math.nan, math.nan, None, None)
        return self._reading(scores[self.score])

    def _reading(self, score: Score) -> Reading:
        scale = self.metric.scores[self.score]
        bounds = score.bounds or scale.bounds
        value = float(score.value) if math.isfinite(score.value) else math.nan
        distance = loss(value, scale.ideal, bounds)
        above = None
        floor = floor_of(score, scale.ideal)
        if floor is not None and floor.sd > 0:
            above = (distance - floor.mean) / floor.sd
        return Reading(value, distance, score.p_value, above)


def with_units(
    inputs: MetricInputs, contrast: Contrast | None, groups: Mapping[str, str]
) -> MetricInputs:
    """Return inputs whose clusters are the units of a contrast, where it states them.

    Parameters
    ----------
    inputs
        Inputs of a metric.
    contrast
        Its contrast.
    groups
        Group of each input: those of the side get its units.
    """
    if contrast is None or contrast.units is None or contrast.units not in inputs.arrays:
        return inputs
    codes = np.unique(inputs.arrays[contrast.units], return_inverse=True)[1]
    group = groups[contrast.sides[0]]
    clusters = {name: codes if groups[name] == group else inputs.clusters[name] for name in groups}
    return MetricInputs(inputs.arrays, clusters, inputs.texts)


def with_arrays(inputs: MetricInputs, arrays: Mapping[str, Any]) -> MetricInputs:
    """Return inputs with other arrays of the same rows."""
    return MetricInputs({**inputs.arrays, **arrays}, inputs.clusters, inputs.texts)


def with_rows(inputs: MetricInputs, rows: Mapping[str, Rows]) -> MetricInputs:
    """Return some rows of inputs; an input that is not named keeps all."""
    chosen = {name: rows.get(name, np.arange(len(array))) for name, array in inputs.arrays.items()}
    return MetricInputs(
        arrays={name: inputs.arrays[name][chosen[name]] for name in chosen},
        clusters={name: inputs.clusters[name][chosen[name]] for name in chosen},
        texts={
            name: tuple(texts[row] for row in chosen[name]) if texts else ()
            for name, texts in inputs.texts.items()
        },
    )


def mean_distance(readings: Sequence[Reading]) -> tuple[float, float] | None:
    """Return the mean and the standard deviation of the distances; None if all are undefined."""
    distances: Floats = np.array([reading.distance for reading in readings])
    distances = distances[np.isfinite(distances)]
    return (float(distances.mean()), float(distances.std())) if len(distances) else None
