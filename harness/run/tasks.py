"""The tasks of a run: which ones `--tasks` means, and reading those for a kind of model.

`--tasks` takes names, globs, tags, categories, `all`, or a path to a file.
"""

from __future__ import annotations

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
from harness.registry.registry import Registry
from harness.task import yaml_files
from harness.task.schema import TaskFile

if TYPE_CHECKING:
    from harness.results.records import Skipped
    from harness.task.task import Task

ALL = "all"


@dataclass(frozen=True)
class Listed:
    """A task as its file states it, not yet resolved; whether the user named just it."""

    document: yaml_files.Document
    file: TaskFile
    named: bool = False


def listed(registry: Registry) -> list[Listed]:
    """Return every task there is, in the order of their names (WEAT 10 after WEAT 9).

    A file with a mistake in it is left out, and `registry.notices` says why.
    """
    files = []
    for document in registry.task_files.values():
        try:
            files.append(Listed(document, document.validate(TaskFile)))
        except InvalidFile as error:
            registry.leave_out(error)
    return sorted(files, key=lambda one: _natural(one.file.name))


def select(registry: Registry, wanted: Iterable[str]) -> list[Listed]:
    """Return the tasks that `wanted` names, each once, in the order of their names.

    Raises
    ------
    UnknownName
        If one of `wanted` names nothing.
    UsageError
        If nothing is wanted.
    NameClash
        If two different files of one name are wanted.
    """
    wanted = list(wanted)
    if not wanted:
        raise UsageError("no task is asked for; 'all' means every task")
    every = listed(registry)
    chosen: dict[str, Listed] = {}
    for want in wanted:
        found = _matching(every, want)
        if not found and Path(want).suffix in (".yaml", ".yml"):
            document = yaml_files.load(Path(want))
            found = [Listed(document, document.validate(TaskFile), named=True)]
            _note_homonym(found[0], registry)
        if not found and want in registry.task_files:
            registry.task_files[want].validate(TaskFile)  # raises: it was left out
        if not found:
            raise UnknownName("task, tag or category", want, _known(every))
        for one in found:
            other = chosen.setdefault(one.file.name, one)
            if other.document.path.resolve() != one.document.path.resolve():
                raise NameClash(
                    f"two files claim the task '{one.file.name}': "
                    f"{other.document.path} and {one.document.path}"
                )
    return sorted(chosen.values(), key=lambda one: _natural(one.file.name))


class Reader:
    """Resolves the tasks of a run.

    Parameters
    ----------
    registry
        Where names are looked up.
    selected
        The tasks that were asked for.
    progress
        Where to show progress, if tables are made of others: what they are made by may be slow.
    """

    def __init__(self, registry: Registry, selected: Sequence[Listed], progress: Progress) -> None:
        self.registry, self.selected, self.progress = registry, selected, progress
        self._read: dict[str, Task | Skipped] = {}

    def for_kind(self, kind: Kind) -> list[Task | Skipped]:
        """Return the tasks with their data read, or why one is not there.

        Only those for the kind of embedder are read.

        Raises
        ------
        UsageError
            If a task that was named has a mistake in it.
        """
        from harness.results.records import Skipped  # builds a schema, which `list` can spare

        unfit = {one.file.name: one.file.unfit_for(kind) for one in self.selected}
        new = [
            one
            for one in self.selected
            if unfit[one.file.name] is None and one.file.name not in self._read
        ]
        slow = any(table.made_by for one in new for table in one.file.tables.values())
        progress = self.progress if slow else Silent()
        with progress.stage("reading tasks", len(new), "tasks") as advance:
            for one in new:
                self._read[one.file.name] = self._resolved(one)
                advance(1)
        return [
            self._read[name] if reason is None else Skipped("", "", name, reason)
            for name, reason in unfit.items()
        ]

    def _resolved(self, one: Listed) -> Task | Skipped:
        from harness.results.records import Skipped

        try:
            return self.registry.resolve(one.document)
        except Exception as error:  # a plugin may raise anything
            if one.named and isinstance(error, UsageError):
                raise
            failed = not isinstance(error, Unavailable)
            return Skipped("", "", one.file.name, one_line(error), failed)


def _note_homonym(one: Listed, registry: Registry) -> None:
    other = registry.task_files.get(one.file.name)
    if other is not None and other.path.resolve() != one.document.path.resolve():
        registry.note(
            f"{one.document.path} takes the name of the task '{one.file.name}' of {other.path}: "
            "give it a name of its own, or its records will be taken for another version"
        )


def _matching(every: Sequence[Listed], want: str) -> list[Listed]:
    if want == ALL:
        return list(every)
    return [
        dataclasses.replace(one, named=one.file.name == want)
        for one in every
        if fnmatch.fnmatchcase(one.file.name, want)
        or want in one.file.tags
        or want in (one.file.category, one.file.measures)
    ]


def _known(every: Iterable[Listed]) -> set[str]:
    known = {ALL}
    for one in every:
        known |= {one.file.name, one.file.category, one.file.measures, *one.file.tags}
    return known


def _natural(name: str) -> list[tuple[int, str]]:
    pieces: list[tuple[int, str]] = []
    for piece in name.split("-"):
        digits = "".join(c for c in piece if c.isdigit())
        pieces.append((int(digits or 0), piece) if piece[:1].isdigit() else (0, piece))
    return pieces
