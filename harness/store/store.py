"""The vectors of one embedder on disk, so that no text is encoded twice.

A store is a folder of immutable segments (`segment.py`), on a file system or in a bucket. There is
no lock: several processes and machines may write at once, each its own segments. If two segments
have the same text, their vectors are equal up to rounding, and the first is used. A kill loses only
the rows that were not flushed. `harness.store.pruning` works on all stores of a folder.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import numpy as np

from harness import folders
from harness.arrays import Vectors
from harness.digest import digest, text_keys
from harness.embedder import one_width
from harness.errors import DiskError, ModelError
from harness.folders import Place
from harness.store.folder import (
    DIMENSIONS,
    MODEL_FILE,
    Folder,
    folder_of,
    read_model_file,
    stored_dimensions,
    update_model_file,
)
from harness.store.segment import Damaged, Foreign, Keys, Rows, Segment, rows_of

# What a store contains.


@dataclass(frozen=True)
class Info:
    """The content of a store.

    Parameters
    ----------
    folder
        Folder of the store.
    fingerprint
        Fingerprint of the embedder.
    model
        Facts about the model, as `describe` wrote them.
    segments, rows, bytes
        Number of segments, of vectors, and of bytes on disk.
    last_used
        Time of the last reading or writing, in UTC.
    """

    folder: Place
    fingerprint: str
    model: Mapping[str, Any]
    segments: int
    rows: int
    bytes: int
    last_used: datetime


# Finds vectors in open segments by the keys of their texts. Knows no folder.


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the (n, 2) keys of texts."""
    return np.frombuffer(text_keys(texts), dtype="<u8").reshape(-1, 2)


class KeyIndex:
    """All distinct keys of some segments, with the position of each vector.

    A position is a row, counted through all segments in their order. Of equal keys the first
    segment's is used. To index a million keys takes a tenth of a second and 40 MB.

    Parameters
    ----------
    segments
        The segments.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        keys = np.concatenate([np.empty((0, 2), np.uint64), *(s.keys for s in segments)])
        # A stable sort merges the runs of keys that segments have sorted.
        order = np.argsort(keys[:, 0], kind="stable")
        if (keys[order[1:], 0] == keys[order[:-1], 0]).any():
            order = np.lexsort((keys[:, 1], keys[:, 0]))
        is_new = np.ones(len(keys), dtype=bool)
        is_new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        self.positions = order[is_new]
        self.keys = keys[self.positions]
        self._first = np.ascontiguousarray(self.keys[:, 0])  # searched, which else copies it
        self._starts = np.cumsum([0, *(len(s.keys) for s in segments)], dtype=np.int64)

    def find(self, keys: Keys) -> Rows:
        """Return the (n,) position of each of the (n, 2) keys, -1 for a missing key."""
        n = len(self.keys)
        positions = np.full(len(keys), -1, dtype=np.int64)
        open_ = np.arange(len(keys))  # keys that are not decided yet
        at = np.searchsorted(self._first, keys[:, 0])  # candidate of each
        while len(open_):  # repeats only for keys whose first half equals that of another key
            within = at < n
            open_, at = open_[within], at[within]
            same = self._first[at] == keys[open_, 0]
            open_, at = open_[same], at[same]
            hit = self.keys[at, 1] == keys[open_, 1]
            positions[open_[hit]] = self.positions[at[hit]]
            open_, at = open_[~hit], at[~hit] + 1
        return positions

    @property
    def width(self) -> int:
        """Number of dimensions of the vectors, 0 without segments; the greatest of packed rows."""
        return max((int(opened.vectors.shape[1]) for opened in self.segments), default=0)

    @property
    def packed(self) -> bool:
        """Whether the vectors are packed rows."""
        return any(opened.packed for opened in self.segments)

    def gather(self, positions: Rows) -> Vectors:
        """Return the (n, d) vectors at `positions`, (n,)."""
        shape = len(positions), self.width
        vectors = (np.zeros if self.packed else np.empty)(shape, dtype=np.float32)
        segment_of = np.searchsorted(self._starts, positions, side="right") - 1
        order = np.argsort(segment_of, kind="stable")
        bounds = np.searchsorted(segment_of[order], np.arange(len(self.segments) + 1))
        for i, opened in enumerate(self.segments):
            rows = order[bounds[i] : bounds[i + 1]]
            width = opened.vectors.shape[1]
            vectors[rows, :width] = opened.vectors[positions[rows] - self._starts[i]]
        if self.packed and len(vectors):  # a longer row of other texts sets no width
            longest = np.nan_to_num(vectors[:, 0]).max()
            return np.ascontiguousarray(vectors[:, : 1 + int(longest)])
        return vectors


# Adds vectors to a store: collects rows and writes them as segments of some thousand rows.


_SEGMENT_BYTES = 64 << 20  # a segment of a wide embedder has fewer rows
_WORTH = 1 << 20  # bytes of packed rows from which a segment of their own is worth a file


class Writer:
    """Writes vectors as segments; leaving its context flushes it, also after an exception.

    Parameters
    ----------
    folder
        Where the segments lie.
    fingerprint
        The embedder's fingerprint.
    dimensions
        Number of dimensions of the store's vectors; None if it has none.
    packed
        Whether vectors are packed rows, which may have another width each time.
    rows
        A segment is written when this many rows are waiting.
    seconds
        A segment is also written this long after the first waiting row was added.
    on_flush
        Called after each segment.
    """

    def __init__(
        self,
        folder: Folder,
        fingerprint: str,
        *,
        dimensions: int | None,
        packed: bool = False,
        rows: int,
        seconds: float,
        on_flush: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._fingerprint = folder, fingerprint
        self._dimensions, self._packed = dimensions, packed
        self._rows, self._seconds, self._on_flush = rows, seconds, on_flush
        self._keys: list[Keys] = []
        self._buffer: Vectors = np.empty((0, 0), dtype=np.float32)
        self._n = 0
        self._since = 0.0

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add the (n, d) `vectors` of n `texts`.

        Raises
        ------
        ModelError
            If the vectors have another number of dimensions than earlier ones or the store's.
        DiskError
            If a segment must be written now and cannot be written.
        """
        n, d = vectors.shape
        if n != len(texts):
            raise ValueError(f"{len(texts)} texts but {n} vectors")
        if not n:
            return
        if self._packed and self._n:
            if 2 * d <= self._buffer.shape[1] and self._n * self._buffer.shape[1] * 4 >= _WORTH:
                self.flush()  # the longest texts come first: these rows would be half of zeros
            else:
                self._buffer, vectors = one_width([self._buffer, vectors])
                d = vectors.shape[1]
        if not self._buffer.size or (self._packed and not self._n):
            if self._dimensions not in (None, d) and not self._packed:
                raise ModelError(
                    f"a vector has {d} dimensions, but those in '{self._folder}' have "
                    f"{self._dimensions}"
                )
            room = max(1, min(self._rows, _SEGMENT_BYTES // (4 * d)))
            self._buffer = np.empty((room, d), dtype=np.float32)
        if self._buffer.shape[1] != d:
            raise ModelError(
                f"a vector has {d} dimensions, but earlier vectors have {self._buffer.shape[1]}"
            )
        keys = keys_of(texts)
        start = 0
        while start < n:
            stop = min(n, start + len(self._buffer) - self._n)
            self._since = self._since if self._n else time.monotonic()
            self._buffer[self._n : self._n + stop - start] = vectors[start:stop]
            self._keys.append(keys[start:stop])
            self._n += stop - start
            start = stop
            late = time.monotonic() - self._since > self._seconds
            if self._n == len(self._buffer) or late:
                self.flush()

    def flush(self) -> None:
        """Write the waiting rows as a segment."""
        if not self._n:
            return
        keys = np.concatenate(self._keys)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        rows = self._buffer[order]
        self._folder.write(self._fingerprint, keys[order], rows, packed=self._packed)
        self._keys, self._n = [], 0
        self._on_flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()
        self._folder.send()


class Store:
    """Vectors of one embedder by text.

    Parameters
    ----------
    folder
        Folder of all stores, on a file system or in a bucket.
    fingerprint
        The embedder's fingerprint; each fingerprint has its own store.
    packed
        Whether the embedder returns packed rows.

    Attributes
    ----------
    folder
        Folder of this store.
    files
        Its segments and the file that describes the model.
    notices
        One line for each segment that is not used; the caller prints them.
    """

    def __init__(self, folder: Place, fingerprint: str, *, packed: bool = False) -> None:
        self.fingerprint = fingerprint
        self.packed = packed
        # The digest distinguishes names that are equal after safe_name, or without regard to case.
        name = f"{folders.safe_name(fingerprint)[:80]}-{digest(fingerprint)[:12]}"
        self.folder = folder / name
        self.files = folder_of(folder, name)
        self.notices: list[str] = []
        self._segments: dict[str, Segment] = {}
        self._ignored: set[str] = set()
        self._index = KeyIndex(())
        self._stale = True
        self._touched = False

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector, in the order first seen."""
        distinct = list(dict.fromkeys(texts))
        positions = self._current().find(keys_of(distinct))
        return [distinct[i] for i in np.flatnonzero(positions < 0)]

    def get(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`, in their order; a text may occur twice.

        Raises
        ------
        KeyError
            If some texts have no vector; the message has their number.
        """
        index = self._current()
        positions = index.find(keys_of(texts))
        n_missing = int((positions < 0).sum())
        if n_missing:
            raise KeyError(f"{n_missing} of {len(texts)} texts have no vector in '{self.folder}'")
        return index.gather(positions)

    def refresh(self) -> None:
        """Look for new segments of other processes at the next look-up."""
        self._stale = True

    def writer(self, rows: int = 8192, seconds: float = 30) -> Writer:
        """Return a writer that writes a segment every `rows` texts or `seconds`."""
        return Writer(
            self.files,
            self.fingerprint,
            dimensions=self.dimensions,
            packed=self.packed,
            rows=rows,
            seconds=seconds,
            on_flush=self.refresh,
        )

    @property
    def dimensions(self) -> int | None:
        """Number of dimensions of the vectors: the model file's, else that of most rows.

        None for packed rows.
        """
        if self.packed:
            return None
        return stored_dimensions(self.files) or self._current().width or None

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write facts about the model, at least its name, to the file beside the segments.

        Raises
        ------
        ModelError
            If it has another number of `dimensions` than the vectors of this store.
        """
        facts = {"fingerprint": self.fingerprint, **info}
        known, stated = self.dimensions, info.get(DIMENSIONS)
        if known and stated and known != stated:
            raise ModelError(
                f"model '{info.get('name')}' has {stated} dimensions, but its embeddings in "
                f"'{self.folder}' have {known}; if the model was changed, give it another "
                "fingerprint, or remove them with 'harness cache prune --model NAME'; if its "
                f"{MODEL_FILE} is wrong, delete that file"
            )
        facts[DIMENSIONS] = stated or known
        update_model_file(self.files, {k: v for k, v in facts.items() if v or k != "dimensions"})

    def info(self) -> Info:
        """Return what the store contains, without reading vectors."""
        rows = size = 0
        names = self.files.names()
        for name in names:
            with contextlib.suppress(Damaged, OSError):
                size += self.files.size(name)
                rows += rows_of(self.files.header(name))
        return Info(
            folder=self.folder,
            fingerprint=self.fingerprint,
            model=read_model_file(self.files),
            segments=len(names),
            rows=rows,
            bytes=size,
            last_used=self.files.last_used(),
        )

    def _current(self) -> KeyIndex:
        if not self._stale:
            return self._index
        names = [name for name in self.files.names() if name not in self._ignored]
        self.files.prepare(name for name in names if name not in self._segments)
        opened: dict[str, Segment] = {}
        width = None if self.packed else stored_dimensions(self.files)
        for name in names:
            new = self._segments.get(name) or self._open(name)
            if new is None:
                continue
            width = width or new.vectors.shape[1]
            if new.packed or new.vectors.shape[1] == width:
                opened[name] = new
            else:
                self._ignore(name, f"its vectors do not have {width} dimensions like the others")
        if opened.keys() != self._segments.keys():
            self._index = KeyIndex([*opened.values()])
        self._segments = opened
        if not self._touched:
            self._touched = True
            self.files.touch()
            try:
                self.files.send()
            except DiskError as error:
                self.notices.append(str(error))
        self._stale = False
        return self._index

    def _open(self, name: str) -> Segment | None:
        """Return a segment; None if it cannot be used."""
        try:
            return self.files.open(name, self.fingerprint)
        except FileNotFoundError:  # `harness cache prune` has just merged it
            return None
        except Damaged as error:
            self.files.drop(name)
            self._ignored.add(name)
            self.notices.append(
                f"dropped a damaged segment of embeddings: '{self.folder / name}': {error}; "
                "its texts will be encoded again"
            )
        except Foreign as error:
            self._ignore(name, str(error))
        except OSError as error:  # the segment may be valid: out of memory, no permission, network
            self._ignore(name, f"cannot be read now ({error.strerror})")
        return None

    def _ignore(self, name: str, reason: str) -> None:
        self._ignored.add(name)
        self.notices.append(f"embeddings in '{self.folder / name}' are not used: {reason}")
