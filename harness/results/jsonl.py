"""JSONL files of records: read, and appended to.

Trade-off: plain appended text, which any tool reads and of which a kill loses at most one line.
There is no index: a file is read as a whole. Lines are appended in one piece and synced. A torn
last line, left by a kill, is skipped by readers and removed by the next writer. A last line that
lacks only its newline is read, and the next writer completes it.

`jsonlines` reads the lines. It knows no torn lines, locks or syncing, so these are here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

import jsonlines
from pydantic import ValidationError

from harness import folders
from harness.errors import DiskError, InvalidFile, unreadable
from harness.results.record_parts import Line

try:
    import fcntl
except ImportError:  # on Windows, where two runs must not write one file at once
    fcntl = None  # type: ignore[assignment]  # the module on other systems

Kind = TypeVar("Kind", bound=Line)


@dataclass(frozen=True)
class Reading(Generic[Kind]):
    """The records that were read.

    Parameters
    ----------
    records
        One record per id: the last one.
    notices
        One line for each torn line that was skipped.
    """

    records: tuple[Kind, ...]
    notices: tuple[str, ...]


class RecordsFile(Generic[Kind]):
    """A file of records, with its records by id.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    schema
        The class of its records.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    InvalidFile
        If a line other than the last is no record.
    """

    def __init__(self, path: Path, schema: type[Kind]) -> None:
        self.path, self.schema = folders.make(path.parent) / path.name, schema
        notices: list[str] = []
        self.records: dict[str, Kind] = {}
        if path.exists():
            self.records = {record.id: record for record in read(path, schema, notices)}
        self.notices = tuple(notices)
        self._size = -1  # bytes of the file when this object last wrote it

    def add(self, records: Sequence[Kind]) -> None:
        """Write records; a record replaces the one with the same id.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written. The earlier records are kept.
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
        """Read the records of other runs since the last write; remove or complete a torn line."""
        if not self.path.exists() or self.path.stat().st_size == self._size:
            return
        notices: list[str] = []
        self.records |= {record.id: record for record in read(self.path, self.schema, notices)}
        content = self.path.read_bytes()
        if notices:  # about a torn last line: there are no others
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
    """Yield the files among `paths`, and the files in its folders, at any depth, of a pattern.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise unreadable(path)
        yield from sorted(path.rglob(pattern)) if path.is_dir() else [path]


def read(path: Path, schema: type[Kind], notices: list[str]) -> Iterator[Kind]:
    """Yield the records of a file in order; a torn last line becomes a line in `notices`.

    Raises
    ------
    InvalidFile
        If a line other than the last is no record.
    DiskError
        If the file cannot be read.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None
    reader = jsonlines.Reader(lines, loads=schema.model_validate_json)
    try:
        yield from cast("Iterator[Kind]", reader.iter(skip_empty=True))
    except jsonlines.InvalidLineError as error:
        problem = _Problem.of(error, schema)
        if not problem.is_json and not lines[error.lineno - 1].endswith(b"\n"):
            notices.append(f"{path}:{error.lineno}: the last line is torn and was skipped")
            return
        raise InvalidFile(
            f"not a record: {problem.message}", path=path, line=error.lineno
        ) from None


@dataclass(frozen=True)
class _Problem:
    """Why a line is no record.

    Parameters
    ----------
    message
        The first mistake, with its key.
    is_json
        Whether the line is valid JSON. A record is one JSON object, and a torn one is no JSON.
    """

    message: str
    is_json: bool

    @classmethod
    def of(cls, error: jsonlines.InvalidLineError, schema: type[Line]) -> _Problem:
        cause = error.__cause__
        if not isinstance(cause, ValidationError):
            return cls("not UTF-8", is_json=False)
        is_json = cause.errors()[0]["type"] != "json_invalid"
        return cls(first_mistake(cause, schema), is_json)


def first_mistake(error: ValidationError, schema: type[Line]) -> str:
    """Return the first mistake of a line that is no record, with its key."""
    mistake = error.errors()[0]
    message, key = mistake["msg"], ".".join(str(part) for part in mistake["loc"])
    if key == "schema":
        known = schema.model_fields["schema_version"].default
        message = (
            f"version {mistake['input']!r} of the schema is unknown, version {known} is "
            "required; use the version of the harness that wrote it, or a newer one"
        )
    return f"{key}: {message}" if key else message
