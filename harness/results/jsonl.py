"""JSONL files of records: read, and appended to.

Trade-off: plain appended text, so that any tool reads it and a kill loses at most one line, against
no index: a file is read whole. Lines are appended whole and synced. A torn last line, left by a
kill, is skipped by readers and cut off by the next writer; one that lacks nothing but its newline
is read, and completed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from harness import folders
from harness.errors import DiskError, InvalidFile
from harness.results.record import Line

try:
    import fcntl
except ImportError:  # Windows: two runs must not write one file at once
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

Kind = TypeVar("Kind", bound=Line)


@dataclass(frozen=True)
class Reading(Generic[Kind]):
    """What was read.

    Parameters
    ----------
    records
        One record for each id, the last that was written or made.
    notices
        One line for each thing that was passed over.
    """

    records: tuple[Kind, ...]
    notices: tuple[str, ...]


class RecordsFile(Generic[Kind]):
    """A file of records, and what is in it by id.

    Parameters
    ----------
    path
        The file; its folder is made if it is not there.
    schema
        What a line is.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    InvalidFile
        If a line that is not the last is no record.
    """

    def __init__(self, path: Path, schema: type[Kind]) -> None:
        self.path, self.schema = folders.make(path.parent) / path.name, schema
        notices: list[str] = []
        self.records: dict[str, Kind] = {}
        if path.exists():
            self.records = {one.id: one for one in read(path, schema, notices)}
        self.notices = tuple(notices)
        self._size = -1  # of the file as this object left it

    def add(self, records: Sequence[Kind]) -> None:
        """Write records; those with an id that is there replace it.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written; what was there is left.
        """
        try:
            with self._locked():
                self._catch_up()
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
        notices: list[str] = []
        self.records |= {one.id: one for one in read(self.path, self.schema, notices)}
        content = self.path.read_bytes()
        if notices:  # only a torn line gives one
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


def files(paths: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield the files among `paths`, and those in folders among them, at any depth, of a pattern.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise InvalidFile("there is no such file or folder", path=path)
        yield from sorted(path.rglob(pattern)) if path.is_dir() else [path]


def read(path: Path, schema: type[Kind], notices: list[str]) -> Iterator[Kind]:
    """Yield the records of a file in order; a torn last line is passed over with a notice.

    Raises
    ------
    InvalidFile
        If a line that is not the last is no record.
    DiskError
        If the file cannot be read.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield schema.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors()[0]
            # A record is one JSON object, and no object cut short is JSON.
            if not line.endswith(b"\n") and problem["type"] == "json_invalid":
                notices.append(f"{path}:{number}: the last line is torn and was passed over")
                return
            where = ".".join(str(part) for part in problem["loc"])
            if where == "schema":
                known = schema.model_fields["schema_version"].default
                problem["msg"] = (
                    f"its schema is {problem['input']!r} where this harness knows {known}; "
                    "use the version of the harness that wrote it, or a newer one"
                )
            raise InvalidFile(
                f"not a record: {where + ': ' if where else ''}{problem['msg']}",
                path=path,
                line=number,
            ) from None
