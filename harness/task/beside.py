"""Files of measured rows beside the tasks: `validity.json` and `reference.json`."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TypeVar

from harness.errors import InvalidFile, one_line, unreadable
from harness.task.schema import Strict

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
