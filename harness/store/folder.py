"""The folder of one store: all operations on its files.

`Store`, `Writer` and pruning know only the names of files. They read and change files here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from harness import bucket, folders, limits
from harness.arrays import Vectors
from harness.bucket import Bucket, Unreachable
from harness.errors import DiskError
from harness.folders import Place, Url
from harness.store import segment
from harness.store.segment import Header, Keys, Segment

MODEL_FILE = "model.json"
"""File beside the segments that describes their model."""
DAMAGED = ".damaged"
LEFTOVERS = (DAMAGED, segment.TEMPORARY)
"""Suffixes of the files that `harness cache prune` removes."""
STILL_USED = 3600  # seconds; another process may still use a younger temporary file


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
        """Prepare to open segments: faster for all at once than one by one."""

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

    def write(
        self, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
    ) -> None:
        """Write a new segment; DiskError if that is not possible."""
        segment.write(self.path, fingerprint, keys, vectors, packed=packed)

    def send(self) -> None:
        """Send segments that only this machine has so far; DiskError if that is not possible."""

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
        """Return whether `delete` was called and files remain to be removed."""
        return False

    def delete(self) -> int:
        """Remove the store and return the freed bytes; OSError if it cannot be removed."""
        freed = 0
        for name in self.names():
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                freed += self.size(name)
        shutil.rmtree(self.path)
        return freed


# The folder of one store in a bucket, with a mirror on this machine.
#
# Segments are immutable, so a copy of one never becomes stale. The mirror holds::
#
#     NAME.safetensors          a whole segment of the bucket
#     NAME.safetensors.keys     its beginning, up to the keys, which tell its texts
#     unsent/NAME.safetensors   a segment that this machine wrote, until it is in the bucket
#
# Nothing is renamed in a bucket. An empty object is a mark: its name says what happened, and when::
#
#     NAME.safetensors.SECONDS.superseded   the segment was merged or removed
#     NAME.safetensors.SECONDS.damaged      the segment is damaged
#     SECONDS.used                          the store was used on this day
#
# A segment with such a mark is not used. It is deleted an hour later: others may still read it.


_KEYS = ".keys"
_SUPERSEDED = ".superseded"
_MARK = re.compile(r"(?P<name>.+)\.(?P<since>\d+)\.(superseded|damaged)")
_USED = re.compile(r"(?P<since>\d+)\.used")
_DAY = 86_400
_FIRST_READ = 160 << 10  # bytes: the header and the keys of a segment of 8,192 rows


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
        marked = {mark["name"] for mark in self._marks()}
        listed = {name for name in self._entries if name.endswith(segment.SUFFIX)}
        return sorted((listed - marked) | unsent)

    def size(self, name: str) -> int:
        """Return the bytes of a segment."""
        entry = self._entries.get(name)
        return self._unsent.size(name) if entry is None else entry.size

    def header(self, name: str) -> Header:
        """Return the header of a segment."""
        return segment.read_header(self._beginning(name))

    def prepare(self, names: Iterable[str]) -> None:
        """Read header and keys of segments whose keys are not in the mirror."""
        known = self._here()
        wanted = [name for name in names if name in self._entries and name not in known]
        first = self._bucket.read_parts([(name, 0, _FIRST_READ) for name in wanted])
        contents = {n: c for n, c in zip(wanted, first, strict=True) if c is not None}
        ends = {n: min(_end_of_keys(c), self._entries[n].size) for n, c in contents.items()}
        longer = [(n, len(c), ends[n]) for n, c in contents.items() if ends[n] > len(c)]
        rest = self._bucket.read_parts(longer)
        for (name, _, _), content in zip(longer, rest, strict=True):
            contents[name] += content or b""
        for name, content in contents.items():
            if len(content) == self._entries[name].size:
                folders.write_atomically(self.path / name, content)
            else:
                folders.write_atomically(self.path / (name + _KEYS), content[: ends[name]])

    def open(self, name: str, fingerprint: str) -> Segment:
        """Open a segment; it has no vectors if only its beginning is in the mirror."""
        try:
            return self._open(name, fingerprint)
        except segment.Damaged:  # perhaps only the copy is damaged
            self._drop(name)
            return self._open(name, fingerprint)

    def load(self, segments: Sequence[Segment], fingerprint: str) -> list[Segment]:
        """Return open segments with their vectors, which are copied into the mirror."""
        lacking = {item.path.name for item in segments if not len(item.vectors)}
        wanted = [name for name in lacking if not (self.path / name).exists()]
        if gone := self._bucket.fetch(wanted, self.path):
            raise FileNotFoundError(gone[0])
        for name in lacking:
            with contextlib.suppress(OSError):  # a file that is mapped, on Windows
                (self.path / (name + _KEYS)).unlink(missing_ok=True)
        return [
            self._read_copy(item.path, fingerprint) if item.path.name in lacking else item
            for item in segments
        ]

    def repair(self, name: str, fingerprint: str) -> bool:
        """Replace the copy of a damaged segment; return whether that of the bucket is valid."""
        if self._bucket.fetch([name], self.path):  # replaces the copy, which others may read
            return False
        try:
            segment.check(segment.read(self.path / name, fingerprint))
        except (segment.Damaged, segment.Foreign):
            return False
        except OSError:  # another process deleted the copy; the bucket's may be valid
            return True
        return True

    def write(
        self, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
    ) -> None:
        """Write a segment on this machine and send it; if that fails now, it is tried again."""
        segment.write(self._unsent.path, fingerprint, keys, vectors, packed=packed)
        with contextlib.suppress(Unreachable):
            self.send()

    def send(self) -> None:
        """Put segments into the bucket that are on this machine only."""
        names = self._unsent.names()
        for i, name in enumerate(names):
            path = self._unsent.path / name
            try:
                self._bucket.create(path, name)
            except DiskError as error:
                if not path.exists():
                    continue  # another process has sent it
                raise type(error)(
                    f"{error}; {len(names) - i} files of embeddings are kept in "
                    f"'{self._unsent}', and the next run on this machine sends them"
                ) from None
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                path.replace(self.path / name)

    def set_aside(self, name: str) -> None:
        """Mark a damaged segment, so that it is not read again."""
        if name in self._unsent.names():
            self._unsent.set_aside(name)
            return
        self._drop(name)
        with contextlib.suppress(DiskError):  # a bucket that only others may write
            self._mark([name], DAMAGED)

    def remove(self, names: Sequence[str]) -> None:
        """Mark segments as superseded; `remove_leftovers` deletes them after an hour."""
        self._mark(names, _SUPERSEDED)

    def read_model(self) -> bytes | None:
        """Return the content of the file that describes the model; None if there is none."""
        return self._bucket.read(MODEL_FILE)

    def write_model(self, content: bytes) -> None:
        """Write the file that describes the model."""
        self._bucket.write(MODEL_FILE, content)

    def last_used(self) -> datetime:
        """Return when the store was last used, to a day; 1970 if nobody has used it."""
        if not self._entries:
            self.names()
        uses = [int(match["since"]) for name in self._entries if (match := _USED.fullmatch(name))]
        return datetime.fromtimestamp(max(uses, default=0), UTC)

    def touch(self, at: datetime | None = None) -> None:
        """Mark that the store is used, once a day. Nothing is done for an earlier time."""
        if at is not None or time.time() - self.last_used().timestamp() < _DAY:
            return
        before = [name for name in self._entries if _USED.fullmatch(name)]
        with contextlib.suppress(DiskError):  # a bucket that only others may write
            self._bucket.write(f"{int(time.time())}.used", b"")
            self._bucket.remove(before)

    def leftovers(self) -> list[str]:
        """Return the marks in the bucket, and leftovers on this machine."""
        copies = Folder(self.path).leftovers()
        return [*(mark[0] for mark in self._marks()), *copies, *self._unsent.leftovers()]

    def remove_leftovers(self) -> tuple[int, int]:
        """Delete segments that were marked an hour ago; return the number of files and bytes."""
        was_removed = self.is_removed()
        old = [mark for mark in self._marks() if time.time() - int(mark["since"]) > STILL_USED]
        names = {mark["name"] for mark in old} & self._entries.keys()
        freed = sum(self._entries[name].size for name in names)
        self._bucket.remove(names)
        self._bucket.remove(mark[0] for mark in old)  # after the segments that they mark
        remaining = self._bucket.entries()
        if was_removed and all(name == MODEL_FILE or _USED.fullmatch(name) for name in remaining):
            self._bucket.remove(remaining)
        self._forget(remaining.keys())
        count = len(names)
        for folder in (Folder(self.path), self._unsent):
            n, size = folder.remove_leftovers()
            count, freed = count + n, freed + size
        return count, freed

    def is_removed(self) -> bool:
        """Return whether all segments are marked as superseded."""
        return not self.names() and any(mark[0].endswith(_SUPERSEDED) for mark in self._marks())

    def delete(self) -> int:
        """Mark all segments as superseded; nothing is freed yet."""
        shutil.rmtree(self._unsent.path, ignore_errors=True)
        names = self.names()
        self._mark(names, _SUPERSEDED)
        if not names and not any(self._marks()):
            self._bucket.remove(self._entries)
        return 0

    def _open(self, name: str, fingerprint: str) -> Segment:
        path = self._beginning(name)
        if path.suffix != _KEYS:
            return segment.read(path, fingerprint)
        opened = segment.read_beginning(path, self.size(name), fingerprint)
        opened = dataclasses.replace(opened, path=self.path / name)
        # The rows of NaN decide which texts it has.
        return self.load([opened], fingerprint)[0] if opened.may_have_nan else opened

    def _read_copy(self, path: Path, fingerprint: str) -> Segment:
        try:
            return segment.read(path, fingerprint)
        except segment.Damaged as error:  # an incomplete copy
            self._drop(path.name)
            raise FileNotFoundError(str(error)) from None  # so it is copied again

    def _drop(self, name: str) -> None:
        """Delete the copies of a segment on this machine."""
        for path in (self.path / name, self.path / (name + _KEYS)):
            path.unlink(missing_ok=True)

    def _marks(self) -> Iterator[re.Match[str]]:
        return (mark for name in self._entries if (mark := _MARK.fullmatch(name)))

    def _mark(self, names: Sequence[str], kind: str) -> None:
        for name in names:
            self._bucket.write(f"{name}.{int(time.time())}{kind}", b"")

    def _beginning(self, name: str) -> Path:
        """Return the file on this machine that has at least the keys of a segment."""
        paths = (self.path / name, self._unsent.path / name, self.path / (name + _KEYS))
        for attempt in range(2):
            for path in paths:
                if path.exists():
                    return path
            if not attempt:
                self.prepare([name])
        raise FileNotFoundError(name)

    def _here(self) -> set[str]:
        """Return the names of the segments whose keys are on this machine."""
        names = set(self._unsent.names())
        with contextlib.suppress(FileNotFoundError):
            names |= {path.name.removesuffix(_KEYS) for path in self.path.iterdir()}
        return names

    def _forget(self, names: Iterable[str]) -> None:
        """Delete copies of segments that the bucket does not have any more."""
        kept = set(names)
        for path in self.path.iterdir() if self.path.is_dir() else ():
            is_copy = path.name.removesuffix(_KEYS).endswith(segment.SUFFIX)
            if is_copy and path.name.removesuffix(_KEYS) not in kept:
                path.unlink(missing_ok=True)


def _end_of_keys(content: bytes) -> int:
    """Return the offset of the end of a segment's keys; the length if the header is invalid."""
    try:
        _, tensors, start = segment.parse(io.BytesIO(content))
        return start + max(0, int(tensors["keys"]["data_offsets"][1]))
    except (segment.Damaged, KeyError, IndexError, TypeError, ValueError):
        return len(content)


# `model.json`, the file beside the segments of a store: what is known about its model.
#
# It is one JSON object. `Store.describe` writes the fingerprint, the name, the kind, the revision
# and the number of dimensions; others may keep facts of their own under other keys. A file that is
# missing, damaged or too large holds no facts: the store then knows its vectors from the segments,
# and the next update writes the file again. If two processes update it at once, the facts of one
# may be lost, so it may hold only facts that can be found again.


DIMENSIONS = "dimensions"
"""Key of the number of dimensions of the store's vectors."""
RULE = "rule"
"""Key of the rule by which the fingerprint was made; older files state none."""
CURRENT_RULE = 2
"""2: every file below a model's folder counts, and all state of an object."""


class Holder(Protocol):
    """A place of a model file, such as the folder of a store."""

    def read_model(self) -> bytes | None:
        """Return the content of the file; None if there is none."""
        ...

    def write_model(self, content: bytes) -> None:
        """Write the file atomically; DiskError if it cannot be written."""
        ...


def read_model_file(place: Holder) -> dict[str, Any]:
    """Return the facts; none if the file is missing or damaged."""
    content = place.read_model()
    if content is None or len(content) > limits.MODEL_FILE_BYTES:
        return {}
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError, MemoryError):
        return {}
    return facts if isinstance(facts, dict) else {}


def update_model_file(place: Holder, facts: Mapping[str, Any]) -> None:
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


def stored_dimensions(place: Holder) -> int | None:
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
