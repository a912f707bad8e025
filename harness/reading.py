"""Reads the tasks of a run: those for a kind of model, each once, or why one is not there."""

from __future__ import annotations

from collections.abc import Sequence

from harness.embedder import Kind
from harness.errors import Unavailable, UsageError, one_line
from harness.progress import Progress, Silent
from harness.records import Ruled
from harness.registry import Registry
from harness.selection import Listed
from harness.task import Task, not_made_for


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
        self._read: dict[str, Task | Ruled] = {}

    def for_kind(self, kind: Kind) -> list[Task | Ruled]:
        """Return the tasks with their data read, or why one is not there.

        Only those for the kind of embedder are read.

        Raises
        ------
        UsageError
            If a task that was named has a mistake in it.
        """
        unfit = {one.file.name: not_made_for(one.file, kind) for one in self.selected}
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
            self._read[name] if reason is None else Ruled("", "", name, reason)
            for name, reason in unfit.items()
        ]

    def _resolved(self, one: Listed) -> Task | Ruled:
        try:
            return self.registry.resolve(one.document)
        except Exception as error:  # a plugin may raise anything
            if one.named and isinstance(error, UsageError):
                raise
            failed = not isinstance(error, Unavailable)
            return Ruled("", "", one.file.name, one_line(error), failed)
