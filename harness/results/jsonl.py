"""Files of records: read, appended to, and brought into order.

Trade-off: plain appended text, which any tool reads and of which a kill loses at most one line.
There is no index: a file is read as a whole. Lines are appended in one piece and synced. What is no
record is left out by readers and kept by writers, but for a torn last line, as a kill leaves it,
which the next writer removes. A last line that lacks only its newline is completed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias

from harness import folders
from harness.errors import DiskError
from harness.results.reading import Entry, Kind, SetAside, entries, notices

_State: TypeAlias = tuple[int, ...] | None
_New: TypeAlias = bytes | Entry[Kind]
"""A line of a file that is written: a new one, or one that was there."""
_BLOCK = 65_536


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
        If there is a pipe or device in place of the file: reading it might not end.
    """

    def __init__(self, path: Path, schema: type[Kind]) -> None:
        self.path, self.schema = folders.make(path.parent) / path.name, schema
        if folders.exists(self.path):
            folders.check(self.path)
        self.records: dict[str, Kind] = {}
        self._state: _State = None  # of the file when this object last read or wrote it
        self.notices = tuple(self._read())

    def add(self, records: Sequence[Kind]) -> None:
        """Write records; a record replaces the one with the same id.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written. The file is as it was then.
        """
        lines = {record.id: record.line().encode() for record in records}
        if not lines:
            return
        with self._changing():
            if self.records.keys().isdisjoint(lines):
                self._append(b"".join(lines.values()))
            else:
                self._rewrite(lambda known: _replaced(known, lines))
            self.records |= {record.id: record for record in records}

    def arrange(self, ids: Sequence[str]) -> None:
        """Bring the records with these ids into this order, after all others, if they are not.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written. The file is as it was then.
        """
        place = {id_: i for i, id_ in enumerate(ids)}
        places = [place[id_] for id_ in self.records if id_ in place]
        if places == sorted(places):
            return

        def position(entry: Entry[Kind]) -> int:
            return -1 if entry.record is None else place.get(entry.record.id, -1)

        with self._changing():
            self._rewrite(lambda known: [*sorted(known, key=position)])
            in_order = sorted(self.records.items(), key=lambda item: place.get(item[0], -1))
            self.records = dict(in_order)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Hold the lock, with the records of other runs read and the last line complete."""
        try:
            with locked(self.path):
                if _state(self.path) != self._state:
                    self._read()
                complete_last_line(self.path, self.schema)
                yield
                self._state = _state(self.path)
        except OSError as error:
            raise DiskError(
                f"cannot write '{self.path}' ({error.strerror}); its records are as they were"
            ) from None

    def _read(self) -> list[str]:
        """Read the records that are in the file; return the notices."""
        before = _state(self.path)
        if before is None:
            return []
        lines: list[str] = []
        self.records |= {record.id: record for record in read(self.path, self.schema, lines)}
        self._state = before
        return lines

    def _append(self, lines: bytes) -> None:
        is_new = not self.path.exists()
        with self.path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                written = 0
                while written < len(lines):
                    written += file.write(lines[written:]) or 0
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
        if is_new:
            folders.sync(self.path.parent)

    def _rewrite(self, arrangement: Callable[[list[Entry[Kind]]], list[_New[Kind]]]) -> None:
        """Write the lines of the file as `arrangement` returns them, if that changes anything."""
        known = list(entries(self.path, self.schema)) if self.path.exists() else []
        lines = arrangement(known)
        if lines == known:
            return
        with self.path.open("rb") if known else io.BytesIO() as file:
            parts = [line if isinstance(line, bytes) else line.bytes_in(file) for line in lines]
        folders.write_atomically(self.path, b"".join(parts))


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file of records, a hidden file beside it, which is never written to.

    Raises
    ------
    BlockingIOError
        If another process holds it, and this one does not `wait`.
    DiskError
        If it is a link, which may lead anywhere.
    OSError
        If it cannot be opened.
    """
    from filelock import FileLock, Timeout

    own = path.with_name(f".{path.stem}.lock")
    if own.is_symlink():
        raise DiskError(f"cannot write '{path}': its lock '{own}' is a link; remove the link")
    lock = FileLock(own, timeout=-1 if wait else 0, poll_interval=0.01)
    try:
        lock.acquire()
    except Timeout:
        raise BlockingIOError(errno.EWOULDBLOCK, "another process holds it", str(own)) from None
    try:
        yield
    finally:
        lock.release()


def complete_last_line(path: Path, schema: type[Kind]) -> None:
    """Give the last line its newline if it lacks one; remove it if it is torn.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end == 0 or _last_byte(file.fileno(), end) == b"\n":
            return
        lines = deque(entries(path, schema), maxlen=1)  # none if the file is blank
        fault = lines[0].fault if lines and lines[0].start + lines[0].size == end else None
        if fault is not None and fault.status == "torn":
            file.truncate(_start_of_last_line(file.fileno(), end))
        else:
            file.write(b"\n")


def files(paths: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield the files among `paths`, and the files in its folders, at any depth, of a pattern.

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
    faults: list[SetAside] = []
    for entry in entries(path, schema):
        if entry.record is not None:
            yield entry.record
        elif entry.fault is not None:
            faults.append(entry.fault)
    lines += notices(faults)


def _state(path: Path) -> _State:
    """Return what changes if a file is written, also by a program that keeps its size."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _replaced(known: Iterable[Entry[Kind]], lines: dict[str, bytes]) -> list[_New[Kind]]:
    """Return the lines of a file, each new one in the place of the one with its id."""
    left, kept = dict(lines), list[_New[Kind]]()
    for entry in known:
        id_ = "" if entry.record is None else entry.record.id
        if id_ not in lines:
            kept.append(entry)
        elif id_ in left:
            kept.append(left.pop(id_))
    return [*kept, *left.values()]


def _last_byte(file: int, end: int) -> bytes:
    return os.pread(file, 1, end - 1)


def _start_of_last_line(file: int, end: int) -> int:
    while end > 0:
        start = max(0, end - _BLOCK)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


# Verifies results files, and moves the lines that do not count to a file beside them.
#
# `NAME.jsonl.damaged` gets these lines as they are; nothing is deleted but temporary files, which a
# kill leaves and nobody reads. What was moved is computed again by the run that wrote it. A file
# without a record is left as it is: it may be another program's.


SUFFIX = ".damaged"
"""Added to the name of a results file, for the file of lines that were moved out of it."""
OLD = 3600
"""Seconds after which a temporary file is no longer of a running process."""
_TEMPORARY = re.compile(r"\..{1,40}\.[a-z0-9_]{8}\.tmp")


@dataclass(frozen=True)
class Verified:
    """What is in a results file.

    Parameters
    ----------
    path
        The file.
    records
        Number of records that count.
    faults
        The lines that do not count, in order.
    """

    path: Path
    records: int
    faults: tuple[SetAside, ...]


@dataclass(frozen=True)
class Repaired:
    """What was done with a results file.

    Parameters
    ----------
    path
        The file.
    moved
        The lines that were moved, by their numbers before.
    left
        Lines that stay: those of other versions of the harness, or all if no line is a record.
    has_records
        Whether any line is a record.
    """

    path: Path
    moved: tuple[SetAside, ...]
    left: tuple[SetAside, ...]
    has_records: bool

    @property
    def beside(self) -> Path:
        """The file that has the lines that were moved."""
        return self.path.with_name(self.path.name + SUFFIX)


def verify(path: Path, schema: type[Kind]) -> Verified:
    """Return what is in a results file.

    Raises
    ------
    DiskError
        If it cannot be read.
    """
    n, faults = _faults(path, entries(path, schema))
    return Verified(path, n - len(faults), tuple(faults.values()))


def repair(path: Path, schema: type[Kind]) -> Repaired:
    """Move the lines that do not count to a file beside, but for those of other versions.

    A file without a record is left as it is.

    Raises
    ------
    DiskError
        If a file cannot be written. No line is lost then.
    """
    try:
        with locked(path):
            lines = list(entries(path, schema))
            _, faults = _faults(path, lines)
            has_records = any(entry.record is not None for entry in lines)
            moved = {
                n: fault for n, fault in faults.items() if has_records and fault.status != "unknown"
            }
            left = tuple(fault for n, fault in faults.items() if n not in moved)
            repaired = Repaired(path, tuple(moved.values()), left, has_records)
            if moved:
                _move(repaired, lines, moved.keys())
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror})") from None
    return repaired


def temporary_files(folder: Path) -> Iterator[Path]:
    """Yield the temporary files in a folder, at any depth, that killed processes left behind."""
    for path in sorted(folder.rglob(".*.tmp")):
        if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            try:
                age = time.time() - path.stat().st_mtime
            except FileNotFoundError:
                continue  # its process has just renamed it
            if age > OLD:
                yield path


def _faults(path: Path, lines: Iterable[Entry[Kind]]) -> tuple[int, dict[int, SetAside]]:
    """Return the number of lines, and the faulty ones by their numbers, in order."""
    faults: dict[int, SetAside] = {}
    known: dict[str, int] = {}
    n = 0
    for entry in lines:
        n += 1
        number, record = entry.number, entry.record
        if record is None:
            if entry.fault is not None:
                faults[number] = entry.fault
        elif record.id != record.identity():
            problem = f"its id is {record.id}, that of its content {record.identity()}"
            faults[number] = SetAside(str(path), number, problem, status="doubtful")
        else:
            if (before := known.get(record.id)) is not None:
                problem = f"line {number} has the same id, and counts"
                faults[before] = SetAside(str(path), before, problem, status="repeated")
            known[record.id] = number
    return n, dict(sorted(faults.items()))


def _move(repaired: Repaired, lines: Iterable[Entry[Kind]], numbers: Iterable[int]) -> None:
    """Write the lines of some numbers to the file beside, then the file without them."""
    moved, kept = list[bytes](), list[bytes]()
    chosen = set(numbers)
    with repaired.path.open("rb") as file:
        for entry in lines:
            content = entry.bytes_in(file)
            whole = content if content.endswith(b"\n") else content + b"\n"
            (moved if entry.number in chosen else kept).append(whole)
    with repaired.beside.open("ab") as file:
        file.write(b"".join(moved))
        file.flush()
        os.fsync(file.fileno())
    folders.sync(repaired.path.parent)
    folders.write_atomically(repaired.path, b"".join(kept))
