"""The gaps of the reference encoders: the file `reference.json` of a folder of tasks.

A ratio of a gap to its yardstick has the scale of its method. A board divides it by that of a
reference encoder on the same tasks, so that methods can be averaged, and 1 means: as biased as the
reference encoder. `harness data references` writes the file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from harness.embedder import Kind
from harness.errors import InvalidFile, one_line, unreadable
from harness.task.schema import Strict

NAME = "reference.json"
"""Name of the file: in the folder of a task file, or in the folder above it."""
ENCODERS: Mapping[Kind, str] = {"text": "all-MiniLM-L6-v2", "word": "glove-6b-50d"}
"""The reference encoder of each kind of embedder."""


class Reference(Strict):
    """What a reference encoder shows on a task without a mitigator."""

    task: str
    version: int
    """Version of the task that was measured."""
    kind: Kind
    model: str
    gap: float
    """The gap of the task."""
    error: float = 0.0
    """Its standard error."""
    yardstick: float
    """The gap of its yardstick."""
    yardstick_error: float = 0.0
    """The standard error of the yardstick."""
    contrasts: dict[str, float] = Field(default_factory=dict)
    """Of a yardstick, the gap of each contrast."""


def of_task(task_file: Path, name: str, version: int) -> dict[Kind, Reference]:
    """Return what is known of a version of a task, by kind; `task_file` is the path of its file.

    Raises
    ------
    InvalidFile
        If the file of references cannot be read.
    """
    rows = rows_of(task_file, NAME, Reference)
    return {row.kind: row for row in rows if (row.task, row.version) == (name, version)}


# Files of measured rows beside the tasks: `validity.json` and `reference.json`.


RowT = TypeVar("RowT", bound=Strict)


def rows_of(task_file: Path, name: str, kind: type[RowT]) -> tuple[RowT, ...]:
    """Return the rows of the file of a name in the folder of a task file, or in the one above.

    Raises
    ------
    InvalidFile
        If the file cannot be read.
    """
    for folder in (task_file.parent, task_file.parent.parent):
        path = folder / name
        if path.is_file():
            try:
                return _read(path, path.stat().st_mtime_ns, kind)
            except OSError as error:
                raise unreadable(path, error) from None
            except (ValueError, TypeError) as error:
                problem = f"not a file of {kind.__name__.lower()} ({one_line(error)})"
                raise InvalidFile(problem, path=path) from None
    return ()


@functools.lru_cache(maxsize=16)
def _read(path: Path, changed: int, kind: type[RowT]) -> tuple[RowT, ...]:
    """Return what the file holds since it was `changed`: one file is asked for every task of it."""
    return tuple(map(kind.model_validate, json.loads(path.read_text(encoding="utf-8"))))
