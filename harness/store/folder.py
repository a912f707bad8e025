"""The folder of one store: all operations on its files.

`Store`, `Writer` and pruning know only the names of files. They read and change files here.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import bucket, folders, limits
from harness.arrays import Vectors
from harness.bucket import Bucket, Unreachable
from harness.errors import DiskError
from harness.folders import Place, Url
from harness.store import segment
from harness.store.segment import Header, Keys, Segment

MODEL_FILE = "model.json"
"""File beside the segments that describes their model."""
STILL_USED = 3600  # seconds; another process may still write a younger temporary file


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
        """Return the header of a segment; the errors of `segment.parse`."""
        with (self.path / name).open("rb") as file:
            return segment.parse(file)

    def prepare(self, names: Iterable[str]) -> None:
        """Prepare to open segments: faster for all at once than one by one."""

    def open(self, name: str, fingerprint: str) -> Segment:
        """Open a segment; the errors of `segment.read`."""
        return segment.read(self.path / name, fingerprint)

    def write(
        self, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
    ) -> None:
        """Write a new segment; DiskError if that is not possible."""
        segment.write(self.path, fingerprint, keys, vectors, packed=packed)

    def send(self) -> None:
        """Send segments that only this machine has so far; DiskError if that is not possible."""

    def drop(self, name: str) -> None:
        """Delete a damaged segment, unless the store is read-only."""
        with contextlib.suppress(OSError):
            self.remove([name])

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
        """Return the names of temporary files."""
        with contextlib.suppress(OSError):
            return [path.name for path in self.path.iterdir() if path.suffix == segment.TEMPORARY]
        return []

    def remove_leftovers(self) -> tuple[int, int]:
        """Remove temporary files that no process still writes; return their number and bytes.

        Raises
        ------
        OSError
            If a file cannot be removed.
        """
        count = freed = 0
        for path in (self.path / name for name in self.leftovers()):
            with contextlib.suppress(FileNotFoundError):  # a writer has just finished it
                state = path.stat()
                if time.time() - state.st_mtime > STILL_USED:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                    count, freed = count + 1, freed + state.st_size
        return count, freed

    def delete(self) -> None:
        """Remove the store; OSError if it cannot be removed."""
        shutil.rmtree(self.path)


# The folder of one store in a bucket, with a mirror on this machine.
#
# Segments are immutable, so a copy of one never becomes stale. The mirror holds copies of them, and
# in `unsent/` segments that this machine wrote, until they are in the bucket.


_USED = "used"  # an empty object that is written on each day on which the store is used
_DAY = 86_400
_HEADER_BYTES = 4096  # a header of ours is shorter


class BucketFolder(Folder):
    """The folder of one store in a bucket.

    Parameters
    ----------
    url
        Its address.
    """

    def __init__(self, url: Url) -> None:
        super().__init__(bucket.mirror(url.parent) / url.name)
        self._bucket, self._unsent = Bucket(url), Folder(self.path / "unsent")
        self._entries: dict[str, bucket.Entry] = {}  # as last listed

    def __str__(self) -> str:
        return str(self._bucket.url)

    def names(self) -> list[str]:
        """Return the names of the segments in the bucket, and of those not sent yet."""
        unsent = set(self._unsent.names())  # first: one sent meanwhile is then in both
        self._entries = self._bucket.entries()
        return sorted({n for n in self._entries if n.endswith(segment.SUFFIX)} | unsent)

    def size(self, name: str) -> int:
        """Return the bytes of a segment."""
        entry = self._entries.get(name)
        return self._unsent.size(name) if entry is None else entry.size

    def header(self, name: str) -> Header:
        """Return the header of a segment, without a copy of it."""
        if name not in self._entries:
            return self._unsent.header(name)
        return segment.parse(io.BytesIO(self._bucket.read(name, _HEADER_BYTES) or b""))

    def prepare(self, names: Iterable[str]) -> None:
        """Copy segments that are not on this machine."""
        here = {*self._unsent.names(), *super().names()}
        with contextlib.suppress(FileNotFoundError):  # removed since; `open` meets it again
            self._bucket.fetch([name for name in names if name not in here], self.path)

    def open(self, name: str, fingerprint: str) -> Segment:
        """Open a segment, from its copy."""
        for folder in (self, self._unsent):
            with contextlib.suppress(FileNotFoundError):
                return segment.read(folder.path / name, fingerprint)
        self._bucket.fetch([name], self.path)
        return segment.read(self.path / name, fingerprint)

    def write(
        self, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
    ) -> None:
        """Write a segment on this machine and send it; if that fails now, it is tried again."""
        self._unsent.write(fingerprint, keys, vectors, packed=packed)
        with contextlib.suppress(Unreachable):
            self.send()

    def send(self) -> None:
        """Put segments into the bucket that are on this machine only."""
        names = self._unsent.names()
        for i, name in enumerate(names):
            path = self._unsent.path / name
            with contextlib.suppress(FileNotFoundError):  # another process has sent it
                try:
                    self._bucket.put(path, name)
                except DiskError as error:
                    raise type(error)(
                        f"{error}; {len(names) - i} files of embeddings are kept in "
                        f"'{self._unsent}', and the next run on this machine sends them"
                    ) from None
                path.replace(self.path / name)

    def drop(self, name: str) -> None:
        """Delete a damaged segment here and in the bucket, unless only others may write there."""
        with contextlib.suppress(DiskError, OSError):
            for folder in (Folder(self.path), self._unsent):
                folder.remove([name])
            self._bucket.remove([name])

    def remove(self, names: Sequence[str]) -> None:
        """Remove segments from the bucket."""
        self._bucket.remove(names)

    def read_model(self) -> bytes | None:
        """Return the content of the file that describes the model; None if there is none."""
        return self._bucket.read(MODEL_FILE)

    def write_model(self, content: bytes) -> None:
        """Write the file that describes the model."""
        self._bucket.write(MODEL_FILE, content)

    def last_used(self) -> datetime:
        """Return when the store was last used, to a day; 1970 if nobody has used it."""
        return self._bucket.modified(_USED) or datetime.fromtimestamp(0, UTC)

    def touch(self, at: datetime | None = None) -> None:
        """Mark that the store is used, once a day. Nothing is done for an earlier time."""
        if at is None and time.time() - self.last_used().timestamp() > _DAY:
            with contextlib.suppress(DiskError):  # a bucket that only others may write
                self._bucket.write(_USED, b"")

    def remove_leftovers(self) -> tuple[int, int]:
        """Remove temporary files on this machine, and copies of what the bucket has no longer."""
        for name in set(super().names()) - self._bucket.entries().keys():
            (self.path / name).unlink(missing_ok=True)
        found = [folder.remove_leftovers() for folder in (Folder(self.path), self._unsent)]
        return sum(n for n, _ in found), sum(size for _, size in found)

    def delete(self) -> None:
        """Remove the store from the bucket and from this machine."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._bucket.remove(self._bucket.entries())


# `model.json`, the file beside the segments of a store: what is known about its model.
#
# It is one JSON object. `Store.describe` writes the fingerprint, the name, the kind, the revision
# and the number of dimensions; others may keep facts of their own under other keys. A file that is
# missing, damaged or too large holds no facts: the store then knows its vectors from the segments,
# and the next update writes the file again. If two processes update it at once, the facts of one
# may be lost, so it may hold only facts that can be found again.


DIMENSIONS = "dimensions"
"""Key of the number of dimensions of the store's vectors."""


def read_model_file(place: Folder) -> dict[str, Any]:
    """Return the facts; none if the file is missing or damaged."""
    content = place.read_model()
    if content is None or len(content) > limits.MODEL_FILE_BYTES:
        return {}
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError, MemoryError):
        return {}
    return facts if isinstance(facts, dict) else {}


def update_model_file(place: Folder, facts: Mapping[str, Any]) -> None:
    """Set facts and keep the others; nothing is written if nothing changes.

    Values are JSON values; others are written as their text.

    Raises
    ------
    DiskError
        If the file cannot be written.
    """
    before = read_model_file(place)
    # In the form in which they are read, so that equal facts compare equal.
    after = before | json.loads(json.dumps(dict(facts), default=str))
    if after != before:
        # Escapes keep any text, also halves of a character that UTF-8 cannot hold.
        place.write_model((json.dumps(after, indent=2) + "\n").encode("ascii"))


def stored_dimensions(place: Folder) -> int | None:
    """Return the number of dimensions that the file states; None if it states none."""
    stated = read_model_file(place).get(DIMENSIONS)
    is_number = isinstance(stated, int) and not isinstance(stated, bool) and stated > 0
    return stated if is_number else None


# The folders of stores in a place: on a file system, or in a bucket.


def folder_of(place: Place, name: str) -> Folder:
    """Return the folder of the store of this name in `place`."""
    return BucketFolder(place / name) if isinstance(place, Url) else Folder(place / name)


def folders_in(place: Place) -> list[Folder]:
    """Return the folders of stores in `place`, sorted; none if it does not exist."""
    if isinstance(place, Url):
        return [BucketFolder(place / name) for name in Bucket(place).folders()]
    paths = sorted(place.iterdir()) if place.is_dir() else []
    return [Folder(path) for path in paths if path.is_dir()]
