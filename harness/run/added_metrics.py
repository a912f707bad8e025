"""Metrics that a user passes to `evaluate`: functions of their own, or names of registered ones.

A task file may name them. They also score each selected task that has all their inputs, beside the
task's own metrics, with default options; a task that has the metric itself is left as it is. The
task's own scores stay the same: a score that was added has a digest of its own, which covers the
code of the function.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

from harness.encode import identity
from harness.errors import UsageError
from harness.metrics import Metric
from harness.registry.registry import Registry
from harness.results.record import Record
from harness.task.inputs import Input
from harness.task.task import Measurement, Scenario, Task

Added: TypeAlias = str | Callable[..., Any]
"""A metric as users give it: a function decorated with `harness.metric`, or a name."""


def resolve(
    metrics: Added | Iterable[Added], registry: Registry
) -> tuple[Registry, tuple[Metric, ...]]:
    """Return a registry that knows the metrics too, and the metrics.

    Parameters
    ----------
    metrics
        A function or name, or several.
    registry
        A registry, which stays as it is.

    Raises
    ------
    UsageError
        If a name is unknown, a function is not decorated, or its name is that of another metric.
    """
    is_single = isinstance(metrics, str) or callable(metrics) or not isinstance(metrics, Iterable)
    several = [cast("Added", metrics)] if is_single else list(cast("Iterable[Added]", metrics))
    resolved: dict[str, Metric] = {}
    for added in several:
        metric = _metric(added, registry)
        if metric.name in resolved and resolved[metric.name] != metric:
            raise UsageError(f"metrics: two functions have the name '{metric.name}'")
        resolved[metric.name] = metric
    own = {name: metric for name, metric in resolved.items() if metric.source}
    if own:
        registry = copy.copy(registry)
        registry.own_metrics = registry.own_metrics | own
    return registry, tuple(resolved.values())


def add(task: Task, metrics: Iterable[Metric]) -> Task:
    """Return a task with those of `metrics` that it lacks, in each scenario with their inputs."""
    lacking = [metric for metric in metrics if metric.name not in task.file.metrics]
    if not lacking:
        return task

    def extended(scenario: Scenario) -> Scenario:
        added = [
            Measurement(metric, inputs, {}, added=True)
            for metric in lacking
            if (inputs := _inputs(metric, scenario)) is not None
        ]
        return dataclasses.replace(scenario, measurements=(*scenario.measurements, *added))

    return dataclasses.replace(task, scenarios=tuple(map(extended, task.scenarios)))


def unused(metrics: Iterable[Metric], records: Sequence[Record]) -> list[str]:
    """Return a line for each metric that scored nothing."""
    used = {record.metric for record in records}
    return [
        f"metric '{metric.name}' scored nothing: no selected task that was run has its inputs, "
        f"{' and '.join(name for name, required in metric.inputs.items() if required)}"
        for metric in metrics
        if metric.name not in used
    ]


def _metric(added: Added, registry: Registry) -> Metric:
    if isinstance(added, str):
        return registry.metric(added)
    metric = getattr(added, "metric", None)
    if not isinstance(metric, Metric):
        name = getattr(added, "__name__", type(added).__name__)
        raise UsageError(
            f"metrics: '{name}' is no metric; decorate the function with @harness.metric"
        )
    if metric.name not in registry.metrics.owners:
        return dataclasses.replace(metric, source=identity.of_function(metric.function))
    registered = registry.metric(metric.name)
    if registered.function is not metric.function:
        raise UsageError(f"metrics: '{metric.name}' is registered already; choose another name")
    return registered


def _inputs(metric: Metric, scenario: Scenario) -> dict[str, Input] | None:
    """Return the inputs of a metric in a scenario; None if it lacks one, or they share texts."""
    inputs = {name: scenario.inputs[name] for name in metric.inputs if name in scenario.inputs}
    if any(required and name not in inputs for name, required in metric.inputs.items()):
        return None
    for pair in metric.disjoint:
        texts = [set(inputs[name].texts or ()) for name in pair if name in inputs]
        if len(texts) == 2 and texts[0] & texts[1]:
            return None
    return inputs
