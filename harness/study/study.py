"""A study ready to run: its rows, its columns, and what they are judged by.

Made of a study file and its concept; errors point into the file. Knows no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import names, options, yaml_files
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.errors import InvalidOption, UsageError, suggestion
from harness.mitigator import Chain
from harness.registry import Registry
from harness.scores import Ideal, Metric
from harness.study.study_file import MeasureFile, MitigatorUse, StudyFile
from harness.task import Task
from harness.task import resolve as resolve_task
from harness.task_file import Source

RAW, UNIT = "none", "normalize"
"""Rows that every study has: vectors as they come, and vectors at length 1."""
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


@dataclass(frozen=True)
class Candidate:
    """A row: a mitigator, and what it may be set to.

    Parameters
    ----------
    label, name
        Label of the row, and the mitigator's name as users type it.
    settings
        Each point of the grid; one that is empty where there is nothing to choose.
    chains
        The unfitted mitigator at each point.
    """

    label: str
    name: str
    settings: tuple[Mapping[str, Any], ...]
    chains: tuple[Chain, ...]

    @cached_property
    def fingerprint(self) -> str:
        """Names the mitigator and its grid."""
        stages = [
            [type(stage).__name__, json_like(stage.get_params(deep=False)), stage.depends_on]
            for chain in self.chains
            for stage in chain.mitigators
        ]
        return digest([names.plain(self.name), json_like(list(self.settings)), stages])


@dataclass(frozen=True)
class Study:
    """A study ready to run.

    Parameters
    ----------
    file
        What the study file says.
    concept
        Its concept.
    candidates
        The rows, `none` and `normalize` among them.
    measures
        The columns.
    """

    file: StudyFile
    concept: Concept
    candidates: tuple[Candidate, ...]
    measures: tuple[Measure, ...]

    @property
    def items(self) -> tuple[tuple[str, ...], ...]:
        """The pairs, or sets, that are dealt out."""
        dealt: tuple[tuple[str, ...], ...] = getattr(self.concept, self.file.folded)
        return dealt

    @property
    def baseline(self) -> str:
        """The row that others are tested against."""
        return self.file.baseline or next(iter(self.file.mitigators))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The measures that hyper-parameters are chosen by."""
        return self.file.criteria or tuple(self.file.measures)

    @cached_property
    def digest(self) -> str:
        """Names what all rows share; what a row is besides, its own fingerprint names."""
        file = self.file
        return digest(
            {
                "name": file.name,
                "version": file.version,
                "concept": self.concept.model_dump(exclude={"title", "source"}),
                "folded": file.folded,
                "folds": [file.folds, file.inner_folds, file.repeats, file.seed, file.protocol],
                "normalize": file.normalize,
                "criteria": list(self.criteria),
                "max_missing": file.max_missing,
                "measures": {one.name: [one.task.digest, one.score] for one in self.measures},
            }
        )


def resolve(document: yaml_files.Document, registry: Registry) -> Study:
    """Return the study that a file describes, with its data read and all of it checked.

    Raises
    ------
    InvalidFile
        If anything in it does not fit.
    Unavailable
        If its data cannot be had.
    """
    file = document.validate(StudyFile)
    with document.pointing_at(("concept",)):
        concept = registry.concept(file.concept)
    items = getattr(concept, file.folded)
    _check_folds(document, file, len(items))
    candidates = [
        _candidate(document, registry, concept, label, use)
        for label, use in file.mitigators.items()
    ]
    own = {candidate.label for candidate in candidates}
    besides = [
        Candidate(name, name, ({},), (registry.mitigator(name),))
        for name in (RAW, UNIT)
        if name not in own
    ]
    measures = tuple(
        _measure(document, registry, file, label, use) for label, use in file.measures.items()
    )
    study = Study(file, concept, (*besides, *candidates), measures)
    rows = [candidate.label for candidate in study.candidates]
    for key, chosen, known in (
        ("baseline", (study.baseline,), rows),
        ("criteria", study.criteria, list(file.measures)),
    ):
        for name in chosen:
            if name not in known:
                what = "row" if key == "baseline" else "measure"
                raise document.error(
                    f"there is no {what} '{name}'{suggestion(name, known)}", (key,)
                )
    return study


def _check_folds(document: yaml_files.Document, file: StudyFile, n: int) -> None:
    what = file.folded.replace("_", " ")
    if not n:
        raise document.error(f"concept '{file.concept}' has no {what}", ("concept",))
    if file.folds > n:
        raise document.error(
            f"{file.folds} folds of {n} {what}: at most one fold for each", ("folds",)
        )
    left = n - -(-n // file.folds)
    if file.inner_folds > left and file.protocol == "nested":
        raise document.error(
            f"{file.inner_folds} folds of the {left} {what} that an outer fold leaves: "
            "at most one fold for each",
            ("inner_folds",),
        )


def _candidate(
    document: yaml_files.Document,
    registry: Registry,
    concept: Concept,
    label: str,
    use: MitigatorUse,
) -> Candidate:
    from sklearn.model_selection import ParameterGrid

    key: yaml_files.KeyPath = ("mitigators", label)
    name = use.mitigator or label
    with document.pointing_at((*key, "mitigator") if use.mitigator else key):
        chain = registry.mitigator(name)
        if not concept.has(chain.all_needs):
            needs = " and ".join(chain.all_needs)
            raise UsageError(f"'{name}' needs {needs} of a concept, which '{concept.name}' lacks")
    settings, chains = [], []
    for given in ParameterGrid(_grid(document, key, use)):
        with document.pointing_at((*key, "grid")):
            made = registry.mitigator(name)
            stages = [stage.name for stage in names.mitigators(name)]
            _set(made, stages, given)
        settings.append(dict(given))
        chains.append(made)
    return Candidate(label, name, tuple(settings), tuple(chains))


def _grid(
    document: yaml_files.Document, key: yaml_files.KeyPath, use: MitigatorUse
) -> list[dict[str, list[Any]]]:
    grids = [use.grid] if isinstance(use.grid, dict) else list(use.grid)
    for i, grid in enumerate(grids):
        at = (*key, "grid") if isinstance(use.grid, dict) else (*key, "grid", i)
        for name, values in grid.items():
            if not values:
                raise document.error("no value to choose from", (*at, name))
    return [{name: list(values) for name, values in grid.items()} for grid in grids] or [{}]


def _set(chain: Chain, stages: list[str], given: Mapping[str, Any]) -> None:
    """Set hyper-parameters of an unfitted chain, each checked against its stage's signature."""
    for name, value in given.items():
        stage, dot, parameter = name.rpartition(".")
        if not dot and len(stages) != 1:
            example = f"{stages[0] if stages else 'STAGE'}.{parameter}"
            raise InvalidOption(f"of a chain, say whose '{parameter}' is meant: '{example}'")
        if dot and stage not in stages:
            raise InvalidOption(f"there is no stage '{stage}'{suggestion(stage, stages)}")
        meant = chain.mitigators[stages.index(stage) if dot else 0]
        what = f"mitigator '{stages[stages.index(stage) if dot else 0]}'"
        meant.set_params(**options.convert(type(meant), {parameter: value}, what=what))


def _measure(
    document: yaml_files.Document,
    registry: Registry,
    file: StudyFile,
    label: str,
    use: MeasureFile,
) -> Measure:
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
    task = resolve_task(
        dataclasses.replace(document, data=data, places=places),
        concept=registry.concept,
        metric=registry.metric,
        table=registry.table_maker,
    )
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
