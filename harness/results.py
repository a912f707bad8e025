"""Results folders: JSONL files of records, one file a model.

Trade-off: plain appended text, so that any tool reads it and a kill loses at most one line, against
no index: a folder is read whole. Lines are appended whole, a task at a time, and synced. A torn
last line, left by a kill, is skipped by readers and cut off by the next writer; one that lacks
nothing but its newline is read, and completed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness import figures, folders
from harness.errors import DiskError, InvalidFile
from harness.record import SCHEMA, Record

try:
    import fcntl
except ImportError:  # Windows: two runs must not write one results folder at once
    fcntl = None  # type: ignore[assignment]  # a module elsewhere


@dataclass(frozen=True)
class Reading:
    """What was read.

    Parameters
    ----------
    records
        One record for each id, the last that was written.
    notices
        One line for each thing that was passed over.
    """

    records: tuple[Record, ...]
    notices: tuple[str, ...]


def read(paths: Iterable[Path]) -> Reading:
    """Return the records in files and folders (their `*.jsonl`, at any depth).

    Raises
    ------
    InvalidFile
        If a path does not exist, or a line that is not the last is no record.
    """
    records: dict[str, Record] = {}
    notices: list[str] = []
    for path in paths:
        if not path.exists():
            raise InvalidFile("there is no such file or folder", path=path)
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            for record in _lines(file, notices):
                records.pop(record.id, None)
                records[record.id] = record
    return Reading(tuple(records.values()), tuple(notices))


class ResultsFile:
    """The records of one model in a results folder.

    Parameters
    ----------
    folder
        The results folder; made if it is not there.
    model
        Name of the model.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.path = folders.make(folder) / f"{folders.safe_name(model)}.jsonl"
        reading = read([self.path]) if self.path.exists() else Reading((), ())
        self.notices = reading.notices
        self.records = {record.id: record for record in reading.records}
        self._size = -1  # of the file as this object left it

    def add(self, records: Sequence[Record]) -> None:
        """Write records; those with an id that is there replace it.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written; what was there is left.
        """
        try:
            with self._locked():
                self._catch_up()
                for record in records:
                    for name, rows in record.rows.items():
                        path = self.path.parent / record.tables[name]
                        folders.write_atomically(path, _table(rows))
                    for name, drawing in record.drawings.items():
                        title = f"{record.model.name}, {record.mitigator.name}: {name}"
                        figures.write(self.path.parent / record.figures[name], drawing, title)
                replaces = not self.records.keys().isdisjoint(record.id for record in records)
                self.records |= {record.id: record for record in records}
                if replaces:
                    lines = "".join(record.line() for record in self.records.values())
                    folders.write_atomically(self.path, lines.encode())
                else:
                    self._append("".join(record.line() for record in records).encode())
                self._size = self.path.stat().st_size
        except OSError as error:
            raise DiskError(f"cannot write '{self.path}' ({error.strerror})") from None

    def _catch_up(self) -> None:
        """Take in what another run wrote since, and cut or complete a line that a kill left."""
        if not self.path.exists() or self.path.stat().st_size == self._size:
            return
        reading = read([self.path])
        self.records |= {record.id: record for record in reading.records}
        content = self.path.read_bytes()
        if reading.notices:  # only a torn line gives one
            os.truncate(self.path, content.rfind(b"\n") + 1)
        elif content and not content.endswith(b"\n"):
            self._append(b"\n")

    def _append(self, lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        with self.path.with_name(f".{self.path.stem}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _table(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as a tab-separated table with a header line."""
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns, delimiter="\t", lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _lines(file: Path, notices: list[str]) -> Iterator[Record]:
    try:
        lines = file.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise DiskError(f"cannot read '{file}' ({error.strerror})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Record.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            # A record is one JSON object, and no object cut short is JSON.
            if not line.endswith(b"\n") and problem["type"] == "json_invalid":
                notices.append(f"{file}:{number}: the last line is torn and was passed over")
                return
            where = ".".join(str(part) for part in problem["loc"])
            if where == "schema":
                problem["msg"] = (
                    f"its schema is {problem['input']!r} where this harness knows {SCHEMA}; "
                    "use the version of the harness that wrote it, or a newer one"
                )
            raise InvalidFile(
                f"not a record: {where + ': ' if where else ''}{problem['msg']}",
                path=file,
                line=number,
            ) from None
