"""The folder of one store in a bucket, with a mirror on this machine.

Segments are immutable, so a copy of one never becomes stale. The mirror holds::

    NAME.safetensors          a whole segment of the bucket
    NAME.safetensors.keys     its beginning, up to the keys: enough to know which texts it has
    unsent/NAME.safetensors   a segment that this machine wrote, until it is in the bucket

Nothing is renamed in a bucket. An empty object says what happened, and when, in its name::

    NAME.safetensors.SECONDS.superseded   the segment was merged or removed
    NAME.safetensors.SECONDS.damaged      the segment is damaged
    SECONDS.used                          the store was used on this day

A segment with such a mark is not used. It is deleted an hour later: others may still read it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness import bucket, folders
from harness.arrays import Vectors
from harness.bucket import Bucket, Unreachable
from harness.errors import DiskError
from harness.folders import Url
from harness.store import header, segment
from harness.store.folder import DAMAGED, MODEL_FILE, STILL_USED, Folder
from harness.store.header import Header
from harness.store.segment import Keys, Segment

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
        unsent = set(self._unsent.names())  # first: one that is sent meanwhile is then in both
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
        except segment.Damaged:  # perhaps only the copy
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
        except OSError:  # another process deleted the copy: that says nothing about the bucket
            return True
        return True

    def write(self, fingerprint: str, keys: Keys, vectors: Vectors) -> None:
        """Write a segment on this machine and send it; if that fails now, it is tried again."""
        segment.write(self._unsent.path, fingerprint, keys, vectors)
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
        """Note that the store is used, once a day. An earlier time is noted already."""
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
        self._bucket.remove(mark[0] for mark in old)  # after what they are about
        left = self._bucket.entries()
        if was_removed and all(name == MODEL_FILE or _USED.fullmatch(name) for name in left):
            self._bucket.remove(left)
        self._forget(left.keys())
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
        # Which rows are of NaN decides which texts it has.
        return self.load([opened], fingerprint)[0] if opened.may_have_nan else opened

    def _read_copy(self, path: Path, fingerprint: str) -> Segment:
        try:
            return segment.read(path, fingerprint)
        except segment.Damaged as error:  # it was not copied whole
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
    """Return where the keys of a segment end; its end if the beginning has no valid header."""
    try:
        _, tensors, start = header.parse(io.BytesIO(content))
        return start + max(0, int(tensors["keys"]["data_offsets"][1]))
    except (segment.Damaged, KeyError, IndexError, TypeError, ValueError):
        return len(content)
