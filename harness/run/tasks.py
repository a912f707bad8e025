"""Selects the tasks of a run.

`--tasks` takes names, globs, benchmarks, tags, categories, `all`, or a path to a file of a task or
benchmark; `--exclude` takes the same. Only its own name and benchmarks select a large task.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import (
    InvalidFile,
    NameClash,
    UnknownName,
    UsageError,
)
from harness.registry.files import kind_of, load
from harness.registry.registry import Registry
from harness.task import benchmark, each, yaml_files
from harness.task.benchmark import BenchmarkFile
from harness.task.schema import TaskFile

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
            if entry.is_named or other is entry:  # a glob may have matched it before
                selected[entry.file.name] = entry
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
        If a task or tag has the same name, or a category that its tasks are not all of.
    """
    files = {entry.file.name: entry.file for entry in entries}
    file = benchmark.check(document, {name: task.version for name, task in files.items()})
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
        document = load(Path(pattern))
        if kind_of(document) == "run":
            raise UsageError(f"'{pattern}' is the file of a run, not of a task: write -c {pattern}")
        if kind_of(document) == "benchmark":
            parts = each.documents(document)
            return [entry for part in parts for entry in _of_benchmark(entries, part)]
        matches = [_from_path(part, registry) for part in each.documents(document)]
    if not matches and pattern in registry.task_files.owners:
        registry.task_files.find(pattern).validate(TaskFile)  # raises: it was left out
    if not matches and (large := _matching(entries, pattern, with_large=True)):
        names = ", ".join(entry.file.name for entry in large)
        raise UsageError(f"'{pattern}' means large tasks only, which are run by name: {names}")
    if not matches:
        known = known_names(registry, entries)
        raise UnknownName("task, benchmark, tag or category", pattern, known)
    return matches


def _of_benchmark(entries: Sequence[TaskEntry], document: yaml_files.Document) -> list[TaskEntry]:
    file = check_benchmark(entries, document)
    return [entry for entry in entries if entry.file.name in file.tasks]


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
    """Return whether `all`, a glob, a tag or a category means a task."""
    groups = (ALL, file.category, file.measures, *file.tags)
    return pattern in groups or fnmatch.fnmatchcase(file.name, pattern)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the key that sorts names by the numbers in them."""
    pieces: list[tuple[int, str]] = []
    for piece in name.split("-"):
        digits = "".join(c for c in piece if c.isdigit())
        pieces.append((int(digits or 0), piece) if piece[:1].isdigit() else (0, piece))
    return pieces
