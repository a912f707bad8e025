"""What an evaluation ran and what not: counts for each model, and every reason once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.results.not_run import EVERY_TASK, Kind, NotRun
from harness.results.record import Record


@dataclass(frozen=True)
class Outcome:
    """How many tasks ran on a model.

    Parameters
    ----------
    model
        Name of the model.
    embedder
        Kind of the model, `word` or `text`; empty if no task ran.
    run
        Names of the tasks that have records under at least one mitigator.
    not_run
        Names of the other tasks, by the kind of the reason.
    """

    model: str
    embedder: str
    run: tuple[str, ...]
    not_run: dict[Kind, tuple[str, ...]]

    @property
    def asked(self) -> int:
        """Number of tasks that the model was to run."""
        return len(self.run) + sum(map(len, self.not_run.values()))


@dataclass(frozen=True)
class Reason:
    """Why tasks were not run, or why their scores are void.

    Parameters
    ----------
    reason
        The reason.
    models, mitigators, tasks
        Names: it holds for each of these models, under each mitigator, on each task.
    """

    reason: str
    models: tuple[str, ...]
    mitigators: tuple[str, ...]
    tasks: tuple[str, ...]

    def line(self, *, verbose: bool) -> str:
        """Return one line; without `verbose`, long lists of tasks are counted."""
        is_short = verbose or len(self.tasks) <= 3
        tasks = ", ".join(self.tasks) if is_short else f"{len(self.tasks)} tasks"
        models, mitigators = ", ".join(self.models), ", ".join(self.mitigators)
        return f"{models} under {mitigators} on {tasks}: {self.reason}"


def outcomes(records: Iterable[Record], not_run: Iterable[NotRun]) -> list[Outcome]:
    """Return the outcome of each model, in the order of the records."""
    kinds: dict[str, str] = {}
    ran: dict[str, dict[str, None]] = {}
    lost: dict[str, list[NotRun]] = {}
    for record in records:
        kinds[record.model.name] = record.model.kind
        ran.setdefault(record.model.name, {})[record.task.name] = None
    for entry in not_run:
        lost.setdefault(entry.model, []).append(entry)
    return [
        outcome(model, kinds.get(model, ""), tuple(ran.get(model, ())), lost.get(model, ()))
        for model in dict.fromkeys([*ran, *lost])
    ]


def outcome(model: str, embedder: str, run: tuple[str, ...], not_run: Iterable[NotRun]) -> Outcome:
    """Return the outcome of one model.

    A task that did not run under any mitigator counts once: as failed if one of them failed.
    """
    kinds: dict[str, Kind] = {}
    for entry in not_run:
        is_lost = entry.task not in run and entry.task != EVERY_TASK
        if is_lost and (entry.failed or entry.task not in kinds):
            kinds[entry.task] = entry.kind
    return Outcome(
        model=model,
        embedder=embedder,
        run=run,
        not_run={
            kind: tuple(task for task, other in kinds.items() if other == kind)
            for kind in dict.fromkeys(kinds.values())
        },
    )


def reasons(not_run: Iterable[NotRun]) -> list[Reason]:
    """Return why tasks were not run: equal reasons once, over models, mitigators and tasks."""
    return _grouped((e.reason, e.model, e.mitigator, e.task) for e in not_run)


def void(records: Iterable[Record]) -> list[Reason]:
    """Return why primary scores are void: equal reasons once."""
    return _grouped(
        (record.reason or "no number", record.model.name, record.mitigator.label, record.task.name)
        for record in records
        if record.primary and record.value is None
    )


def _grouped(entries: Iterable[tuple[str, str, str, str]]) -> list[Reason]:
    """Join entries of reason, model, mitigator and task that differ in one name only."""
    by_task = [(r, (m,), (u,), (t,)) for r, m, u, t in dict.fromkeys(entries)]
    by_mitigator = _joined(by_task, 3)
    by_model = _joined(by_mitigator, 2)
    return [Reason(*group) for group in _joined(by_model, 1)]


def _joined(groups: Iterable[Any], i: int) -> list[Any]:
    """Join groups that are equal but for the names at position `i`."""
    joined: dict[Hashable, tuple[str, ...]] = {}
    for group in groups:
        rest = (*group[:i], *group[i + 1 :])
        joined[rest] = (*joined.get(rest, ()), *group[i])
    return [(*rest[:i], names, *rest[i:]) for rest, names in joined.items()]  # type: ignore[index]
