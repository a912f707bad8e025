"""The columns of a study: scores of metrics on held-out pairs, resolved like small tasks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import PLUGIN_ERRORS, InvalidFile, suggestion
from harness.metrics import Ideal, Metric
from harness.study.study_document import StudyDocument
from harness.study.study_file import MeasureFile
from harness.task import yaml_files
from harness.task.schema import Source
from harness.task.task import Measurement, Task
from harness.task.task import resolve as resolve_task

DIMENSIONS = 16
"""Of the random vectors that show whether a score has a sign."""
EQUAL = 1e-6
"""Scores that differ by at most this are equal: vectors have the seven digits of float32."""
TABLES = {
    "definitional_pairs": "concept.definitional_pairs",
    "definitional_sets": "concept.definitional_sets",
}
"""Table that inputs name for the held-out pairs, by field of the concept."""


@dataclass(frozen=True)
class Measure:
    """A column: a score of a metric, averaged over scenarios.

    Parameters
    ----------
    name
        Its label.
    task
        Its data: a task of one metric, whose targets are all pairs of the concept.
    metric, score
        The metric, and the name of its score.
    held_out
        By scenario, the inputs that are the held-out pairs.
    signed
        Whether the score turns round its fair value when the sides of all pairs are swapped.
    """

    name: str
    task: Task
    metric: Metric
    score: str
    held_out: Mapping[str, frozenset[str]]
    signed: bool

    @property
    def ideal(self) -> Ideal:
        """The fair value."""
        return self.metric.scores[self.score].ideal

    @property
    def rises(self) -> bool:
        """Whether the score itself rises as it gets fairer."""
        scale = self.metric.scores[self.score]
        return scale.ideal == "higher" or scale.ideal == scale.bounds[1]

    def distance(self, value: float) -> float:
        """Return how far a score is from fair; less is fairer, whatever the score."""
        if self.ideal == "higher":
            return -value
        return value if self.ideal == "lower" else abs(value - float(self.ideal))


def measure(source: StudyDocument, label: str) -> Measure:
    """Return the column of a label, with its data read and its metric checked.

    Raises
    ------
    InvalidFile
        If the metric, its score, scenarios or inputs are unknown or invalid; it points into the
        file.
    """
    document, use = source.document, source.file.measures[label]
    key: yaml_files.KeyPath = ("measures", label)
    with document.pointing_at((*key, "metric")):
        metric = source.registry.metric(use.metric)
    score = use.score or next(iter(metric.scores))
    if score not in metric.scores:
        raise document.error(
            f"unknown score '{score}' of metric '{metric.name}'{suggestion(score, metric.scores)}",
            (*key, "score"),
        )
    for i, name in enumerate(use.scenarios):
        if name not in source.file.scenarios:
            raise document.error(
                f"unknown scenario '{name}'{suggestion(name, source.file.scenarios)}",
                (*key, "scenarios", i),
            )
    task = _task(source, key, use, _as_task(source, use, metric, score))
    if task.needs_vocabulary:
        raise document.error(
            f"metric '{metric.name}' needs a whole vocabulary; a study judges listed words only",
            key,
        )
    held_out = _held_out(source, task, key)
    scenario = task.scenarios[0]
    signed = _is_signed(metric, score, scenario.measurements[0], held_out[scenario.name])
    return Measure(label, task, metric, score, held_out, signed)


def _as_task(source: StudyDocument, use: MeasureFile, metric: Metric, score: str) -> dict[str, Any]:
    """Return what a task file of this measure alone would say."""
    file, data = source.file, source.document.data
    scenarios = {
        name: scenario
        for name, scenario in data.get("scenarios", {}).items()
        if name in use.scenarios or not use.scenarios
    }
    defaults = {"resamples": 0} if "resamples" in metric.options else {}
    return {
        "name": file.name,
        "version": file.version,
        "title": file.title,
        "category": file.concept,
        "concept": file.concept,
        **{key: data.get(key, {}) for key in ("sets", "tables", "templates", "inputs")},
        "scenarios": scenarios,
        "metrics": {use.metric: {"options": defaults | use.options}},
        "primary": {
            "metric": use.metric,
            "score": score,
            "scenario": next(iter(scenarios), "default"),
        },
        "max_missing": file.max_missing,
    }


def _task(
    source: StudyDocument, key: yaml_files.KeyPath, use: MeasureFile, data: dict[str, Any]
) -> Task:
    """Resolve a measure's data as a task, with errors that name the keys of the study file."""
    document, registry = source.document, source.registry
    places = dict(document.places)
    for path, place in document.places.items():  # the measure's keys stand for its metric's
        if path[: len(key)] == key:
            places["metrics", use.metric, *path[len(key) :]] = place
    places["metrics", use.metric] = document.places[key]
    try:
        return resolve_task(dataclasses.replace(document, data=data, places=places), registry)
    except InvalidFile as error:
        in_study = error.key.replace(f"metrics.{use.metric}", yaml_files.dotted(key), 1)
        raise InvalidFile(error.problem, path=error.path, line=error.line, key=in_study) from None


def _held_out(
    source: StudyDocument, task: Task, key: yaml_files.KeyPath
) -> dict[str, frozenset[str]]:
    """Return by scenario which inputs are held-out pairs; each scenario must have some."""
    document, table = source.document, TABLES[source.file.folded]
    held_out = {}
    for scenario in task.scenarios:
        replaced = task.file.scenarios.get(scenario.name)
        inputs = task.file.inputs | (replaced.inputs if replaced else {})
        names = set()
        for name, input_ in inputs.items():
            parts = [input_] if isinstance(input_, Source) else list(input_)
            if any(part.table == table for part in parts):
                if len(parts) > 1 or parts[0].where:
                    problem = f"an input of the table '{table}' must be one source without 'where'"
                    raise document.error(problem, ("inputs", name))
                names.add(name)
        measured = {
            input_.name for call in scenario.measurements for input_ in call.inputs.values()
        }
        if not names & measured:
            raise document.error(
                f"no input of metric '{task.file.primary.metric}' is of the table '{table}', "
                "so that no pair is held out",
                key,
            )
        held_out[scenario.name] = frozenset(names)
    return held_out


def _is_signed(
    metric: Metric, score: str, measurement: Measurement, held_out: frozenset[str]
) -> bool:
    """Return whether a score of random vectors turns round its fair value with swapped sides."""
    fair = metric.scores[score].ideal
    inputs = measurement.inputs
    sides = [name for name, input_ in inputs.items() if input_.name in held_out]
    if isinstance(fair, str) or len(sides) != 2:
        return False
    rng = np.random.default_rng(0)
    arrays = {
        name: rng.normal(size=(len(input_), DIMENSIONS))
        if input_.numbers is None
        else input_.numbers
        for name, input_ in inputs.items()
    }
    first, second = sides
    swapped = {**arrays, first: arrays[second], second: arrays[first]}
    options = metric.options | dict(measurement.options)
    try:
        a, b = (
            metric.measure(
                of,
                options,
                rng=np.random.default_rng(0),
                clusters={name: input_.clusters for name, input_ in inputs.items()},
                texts={name: input_.texts or () for name, input_ in inputs.items()},
            )[score].value
            for of in (arrays, swapped)
        )
    except PLUGIN_ERRORS:  # it is reported when the study runs
        return False
    return abs(a - fair) > EQUAL and abs(a + b - 2 * fair) <= EQUAL
