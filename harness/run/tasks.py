"""Selects the tasks of a run.

`--tasks` takes names, globs, benchmarks, tags, categories, `all`, or a path to a file of a task or
benchmark; `--exclude` takes the same. Only its own name and benchmarks select a large task.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import fnmatch
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from harness.errors import (
    PLUGIN_ERRORS,
    InvalidFile,
    NameClash,
    Unavailable,
    UnknownName,
    UsageError,
    one_line,
)
from harness.metrics import Metric
from harness.progress import Progress, Silent
from harness.registry.discovery import kind_of, load_file
from harness.registry.registry import Registry, with_concepts_beside
from harness.task import data_files, yaml_files
from harness.task.data_files import DataFile, MissingData
from harness.task.schema import TaskFile

if TYPE_CHECKING:
    from harness.embedder import ModelInfo
    from harness.results.record import Record
    from harness.results.records import Kind as NotRunKind
    from harness.results.records import NotRun
    from harness.task.inputs import Input
    from harness.task.schema import BenchmarkFile
    from harness.task.task import Scenario, Task

ALL = "all"


@dataclass(frozen=True)
class TaskEntry:
    """A task file that is not resolved yet.

    Parameters
    ----------
    document
        The file as parsed.
    file
        The file as validated.
    is_named
        Whether the user typed the name or path of this task.
    from_path
        Whether the user typed its path. It may then name concepts in a folder next to it.
    prompts
        Number of neutral instructions that a benchmark asks for; None for the model's own alone.
    """

    document: yaml_files.Document
    file: TaskFile
    is_named: bool = False
    from_path: bool = False
    prompts: int | None = None


def list_tasks(registry: Registry) -> list[TaskEntry]:
    """Return all known tasks in the order of their names (WEAT 10 after WEAT 9).

    A file with a mistake is left out, and `registry.notices` says why.
    """
    entries = []
    for document in registry.task_files.values():
        try:
            entries.append(TaskEntry(document, document.validate(TaskFile)))
        except InvalidFile as error:
            registry.leave_out(error)
    return sorted(entries, key=lambda entry: _natural(entry.file.name))


def known_names(registry: Registry, entries: Iterable[TaskEntry]) -> set[str]:
    """Return the names that select tasks: of tasks, benchmarks, tags and categories."""
    known = {ALL, *registry.benchmark_files}
    for entry in entries:
        known |= {entry.file.name, entry.file.category, entry.file.measures, *entry.file.tags}
    return known


def select(
    registry: Registry, patterns: Iterable[str | yaml_files.Document], exclude: Iterable[str] = ()
) -> list[TaskEntry]:
    """Return the tasks that any of `patterns` matches, each once, in the order of their names.

    Parameters
    ----------
    registry
        Where names are looked up.
    patterns
        As users type them after `--tasks`, or parsed tasks.
    exclude
        As users type them after `--exclude`: tasks to leave out, even if they are named.

    Raises
    ------
    UnknownName
        If a pattern matches no task.
    UsageError
        If there are no patterns, or all tasks are excluded.
    InvalidFile
        If a file has a mistake in it, or a benchmark does not fit the known tasks.
    NameClash
        If two different files with one name match.
    """
    patterns = list(patterns)
    if not patterns:
        raise UsageError("no task is given; 'all' means every task")
    entries = list_tasks(registry)
    selected: dict[str, TaskEntry] = {}
    for pattern in patterns:
        for entry in _matches(registry, entries, pattern):
            other = selected.get(entry.file.name, entry)
            if other.document.path.resolve() != entry.document.path.resolve():
                raise NameClash(
                    f"two files claim the task '{entry.file.name}': "
                    f"{other.document.path} and {entry.document.path}"
                )
            chosen = entry if entry.is_named else other  # a glob may have matched it before
            most = max(entry.prompts or 0, other.prompts or 0) or None
            selected[entry.file.name] = dataclasses.replace(chosen, prompts=most)
    for pattern in exclude:
        for entry in _matches(registry, entries, pattern, with_large=True):
            selected.pop(entry.file.name, None)
    if not selected:
        raise UsageError("no task is left: all that were selected are excluded")
    return sorted(selected.values(), key=lambda entry: _natural(entry.file.name))


def check_benchmark(entries: Sequence[TaskEntry], document: yaml_files.Document) -> BenchmarkFile:
    """Return the benchmark of a parsed file, checked against the known tasks.

    Raises
    ------
    InvalidFile
        If it has a mistake in it, or lists a task that is unknown or of another version.
    NameClash
        If a task or tag has the same name, or a category that does not contain all its tasks.
    """
    from harness.task import schema

    files = {entry.file.name: entry.file for entry in entries}
    file = schema.check_benchmark(document, {name: task.version for name, task in files.items()})
    biased = [files[name] for name in file.tasks if files[name].measures == "bias"]
    is_of_category = all(task.category == file.name for task in biased)
    for entry in _matching(entries, file.name, with_large=True):
        task = entry.file
        names = {task.name, task.measures, *task.tags}
        if file.name in names or not is_of_category:
            raise NameClash(
                f"'{file.name}' is the benchmark of {document.path}, and a task, tag or category "
                "too: rename one of them"
            )
    return file


def _from_path(document: yaml_files.Document, registry: Registry) -> TaskEntry:
    """Return the task of a file that the user named by its path, or of a mapping."""
    entry = TaskEntry(document, document.validate(TaskFile), is_named=True, from_path=True)
    _note_homonym(entry, registry)
    return entry


def _note_homonym(entry: TaskEntry, registry: Registry) -> None:
    other = registry.task_files.get(entry.file.name)
    if other is not None and other.path.resolve() != entry.document.path.resolve():
        registry.note(
            f"{entry.document.path} has the same name '{entry.file.name}' as the task of "
            f"{other.path}: rename it, or its records will be taken for another version of that"
        )


def _matches(
    registry: Registry,
    entries: Sequence[TaskEntry],
    pattern: str | yaml_files.Document,
    *,
    with_large: bool = False,
) -> Sequence[TaskEntry]:
    """Return the tasks that one pattern names."""
    if isinstance(pattern, yaml_files.Document):
        return [_from_path(pattern, registry)]
    matches = _matching(entries, pattern, with_large=with_large)
    if pattern in registry.benchmark_files.owners:
        return _of_benchmark(entries, registry.benchmark_files.find(pattern))
    if not matches and Path(pattern).suffix in (".yaml", ".yml"):
        document = load_file(Path(pattern))
        if kind_of(document) == "run":
            raise UsageError(f"'{pattern}' is the file of a run, not of a task: write -c {pattern}")
        if kind_of(document) == "benchmark":
            parts = yaml_files.documents(document)
            return [entry for part in parts for entry in _of_benchmark(entries, part)]
        matches = [_from_path(part, registry) for part in yaml_files.documents(document)]
    if not matches and Path(pattern).suffix in (".csv", ".tsv", ".json"):
        raise UsageError(
            f"'{pattern}' is no task file; for a list of words write: harness words {pattern} "
            "--model MODEL"
        )
    if not matches and pattern in registry.task_files.owners:
        registry.task_files.find(pattern).validate(TaskFile)  # raises, since it was left out
    if not matches and (large := _matching(entries, pattern, with_large=True)):
        names = ", ".join(entry.file.name for entry in large)
        raise UsageError(f"'{pattern}' means large tasks only, which are run by name: {names}")
    if not matches:
        known = known_names(registry, entries)
        raise UnknownName("task, benchmark, tag or category", pattern, known)
    return matches


def _of_benchmark(entries: Sequence[TaskEntry], document: yaml_files.Document) -> list[TaskEntry]:
    """Return the tasks of a benchmark; its prompts are for bias, usefulness is measured once."""
    file = check_benchmark(entries, document)
    return [
        dataclasses.replace(entry, prompts=file.prompts if entry.file.measures == "bias" else None)
        for entry in entries
        if entry.file.name in file.tasks
    ]


def _matching(
    entries: Sequence[TaskEntry], pattern: str, *, with_large: bool = False
) -> list[TaskEntry]:
    return [
        dataclasses.replace(entry, is_named=entry.file.name == pattern)
        for entry in entries
        if entry.file.name == pattern
        or ((with_large or not entry.file.large) and _is_among(entry.file, pattern))
    ]


def _is_among(file: TaskFile, pattern: str) -> bool:
    """Return whether `all`, a glob, a tag or a category matches a task."""
    groups = (ALL, file.category, file.measures, *file.tags)
    return pattern in groups or fnmatch.fnmatchcase(file.name, pattern)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts names by the numbers in them."""
    pieces: list[tuple[int, str]] = []
    for piece in name.split("-"):
        digits = "".join(c for c in piece if c.isdigit())
        pieces.append((int(digits or 0), piece) if piece[:1].isdigit() else (0, piece))
    return pieces


# Metrics that a user passes to `evaluate`: functions of their own, or names of registered ones.
#
# A task file may name them. They also score each selected task that has all their inputs, in
# addition to the task's own metrics, with default options. A task that names the metric itself is
# not changed. The task's own scores stay the same: an added score has its own digest, which covers
# the code of the function.


Added: TypeAlias = str | Callable[..., Any]
"""A metric as users pass it: a function decorated with `harness.metric`, or a name."""


def resolve(
    metrics: Added | Iterable[Added], registry: Registry
) -> tuple[Registry, tuple[Metric, ...]]:
    """Return a registry that also knows the metrics, and the metrics.

    Parameters
    ----------
    metrics
        A function or name, or several.
    registry
        A registry, which is not changed.

    Raises
    ------
    UsageError
        If a name is unknown, or a function is not decorated or has the name of another metric.
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
    from harness.task.task import Measurement

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
    from harness.encode import identity

    if isinstance(added, str):
        return registry.metric(added)
    metric = getattr(added, "metric", None)
    if not isinstance(metric, Metric):
        name = getattr(added, "__name__", type(added).__name__)
        raise UsageError(
            f"metrics: '{name}' is no metric; decorate the function with @harness.metric"
        )
    if metric.name not in registry.metrics.owners:
        return dataclasses.replace(metric, source=identity.of_code(metric.function))
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


# Reads the tasks of a run that fit a model, with their data and added metrics.


class TaskReader:
    """Resolves the tasks of a run.

    Parameters
    ----------
    registry
        Where names are looked up.
    selected
        The tasks of the run.
    progress
        Where to show progress while plugins make tables, which may be slow.
    limit
        Largest number of items of each set or table of a task; None for all.
    metrics
        Metrics to add to each task that has their inputs.
    any_language
        Whether to read tasks even in languages that a model's card lacks.
    prompts
        Number of neutral instructions that the user wants each model to be run under; None for
        what benchmarks ask for.
    """

    def __init__(
        self,
        registry: Registry,
        selected: Sequence[TaskEntry],
        progress: Progress,
        *,
        limit: int | None = None,
        metrics: Sequence[Metric] = (),
        any_language: bool = False,
        prompts: int | None = None,
    ) -> None:
        self.registry, self.selected, self.progress = registry, selected, progress
        self.is_own_number = prompts is not None
        asked = [entry.prompts or 1 for entry in selected]
        self.prompts = max(asked, default=1) if prompts is None else prompts
        self.limit, self.metrics, self.any_language = limit, metrics, any_language
        registry.data.progress = progress
        self._resolved: dict[str, Task | NotRun] = {}

    @property
    def named(self) -> list[str]:
        """The tasks that the user named one by one."""
        return [entry.file.name for entry in self.selected if entry.is_named]

    def for_model(self, info: ModelInfo) -> list[Task | NotRun]:
        """Return each task with its data, or why it is not run.

        Only tasks for this kind of embedder, and for a language of its card, are read.

        Raises
        ------
        UsageError
            If a task that the user named has a mistake in it.
        """
        from harness.results.records import NotRun

        reasons, new = self._reasons(info)
        self._fetch_data(new)
        is_slow = any(table.made_by for entry in new for table in entry.file.tables.values())
        progress = self.progress if is_slow else Silent()
        with progress.stage("reading tasks", len(new), "tasks") as advance:
            for entry in new:
                self._resolved[entry.file.name] = self._resolve(entry)
                advance(1)
        return [
            self._resolved[name] if reason is None else NotRun("", "", name, *reason)
            for name, reason in reasons.items()
        ]

    def _reasons(
        self, info: ModelInfo
    ) -> tuple[dict[str, tuple[str, NotRunKind] | None], list[TaskEntry]]:
        """Return why each task does not fit a model, if so, and the others that were not read."""
        selected = self.selected
        if info.base and not self.is_own_number:  # a variant runs what a benchmark asks of it
            selected = [entry for entry in selected if entry.prompts]
        reasons = {entry.file.name: self._unfit(entry.file, info) for entry in selected}
        new = [
            entry
            for entry in selected
            if reasons[entry.file.name] is None and entry.file.name not in self._resolved
        ]
        return reasons, new

    def _unfit(self, file: TaskFile, info: ModelInfo) -> tuple[str, NotRunKind] | None:
        """Return why a task does not fit a model: as text, and as a kind for programs."""
        if reason := file.unfit_for(info.kind):
            return reason, "embedder"
        languages = () if self.any_language else info.languages
        if reason := file.foreign_to(languages):
            return f"{reason}; --any-language runs it", "language"
        return None

    def _fetch_data(self, entries: Iterable[TaskEntry]) -> None:
        """Fetch the missing data of all tasks; mistakes are reported when a task is read."""
        files: list[DataFile] = []
        for entry in entries:
            with contextlib.suppress(InvalidFile):
                self.registry.check_task(entry.document)
                files += data_files.of_tables(entry.file.tables, entry.document).values()
        self.registry.data.fetch(files)

    def _resolve(self, entry: TaskEntry) -> Task | NotRun:
        from harness.results.records import NotRun

        try:
            registry = self.registry
            if entry.from_path:
                registry = with_concepts_beside(registry, entry.document.path)
            return add(registry.resolve(entry.document, limit=self.limit), self.metrics)
        except PLUGIN_ERRORS as error:
            if entry.is_named and isinstance(error, UsageError):
                raise
            kind: NotRunKind = "data" if isinstance(error, Unavailable) else "failed"
            reason = one_line(error)
            if isinstance(error, MissingData):  # a notice of the run has the details
                reason = f"missing data: {', '.join(error.problems)}"
            return NotRun("", "", entry.file.name, reason, kind)
