"""A task ready to run: its texts by scenario and input, and the metrics that score them.

Made of a task file and its concept; errors point into the file. Knows no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import options
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.errors import NotApplicable, suggestion
from harness.metrics import Metric
from harness.task import yaml_files
from harness.task.inputs import Input, Inputs
from harness.task.schema import DEFAULT_SCENARIO, MetricUse, ScenarioFile, TaskFile
from harness.task.tables import Tables


@dataclass(frozen=True)
class Measurement:
    """A metric as a scenario of a task uses it.

    Parameters
    ----------
    metric
        The metric.
    inputs
        Input by parameter of the metric.
    options
        Options that the task sets.
    """

    metric: Metric
    inputs: Mapping[str, Input]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One reading of a task's texts.

    Parameters
    ----------
    name
        Such as `neutral`.
    inputs
        Inputs by name.
    measurements
        What is computed of them.
    """

    name: str
    inputs: Mapping[str, Input]
    measurements: tuple[Measurement, ...]


@dataclass(frozen=True)
class Task:
    """A task ready to run.

    Parameters
    ----------
    file
        What the task file says.
    concept
        The concept it names.
    scenarios
        Its readings.
    """

    file: TaskFile
    concept: Concept | None
    scenarios: tuple[Scenario, ...]

    @property
    def name(self) -> str:
        """The name that users type."""
        return self.file.name

    @cached_property
    def digest(self) -> str:
        """Names the resolved task: texts, numbers, metrics and options, but no prose."""
        return digest(
            {
                "name": self.name,
                "version": self.file.version,
                "primary": self.file.primary.model_dump(),
                "max_missing": self.file.max_missing,
                "scenarios": {
                    scenario.name: {
                        "inputs": {n: i.content() for n, i in scenario.inputs.items()},
                        "metrics": {
                            m.metric.name: {
                                "options": json_like(m.metric.options | dict(m.options)),
                                "inputs": {p: i.name for p, i in m.inputs.items()},
                            }
                            for m in scenario.measurements
                        },
                    }
                    for scenario in self.scenarios
                },
            }
        )

    @property
    def needs_vocabulary(self) -> bool:
        """Whether some of its texts are words of the embedder's own vocabulary."""
        return any(given.vocabulary for given in self.texts())

    def of_words(self, words: Sequence[str]) -> Task:
        """Return the task with the texts that it takes from a vocabulary; its digest is the same.

        Raises
        ------
        NotApplicable
            If no word of the vocabulary is what an input asks for.
        """

        def filled(scenario: Scenario) -> Scenario:
            inputs = {name: given.of_words(words) for name, given in scenario.inputs.items()}
            for name, given in inputs.items():
                if given.vocabulary and not given.texts:
                    pattern = given.vocabulary.pattern
                    raise NotApplicable(
                        f"no word of the vocabulary is as '{name}' has it: {pattern}"
                    )
            measurements = tuple(
                dataclasses.replace(
                    one, inputs={key: inputs[given.name] for key, given in one.inputs.items()}
                )
                for one in scenario.measurements
            )
            return Scenario(scenario.name, inputs, measurements)

        return dataclasses.replace(self, scenarios=tuple(map(filled, self.scenarios)))

    def texts(self) -> Iterator[Input]:
        """Yield each input of texts of every scenario."""
        for scenario in self.scenarios:
            for item in scenario.inputs.values():
                if item.texts is not None:
                    yield item


def resolve(
    document: yaml_files.Document,
    *,
    concept: Callable[[str], Concept],
    metric: Callable[[str], Metric],
    table: Callable[[str], Callable[..., Any]],
) -> Task:
    """Return the task that a file describes, with its data read and its metrics checked.

    Parameters
    ----------
    document
        The parsed task file.
    concept, metric, table
        Find one by name: a concept, a metric, what makes a table of another.

    Raises
    ------
    InvalidFile
        If anything in it does not fit.
    Unavailable
        If its data cannot be had.
    """
    file = document.validate(TaskFile)
    about = None
    if file.concept is not None:
        with document.pointing_at(("concept",)):
            about = concept(file.concept)
    scenarios = file.scenarios or {DEFAULT_SCENARIO: ScenarioFile()}
    inputs = Inputs(Tables(document, file, about, table))
    metrics: dict[str, Metric] = {}
    for name in file.metrics:
        with document.pointing_at(("metrics", name)):
            metrics[name] = metric(name)
    resolved = tuple(
        _scenario(name, scenario, inputs, metrics) for name, scenario in scenarios.items()
    )
    _check_primary(document, file, metrics, scenarios)
    return Task(file, about, resolved)


def _scenario(
    name: str, scenario: ScenarioFile, inputs: Inputs, metrics: Mapping[str, Metric]
) -> Scenario:
    document, file = inputs.document, inputs.file
    resolved = inputs.of_scenario(name, scenario)
    for unknown in set(scenario.options) - set(metrics):
        raise document.error(
            f"the task has no metric '{unknown}'{suggestion(unknown, metrics)}",
            ("scenarios", name, "options", unknown),
        )
    measurements = []
    for metric_name, metric in metrics.items():
        use = file.metrics[metric_name]
        key: yaml_files.KeyPath = ("metrics", metric_name)
        chosen: dict[str, Any] = {}
        for place, said in (
            ((*key, "options"), use.options),
            (("scenarios", name, "options", metric_name), scenario.options.get(metric_name, {})),
        ):
            with document.pointing_at(place):
                chosen |= options.convert(
                    metric.function, said, known=metric.options, what=f"metric '{metric_name}'"
                )
        given = _inputs_of(document, key, metric, use, resolved)
        _check_disjoint(document, metric, given)
        measurements.append(Measurement(metric, given, chosen))
    return Scenario(name, resolved, tuple(measurements))


def _inputs_of(
    document: yaml_files.Document,
    key: yaml_files.KeyPath,
    metric: Metric,
    use: MetricUse,
    resolved: Mapping[str, Input],
) -> dict[str, Input]:
    for parameter, source in use.inputs.items():
        where = (*key, "inputs", parameter)
        if parameter not in metric.inputs:
            raise document.error(
                f"metric '{metric.name}' has no input '{parameter}'"
                f"{suggestion(parameter, metric.inputs)}",
                where,
            )
        if source not in resolved:
            raise document.error(
                f"the task has no input '{source}'{suggestion(source, resolved)}", where
            )
    given = {}
    for parameter, required in metric.inputs.items():
        source = use.inputs.get(parameter, parameter)
        if source in resolved:
            given[parameter] = resolved[source]
        elif required:
            near = suggestion(parameter, set(resolved) - set(metric.inputs))
            raise document.error(
                f"metric '{metric.name}' needs the input '{parameter}', "
                f"which the task does not have{near}",
                key,
            )
    return given


def _check_disjoint(
    document: yaml_files.Document, metric: Metric, given: Mapping[str, Input]
) -> None:
    for one, other in metric.disjoint:
        if one not in given or other not in given:
            continue
        shared = set(given[one].texts or ()) & set(given[other].texts or ())
        if shared:
            words = ", ".join(f"'{word}'" for word in sorted(shared)[:3])
            raise document.error(
                f"{words} stand{'s' if len(shared) == 1 else ''} in both '{given[one].name}' and "
                f"'{given[other].name}'; metric '{metric.name}' needs sets with no word in common",
                ("inputs", given[other].name),
            )


def _check_primary(
    document: yaml_files.Document,
    file: TaskFile,
    metrics: Mapping[str, Metric],
    scenarios: Mapping[str, ScenarioFile],
) -> None:
    primary = file.primary
    checks: list[tuple[str, str, Mapping[str, Any]]] = [
        ("metric", primary.metric, metrics),
        ("scenario", primary.scenario, scenarios),
    ]
    if primary.metric in metrics:
        checks.append(("score", primary.score, metrics[primary.metric].scores))
    for field, name, known in checks:
        if name not in known:
            raise document.error(
                f"there is no {field} '{name}'{suggestion(name, known)}", ("primary", field)
            )
