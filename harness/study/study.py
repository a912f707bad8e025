"""A study that is ready to run: its rows, its columns, and how they are judged.

Made from a study file and its concept; errors point into the file. Knows no model. A row is a
`Candidate`: a mitigator at each point of its grid, unfitted. A column is a `Measure`: a score of a
metric on held-out pairs, resolved like a small task.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from harness import limits, names
from harness.chain import Chain
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.errors import PLUGIN_ERRORS, InvalidFile, InvalidOption, UsageError, suggestion
from harness.metrics import Ideal, Metric
from harness.names import NONE
from harness.registry.registry import Registry
from harness.registry.trust import Gate
from harness.study.study_file import MeasureFile, StudyFile
from harness.task import yaml_files
from harness.task.schema import Source
from harness.task.task import Measurement, Task
from harness.task.task import resolve as resolve_task
from harness.task.yaml_files import Collector

RAW = NONE
"""Row of the original vectors; every study has it."""


@dataclass(frozen=True)
class Study:
    """A study that is ready to run.

    Parameters
    ----------
    file
        The contents of the study file.
    concept
        Its concept.
    candidates
        The rows, including `none` and the row of unit length.
    measures
        The columns.
    unit_row
        Label of the row of unit length; None if no plugin has such a mitigator.
    """

    file: StudyFile
    concept: Concept
    candidates: tuple[Candidate, ...]
    measures: tuple[Measure, ...]
    unit_row: str | None

    @property
    def items(self) -> tuple[tuple[str, ...], ...]:
        """The pairs (or sets) that are divided into folds."""
        items: tuple[tuple[str, ...], ...] = getattr(self.concept, self.file.folded)
        return items

    @property
    def baseline(self) -> str:
        """The row that others are tested against."""
        return self.file.baseline or next(iter(self.file.mitigators))

    @property
    def criteria(self) -> tuple[str, ...]:
        """The measures by which hyper-parameters are chosen."""
        return self.file.criteria or tuple(self.file.measures)

    @cached_property
    def digest(self) -> str:
        """Identifies what all rows share. The fingerprint of a row covers the rest."""
        file = self.file
        return digest(
            {
                "name": file.name,
                "version": file.version,
                "concept": self.concept.content(),
                "folded": file.folded,
                "folds": [file.folds, file.inner_folds, file.repeats, file.seed, file.protocol],
                "normalize": file.normalize,
                "criteria": list(self.criteria),
                "max_missing": file.max_missing,
                "measures": {m.name: [m.task.digest, m.score] for m in self.measures},
            }
        )

    def starts_at_unit_length(self, candidate: Candidate) -> bool:
        """Return whether a row's mitigator works on vectors that were set to length 1."""
        if candidate.normalize is not None:
            return candidate.normalize
        if candidate.label == self.unit_row:
            return True
        return self.file.normalize and candidate.label != RAW


def resolve(document: yaml_files.Document, registry: Registry) -> Study:
    """Return the study that a file describes, with its data read and everything checked.

    Raises
    ------
    InvalidFile
        If the file is invalid.
    Unavailable
        If its data is missing.
    """
    file = document.validate(StudyFile)
    asked(document, file, registry).check()
    with document.pointing_at(("concept",)):
        concept = registry.concept(file.concept)
    _check_folds(document, file, len(getattr(concept, file.folded)))
    # The core knows no plugin by name: a spec says that it sets vectors to length 1, and no more.
    unit_row = next((name for name, spec in registry.mitigators.items() if spec.unit_length), None)
    if unit_row is None and file.normalize:
        raise document.error(
            "no installed plugin has a mitigator of unit length (`unit_length` in its spec), from "
            "which changes are counted; set 'normalize: false'",
            ("normalize",),
        )
    source = StudyDocument(document, file, concept, registry)
    mistakes = Collector()
    own_rows = []
    for label in file.mitigators:
        with mistakes.collecting():
            own_rows.append(candidate(source, label))
    added_rows = [
        Candidate(name, name, ({},), (registry.mitigator(name),))
        for name in (RAW, unit_row)
        if name is not None and name not in file.mitigators
    ]
    columns = []
    for label in file.measures:
        with mistakes.collecting():
            columns.append(measure(source, label))
    mistakes.check()
    study = Study(file, concept, (*added_rows, *own_rows), tuple(columns), unit_row)
    _check_names(document, study)
    return study


def asked(document: yaml_files.Document, file: StudyFile, registry: Registry) -> Gate:
    """Return what a study asks for that needs trust."""
    gate = Gate(document, registry)
    for i, model in enumerate(file.models):
        gate.model(model, ("models", i))
    for label, use in file.mitigators.items():
        grids = [use.grid] if isinstance(use.grid, dict) else use.grid
        gate.mitigator(use.mitigator or label, ("mitigators", label), grids)
    for label, measure in file.measures.items():
        metric = registry.metrics.get(measure.metric)
        gate.options(metric, measure.options, ("measures", label, "options"))
    gate.tables(file.tables)
    return gate


def _check_names(document: yaml_files.Document, study: Study) -> None:
    rows = [row.label for row in study.candidates]
    if study.baseline not in rows:
        problem = f"unknown row '{study.baseline}'{suggestion(study.baseline, rows)}"
        raise document.error(problem, ("baseline",))
    for name in study.criteria:
        if name not in study.file.measures:
            problem = f"unknown measure '{name}'{suggestion(name, study.file.measures)}"
            raise document.error(problem, ("criteria",))


def _check_folds(document: yaml_files.Document, file: StudyFile, n: int) -> None:
    items = file.folded.replace("_", " ")
    if not n:
        raise document.error(f"concept '{file.concept}' has no {items}", ("concept",))
    if file.folds > n:
        raise document.error(f"{file.folds} folds are too many for {n} {items}", ("folds",))
    n_train = n - -(-n // file.folds)
    if file.inner_folds > n_train and file.protocol == "nested":
        raise document.error(
            f"{file.inner_folds} inner folds are too many for the {n_train} {items} that an outer "
            "fold leaves",
            ("inner_folds",),
        )


@dataclass(frozen=True)
class Candidate:
    """A row: a mitigator and the hyper-parameters to choose from.

    Parameters
    ----------
    label, name
        Label of the row, and label of its mitigator with the options that the grid does not set.
    settings
        Each point of the grid; a single empty one if there is nothing to choose.
    chains
        The unfitted mitigator at each point.
    normalize
        Whether all vectors are set to length 1 first; None for the study's setting.
    """

    label: str
    name: str
    settings: tuple[Mapping[str, Any], ...]
    chains: tuple[Chain, ...]
    normalize: bool | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the mitigator and its grid."""
        stages = [
            [type(stage).__name__, json_like(stage.settings), stage.depends_on]
            for chain in self.chains
            for stage in chain.mitigators
        ]
        lengths = [] if self.normalize is None else [self.normalize]
        return digest([names.plain(self.name), json_like(list(self.settings)), stages, *lengths])


def candidate(source: StudyDocument, label: str) -> Candidate:
    """Return the row of a label, with each point of its grid checked.

    Raises
    ------
    InvalidFile
        If the mitigator or a hyper-parameter is unknown or invalid; it points into the file.
    """
    from sklearn.model_selection import ParameterGrid

    document, registry, concept = source.document, source.registry, source.concept
    use = source.file.mitigators[label]
    key: yaml_files.KeyPath = ("mitigators", label)
    name = use.mitigator or label
    with document.pointing_at((*key, "mitigator") if use.mitigator else key):
        chain = registry.mitigator(name)
        if not concept.has(chain.all_needs):
            needs = " and ".join(chain.all_needs)
            raise UsageError(
                f"'{name}' needs a concept with {needs}, and '{concept.name}' has none"
            )
    shown = names.mitigator_label(name, chain.mitigators)
    stages = [stage.name for stage in names.chain_stages(name)]
    settings, chains = [], []
    for setting in ParameterGrid(_grids(source, label)):
        with document.pointing_at((*key, "grid")):
            chain = registry.mitigator(name)
            _set(chain, stages, setting)
        settings.append(dict(setting))
        chains.append(chain)
    return Candidate(label, shown, tuple(settings), tuple(chains), use.normalize)


def _grids(source: StudyDocument, label: str) -> list[dict[str, list[Any]]]:
    use = source.file.mitigators[label]
    key: yaml_files.KeyPath = ("mitigators", label, "grid")
    grids = [use.grid] if isinstance(use.grid, dict) else list(use.grid)
    for i, grid in enumerate(grids):
        path = key if isinstance(use.grid, dict) else (*key, i)
        for name, values in grid.items():
            if not values:
                raise source.document.error("no value to choose from", (*path, name))
    n_points = sum(math.prod(map(len, grid.values())) for grid in grids)
    if n_points > limits.STUDY_SETTINGS:
        raise source.document.error(limits.too_many(n_points, limits.STUDY_SETTINGS, "points"), key)
    return [{name: list(values) for name, values in grid.items()} for grid in grids] or [{}]


def _set(chain: Chain, stages: list[str], setting: Mapping[str, Any]) -> None:
    """Set hyper-parameters of an unfitted chain, each checked against its stage's signature."""
    for name, value in setting.items():
        stage, dot, parameter = name.rpartition(".")
        if not dot and len(stages) != 1:
            example = f"{stages[0] if stages else 'STAGE'}.{parameter}"
            raise InvalidOption(f"'{parameter}' needs the stage of the chain, such as '{example}'")
        if dot and stage not in stages:
            raise InvalidOption(f"unknown stage '{stage}'{suggestion(stage, stages)}")
        i = stages.index(stage) if dot else 0
        mitigator = chain.mitigators[i]
        values = names.convert_options(
            type(mitigator), {parameter: value}, what=f"mitigator '{stages[i]}'"
        )
        mitigator.set_params(**values)


DIMENSIONS = 16
"""Number of dimensions of the random vectors that show whether a score has a sign."""
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
        Whether swapping the sides of all pairs mirrors the score at its fair value.
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
        """Whether a higher score is fairer."""
        scale = self.metric.scores[self.score]
        return scale.ideal == "higher" or scale.ideal == scale.bounds[1]

    def distance(self, value: float) -> float:
        """Return the distance of a score from fair; for all scores, smaller is fairer."""
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
    """Return the mapping of a task file with only this measure."""
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
    for path, place in document.places.items():  # errors at a metric's key point at the measure's
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
    """Return by scenario the inputs that are held-out pairs; each scenario must have some."""
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
    """Return whether swapped sides mirror a score of random vectors at its fair value."""
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
    except PLUGIN_ERRORS:  # the run of the study reports it
        return False
    return abs(a - fair) > EQUAL and abs(a + b - 2 * fair) <= EQUAL


@dataclass(frozen=True)
class StudyDocument:
    """A study file that is being resolved.

    Parameters
    ----------
    document
        The parsed file; errors point into it.
    file
        The same, validated.
    concept
        Its concept.
    registry
        Where names are looked up.
    """

    document: yaml_files.Document
    file: StudyFile
    concept: Concept
    registry: Registry
