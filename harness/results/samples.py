"""Samples: what each item contributes to a score, in a file of JSON lines for each record.

The files are in the folder `samples` of the results folder; their names are the ids of the records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import folders
from harness.errors import DiskError, InvalidFile

if TYPE_CHECKING:
    from harness.results.record import Record

SUFFIX = ".samples.jsonl"
"""End of the name of a file of samples. A results folder has records in its other JSONL files."""


def path_of(id_: str) -> str:
    """Return the path of the samples of the record with an id, relative to the results folder."""
    return f"samples/{folders.safe_name(id_)}{SUFFIX}"


def exist(folder: Path, record: Record) -> bool:
    """Return whether a record of a results folder has samples there."""
    return record.samples is not None and (folder / path_of(record.id)).is_file()


def write(folder: Path, record: Record, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the samples of a record to a results folder.

    Raises
    ------
    DiskError
        If the disk is full or the file cannot be written.
    """
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    # A lone surrogate cannot be encoded; with a backslash it is JSON's escape.
    content = "".join(lines).encode(errors="backslashreplace")
    folders.write_atomically(folder / path_of(record.id), content)


def read(folder: Path, record: Record) -> list[dict[str, Any]]:
    """Return the samples of a record from a results folder; none if it has no samples.

    Raises
    ------
    DiskError
        If the file cannot be read.
    InvalidFile
        If a line is not a JSON object.
    """
    if record.samples is None:
        return []
    path = folder / path_of(record.id)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line or "{}")
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise InvalidFile("not a JSON object", path=path, line=number)
        rows += [row] if row else []
    return rows
