"""A resolved task: its texts by scenario and input, and the metrics that score them.

It is made from a task file and its concept. Errors point into the file. It knows no model.
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
    """A metric with the inputs and options that a scenario gives it.

    Parameters
    ----------
    metric
        The metric.
    inputs
        Input by parameter of the metric.
    options
        Options that the task or scenario sets.
    """

    metric: Metric
    inputs: Mapping[str, Input]
    options: Mapping[str, Any]


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
        """Digest of texts, numbers, metrics and options; it does not depend on descriptions."""
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

    def texts(self) -> Iterator[Input]:
        """Yield each input of texts of every scenario."""
        for scenario in self.scenarios:
            for input_ in scenario.inputs.values():
                if input_.texts is not None:
                    yield input_


def resolve(
    document: yaml_files.Document,
    *,
    concept: Callable[[str], Concept],
    metric: Callable[[str], Metric],
    table: Callable[[str], Callable[..., Any]],
) -> Task:
    """Resolve a task file: read its data and check the inputs and options of its metrics.

    Parameters
    ----------
    document
        The parsed task file.
    concept, metric, table
        Find a concept, a metric and a table maker by name.

    Raises
    ------
    InvalidFile
        If it has a mistake in it.
    Unavailable
        If its data is missing.
    """
    file = document.validate(TaskFile)
    its_concept = None
    if file.concept is not None:
        with document.pointing_at(("concept",)):
            its_concept = concept(file.concept)
    scenarios = file.scenarios or {DEFAULT_SCENARIO: ScenarioFile()}
    inputs = Inputs(Tables(document, file, its_concept, table))
    metrics: dict[str, Metric] = {}
    for name in file.metrics:
        with document.pointing_at(("metrics", name)):
            metrics[name] = metric(name)
    resolved = tuple(
        _scenario(name, scenario, inputs, metrics) for name, scenario in scenarios.items()
    )
    _check_primary(document, file, metrics, scenarios)
    return Task(file, its_concept, resolved)


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
        its_options: dict[str, Any] = {}
        for place, values in (
            ((*key, "options"), use.options),
            (("scenarios", name, "options", metric_name), scenario.options.get(metric_name, {})),
        ):
            with document.pointing_at(place):
                its_options |= options.convert(
                    metric.function, values, known=metric.options, what=f"metric '{metric_name}'"
                )
        its_inputs = _inputs_of(document, key, metric, use, resolved)
        _check_disjoint(document, metric, its_inputs)
        measurements.append(Measurement(metric, its_inputs, its_options))
    return Scenario(name, resolved, tuple(measurements))


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
        shared = set(first.texts or ()) & set(second.texts or ())
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
                f"unknown {field} '{name}'{suggestion(name, known)}", ("primary", field)
            )
