"""Results folders in a bucket, which machines share.

Nothing can be appended in a bucket. So each run has a folder of its own on this machine, and puts
its files into the bucket whole: from time to time, and when it ends. Its records are in files of
its own, `MODEL_TIME-RUN.jsonl`: no run replaces what another one wrote, and of records with one id
that of the later run is read. What could not be put is kept, and put by the next run.

On this machine, beside each other::

    copy/          what was read from the bucket
    unsent/RUN/    what the run has written
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from harness import bucket, folders
from harness.bucket import Bucket, Unreachable
from harness.errors import DiskError, UsageError
from harness.folders import Place, Url
from harness.results import jsonl

_OF_A_RUN = r"_\d{8}T\d{12}-[0-9a-f]+"
_VERSIONS = ".versions.json"
_RUN = "run"  # what is locked while a run is alive


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
        self._left = contextlib.ExitStack()
        self._left.enter_context(jsonl.locked(self.path / _RUN))
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
        with self._left:
            self.send()
            shutil.rmtree(self.path, ignore_errors=True)

    def _send(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                state = path.stat()
                version = (state.st_size, state.st_mtime_ns)
                if self._sent.get(path) != version:
                    self._bucket.put(path, path.relative_to(folder).as_posix())
                    self._sent[path] = version

    def _send_earlier_runs(self) -> None:
        """Put the files of runs that were killed, or that could not reach the bucket."""
        for folder in sorted(self._unsent.iterdir()) if jsonl.CAN_LOCK else ():
            if folder != self.path and folder.is_dir():
                with (
                    contextlib.suppress(BlockingIOError),  # the run is still alive
                    jsonl.locked(folder / _RUN, wait=False),
                ):
                    self._send(folder)
                    shutil.rmtree(folder, ignore_errors=True)


def local(place: Place | str) -> Path:
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
    for path in copy.rglob("*"):  # what the bucket does not have any more
        is_own = not path.is_file() or path.name.startswith(".")
        if not is_own and path.relative_to(copy).as_posix() not in entries:
            path.unlink(missing_ok=True)
    return copy


def _copy(own: Bucket, entries: dict[str, bucket.Entry], names: list[str], to: Path) -> None:
    """Copy what has changed since it was copied last."""
    versions_file = folders.make(to) / _VERSIONS
    with jsonl.locked(versions_file):
        known: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(versions_file.read_bytes())
        wanted = {name: entries[name].version for name in names if _is_plain(name)}
        changed = [
            name
            for name, version in wanted.items()
            if known.get(name) != version or not (to / name).is_file()
        ]
        if changed:
            own.fetch(changed, to)
            folders.write_json(versions_file, known | wanted)


def _is_plain(name: str) -> bool:
    """Return whether a name of a bucket is a path inside a folder, and of no hidden file."""
    return all(part and not part.startswith(".") for part in name.split("/")) and "\\" not in name
