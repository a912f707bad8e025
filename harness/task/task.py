"""A resolved task: its texts by scenario and input, and the metrics that score them.

It is made from a task file and its concept. It knows no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from harness import names
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.embedder import Kind
from harness.errors import NotApplicable, suggestion
from harness.letters import composed
from harness.metrics import Compares, Metric
from harness.task import reference, yaml_files
from harness.task.data_files import DataFiles, Tables
from harness.task.inputs import Input, Inputs
from harness.task.reference import Reference
from harness.task.schema import DEFAULT_SCENARIO, NO_YARDSTICK, MetricUse, ScenarioFile, TaskFile
from harness.task.yaml_files import Collector


@dataclass(frozen=True)
class Measurement:
    """A metric with the inputs and options that a scenario gives it.

    Parameters
    ----------
    metric
        The metric.
    inputs
        Input by parameter of the metric.
    options
        Options that the task or scenario sets.
    added
        Whether the user added the metric, which the task file does not name.
    """

    metric: Metric
    inputs: Mapping[str, Input]
    options: Mapping[str, Any]
    added: bool = False

    def content(self) -> dict[str, Any]:
        """Return its part of a digest: options, names of inputs, code of unregistered metrics."""
        source = {"source": self.metric.source} if self.metric.source else {}
        return source | {
            "options": json_like(self.metric.identifying(self.options)),
            "inputs": {parameter: input_.name for parameter, input_ in self.inputs.items()},
        }


@dataclass(frozen=True)
class Scenario:
    """A variant of a task, with its texts.

    Parameters
    ----------
    name
        Its name, such as `neutral`.
    inputs
        Inputs by name.
    measurements
        The metrics to compute.
    """

    name: str
    inputs: Mapping[str, Input]
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True)
class Task:
    """A resolved task.

    Parameters
    ----------
    file
        The validated task file.
    concept
        The concept that it names.
    scenarios
        Its variants.
    limit
        Largest number of items of each set or table in a smoke run; None for all.
    yardstick
        The task that its gap is compared with. Its scenarios are measured under the same mitigator,
        fitted on the same concept.
    references
        What the reference encoder of each kind shows, where it is known.
    known_digest
        Its digest, if it was kept with its inputs.
    """

    file: TaskFile
    concept: Concept | None
    scenarios: tuple[Scenario, ...]
    limit: int | None = None
    yardstick: Task | None = None
    references: Mapping[Kind, Reference] = field(default_factory=dict)
    known_digest: str | None = None

    @property
    def name(self) -> str:
        """The name that users type."""
        return self.file.name

    @cached_property
    def digest(self) -> str:
        """Digest of texts, numbers, metrics and options; it does not depend on descriptions."""
        if self.known_digest is not None:
            return self.known_digest
        limit = {} if self.limit is None else {"limit": self.limit}
        yardstick = {} if self.yardstick is None else {"yardstick": self.yardstick.digest}
        return digest(
            limit
            | yardstick
            | {
                "name": self.name,
                "version": self.file.version,
                "primary": self.file.primary.model_dump(),
                "max_missing": self.file.max_missing,
                "scenarios": {
                    scenario.name: {
                        "inputs": {n: i.content() for n, i in scenario.inputs.items()},
                        "metrics": {
                            m.metric.name: m.content() for m in scenario.measurements if not m.added
                        },
                    }
                    for scenario in self.scenarios
                },
            }
        )

    def digest_of(self, measurement: Measurement) -> str:
        """Return the digest for the scores of a metric: the task's, unless it was added."""
        if not measurement.added:
            return self.digest
        return digest([self.digest, measurement.metric.name, measurement.content()])

    def draws_of(self, measurement: Measurement) -> str:
        """Return what the random draws of a metric depend on.

        That is the digest for its scores, but not the identity of a user's function: it differs
        between runs, and equal calls draw equal numbers.
        """
        own = (m for scenario in self.scenarios for m in scenario.measurements if not m.added)
        has_source = any(m.metric.source for m in own)
        if not has_source and not measurement.metric.source:
            return self.digest_of(measurement)
        metric = dataclasses.replace(measurement.metric, source="")
        content = dataclasses.replace(measurement, metric=metric).content()
        task = [self.name, self.file.version] if has_source else self.digest
        return digest([task, metric.name, content])

    @property
    def needs_vocabulary(self) -> bool:
        """Whether some of its texts are words of the embedder's own vocabulary."""
        return any(input_.vocabulary for input_ in self.texts())

    def of_words(self, words: Sequence[str]) -> Task:
        """Return the task with its texts from a vocabulary filled in; the digest stays the same.

        Raises
        ------
        NotApplicable
            If no word of the vocabulary fits an input.
        """

        def filled(scenario: Scenario) -> Scenario:
            inputs = {name: input_.of_words(words) for name, input_ in scenario.inputs.items()}
            for name, input_ in inputs.items():
                if input_.vocabulary and not input_.texts:
                    pattern = input_.vocabulary.pattern
                    raise NotApplicable(
                        f"input '{name}': no word of the vocabulary matches '{pattern}'"
                    )
            measurements = tuple(
                dataclasses.replace(
                    measurement,
                    inputs={key: inputs[old.name] for key, old in measurement.inputs.items()},
                )
                for measurement in scenario.measurements
            )
            return Scenario(scenario.name, inputs, measurements)

        return dataclasses.replace(self, scenarios=tuple(map(filled, self.scenarios)))

    @property
    def needs_vectors(self) -> str | None:
        """Why the task does not fit models that compare texts themselves; None if it does."""
        metric = self.file.primary.metric
        for scenario in self.scenarios:
            for measurement in scenario.measurements:
                if measurement.metric.name == metric and measurement.metric.compares is None:
                    return f"its metric '{metric}' needs vectors, not only similarities"
        return None

    def compared(self, *, ranks_only: bool = False) -> Task:
        """Return the task for models that compare texts themselves; the digest stays the same.

        It has those metrics that need only similarities, and these need not be cosines. With
        `ranks_only` it has all metrics, and those that rank no documents compute with vectors.
        """

        def own(metric: Metric) -> Metric:
            if ranks_only and not (metric.compares and metric.compares.ranks):
                return dataclasses.replace(metric, compares=None)
            return metric.without_cosines

        def without_vectors(scenario: Scenario) -> Scenario:
            return dataclasses.replace(
                scenario,
                measurements=tuple(
                    dataclasses.replace(measurement, metric=own(measurement.metric))
                    for measurement in scenario.measurements
                    if ranks_only or measurement.metric.compares is not None
                ),
            )

        return dataclasses.replace(
            self,
            scenarios=tuple(map(without_vectors, self.scenarios)),
            yardstick=self.yardstick and self.yardstick.compared(ranks_only=ranks_only),
            known_digest=self.digest,
        )

    def comparisons(self) -> Iterator[tuple[Mapping[str, Input], Compares]]:
        """Yield the inputs of each metric of similarities, and what it compares; each once."""
        seen: set[object] = set()
        for scenario in self.scenarios:
            for measurement in scenario.measurements:
                compares, inputs = measurement.metric.compares, measurement.inputs
                if compares is None:
                    continue
                sides = [
                    tuple(id(inputs[name]) for name in side if name in inputs)
                    for side in (compares.queries, compares.documents)
                ]
                key = (*sides, compares.paired)
                if key not in seen:
                    seen.add(key)
                    yield inputs, compares

    def texts(self) -> Iterator[Input]:
        """Yield each input of texts of every scenario."""
        for scenario in self.scenarios:
            for input_ in scenario.inputs.values():
                if input_.texts is not None:
                    yield input_

    def needed_texts(self) -> Iterator[Input]:
        """Yield each input of texts of the task, and of its yardstick."""
        yield from self.texts()
        if self.yardstick is not None:
            yield from self.yardstick.texts()

    @property
    def primary(self) -> tuple[str, str]:
        """The scenario and the metric of the score that stands for the task."""
        return self.file.primary.scenario, self.file.primary.metric


# Resolves a task file: reads its data, and checks the inputs and options of its metrics.
#
# Errors point into the file. All mistakes are collected before one is raised.


class Finder(Protocol):
    """Finds objects by the names in a task. The registry implements it."""

    data: DataFiles
    """Finds and fetches the files of tables."""

    def concept(self, name: str) -> Concept:
        """Return a concept."""
        ...

    def metric(self, name: str) -> Metric:
        """Return a metric."""
        ...

    def table_maker(self, name: str) -> Callable[..., Any]:
        """Return a table maker."""
        ...

    def yardstick(self, name: str, limit: int | None) -> Task:
        """Return a task that is a yardstick of others."""
        ...


def resolve(document: yaml_files.Document, finder: Finder, *, limit: int | None = None) -> Task:
    """Resolve a task file: read its data and check the inputs and options of its metrics.

    Parameters
    ----------
    document
        The parsed task file.
    finder
        Finds what the file names.
    limit
        Largest number of items of each set or table; None for all.

    Raises
    ------
    InvalidFile
        If it has a mistake in it.
    Unavailable
        If its data is missing.
    """
    mistakes = Collector()
    file = None
    with mistakes.collecting():
        file = document.validate(TaskFile)
    its_concept, metrics = _named(document, finder, mistakes)
    if file is None:
        raise mistakes.error()
    scenarios = file.scenarios or {DEFAULT_SCENARIO: ScenarioFile()}
    _check_primary(document, file, metrics, scenarios, mistakes)
    its_options: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in scenarios}
    for name, scenario in scenarios.items():
        for metric in metrics.values():
            with mistakes.collecting():
                options_ = _options_of(document, file, name, scenario, metric)
                its_options[name][metric.name] = options_
    paths: Mapping[str, Path] | None = None
    with mistakes.collecting():
        paths = finder.data.provide(file.tables, document)
    if paths is None or (file.concept is not None and its_concept is None):
        mistakes.check()  # inputs may need the concept
    inputs = Inputs(Tables(document, file, its_concept, finder.table_maker, paths or {}), limit)
    resolved = []
    for name, scenario in scenarios.items():
        with mistakes.collecting():
            its_inputs = inputs.of_scenario(name, scenario)
            resolved.append(_scenario(document, file, name, its_inputs, metrics, its_options[name]))
    yardstick = None
    if file.yardstick not in (None, NO_YARDSTICK):
        with mistakes.collecting(), document.pointing_at(("yardstick",)):
            yardstick = finder.yardstick(file.yardstick, limit)
            _check_yardstick(document, file, metrics, yardstick)
    mistakes.check()
    references = reference.of_task(document.path, file.name, file.version)
    return Task(file, its_concept, tuple(resolved), limit, yardstick, references)


def _named(
    document: yaml_files.Document, finder: Finder, mistakes: Collector
) -> tuple[Concept | None, dict[str, Metric]]:
    """Return the concept and the metrics that a file names, even if it has other mistakes."""
    concept, metrics = document.data.get("concept"), document.data.get("metrics")
    its_concept = None
    if isinstance(concept, str):
        with mistakes.collecting(), document.pointing_at(("concept",)):
            its_concept = finder.concept(concept)
    its_metrics: dict[str, Metric] = {}
    for name in metrics if isinstance(metrics, dict) else ():
        with mistakes.collecting(), document.pointing_at(("metrics", name)):
            its_metrics[name] = finder.metric(name)
    return its_concept, its_metrics


def _scenario(
    document: yaml_files.Document,
    file: TaskFile,
    name: str,
    inputs: Mapping[str, Input],
    metrics: Mapping[str, Metric],
    its_options: Mapping[str, Mapping[str, Any]],
) -> Scenario:
    """Return a scenario; `its_options` are those of each metric whose options are valid."""
    mistakes = Collector()
    options = file.scenarios[name].options if name in file.scenarios else {}
    for unknown in set(options) - set(file.metrics):
        with mistakes.collecting():
            raise document.error(
                f"the task has no metric '{unknown}'{suggestion(unknown, metrics)}",
                ("scenarios", name, "options", unknown),
            )
    measurements = []
    for metric in metrics.values():
        with mistakes.collecting():
            key, use = ("metrics", metric.name), file.metrics[metric.name]
            its_inputs = _inputs_of(document, key, metric, use, inputs)
            _check_disjoint(document, metric, its_inputs)
            measurements.append(Measurement(metric, its_inputs, its_options.get(metric.name, {})))
    mistakes.check()
    return Scenario(name, inputs, tuple(measurements))


def _options_of(
    document: yaml_files.Document,
    file: TaskFile,
    name: str,
    scenario: ScenarioFile,
    metric: Metric,
) -> dict[str, Any]:
    """Return the options of a metric in the scenario `name`."""
    key = ("metrics", metric.name)
    its_options: dict[str, Any] = {}
    known = {*metric.options, *metric.required_options}
    for place, values in (
        ((*key, "options"), file.metrics[metric.name].options),
        (("scenarios", name, "options", metric.name), scenario.options.get(metric.name, {})),
    ):
        with document.pointing_at(place):
            its_options |= names.convert_options(
                metric.function, values, known=known, what=f"metric '{metric.name}'"
            )
    for option in metric.required_options:
        if option not in its_options:
            raise document.error(f"metric '{metric.name}' requires the option '{option}'", key)
    return its_options


def _inputs_of(
    document: yaml_files.Document,
    key: yaml_files.KeyPath,
    metric: Metric,
    use: MetricUse,
    resolved: Mapping[str, Input],
) -> dict[str, Input]:
    for parameter, source in use.inputs.items():
        place = (*key, "inputs", parameter)
        if parameter not in metric.inputs:
            raise document.error(
                f"metric '{metric.name}' has no input '{parameter}'"
                f"{suggestion(parameter, metric.inputs)}",
                place,
            )
        if source not in resolved:
            raise document.error(
                f"the task has no input '{source}'{suggestion(source, resolved)}", place
            )
    inputs = {}
    for parameter, required in metric.inputs.items():
        source = use.inputs.get(parameter, parameter)
        if source in resolved:
            inputs[parameter] = resolved[source]
        elif required:
            near = suggestion(parameter, set(resolved) - set(metric.inputs))
            raise document.error(
                f"metric '{metric.name}' requires the input '{parameter}', "
                f"which the task lacks{near}",
                key,
            )
    return inputs


def _check_disjoint(
    document: yaml_files.Document, metric: Metric, inputs: Mapping[str, Input]
) -> None:
    for parameters in metric.disjoint:
        if not set(parameters) <= set(inputs):
            continue
        first, second = (inputs[parameter] for parameter in parameters)
        shared = set(map(composed, first.texts or ())) & set(map(composed, second.texts or ()))
        if shared:
            words = ", ".join(f"'{word}'" for word in sorted(shared)[:3])
            raise document.error(
                f"'{first.name}' and '{second.name}' share {words}; "
                f"metric '{metric.name}' requires sets with no word in common",
                ("inputs", second.name),
            )


def _check_primary(
    document: yaml_files.Document,
    file: TaskFile,
    metrics: Mapping[str, Metric],
    scenarios: Mapping[str, ScenarioFile],
    mistakes: Collector,
) -> None:
    primary = file.primary
    checks: list[tuple[str, str, Mapping[str, Any]]] = [
        ("metric", primary.metric, file.metrics),
        ("scenario", primary.scenario, scenarios),
    ]
    if primary.metric in metrics:
        checks.append(("score", primary.score, metrics[primary.metric].scores))
    for key, name, known in checks:
        if name not in known:
            with mistakes.collecting():
                raise document.error(
                    f"unknown {key} '{name}'{suggestion(name, known)}", ("primary", key)
                )


def _check_yardstick(
    document: yaml_files.Document,
    file: TaskFile,
    metrics: Mapping[str, Metric],
    yardstick: Task,
) -> None:
    """Raise InvalidFile if the gaps of a task and of its yardstick are not of one form."""
    own = metrics.get(file.primary.metric)
    if own is None:
        return
    measurements = yardstick.scenarios[0].measurements
    its = next(m.metric for m in measurements if m.metric.name == yardstick.file.primary.metric)
    if own.gap is None:
        raise document.error(
            f"metric '{own.name}' has no gap, so the task has no use for a yardstick",
            ("yardstick",),
        )
    if its.gap is not own.gap:
        raise document.error(
            f"the yardstick '{yardstick.name}' is measured by "
            f"'{yardstick.file.primary.metric}', which has not the gap of '{own.name}'",
            ("yardstick",),
        )
