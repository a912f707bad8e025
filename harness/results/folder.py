"""Results folders: JSONL files of records, one per model, with tables and samples."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from harness import bucket, folders
from harness.bucket import Bucket, Entry, Unreachable
from harness.errors import DiskError, UsageError
from harness.folders import Place, Url
from harness.results import jsonl
from harness.results.formats import separated
from harness.results.reading import SetAside, entries, notices
from harness.results.record import SUFFIX, Record, samples_exist, samples_path
from harness.results.records import Records, unified

if TYPE_CHECKING:
    from harness.results.columns import Columns

# Results folders in a bucket, which machines share.
#
# A bucket cannot append to files. So each run has its own folder on this machine, and uploads whole
# files: from time to time, and when it ends. Its records are in its own files,
# `MODEL_TIME-RUN.jsonl`. So no run replaces the files of another, and of records with the same id
# the later run's is read (`conflicts`). Files that could not be uploaded are kept, and the next run
# uploads them.
#
# On this machine, beside each other::
#
#     copy/          what was read from the bucket
#     unsent/RUN/    what the run has written


_OF_A_RUN = r"_\d{8}T\d{12}-[0-9a-f]+"
_COPIED = ".copied.json"  # the versions of the copies
_LOCK = ".lock"  # is held while a run is alive


class SharedResults:
    """A results folder in a bucket, during one run.

    Parameters
    ----------
    url
        Its address.
    run
        Identifies the run.

    Attributes
    ----------
    path
        The folder on this machine that the run writes to.

    Raises
    ------
    DiskError
        If the bucket cannot be read or written.
    """

    def __init__(self, url: Url, run: str) -> None:
        self._bucket, home = Bucket(url), bucket.mirror(url)
        self._copy, self._unsent = home / "copy", home / "unsent"
        self._names = self._bucket.entries()
        self._sent: dict[Path, tuple[int, int]] = {}
        self._time = time.monotonic()
        self._end = f"_{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{run}"
        self.path = folders.make(self._unsent / run)
        self._alive = FileLock(self.path / _LOCK)
        self._alive.acquire()
        self._send_earlier_runs()

    def __str__(self) -> str:
        return str(self._bucket.url)

    def file(self, name: str, suffix: str) -> Path:
        """Return the run's own file of records; `name` is that of the model or study."""
        return self.path / f"{name}{self._end}{suffix}"

    def earlier(self, name: str, suffix: str) -> list[Path]:
        """Return copies of the files of records of earlier runs, the oldest first."""
        own = re.compile(re.escape(name) + f"({_OF_A_RUN})?" + re.escape(suffix))
        names = sorted(name for name in self._names if own.fullmatch(name))
        _copy(self._bucket, self._names, names, self._copy)
        return [self._copy / name for name in names]

    def has(self, name: str) -> bool:
        """Return whether the bucket has a file, or the run has written it."""
        return name in self._names or (self.path / name).is_file()

    def send(self, every: float = 0) -> None:
        """Put the files that have changed, if the last time was more than `every` seconds ago.

        Raises
        ------
        DiskError
            If the bucket cannot be written. The files are kept; the next run puts them.
        """
        if time.monotonic() - self._time < every:
            return
        try:
            self._send(self.path)
        except DiskError as error:
            if not every or not isinstance(error, Unreachable):  # else it is tried again
                raise DiskError(
                    f"{error}; the results are kept in '{self.path}', and the next run on this "
                    "machine with this folder puts them there"
                ) from None
        self._time = time.monotonic()

    def close(self) -> None:
        """Put what is left; the errors of `send`. The folder on this machine is then removed."""
        try:
            self.send()
            shutil.rmtree(self.path, ignore_errors=True)
        finally:
            self._alive.release()

    def _send(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                state = path.stat()
                version = (state.st_size, state.st_mtime_ns)
                if self._sent.get(path) != version:
                    self._bucket.put(path, path.relative_to(folder).as_posix())
                    self._sent[path] = version

    def _send_earlier_runs(self) -> None:
        """Upload the files of runs that were killed, or that could not reach the bucket."""
        for folder in sorted(set(self._unsent.iterdir()) - {self.path}):
            with contextlib.suppress(Timeout), FileLock(folder / _LOCK, timeout=0):
                self._send(folder)
                shutil.rmtree(folder, ignore_errors=True)


def local_copy(place: Place | str) -> Path:
    """Return the path of a results folder or file; one in a bucket is copied to this machine.

    Raises
    ------
    UsageError
        If there is nothing at this address.
    DiskError
        If it cannot be read.
    """
    place = folders.place(place)
    if isinstance(place, Path):
        return place
    is_file = place.name.endswith(".jsonl")
    folder = place.parent if is_file else place
    own = Bucket(folder)
    entries = {name: entry for name, entry in own.entries().items() if _is_plain(name)}
    names = [place.name] if is_file else list(entries)
    if not names or not entries.keys() >= set(names):
        raise UsageError(f"no results folder or file '{place}'")
    copy = bucket.mirror(folder) / "copy"
    _copy(own, entries, names, copy)
    if is_file:
        return copy / place.name
    for path in copy.rglob("*"):  # files that the bucket has no longer
        is_own = not path.is_file() or path.name.startswith(".")
        if not is_own and path.relative_to(copy).as_posix() not in entries:
            path.unlink(missing_ok=True)
    return copy


def _copy(own: Bucket, entries: Mapping[str, Entry], names: Iterable[str], to: Path) -> None:
    """Copy what has changed since it was copied last."""
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads((to / _COPIED).read_bytes())
    wanted = {name: entries[name].version for name in names if _is_plain(name)}
    changed = [
        name
        for name, version in wanted.items()
        if known.get(name) != version or not (to / name).is_file()
    ]
    if changed:
        try:
            own.fetch(changed, to)
        except FileNotFoundError:
            raise DiskError(f"files of '{own.url}' were removed while they were read") from None
        folders.write_json(to / _COPIED, known | wanted)


def _is_plain(name: str) -> bool:
    """Return whether a name of a bucket is a path inside a folder, and of no hidden file."""
    return all(part and not part.startswith(".") for part in name.split("/")) and "\\" not in name


STUDY = ".study.jsonl"
"""End of the name of a file with the results of a study, which are another kind of record."""
END = ".jsonl"
SECONDS = 30  # between two times that records are put into a bucket


Reading = jsonl.Reading[Record]
"""The records that were read, and notices."""


def read(paths: Iterable[Path]) -> Reading:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    columns, notices = _columns(paths)
    return Reading(tuple(columns), notices)


def read_results(*paths: Place | str) -> Records:
    """Read the records of results folders or files, as `harness eval` wrote them.

    Parameters
    ----------
    *paths
        Folders, whose `*.jsonl` files are read at any depth, or files; also in a bucket, such as
        `s3://bucket/results`.

    Returns
    -------
    Records
        One record for each id; `notices` names the lines that were left out. Of an id with
        different values in several files the value is None, and the reason says so.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    return Records.of_columns(*_columns(local_copy(path) for path in paths))


def _columns(paths: Iterable[Path]) -> tuple[Columns, tuple[str, ...]]:
    """Return the records of `read` as columns, and its notices."""
    renamed: list[str] = []
    columns, faults = of_files(paths, renamed)
    by_file = itertools.groupby(sorted(faults, key=lambda f: f.file), key=lambda f: f.file)
    lines = [line for _, of_file in by_file for line in notices(of_file)]
    return columns, (*lines, *renamed)


def of_files(
    paths: Iterable[Path], renamed: list[str] | None = None
) -> tuple[Columns, list[SetAside]]:
    """Return one record of each id as columns, and the lines that do not count.

    A record of which files have different values has none, and says so in its reason. `renamed` is
    extended by a line for each further name of a model.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    import polars as pl

    from harness.results import conflicts
    from harness.results.columns import Columns

    faults, files, lines = list[SetAside](), list[str](), list[int]()

    def records() -> Iterator[Record]:
        for file in jsonl.files(paths, "*.jsonl"):
            own = [] if file.name.endswith((STUDY, SUFFIX)) else entries(file, Record)
            for entry in own:
                if entry.record is not None:
                    files.append(str(file))
                    lines.append(entry.number)
                    yield entry.record
                elif entry.fault is not None:
                    faults.append(entry.fault)

    columns = unified(Columns.of(records()), [] if renamed is None else renamed)
    # A run replaces its file's records; the runs on one bucket have files of their own.
    sources = [re.sub(f"{_OF_A_RUN}{END}$", END, file) for file in files]
    frame = columns.flat(conflicts.COLUMNS).with_columns(
        pl.Series("file", files, pl.String),
        pl.Series("line", lines, pl.Int64),
        pl.Series("source", sources, pl.String),
    )
    frame, differing = conflicts.one_of_each_id(frame.with_row_index("place"))
    faults += [dataclasses.replace(entry, status="conflict") for entry in differing]
    return columns.at(frame["place"]).void(frame["conflict"]), faults


class ResultsFile(jsonl.RecordsFile[Record]):
    """The records of one model in a results folder.

    Parameters
    ----------
    folder
        The results folder; made if it does not exist.
    model
        Name of the model.
    shared
        The folder in a bucket that `folder` is written for; None for a folder of its own.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """

    def __init__(self, folder: Path, model: str, shared: SharedResults | None = None) -> None:
        name, self._shared = folders.safe_name(model), shared
        super().__init__(shared.file(name, END) if shared else folder / f"{name}{END}", Record)
        if self.has_repeated:
            kept, faults = of_files([self.path])
            self.records, self.notices = {r.id: r for r in kept}, tuple(notices(faults))
        if shared:
            lines: list[str] = []
            earlier = [
                record
                for path in shared.earlier(name, END)
                for record in jsonl.read(path, Record, lines)
            ]
            self.records = {record.id: record for record in earlier} | self.records
            self.notices = (*lines, *self.notices)

    def ids(self, *, with_samples: bool) -> set[str]:
        """Return the ids of the records, or of those only that have samples."""
        return {
            id_
            for id_, record in self.records.items()
            if not with_samples or self._has_samples(record)
        }

    def add(self, records: Sequence[Record]) -> None:
        """Write records with what they keep; a record replaces the one with its id.

        Raises
        ------
        DiskError
            If the disk is full or a file cannot be written. The earlier records are kept.
        """
        for record in records:  # before the line that names them
            for name, rows in record.rows.items():
                table = separated(rows, delimiter="\t").encode()
                folders.write_atomically(self.path.parent / record.tables[name], table)
            record.write_samples(self.path.parent)
        super().add(records)
        if self._shared:
            self._shared.send(every=SECONDS)

    def _has_samples(self, record: Record) -> bool:
        if self._shared:
            return record.samples is not None and self._shared.has(samples_path(record.id))
        return samples_exist(self.path.parent, record)
