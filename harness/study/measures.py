"""The columns of a study: scores of metrics on held-out pairs, resolved as small tasks are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import InvalidFile, suggestion
from harness.metrics import Ideal, Metric
from harness.registry.registry import Registry
from harness.study.study_file import MeasureFile, StudyFile
from harness.task import yaml_files
from harness.task.schema import Source
from harness.task.task import Task
from harness.task.task import resolve as resolve_task

TABLES = {
    "definitional_pairs": "concept.definitional_pairs",
    "definitional_sets": "concept.definitional_sets",
}
"""Table that inputs name for what is dealt out, by field of the concept."""


@dataclass(frozen=True)
class Measure:
    """A column: a score of a metric, averaged over scenarios.

    Parameters
    ----------
    name
        Its label.
    task
        What it is computed of: a task of one metric, whose targets are all pairs of the concept.
    metric, score
        The metric, and the name of its score.
    held_out
        By scenario, the inputs that are the held-out pairs.
    """

    name: str
    task: Task
    metric: Metric
    score: str
    held_out: Mapping[str, frozenset[str]]

    @property
    def ideal(self) -> Ideal:
        """Where fair lies."""
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


def measure(
    document: yaml_files.Document,
    registry: Registry,
    file: StudyFile,
    label: str,
    use: MeasureFile,
) -> Measure:
    """Return a column, with its data read and its metric checked; errors point into the file."""
    key: yaml_files.KeyPath = ("measures", label)
    with document.pointing_at((*key, "metric")):
        metric = registry.metric(use.metric)
    score = use.score or next(iter(metric.scores))
    if score not in metric.scores:
        raise document.error(
            f"metric '{metric.name}' has no score '{score}'{suggestion(score, metric.scores)}",
            (*key, "score"),
        )
    for i, name in enumerate(use.scenarios):
        if name not in file.scenarios:
            raise document.error(
                f"there is no scenario '{name}'{suggestion(name, file.scenarios)}",
                (*key, "scenarios", i),
            )
    chosen = {
        name: one
        for name, one in document.data.get("scenarios", {}).items()
        if name in use.scenarios or not use.scenarios
    }
    given = {"resamples": 0} if "resamples" in metric.options else {}
    data = {
        "name": file.name,
        "version": file.version,
        "title": file.title,
        "category": file.concept,
        "concept": file.concept,
        **{key: document.data.get(key, {}) for key in ("sets", "tables", "templates", "inputs")},
        "scenarios": chosen,
        "metrics": {use.metric: {"options": given | use.options}},
        "primary": {
            "metric": use.metric,
            "score": score,
            "scenario": next(iter(chosen), "default"),
        },
        "max_missing": file.max_missing,
    }
    places = dict(document.places)
    for path, place in document.places.items():  # a mistake in a measure is one in its metric
        if path[: len(key)] == key:
            places["metrics", use.metric, *path[len(key) :]] = place
    places["metrics", use.metric] = document.places[key]
    try:
        task = resolve_task(
            dataclasses.replace(document, data=data, places=places),
            concept=registry.concept,
            metric=registry.metric,
            table=registry.table_maker,
        )
    except InvalidFile as error:  # in the words of the study's file
        told = error.key.replace(f"metrics.{use.metric}", yaml_files.dotted(key), 1)
        raise InvalidFile(error.problem, path=error.path, line=error.line, key=told) from None
    if task.needs_vocabulary:
        raise document.error("a study is judged on listed words, not on a vocabulary's", key)
    return Measure(label, task, metric, score, _held_out(document, file, task, key))


def _held_out(
    document: yaml_files.Document, file: StudyFile, task: Task, key: yaml_files.KeyPath
) -> dict[str, frozenset[str]]:
    """Return by scenario which inputs are held-out pairs; each must have some."""
    table = TABLES[file.folded]
    found = {}
    for scenario in task.scenarios:
        replaced = task.file.scenarios.get(scenario.name)
        sources = task.file.inputs | (replaced.inputs if replaced else {})
        named = set()
        for name, source in sources.items():
            parts = [source] if isinstance(source, Source) else list(source)
            if any(part.table == table for part in parts):
                if len(parts) > 1 or parts[0].where:
                    problem = f"what is of '{table}' is one source, with no 'where'"
                    raise document.error(problem, ("inputs", name))
                named.add(name)
        measured = {given.name for one in scenario.measurements for given in one.inputs.values()}
        if not named & measured:
            raise document.error(
                f"no input of metric '{task.file.primary.metric}' is of the table '{table}', "
                "so nothing is held out",
                key,
            )
        found[scenario.name] = frozenset(named)
    return found
