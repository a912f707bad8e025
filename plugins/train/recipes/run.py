"""Runs a recipe: the steps that are not finished yet, in their order, and then the summary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Any

from harness import folders
from harness.digest import json_like
from harness.errors import Unavailable, UsageError
from harness.progress import Progress, shown
from harness.registry.registry import Registry
from harness.results import jsonl
from harness.run.recording import environment

from ..training import check_installed
from .plan import Step, plan
from .recipe import Recipe
from .record import StepRecord
from .steps import RESULTS, Steps
from .summary import Summary

STEPS = "steps.jsonl"
"""The file of finished steps in the folder of a recipe."""


@dataclass(frozen=True)
class RecipeRun:
    """A recipe that has run.

    Parameters
    ----------
    summary
        Its result.
    folder
        Its folder.
    steps, new
        Number of its steps, and of those that this run did.
    missed
        Tasks that did not run on some model, with the reason.
    notices
        What else the user should know, a line each.
    """

    summary: Summary
    folder: Path
    steps: int
    new: int
    missed: Mapping[str, str]
    notices: tuple[str, ...]


def run_recipe(
    recipe: Recipe,
    folder: Path | str,
    *,
    registry: Registry | None = None,
    progress: bool | Progress = False,
) -> RecipeRun:
    """Run a recipe, or what is left of it.

    Each finished step is noted in `steps.jsonl`. The same call goes on after an interruption of
    any kind. Rows, seeds and tasks may be added to the recipe later; finished steps are kept.

    Parameters
    ----------
    recipe
        The recipe.
    folder
        Where corpora, models, records and tables are written.
    registry
        Where names are looked up; None for a new one.
    progress
        Where progress is shown.

    Raises
    ------
    UsageError
        If a finished step in the folder was done with other settings, or the folder has files of
        something else.
    Unavailable
        If the extra `train` is not installed.
    HarnessError
        If a step fails. Finished steps are kept.
    """
    registry, progress, folder = registry or Registry(), shown(progress), Path(folder)
    steps = plan(recipe)
    _claim(folder)
    file = jsonl.RecordsFile(folder / STEPS, StepRecord)
    left = unfinished(steps, file.records, folder)
    if any(step.kind == "train" for step in left):
        check_installed()
    missing = _unavailable(recipe, registry) if left else {}
    for task, reason in missing.items():
        progress.say(f"{task} will not run: {reason}")
    doer = Steps(recipe, {step.name: step for step in steps}, folder, registry, progress)
    for i, step in enumerate(left):
        number = len(steps) - len(left) + i + 1
        time_left = _time_left(left[i:], file.records.values())
        progress.say(f"step {number} of {len(steps)}: {step.name}{time_left}")
        started = monotonic()
        facts = doer.do(step)
        file.add([_record(step, facts, monotonic() - started)])
    from .results import summarise

    done = {step.name: file.records[step.name] for step in steps}
    summary, notices = summarise(recipe, done, folder / RESULTS, registry)
    missed: dict[str, str] = {}
    for record in done.values():
        missed |= record.facts.get("not_run", {})
    return RecipeRun(summary, folder, len(steps), len(left), missed, (*file.notices, *notices))


def unfinished(
    steps: Iterable[Step], records: Mapping[str, StepRecord], folder: Path
) -> list[Step]:
    """Return the steps that are to be done.

    Raises
    ------
    UsageError
        If a step was done with other settings.
    """
    left = []
    for step in steps:
        record = records.get(step.name)
        if record is None or (step.kind == "evaluate" and record.key != step.key):
            left.append(step)  # an evaluation keeps its records: only new tasks are run
        elif record.key != step.key:
            raise UsageError(
                f"'{folder}' has '{step.name}' with other settings{_difference(record, step)}; "
                "choose another folder with --out"
            )
    return left


def _claim(folder: Path) -> None:
    """Mark a new folder as that of a recipe by an empty file of steps; refuse any other folder."""
    path = folder / STEPS
    if path.exists():
        return
    if folder.is_dir() and any(folder.glob("[!.]*")):
        raise UsageError(f"'{folder}' has other files; choose a new folder with --out")
    folders.make(folder)
    path.touch()


def _difference(record: StepRecord, step: Step) -> str:
    """Return what a finished step and a planned one differ in."""
    old, new = record.settings, json_like(step.settings)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    parts = [f"{name} was {old.get(name)}, is {new.get(name)}" for name in names]
    return f" ({'; '.join(parts)})" if parts else ""


def _unavailable(recipe: Recipe, registry: Registry) -> dict[str, str]:
    """Fetch the data of all tasks, and return why some cannot run: training may take hours."""
    missing = {}
    for task in recipe.tasks:
        try:
            registry.task(task)
        except Unavailable as error:
            missing[task] = str(error)
    return missing


def _record(step: Step, facts: dict[str, Any], seconds: float) -> StepRecord:
    return StepRecord(
        step=step.name,
        kind=step.kind,
        key=step.key,
        settings=json_like(step.settings),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        facts=facts,
        environment=environment(str(step.settings.get("device") or "default")),
    )


def _time_left(steps: Sequence[Step], records: Iterable[StepRecord]) -> str:
    """Return about how long some steps take, from finished steps of their kinds."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for record in records:
        seconds[record.kind].append(record.seconds)
    known = [fmean(seconds[step.kind]) for step in steps if step.kind in seconds]
    if not known:
        return ""
    minutes = sum(known) / 60
    at_least = "about" if len(known) == len(steps) else "more than"
    return f" ({at_least} {minutes:.0f} min left)" if minutes >= 1 else ""
