"""Files of records: reads, appends to, sorts and verifies them.

Trade-off: plain text without an index. Any tool can read it, and a kill loses at most one line, but
a file is read as a whole. Lines are appended in one write and synced. Readers skip invalid lines;
writers keep them. Only a torn last line, which a kill leaves, is removed by the next writer. A last
line that lacks only its newline is completed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
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
"""A line to write: a new line, or a line from the file."""
_BLOCK = 65_536
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


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
        If the folder cannot be made, or its file system has no locks.
    InvalidFile
        If the path is a pipe or device: reading it might not end.
    """

    def __init__(self, path: Path, schema: type[Kind]) -> None:
        self.path, self.schema = folders.make(path.parent) / path.name, schema
        if folders.exists(self.path):
            folders.check(self.path)
        # A file system without locks is refused before anything is computed. A plan only reads: it
        # does not wait for who is writing, and may have no right to write.
        with contextlib.suppress(OSError), locked(self.path, wait=False):
            pass
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
        """Sort the records with these ids into this order, after all others.

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
        """Hold the lock; first read the records of other runs, and complete the last line."""
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
        """Write the lines that `arrangement` returns, if they differ from those of the file."""
        known = list(entries(self.path, self.schema)) if self.path.exists() else []
        lines = arrangement(known)
        if lines == known:
            return
        with self.path.open("rb") if known else io.BytesIO() as file:
            parts = [line if isinstance(line, bytes) else line.bytes_in(file) for line in lines]
        folders.write_atomically(self.path, b"".join(parts))


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file of records: a hidden file next to it, which is never written to.

    Raises
    ------
    BlockingIOError
        If another process holds it, and this one does not `wait`.
    DiskError
        If the lock is a link, which may lead anywhere, or the file system has no locks.
    OSError
        If the lock cannot be opened.
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
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno not in _WITHOUT_LOCKS:
            raise
        raise DiskError(
            f"cannot write '{path}': its file system has no locks; choose a folder on another one"
        ) from None
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
        invalid = lines[0].fault if lines and lines[0].start + lines[0].size == end else None
        if invalid is not None and invalid.status == "torn":
            file.truncate(_start_of_last_line(file.fileno(), end))
        else:
            file.write(b"\n")


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


def _state(path: Path) -> _State:
    """Return a stamp that changes when a file is written, even by a program that keeps its size."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _replaced(known: Iterable[Entry[Kind]], lines: dict[str, bytes]) -> list[_New[Kind]]:
    """Return the lines of a file, in which new lines replace those of the same id."""
    new, kept = dict(lines), list[_New[Kind]]()
    for entry in known:
        id_ = "" if entry.record is None else entry.record.id
        if id_ not in lines:
            kept.append(entry)
        elif id_ in new:
            kept.append(new.pop(id_))
    return [*kept, *new.values()]


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


# Verifies results files.


@dataclass(frozen=True)
class Verified:
    """The content of a results file.

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


def verify(path: Path, schema: type[Kind]) -> Verified:
    """Return the content of a results file.

    Raises
    ------
    DiskError
        If it cannot be read.
    """
    invalid: dict[int, SetAside] = {}
    known: dict[str, int] = {}
    n = 0
    for n, entry in enumerate(entries(path, schema), start=1):  # noqa: B007  # n is used below
        number, record = entry.number, entry.record
        if record is None:
            if entry.fault is not None:
                invalid[number] = entry.fault
        elif record.id != record.identity():
            problem = f"its id is {record.id}, that of its content {record.identity()}"
            invalid[number] = SetAside(str(path), number, problem, status="doubtful")
        else:
            if (before := known.get(record.id)) is not None:
                problem = f"line {number} has the same id, and counts"
                invalid[before] = SetAside(str(path), before, problem, status="repeated")
            known[record.id] = number
    return Verified(path, n - len(invalid), tuple(invalid[number] for number in sorted(invalid)))
