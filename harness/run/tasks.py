"""The tasks of a run: selects those that `--tasks` names, and reads those for a kind of model.

`--tasks` takes names, globs, benchmarks, tags, categories, `all`, or a path to a file of a task or
benchmark; `--exclude` takes the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.embedder import Kind
from harness.errors import (
    InvalidFile,
    NameClash,
    Unavailable,
    UnknownName,
    UsageError,
    one_line,
)
from harness.progress import Progress, Silent
from harness.registry.beside import with_concepts_beside
from harness.registry.files import kind_of
from harness.registry.registry import Registry
from harness.results.not_run import Kind as NotRunKind
from harness.results.not_run import NotRun
from harness.task import benchmark, data_files, yaml_files
from harness.task.benchmark import BenchmarkFile
from harness.task.data_files import DataFile, MissingData
from harness.task.schema import TaskFile

if TYPE_CHECKING:
    from harness.task.task import Task

ALL = "all"


@dataclass(frozen=True)
class TaskEntry:
    """A task file that is not resolved yet.

    Parameters
    ----------
    document, file
        The file as parsed, and as validated.
    is_named
        Whether the user gave the name or path of this very task.
    from_path
        Whether the user gave its path. It may name concepts beside it then.
    """

    document: yaml_files.Document
    file: TaskFile
    is_named: bool = False
    from_path: bool = False


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
    registry: Registry, patterns: Iterable[str], exclude: Iterable[str] = ()
) -> list[TaskEntry]:
    """Return the tasks that any of `patterns` matches, each once, in the order of their names.

    Parameters
    ----------
    registry
        Where names are looked up.
    patterns
        As users type them after `--tasks`.
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
            if entry.is_named or other is entry:  # a glob may have matched it before
                selected[entry.file.name] = entry
    for pattern in exclude:
        for entry in _matches(registry, entries, pattern):
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
        If a task, tag or category has the same name.
    """
    versions = {entry.file.name: entry.file.version for entry in entries}
    file = benchmark.check(document, versions)
    if _matching(entries, file.name):
        raise NameClash(
            f"'{file.name}' is the benchmark of {document.path}, and a task, tag or category too: "
            "rename one of them"
        )
    return file


class TaskReader:
    """Resolves the tasks of a run.

    Parameters
    ----------
    registry
        Where names are looked up.
    selected
        The tasks of the run.
    progress
        Where to show progress if a table is made by a plugin, which may be slow.
    limit
        Largest number of items of each set or table of a task; None for all.
    """

    def __init__(
        self,
        registry: Registry,
        selected: Sequence[TaskEntry],
        progress: Progress,
        *,
        limit: int | None = None,
    ) -> None:
        self.registry, self.selected, self.progress = registry, selected, progress
        self.limit = limit
        registry.data.progress = progress
        self._resolved: dict[str, Task | NotRun] = {}

    @property
    def named(self) -> list[str]:
        """The tasks that the user named one by one."""
        return [entry.file.name for entry in self.selected if entry.is_named]

    def for_kind(self, kind: Kind) -> list[Task | NotRun]:
        """Return each task with its data, or why it is not run.

        Only the tasks for this kind of embedder are read.

        Raises
        ------
        UsageError
            If a task that the user named has a mistake in it.
        """
        reasons = {entry.file.name: entry.file.unfit_for(kind) for entry in self.selected}
        new = [
            entry
            for entry in self.selected
            if reasons[entry.file.name] is None and entry.file.name not in self._resolved
        ]
        self._fetch_data(new)
        is_slow = any(table.made_by for entry in new for table in entry.file.tables.values())
        progress = self.progress if is_slow else Silent()
        with progress.stage("reading tasks", len(new), "tasks") as advance:
            for entry in new:
                self._resolved[entry.file.name] = self._resolve(entry)
                advance(1)
        return [
            self._resolved[name] if reason is None else NotRun("", "", name, reason, "embedder")
            for name, reason in reasons.items()
        ]

    def _fetch_data(self, entries: Iterable[TaskEntry]) -> None:
        """Fetch the data that tasks lack, all at once; reading a task tells its mistakes."""
        files: list[DataFile] = []
        for entry in entries:
            with contextlib.suppress(InvalidFile):
                files += data_files.of_tables(entry.file.tables, entry.document).values()
        self.registry.data.fetch(files)

    def _resolve(self, entry: TaskEntry) -> Task | NotRun:
        try:
            registry = self.registry
            if entry.from_path:
                registry = with_concepts_beside(registry, entry.document.path)
            return registry.resolve(entry.document, limit=self.limit)
        except Exception as error:  # a plugin may raise anything
            if entry.is_named and isinstance(error, UsageError):
                raise
            kind: NotRunKind = "data" if isinstance(error, Unavailable) else "failed"
            reason = one_line(error)
            if isinstance(error, MissingData):  # a notice of the run says why, and how to get it
                reason = f"missing data: {', '.join(error.problems)}"
            return NotRun("", "", entry.file.name, reason, kind)


def _note_homonym(entry: TaskEntry, registry: Registry) -> None:
    other = registry.task_files.get(entry.file.name)
    if other is not None and other.path.resolve() != entry.document.path.resolve():
        registry.note(
            f"{entry.document.path} has the same name '{entry.file.name}' as the task of "
            f"{other.path}: rename it, or its records will be taken for another version of that"
        )


def _matches(registry: Registry, entries: Sequence[TaskEntry], pattern: str) -> Sequence[TaskEntry]:
    """Return the tasks that one pattern names."""
    matches = _matching(entries, pattern)
    if pattern in registry.benchmark_files.owners:
        return _of_benchmark(entries, registry.benchmark_files.find(pattern))
    if not matches and Path(pattern).suffix in (".yaml", ".yml"):
        document = yaml_files.load(Path(pattern))
        if kind_of(document) == "benchmark":
            return _of_benchmark(entries, document)
        file = document.validate(TaskFile)
        matches = [TaskEntry(document, file, is_named=True, from_path=True)]
        _note_homonym(matches[0], registry)
    if not matches and pattern in registry.task_files.owners:
        registry.task_files.find(pattern).validate(TaskFile)  # raises: it was left out
    if not matches:
        known = known_names(registry, entries)
        raise UnknownName("task, benchmark, tag or category", pattern, known)
    return matches


def _of_benchmark(entries: Sequence[TaskEntry], document: yaml_files.Document) -> list[TaskEntry]:
    file = check_benchmark(entries, document)
    return [entry for entry in entries if entry.file.name in file.tasks]


def _matching(entries: Sequence[TaskEntry], pattern: str) -> list[TaskEntry]:
    if pattern == ALL:
        return list(entries)
    return [
        dataclasses.replace(entry, is_named=entry.file.name == pattern)
        for entry in entries
        if fnmatch.fnmatchcase(entry.file.name, pattern)
        or pattern in entry.file.tags
        or pattern in (entry.file.category, entry.file.measures)
    ]


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts names by the numbers in them."""
    pieces: list[tuple[int, str]] = []
    for piece in name.split("-"):
        digits = "".join(c for c in piece if c.isdigit())
        pieces.append((int(digits or 0), piece) if piece[:1].isdigit() else (0, piece))
    return pieces
