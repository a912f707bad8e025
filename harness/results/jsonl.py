"""Files of records: reads, appends to, and sorts them.

Trade-off: plain text without an index. Any tool can read it, and a kill loses at most one line, but
a file is read as a whole. Lines are appended in one write. Readers skip invalid lines; writers keep
them. After a torn last line, which a kill leaves, the next append begins on a new line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from harness import folders
from harness.errors import DiskError
from harness.results.reading import Kind, SetAside, entries, notices


@dataclass(frozen=True)
class Reading(Generic[Kind]):
    """The records that were read.

    Parameters
    ----------
    records
        One record per id: the last one.
    notices
        One line for each line that was left out; the first ones of a file.
    """

    records: tuple[Kind, ...]
    notices: tuple[str, ...]


class RecordsFile(Generic[Kind]):
    """A file of records, with its records by id. Several processes may write it.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    schema
        The class of its records.

    Raises
    ------
    DiskError
        If the folder cannot be made.
    InvalidFile
        If the path is a pipe or device: reading it might not end.
    """

    def __init__(self, path: Path, schema: type[Kind]) -> None:
        self.path, self.schema = folders.make(path.parent) / path.name, schema
        lines: list[str] = []
        found: list[Kind] = []
        self._replaced: set[str] = set()  # ids that were written of which there are earlier lines
        if folders.exists(self.path):
            folders.check(self.path)
            found += read(self.path, schema, lines)
        self.records = {record.id: record for record in found}
        self.has_repeated = len(found) > len(self.records)
        self.notices = tuple(lines)

    def add(self, records: Sequence[Kind]) -> None:
        """Append records; a record replaces the one with the same id.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written. The file is as it was then.
        """
        if not records:
            return
        lines = b"".join(record.line().encode() for record in records)
        with self._locked(), self.path.open("a+b", buffering=0) as file:
            size = file.seek(0, 2)
            try:
                file.seek(max(0, size - 1))
                content = memoryview(lines if file.read(1) in (b"", b"\n") else b"\n" + lines)
                while content:
                    content = content[file.write(content) or 0 :]
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
        new = {record.id: record for record in records}
        self._replaced |= self.records.keys() & new
        self.records |= new

    def arrange(self, ids: Sequence[str]) -> None:
        """Sort the records with these ids into this order, after all others.

        Lines that `add` has replaced, and that a later one equals, are removed.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written. The file is as it was then.
        """
        place = {id_: i for i, id_ in enumerate(ids)}
        places = [place[id_] for id_ in self.records if id_ in place]
        if places == sorted(places) and not self._replaced:
            return
        with self._locked():
            known = list(entries(self.path, self.schema))
            last = {entry.record.id: entry for entry in known if entry.record is not None}
            kept = [
                e
                for e in known
                if e.record is None
                or last[e.record.id] is e
                or not (e.record.id in self._replaced or e.record == last[e.record.id].record)
            ]
            kept.sort(key=lambda e: -1 if e.record is None else place.get(e.record.id, -1))
            if kept != known:
                with self.path.open("rb") as file:
                    lines = [entry.bytes_in(file).rstrip(b"\n") + b"\n" for entry in kept]
                folders.write_atomically(self.path, lines)
        self.records = {e.record.id: e.record for e in kept if e.record is not None}
        self._replaced.clear()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the file, a hidden file beside it."""
        from filelock import FileLock

        try:
            with FileLock(self.path.with_name(f".{self.path.stem}.lock"), poll_interval=0.01):
                yield
        except (OSError, NotImplementedError) as error:  # some file systems have no locks
            problem = getattr(error, "strerror", None) or error
            raise DiskError(
                f"cannot write '{self.path}' ({problem}); its records are as they were"
            ) from None


def files(paths: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield the files among `paths`, and those of a pattern in their folders, at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist, or is a pipe or device.
    """
    for path in paths:
        folders.check(path)
        inside = sorted(path.rglob(pattern)) if path.is_dir() else [path]
        yield from filter(folders.is_file, inside)


def read(path: Path, schema: type[Kind], lines: list[str]) -> Iterator[Kind]:
    """Yield the records of a file in order, and add a notice for each line that is left out.

    Raises
    ------
    DiskError
        If the file cannot be read.
    """
    invalid: list[SetAside] = []
    for entry in entries(path, schema):
        if entry.record is not None:
            yield entry.record
        elif entry.fault is not None:
            invalid.append(entry.fault)
    lines += notices(invalid)


@dataclass(frozen=True)
class Verified:
    """The content of a results file.

    Parameters
    ----------
    path
        The file.
    ids
        The ids of the records, in order.
    faults
        The lines that do not count, in order.
    """

    path: Path
    ids: tuple[str, ...]
    faults: tuple[SetAside, ...]


def verify(path: Path, schema: type[Kind]) -> Verified:
    """Return the content of a results file.

    Raises
    ------
    DiskError
        If it cannot be read.
    """
    faults: list[SetAside] = []
    ids: list[str] = []
    for entry in entries(path, schema):
        record = entry.record
        if entry.fault is not None:
            faults.append(entry.fault)
        elif record is not None and record.id != record.identity():
            problem = f"its id is {record.id}, that of its content {record.identity()}"
            faults.append(SetAside(str(path), entry.number, problem, status="doubtful"))
        elif record is not None:
            ids.append(record.id)
    return Verified(path, tuple(ids), tuple(faults))
