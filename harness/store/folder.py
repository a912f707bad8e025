"""Where the segments of one store lie: everything that a store asks of its folder.

`Store`, `Writer` and pruning know files by their names alone, and read and change them here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness import folders
from harness.arrays import Vectors
from harness.store import segment
from harness.store.header import Header
from harness.store.segment import Keys, Segment

MODEL_FILE = "model.json"
"""File beside the segments that describes their model."""
DAMAGED = ".damaged"
LEFTOVERS = (DAMAGED, segment.TEMPORARY)
"""Suffixes of the files that `harness cache prune` removes."""
STILL_USED = 3600  # seconds; another process may write a younger temporary file, or read it


class Folder:
    """The folder of one store, on a file system.

    Parameters
    ----------
    path
        The folder. It need not exist. New segments are written into it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def names(self) -> list[str]:
        """Return the names of the segments, the oldest first; none if there is no folder."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            names = (path.name for path in self.path.iterdir())
            return sorted(name for name in names if name.endswith(segment.SUFFIX))
        return []

    def size(self, name: str) -> int:
        """Return the bytes of a segment; OSError if it cannot be read."""
        return (self.path / name).stat().st_size

    def header(self, name: str) -> Header:
        """Return the header of a segment; the errors of `segment.read_header`."""
        return segment.read_header(self.path / name)

    def prepare(self, names: Iterable[str]) -> None:
        """Get ready to open segments; quicker at once than one by one."""

    def open(self, name: str, fingerprint: str) -> Segment:
        """Open a segment, which may have no vectors before `load`; the errors of `segment.read`."""
        return segment.read(self.path / name, fingerprint)

    def load(self, segments: Sequence[Segment], fingerprint: str) -> list[Segment]:
        """Return open segments with their vectors.

        Raises
        ------
        FileNotFoundError
            If one was removed meanwhile.
        """
        return list(segments)

    def repair(self, name: str, fingerprint: str) -> bool:
        """Return whether a damaged segment could be replaced by a valid copy."""
        return False

    def write(self, fingerprint: str, keys: Keys, vectors: Vectors) -> None:
        """Write a new segment; DiskError if that is not possible."""
        segment.write(self.path, fingerprint, keys, vectors)

    def send(self) -> None:
        """Send what was written and is not yet where others read; DiskError if not possible."""

    def set_aside(self, name: str) -> None:
        """Rename a damaged segment, so that it is not read again."""
        with contextlib.suppress(OSError):  # a read-only store, or another process was faster
            (self.path / name).rename(self.path / (name + DAMAGED))

    def remove(self, names: Sequence[str]) -> None:
        """Remove segments; OSError if one cannot be removed."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def read_model(self) -> bytes | None:
        """Return the content of the file that describes the model; None if there is none."""
        with contextlib.suppress(OSError):
            return (self.path / MODEL_FILE).read_bytes()
        return None

    def write_model(self, content: bytes) -> None:
        """Write the file that describes the model; DiskError if it cannot be written."""
        folders.write_atomically(self.path / MODEL_FILE, content)

    def last_used(self) -> datetime:
        """Return when the store was last read or written; 1970 if there is no folder."""
        seconds = self.path.stat().st_mtime if self.path.is_dir() else 0
        return datetime.fromtimestamp(seconds, UTC)

    def touch(self, at: datetime | None = None) -> None:
        """Set the time of last use, by default to now."""
        with contextlib.suppress(OSError):  # a read-only store
            os.utime(self.path, None if at is None else (at.timestamp(),) * 2)

    def leftovers(self) -> list[str]:
        """Return the names of damaged segments and temporary files."""
        with contextlib.suppress(OSError):
            return [path.name for path in self.path.iterdir() if path.suffix in LEFTOVERS]
        return []

    def remove_leftovers(self) -> tuple[int, int]:
        """Remove leftovers that no process still writes; return their number and bytes.

        Raises
        ------
        OSError
            If a file cannot be removed.
        """
        count = freed = 0
        for path in (self.path / name for name in self.leftovers()):
            with contextlib.suppress(FileNotFoundError):  # a writer has just finished it
                state = path.stat()
                if path.suffix == DAMAGED or time.time() - state.st_mtime > STILL_USED:
                    path.unlink()
                    count, freed = count + 1, freed + state.st_size
        return count, freed

    def is_removed(self) -> bool:
        """Return whether `delete` was called, and files wait for being removed."""
        return False

    def delete(self) -> int:
        """Remove the store and return the freed bytes; OSError if it cannot be removed."""
        freed = 0
        for name in self.names():
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                freed += self.size(name)
        shutil.rmtree(self.path)
        return freed
