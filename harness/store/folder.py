"""Where the segments of one store lie: everything that a store asks of its folder.

`Store`, `Writer` and pruning know files by their names alone, and read and change them here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness import folders
from harness.store import segment
from harness.store.header import Header
from harness.store.segment import Segment

MODEL_FILE = "model.json"
"""File beside the segments that describes their model."""
DAMAGED = ".damaged"
LEFTOVERS = (DAMAGED, segment.TEMPORARY)
"""Suffixes of the files that `harness cache prune` removes."""
_STILL_WRITTEN = 3600  # seconds; another process may still write a younger temporary file


class Folder:
    """The folder of one store on a file system of this machine.

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

    def open(self, name: str, fingerprint: str) -> Segment:
        """Open a segment; the errors of `segment.read`."""
        return segment.read(self.path / name, fingerprint)

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

    def leftovers(self) -> list[Path]:
        """Return the damaged segments and temporary files."""
        with contextlib.suppress(OSError):
            return [path for path in self.path.iterdir() if path.suffix in LEFTOVERS]
        return []

    def remove_leftovers(self) -> tuple[int, int]:
        """Remove leftovers that no process still writes; return their number and bytes.

        Raises
        ------
        OSError
            If a file cannot be removed.
        """
        count = freed = 0
        for path in self.leftovers():
            state = path.stat()
            if path.suffix == DAMAGED or time.time() - state.st_mtime > _STILL_WRITTEN:
                path.unlink(missing_ok=True)
                count, freed = count + 1, freed + state.st_size
        return count, freed

    def delete(self) -> None:
        """Remove the store; OSError if it cannot be removed."""
        shutil.rmtree(self.path)


def folders_in(place: Path) -> list[Folder]:
    """Return the folders of stores in `place`, sorted; none if it does not exist."""
    paths = sorted(place.iterdir()) if place.is_dir() else []
    return [Folder(path) for path in paths if path.is_dir()]
