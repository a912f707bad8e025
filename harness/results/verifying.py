"""Verifies results files, and moves the lines that do not count to a file beside them.

`NAME.jsonl.damaged` gets these lines as they are; nothing is deleted but temporary files, which a
kill leaves and nobody reads. What was moved is computed again by the run that wrote it. A file
without a record is left as it is: it may be another program's.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness import folders
from harness.errors import DiskError
from harness.results import jsonl
from harness.results.lines import Entry, Fault, Kind, entries

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
    faults: tuple[Fault, ...]


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
    moved: tuple[Fault, ...]
    left: tuple[Fault, ...]
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
        with jsonl.locked(path):
            lines = list(entries(path, schema))
            _, faults = _faults(path, lines)
            has_records = any(entry.record is not None for entry in lines)
            moved = {
                n: fault for n, fault in faults.items() if has_records and fault.fate != "unknown"
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


def _faults(path: Path, lines: Iterable[Entry[Kind]]) -> tuple[int, dict[int, Fault]]:
    """Return the number of lines, and the faulty ones by their numbers, in order."""
    faults: dict[int, Fault] = {}
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
            faults[number] = Fault(path, number, "doubtful", problem)
        else:
            if (before := known.get(record.id)) is not None:
                problem = f"line {number} has the same id, and counts"
                faults[before] = Fault(path, before, "repeated", problem)
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
