"""Validates metrics on tasks and models: the same texts, vectors and inputs as an evaluation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import HarnessError, NotApplicable, UsageError
from harness.folders import Place
from harness.progress import Progress
from harness.run.evaluation import Run
from harness.run.scoring import MetricInputs, too_few, usable_rows
from harness.run.settings import Settings
from harness.run.tasks import list_tasks
from harness.task import validity
from harness.task.task import Task
from harness.task.validity import Validity

from . import checks

if TYPE_CHECKING:
    from harness.registry.registry import Registry


MODELS = {"word": "glove-6b-50d", "text": "all-MiniLM-L6-v2"}
"""Model by kind, for tasks of that kind, where no model is named."""
DIGITS = 4
"""Significant digits that are kept: more would change with the machine."""


def measure(
    registry: Registry,
    metrics: Sequence[str] = (),
    *,
    tasks: Sequence[str] = (),
    models: Sequence[str] = (),
    seed: int = 0,
    cache: Place | None = None,
    progress: bool | Progress = False,
) -> tuple[list[Validity], list[str]]:
    """Return the validity of metrics, on each of their tasks and with each model.

    Besides, why something could not be measured, a line each.

    Parameters
    ----------
    registry, cache, progress
        As in `harness.evaluate`.
    metrics
        Names of metrics; by default those of all tasks of bias.
    tasks
        Tasks as users type them; by default the tasks of bias that a metric is primary in. A named
        metric also scores named tasks that do not have it.
    models
        Names of models; by default one for each kind.
    seed
        Seed of all draws.

    Raises
    ------
    UsageError
        If a name is unknown, or a metric has no task.
    """
    added = [registry.metric(name) for name in metrics]
    settings = Settings.of(cache=cache, seed=seed, progress=progress)
    chosen = list(tasks) or _tasks_of(registry, [metric.name for metric in added])
    run = Run(registry, settings, chosen, ["none"], added if tasks else ())
    named = {task.file.name for task in run.tasks.selected if task.is_named}
    rows, skipped = [], []
    for name in models or MODELS.values():
        embedder = run.embedder(name)
        if isinstance(embedder, HarnessError):
            skipped.append(f"{name}: {embedder}")
            continue
        for line in run.settle(embedder):
            settings.progress.say(line)
        plan = run.plan(embedder, None)
        skipped += [
            f"{entry.task}: {entry.reason}"
            for entry in plan.not_run
            if entry.kind != "embedder" and (entry.kind != "language" or entry.task in named)
        ]
        with run.vectors(embedder, name, plan.texts) as vectors:
            vectors.ensure(plan.texts)
            label = f"{embedder.info.name}: validating"
            with settings.progress.stage(label, len(plan.jobs), "tasks") as advance:
                for job in plan.jobs:
                    own = [job.task.file.primary.metric]
                    for metric in [metric.name for metric in added] if added and tasks else own:
                        try:
                            rows.append(_validity(job.task, metric, vectors, seed))
                        except NotApplicable as error:
                            skipped.append(f"{job.task.name}: {error}")
                    advance(1)
    return rows, skipped


def _tasks_of(registry: Registry, metrics: Sequence[str]) -> list[str]:
    """Return the tasks of bias whose primary score is of a metric; of any, if none is named."""
    primary: dict[str, list[str]] = {}
    for entry in list_tasks(registry):
        if entry.file.measures == "bias" and not entry.file.large:
            primary.setdefault(entry.file.primary.metric, []).append(entry.file.name)
    without = [name for name in metrics if name not in primary]
    if without:
        raise UsageError(
            f"no task of bias has a primary score of the metric '{without[0]}': name tasks that "
            "have its inputs with --task"
        )
    return [task for name in metrics or primary for task in primary[name]]


def _validity(task: Task, metric: str, vectors: StoredEmbedder, seed: int) -> Validity:
    """Return the validity of a metric on a task; `NotApplicable` if it cannot be read there."""
    primary = task.file.primary
    is_primary = primary.metric == metric
    uses = [
        measurement
        for scenario in task.scenarios
        for measurement in scenario.measurements
        if measurement.metric.name == metric
        and (not is_primary or scenario.name == primary.scenario)
    ]
    if not uses:
        raise NotApplicable(f"lacks the inputs of the metric '{metric}'")
    use = uses[0]
    by_input = {}
    for input_ in use.inputs.values():
        if input_.texts is not None:
            with vectors.reading(input_.role):
                by_input[input_.name] = vectors.encode(input_.texts)
    kept = usable_rows(use.inputs, by_input)
    if reason := too_few(use.inputs, kept, task.file.max_missing):
        raise NotApplicable(reason)
    score = primary.score if is_primary else next(iter(use.metric.scores))
    groups = {name: input_.group for name, input_ in use.inputs.items()}
    inputs = MetricInputs.of(use.inputs, by_input, kept)
    inputs = checks.with_units(inputs, use.metric.contrast, groups)
    instrument = checks.Instrument(use.metric, score, use.options, inputs, groups)
    figures = checks.check(instrument, seed=seed)
    return Validity(
        task=task.name,
        version=task.file.version,
        metric=metric,
        score=score,
        model=vectors.info.name,
        fingerprint=vectors.info.fingerprint,
        seed=seed,
        failures=checks.failures(figures, use.metric.scores[score]),
        **figures,
    )


def recorded(registry: Registry) -> list[Validity]:
    """Return what is recorded of the known tasks, in the order of their names."""
    rows = []
    for entry in list_tasks(registry):
        rows += validity.of_task(entry.document.path, entry.file.name)
    return rows


def as_json(row: Validity) -> dict[str, Any]:
    """Return a row as JSON-like values, with `DIGITS`."""

    def rounded(number: str) -> float:
        return float(f"{float(number):.{DIGITS}g}")

    found: dict[str, Any] = json.loads(row.model_dump_json(), parse_float=rounded)
    return found
