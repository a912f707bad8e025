"""Reads the tasks of a run that are for a model: their data, and the metrics added to them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from harness.embedder import ModelInfo
from harness.errors import (
    PLUGIN_ERRORS,
    InvalidFile,
    Unavailable,
    UsageError,
    one_line,
)
from harness.metrics import Metric
from harness.progress import Progress, Silent
from harness.registry.beside import with_concepts_beside
from harness.registry.registry import Registry
from harness.results.not_run import Kind as NotRunKind
from harness.results.not_run import NotRun
from harness.run.added_metrics import add
from harness.run.tasks import TaskEntry
from harness.task import data_files
from harness.task.data_files import DataFile, MissingData
from harness.task.schema import TaskFile

if TYPE_CHECKING:
    from harness.task.task import Task


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
    metrics
        Metrics to add to each task that has their inputs.
    any_language
        Whether to read tasks in languages that a model's card lacks, too.
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
    ) -> None:
        self.registry, self.selected, self.progress = registry, selected, progress
        self.limit, self.metrics, self.any_language = limit, metrics, any_language
        registry.data.progress = progress
        self._resolved: dict[str, Task | NotRun] = {}

    @property
    def named(self) -> list[str]:
        """The tasks that the user named one by one."""
        return [entry.file.name for entry in self.selected if entry.is_named]

    def for_model(self, info: ModelInfo) -> list[Task | NotRun]:
        """Return each task with its data, or why it is not run.

        Only the tasks for this kind of embedder, and for a language of its card, are read.

        Raises
        ------
        UsageError
            If a task that the user named has a mistake in it.
        """
        reasons = {entry.file.name: self._unfit(entry.file, info) for entry in self.selected}
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
            self._resolved[name] if reason is None else NotRun("", "", name, *reason)
            for name, reason in reasons.items()
        ]

    def _unfit(self, file: TaskFile, info: ModelInfo) -> tuple[str, NotRunKind] | None:
        """Return why a task is not for a model, for people and for programs."""
        if reason := file.unfit_for(info.kind):
            return reason, "embedder"
        languages = () if self.any_language else info.languages
        if reason := file.foreign_to(languages):
            return f"{reason}; --any-language runs it", "language"
        return None

    def _fetch_data(self, entries: Iterable[TaskEntry]) -> None:
        """Fetch the data that tasks lack, all at once; reading a task tells its mistakes."""
        files: list[DataFile] = []
        for entry in entries:
            with contextlib.suppress(InvalidFile):
                self.registry.check_task(entry.document)
                files += data_files.of_tables(entry.file.tables, entry.document).values()
        self.registry.data.fetch(files)

    def _resolve(self, entry: TaskEntry) -> Task | NotRun:
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
            if isinstance(error, MissingData):  # a notice of the run says why, and how to get it
                reason = f"missing data: {', '.join(error.problems)}"
            return NotRun("", "", entry.file.name, reason, kind)
