"""A resolved task: its texts by scenario and input, and the metrics that score them.

`resolving.py` makes it from a task file and its concept. It knows no model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.concept import Concept
from harness.digest import digest, json_like
from harness.errors import NotApplicable
from harness.metrics import Metric
from harness.task.inputs import Input
from harness.task.schema import TaskFile


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
        Whether the user added it to the task, whose file does not name the metric.
    """

    metric: Metric
    inputs: Mapping[str, Input]
    options: Mapping[str, Any]
    added: bool = False

    def content(self) -> dict[str, Any]:
        """Return its part of a digest: options, names of inputs, code that nobody registers."""
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
    """

    file: TaskFile
    concept: Concept | None
    scenarios: tuple[Scenario, ...]
    limit: int | None = None

    @property
    def name(self) -> str:
        """The name that users type."""
        return self.file.name

    @cached_property
    def digest(self) -> str:
        """Digest of texts, numbers, metrics and options; it does not depend on descriptions."""
        limit = {} if self.limit is None else {"limit": self.limit}
        return digest(
            limit
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
