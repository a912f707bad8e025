"""The values that were found for rows, and the file that keeps them beside the rows.

The page is made from the rows and this file alone, so that nobody has to run hours of studies to
print it. A value counts only for the selection, and the version of the task, that it was found for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness import folders
from harness.errors import InvalidFile, one_line, unreadable
from harness.plugins.reproduction.selection import Selection
from harness.task.table_schema import Strict

NAME = "values.json"
"""Name of the file, in the folder of the rows."""


class Value(Strict):
    """A value that was found for a row."""

    value: float | str
    """The number, or a verdict."""
    selection: str
    """What it is the value of; see `Selection.address`."""
    model: str
    """Label of the model."""
    fingerprint: str
    """Identifies the exact weights and settings."""
    harness: str
    """Version of the harness that computed it."""


def read(folder: Path) -> dict[str, Value]:
    """Return the values by the id of their row; none if the folder has no such file.

    Raises
    ------
    InvalidFile
        If the file is damaged.
    """
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        lines: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {id_: Value.model_validate(value) for id_, value in lines.items()}
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, ValidationError, AttributeError) as error:
        problem = (
            f"not a file of values ({one_line(error)}); `harness reproduce --record` writes it"
        )
        raise InvalidFile(problem, path=path) from None


def write(folder: Path, values: Mapping[str, Value]) -> None:
    """Write values to the file of a folder, sorted by id."""
    lines = {id_: values[id_].model_dump() for id_ in sorted(values)}
    text = json.dumps(lines, ensure_ascii=False, indent=1) + "\n"
    folders.write_atomically(folder / NAME, text.encode())


def current(values: Mapping[str, Value], id_: str, selection: Selection) -> Value | None:
    """Return the value of a row; None if there is none for what the row selects now."""
    value = values.get(id_)
    return value if value is not None and value.selection == selection.address else None
