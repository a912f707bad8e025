"""The vectors of one embedder on disk, so that no text is encoded twice.

A store is a folder of immutable segments (`segment.py`), on a file system or in a bucket. There is
no lock: several processes and machines may write at once, each its own segments. If two segments
have the same text, their vectors are equal up to rounding. The first vector that is not a row of
NaN is used. A kill loses only the rows that were not flushed. `harness.store.pruning` works on all
stores of a folder.
"""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders
from harness.arrays import Vectors
from harness.digest import digest, text_keys
from harness.embedder import one_width
from harness.errors import DiskError, ModelError
from harness.folders import Place
from harness.store import segment
from harness.store.folder import (
    DIMENSIONS,
    MODEL_FILE,
    Folder,
    folder_of,
    read_model_file,
    stored_dimensions,
    update_model_file,
)
from harness.store.segment import Damaged, Keys, Rows, Segment, row_checks

# What a store contains, and the result of verifying it.


@dataclass(frozen=True)
class Checked:
    """The result of verifying one segment.

    Parameters
    ----------
    name
        Name of the file.
    rows
        Number of vectors, 0 if unknown.
    problem
        Why the segment is damaged (then it was deleted) or cannot be read; empty if it is valid.
    """

    name: str
    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the segment is valid."""
        return not self.problem


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
    leftovers
        Number of temporary files.
    """

    folder: Place
    fingerprint: str
    model: Mapping[str, Any]
    segments: int
    rows: int
    bytes: int
    last_used: datetime
    leftovers: int


def info_of(files: Folder, folder: Place, fingerprint: str) -> Info:
    """Return what a store contains, without reading vectors."""
    rows = size = 0
    names = files.names()
    for name in names:
        with contextlib.suppress(segment.Damaged, segment.Foreign, OSError):
            size += files.size(name)
            rows += segment.layout_of(files.header(name)).n
    return Info(
        folder=folder,
        fingerprint=fingerprint,
        model=read_model_file(files),
        segments=len(names),
        rows=rows,
        bytes=size,
        last_used=files.last_used(),
        leftovers=len(files.leftovers()),
    )


# Finds vectors in open segments by the keys of their texts. Knows no folder.


_BLOCK = 1 << 18  # numbers that are copied at once; they fit into the processor's cache


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the (n, 2) keys of texts."""
    return np.frombuffer(text_keys(texts), dtype="<u8").reshape(-1, 2)


def first_of_each(
    keys: Keys, last: npt.NDArray[np.bool_] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the order that sorts (n, 2) keys, and whether each key in that order is a new one.

    Equal keys keep their order, except that those marked in `last`, (n,), come last.
    """
    # A stable sort merges the runs of keys that segments have sorted; `lexsort` sorts them anew.
    order = np.argsort(keys[:, 0], kind="stable")
    first = keys[order, 0]
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = first[1:] != first[:-1]
    if not is_new.all():  # equal keys, or about once in 2**64 pairs different ones
        columns = (keys[:, 1], keys[:, 0]) if last is None else (last, keys[:, 1], keys[:, 0])
        order = np.lexsort(columns)
        is_new[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    return order, is_new


@dataclass(frozen=True)
class Merged:
    """All distinct keys of some segments, sorted, with the position of each vector.

    Parameters
    ----------
    first, second
        (k,) the two halves of each key.
    position
        (k,) row of each key's vector, counted through all segments in their order.
    """

    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]
    position: Rows

    def find(self, keys: Keys) -> Rows:
        """Return the (n,) position of each of the (n, 2) keys, -1 for a missing key."""
        n = len(self.first)
        positions = np.full(len(keys), -1, dtype=np.int64)
        open_ = np.arange(len(keys))  # keys that are not decided yet
        at = np.searchsorted(self.first, keys[:, 0])  # candidate of each
        while len(open_):  # repeats only for keys whose first half equals that of another key
            within = at < n
            open_, at = open_[within], at[within]
            same = self.first[at] == keys[open_, 0]
            open_, at = open_[same], at[same]
            hit = self.second[at] == keys[open_, 1]
            positions[open_[hit]] = self.position[at[hit]]
            open_, at = open_[~hit], at[~hit] + 1
        return positions


_FEW = 1 << 16
"""Keys that are merged at once, since that takes milliseconds."""
_SEARCH, _STEP, _MERGE = 150e-6, 3e-6, 200e-9
"""Seconds to search a segment at all, to search one key in it, and to merge one key: measured. Only
their ratios count."""


@dataclass(frozen=True)
class KeyIndex:
    """Finds the keys of a store.

    A few keys are searched in each segment, whose keys are sorted. For many all keys are merged
    first, once: of a million that takes a tenth of a second and 40 MB.

    Parameters
    ----------
    starts
        (segments + 1,) position of each segment's first row.
    segments
        The segments. A position is a row, counted through all segments in their order.
    """

    starts: Rows
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> KeyIndex:
        """Return the index of segments.

        Of equal keys the first segment's is used; a row of NaN is used only if all are rows of NaN.
        """
        starts = np.cumsum([0, *(len(s.keys) for s in segments)], dtype=np.int64)
        return cls(starts, tuple(segments))

    def find(self, keys: Keys) -> Rows:
        """Return the (n,) position of each of the (n, 2) keys, -1 for a missing key."""
        n = int(self.starts[-1])
        by_segment = len(self.segments) * (_SEARCH + _STEP * len(keys))
        if "merged" not in self.__dict__ and n > _FEW and by_segment < _MERGE * n:
            return self._found_by_segment(keys)
        return self.merged.find(keys)

    def _found_by_segment(self, keys: Keys) -> Rows:
        """Return what `find` returns, without merging the keys of segments."""
        positions = np.full(len(keys), -1, dtype=np.int64)
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # keys that are close are on one page
        asked = keys[order]
        for start, opened in zip(self.starts[:-1].tolist(), self.segments, strict=True):
            rows = _rows_of(opened.keys, asked)
            found = np.flatnonzero(rows >= 0)
            earlier = positions[found]
            takes = earlier < 0
            if not takes.all():  # a row of NaN gives way to a later vector
                is_nan = self.is_nan(earlier) & ~opened.is_nan[rows[found]]
                takes |= is_nan
            positions[found[takes]] = start + rows[found[takes]]
        result = np.empty_like(positions)
        result[order] = positions
        return result

    @functools.cached_property
    def merged(self) -> Merged:
        """All keys, merged."""
        segments = self.segments
        keys = np.concatenate([np.empty((0, 2), np.uint64), *(s.keys for s in segments)])
        order, is_new = first_of_each(keys)
        if not is_new.all() and any(s.may_have_nan for s in segments):
            order, is_new = first_of_each(keys, last=np.concatenate([s.is_nan for s in segments]))
        if not is_new.all():
            order = order[is_new]
        return Merged(keys[order, 0], keys[order, 1], order)

    @property
    def width(self) -> int:
        """Number of dimensions of the vectors, 0 without segments; the greatest of packed rows."""
        return max((int(opened.vectors.shape[1]) for opened in self.segments), default=0)

    @property
    def packed(self) -> bool:
        """Whether the vectors are packed rows."""
        return any(opened.packed for opened in self.segments)

    def is_nan(self, positions: Rows) -> npt.NDArray[np.bool_]:
        """Return whether each vector at `positions`, (n,), is a row of NaN; -1 is none."""
        result = np.zeros(len(positions), dtype=bool)
        for i, opened in enumerate(self.segments):
            if opened.may_have_nan:
                start, stop = self.starts[i : i + 2]
                rows = np.flatnonzero((start <= positions) & (positions < stop))
                result[rows] = opened.is_nan[positions[rows] - start]
        return result

    def gather(self, positions: Rows, *, check: bool = True) -> Vectors:
        """Return the (n, d) vectors at `positions`, (n,), each compared with its check.

        Raises
        ------
        DamagedSegments
            If vectors differ from their checks.
        """
        shape = len(positions), self.width
        vectors = (np.zeros if self.packed else np.empty)(shape, dtype=np.float32)
        segment_of = np.searchsorted(self.starts, positions, side="right") - 1
        order = np.argsort(segment_of, kind="stable")
        bounds = np.searchsorted(segment_of[order], np.arange(len(self.segments) + 1))
        damaged = []
        for i, opened in enumerate(self.segments):
            rows = order[bounds[i] : bounds[i + 1]]
            if not len(rows):
                continue
            try:
                _copy(opened, positions[rows] - self.starts[i], vectors, rows, check=check)
            except Damaged as error:
                damaged.append((opened, error))
        if damaged:
            raise DamagedSegments(damaged)
        if self.packed and len(vectors):  # a longer row of other texts sets no width
            longest = np.nan_to_num(vectors[:, 0]).max()
            return np.ascontiguousarray(vectors[:, : 1 + int(longest)])
        return vectors


def _rows_of(keys: Keys, asked: Keys) -> Rows:
    """Return the row of each of the (n, 2) asked keys in sorted (k, 2) keys, -1 for none.

    The halves are compared where they lie, on disk: only the pages that are needed are read.
    """
    low, high = np.zeros(len(asked), np.int64), np.full(len(asked), len(keys), np.int64)
    for _ in range(len(keys).bit_length()):
        middle = np.minimum((low + high) // 2, len(keys) - 1)
        found = keys[middle]
        is_less = (found[:, 0] < asked[:, 0]) | (
            (found[:, 0] == asked[:, 0]) & (found[:, 1] < asked[:, 1])
        )
        is_less &= low < high
        low, high = np.where(is_less, middle + 1, low), np.where(is_less, high, middle)
    low[low == len(keys)] = 0
    return np.where((keys[low] == asked).all(axis=1), low, -1)


class DamagedSegments(Exception):
    """Segments with vectors that differ from their checks.

    Attributes
    ----------
    damaged
        Each segment, with what is wrong with it.
    """

    def __init__(self, damaged: Sequence[tuple[Segment, Damaged]]) -> None:
        super().__init__(f"{len(damaged)} damaged segments")
        self.damaged = tuple(damaged)


def _copy(segment: Segment, rows: Rows, vectors: Vectors, to: Rows, *, check: bool) -> None:
    """Copy rows of a segment to the rows `to` of `vectors`, and compare them with their checks."""
    step = max(1, _BLOCK // vectors.shape[1]) if len(rows) else 1
    checks = np.empty(len(rows), dtype=np.uint64)
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        copied = segment.vectors[rows[block]]
        if check:
            checks[block] = row_checks(copied)
        vectors[to[block], : copied.shape[1]] = copied
    if not check or not len(rows):
        return
    if not np.array_equal(checks, segment.checks[rows]):
        raise Damaged("a vector differs from its checksum")
    # A row of zeros has the check 0, and in a hole of a file both are zeros.
    if not checks.all() and not segment.is_whole:
        raise Damaged("a part of it may be missing: its checksum differs")


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
            if not self._packed:
                self._check_width(d)
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

    def _check_width(self, d: int) -> None:
        """Compare the width of the first vectors with the store's; an empty store takes it."""
        known, self._dimensions = self._dimensions, d
        if known is None:
            facts = {"fingerprint": self._fingerprint, DIMENSIONS: d}
            with contextlib.suppress(DiskError):  # segments state it, too, and are safe
                update_model_file(self._folder, facts)
        elif d != known:
            raise ModelError(
                f"a vector has {d} dimensions, but those in '{self._folder}' have {known}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.flush()
        except Exception:
            raise
        except BaseException:  # a signal during the flush: rows still wait
            self.flush()
            raise
        self._folder.send()


WithoutVector: TypeAlias = Callable[[Sequence[str]], Sequence[bool]]

CHECK = "HARNESS_CHECK_VECTORS"
"""Environment variable: with `0`, vectors are not compared with their checks when they are read."""
_ATTEMPTS = 5


class Store:
    """Vectors of one embedder by text.

    Parameters
    ----------
    folder
        Folder of all stores, on a file system or in a bucket.
    fingerprint
        The embedder's fingerprint; each fingerprint has its own store.
    without_vector
        Returns whether the embedder has no vector for each text. Other texts with a row of NaN
        count as missing. By default all rows of NaN are valid.
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

    def __init__(
        self,
        folder: Place,
        fingerprint: str,
        *,
        without_vector: WithoutVector | None = None,
        packed: bool = False,
    ) -> None:
        self.fingerprint = fingerprint
        self.packed = packed
        self._without_vector = without_vector
        self.nan_is_right: dict[str, bool] = {}  # by text whose row is of NaN
        # The digest distinguishes names that are equal after safe_name, or without regard to case.
        name = f"{folders.safe_name(fingerprint)[:80]}-{digest(fingerprint)[:12]}"
        self.folder = folder / name
        self.files = folder_of(folder, name)
        self.notices: list[str] = []
        self._segments: dict[str, Segment] = {}
        self._ignored: set[str] = set()
        self._copied_again: set[str] = set()
        self._index = KeyIndex.of(())
        self._stale = True
        self._touched = False
        self._width: int | None = None  # as the model file states
        self._check = os.environ.get(CHECK, "1") != "0"

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector, in the order first seen."""
        distinct = list(dict.fromkeys(texts))
        return [distinct[i] for i in np.flatnonzero(self._find(distinct) < 0)]

    def get(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`, in their order; a text may occur twice.

        Each vector is compared with its check. A segment with a vector that differs is dropped: its
        texts are then missing.

        Raises
        ------
        KeyError
            If some texts have no vector; the message has their number.
        """
        while True:  # ends: each round drops a segment, or copies one again
            positions = self._find(texts)
            n_missing = int((positions < 0).sum())
            if n_missing:
                raise KeyError(
                    f"{n_missing} of {len(texts)} texts have no vector in '{self.folder}'"
                )
            try:
                return self._index.gather(positions, check=self._check)
            except DamagedSegments as error:
                for damaged, reason in error.damaged:
                    self._drop(damaged.path.name, reason)
                self._stale = True

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

    def verify(self) -> list[Checked]:
        """Compare every segment with its checksum, and drop damaged ones."""
        report = []
        for name in self.files.names():
            rows = 0
            try:
                opened = self.files.open(name, self.fingerprint)
                rows = len(opened.keys)
                segment.check(opened)
                report.append(Checked(name, rows))
            except FileNotFoundError:
                continue  # another process merged it meanwhile
            except segment.Damaged as error:
                problem = "" if self._drop(name, error) else str(error)
                report.append(Checked(name, rows, problem))
            except (segment.Foreign, OSError) as error:
                report.append(Checked(name, rows, str(error)))
        self._stale = True
        return report

    def info(self) -> Info:
        """Return what the store contains, without reading vectors."""
        return info_of(self.files, self.folder, self.fingerprint)

    def _find(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the (n,) position of the vector of each text in the index, -1 for none."""
        index = self._current()
        positions = index.find(keys_of(texts))
        if self._without_vector is not None:
            nan = np.flatnonzero(index.is_nan(positions)).tolist()
            known = self.nan_is_right
            new = [text for text in dict.fromkeys(texts[i] for i in nan) if text not in known]
            if new:
                known.update(zip(new, self._without_vector(new), strict=True))
            positions[[i for i in nan if not known[texts[i]]]] = -1
        return positions

    def _current(self) -> KeyIndex:
        if not self._stale:
            return self._index
        for _ in range(_ATTEMPTS):  # a segment may vanish while `harness cache prune` merges
            names = set(self.files.names()) - self._ignored
            opened = {n: s for n, s in self._segments.items() if n in names}
            try:
                self.files.prepare(names - opened.keys())
                for name in names - opened.keys():
                    new = self._open(name)
                    if new is not None:
                        opened[name] = new
            except FileNotFoundError:
                continue
            break
        opened = self._of_one_width(opened)
        self._segments = opened
        segments = [opened[name] for name in sorted(opened)]
        if [*map(id, segments)] != [*map(id, self._index.segments)]:
            self._index = KeyIndex.of(segments)
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
        try:
            return self.files.open(name, self.fingerprint)
        except FileNotFoundError:
            raise
        except segment.Damaged as error:
            if self._drop(name, error):
                return self._open(name)
        except segment.Foreign as error:
            self._ignore(name, error)
        except OSError as error:  # the segment may be valid: out of memory, no permission, network
            self._ignore(name, f"cannot be read now ({error.strerror})")
        return None

    def _of_one_width(self, opened: dict[str, Segment]) -> dict[str, Segment]:
        if any(item.packed for item in opened.values()):
            return opened
        rows: Counter[int] = Counter()
        for name in sorted(opened):  # if widths have equally many rows, the first wins
            rows[opened[name].vectors.shape[1]] += len(opened[name].keys)
        if self._width is None and rows:
            self._width = stored_dimensions(self.files)
        width = self._width or max(rows, key=rows.__getitem__, default=None)
        reason = segment.Damaged(f"its vectors do not have {width} dimensions like the others")
        for name in [name for name, item in opened.items() if item.vectors.shape[1] != width]:
            if width in rows:
                self._drop(name, reason)
            else:  # either may be wrong, so nothing is deleted
                self._ignore(name, f"they do not have {width} dimensions as {MODEL_FILE} states")
            del opened[name]
        return opened

    def _ignore(self, name: str, reason: object) -> None:
        self._ignored.add(name)
        self.notices.append(f"embeddings in '{self.folder / name}' are not used: {reason}")

    def _drop(self, name: str, reason: Exception) -> bool:
        """Drop a damaged segment; return whether a whole copy of it took its place."""
        self._segments.pop(name, None)
        if name not in self._copied_again and self.files.drop(name, self.fingerprint):
            self._copied_again.add(name)
            return True
        self._ignored.add(name)
        self.notices.append(
            f"dropped a damaged segment of embeddings: '{self.folder / name}': {reason}; "
            "its texts will be encoded again"
        )
        return False
