"""The embeddings of one embedder on disk: what was encoded once is not encoded again.

A store is a folder of immutable segments (`harness.segment`). There is no lock: several processes
and machines may write at once, each its own segments; a text in two of them has one vector up to
rounding, and the first is used. A kill loses at most the rows not yet flushed. What lies in many
stores together, and pruning, is the subject of `harness.stores`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from harness import folders, segment
from harness.arrays import Vectors
from harness.digest import digest, text_keys
from harness.errors import ModelError
from harness.segment import Keys, Segment

MODEL_FILE = "model.json"
"""Beside the segments: says of which model they are."""
DAMAGED = ".damaged"
_SEGMENT_BYTES = 64 << 20  # a segment of a wide embedder has fewer rows


@dataclass(frozen=True)
class Checked:
    """What `verify` found of one segment.

    Parameters
    ----------
    name
        Its file.
    rows
        Number of vectors, 0 if that cannot be told.
    problem
        Why it was set aside; empty if it is whole.
    """

    name: str
    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the segment is whole."""
        return not self.problem


class Store:
    """Vectors of one embedder by text.

    Parameters
    ----------
    folder
        Folder of all stores.
    fingerprint
        The embedder's fingerprint; stores of different fingerprints share nothing.

    Attributes
    ----------
    notices
        One line for each segment that was set aside, for the caller to print.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        # The digest keeps apart what safe_name or a case-blind file system would join.
        self.folder = folder / f"{folders.safe_name(fingerprint)[:80]}-{digest(fingerprint)[:12]}"
        self.notices: list[str] = []
        self._segments: dict[str, Segment] = {}
        self._ignored: set[str] = set()
        self._index = _Index.of(())
        self._stale = True
        self._touched = False

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector, in the order first seen."""
        distinct = list(dict.fromkeys(texts))
        found = self._current().find(_keys(distinct))
        return [distinct[i] for i in np.flatnonzero(found < 0)]

    def get(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`, in their order; a text may stand there twice.

        Raises
        ------
        KeyError
            If some have none; the message says how many.
        """
        index = self._current()
        found = index.find(_keys(texts))
        lacking = int((found < 0).sum())
        if lacking:
            raise KeyError(f"{lacking} of {len(texts)} texts have no vector in '{self.folder}'")
        return index.gather(found)

    def refresh(self) -> None:
        """See the segments that others wrote since the last look."""
        self._stale = True

    def writer(self, rows: int = 8192, seconds: float = 30) -> Writer:
        """Return a writer that makes a segment every `rows` texts or `seconds`."""
        return Writer(self, rows, seconds)

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write facts on the model (its name at least) beside the segments, for people."""
        content = {"fingerprint": self.fingerprint, **info}
        path = self.folder / MODEL_FILE
        text = json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n"
        with contextlib.suppress(OSError):
            if path.read_text(encoding="utf-8") == text:
                return
        folders.write_atomically(path, text.encode())

    def verify(self) -> list[Checked]:
        """Read every segment, compare it with its checksum, and set damaged ones aside."""
        report = []
        for path in _segment_files(self.folder):
            rows = 0
            try:
                opened = segment.read(path, self.fingerprint)
                rows = len(opened.keys)
                segment.check(opened)
                report.append(Checked(path.name, rows))
            except FileNotFoundError:
                continue  # merged into another one meanwhile
            except (segment.Damaged, OSError) as error:
                self._set_aside(path, error)
                self._segments.pop(path.name, None)
                report.append(Checked(path.name, rows, str(error)))
            except segment.Foreign as error:
                report.append(Checked(path.name, rows, str(error)))
        self._stale = True
        return report

    def _current(self) -> _Index:
        if not self._stale:
            return self._index
        for _ in range(5):  # a segment may vanish while `harness cache prune` merges
            paths = {path.name: path for path in _segment_files(self.folder)}
            opened = {n: s for n, s in self._segments.items() if n in paths}
            try:
                for name in paths.keys() - opened.keys() - self._ignored:
                    found = self._open(paths[name])
                    if found is not None:
                        opened[name] = found
            except FileNotFoundError:
                continue
            break
        opened = self._of_one_width(opened)
        if opened.keys() != self._segments.keys():
            self._segments = opened
            self._index = _Index.of([opened[name] for name in sorted(opened)])
        if not self._touched:
            self._touched = True
            with contextlib.suppress(OSError):  # a store that may only be read
                os.utime(self.folder)  # `last used`
        self._stale = False
        return self._index

    def _open(self, path: Path) -> Segment | None:
        try:
            return segment.read(path, self.fingerprint)
        except FileNotFoundError:
            raise
        except (segment.Damaged, OSError) as error:
            self._set_aside(path, error)
        except segment.Foreign as error:
            self.notices.append(f"embeddings in '{path}' are not used: {error}")
        self._ignored.add(path.name)
        return None

    def _of_one_width(self, opened: dict[str, Segment]) -> dict[str, Segment]:
        kept: dict[str, Segment] = {}
        for name in sorted(opened):
            width = next(iter(kept.values())).vectors.shape[1] if kept else None
            if width is None or opened[name].vectors.shape[1] == width:
                kept[name] = opened[name]
            else:
                self._ignored.add(name)
                self._set_aside(
                    opened[name].path,
                    segment.Damaged(f"its vectors do not have the length {width} of the others"),
                )
        return kept

    def _set_aside(self, path: Path, why: Exception) -> None:
        with contextlib.suppress(OSError):  # a store that may only be read, or another was faster
            path.rename(path.with_name(path.name + DAMAGED))
        self.notices.append(
            f"a damaged segment of embeddings was set aside, its texts are encoded again: "
            f"'{path}': {why}"
        )


class Writer:
    """Adds vectors to a store, a segment at a time; leaving it flushes, also on an exception.

    Parameters
    ----------
    store
        Where to.
    rows
        A segment is written when so many rows wait …
    seconds
        … or so long after the first of them came.
    """

    def __init__(self, store: Store, rows: int, seconds: float) -> None:
        self._store, self._rows, self._seconds = store, rows, seconds
        self._keys: list[Keys] = []
        self._buffer: Vectors = np.empty((0, 0), dtype=np.float32)
        self._n = 0
        self._since = 0.0

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add the (n, d) `vectors` of n `texts`.

        Raises
        ------
        ModelError
            If the vectors differ in length from earlier ones.
        DiskError
            If a segment is due and cannot be written.
        """
        n, d = vectors.shape
        if n != len(texts):
            raise ValueError(f"{len(texts)} texts, {n} vectors")
        if not n:
            return
        if not self._buffer.size:
            room = max(1, min(self._rows, _SEGMENT_BYTES // (4 * d)))
            self._buffer = np.empty((room, d), dtype=np.float32)
        if self._buffer.shape[1] != d:
            raise ModelError(f"a vector has length {d}, earlier ones {self._buffer.shape[1]}")
        keys = _keys(texts)
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
        """Write what waits as a segment."""
        if not self._n:
            return
        keys = np.concatenate(self._keys)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        segment.write(self._store.folder, self._store.fingerprint, keys[order], self._buffer[order])
        self._keys, self._n = [], 0
        self._store.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.flush()


@dataclass(frozen=True)
class _Index:
    """All keys of a store, sorted, each once, with the place of its vector."""

    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]
    place: npt.NDArray[np.int64]  # row among the rows of all segments, one after the other
    starts: npt.NDArray[np.int64]  # (segments + 1,) where each segment's rows begin
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> _Index:
        keys = np.concatenate([np.empty((0, 2), np.uint64), *(s.keys for s in segments)])
        order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: of equal keys the first stays first
        keys = keys[order]
        new = np.ones(len(keys), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        starts = np.cumsum([0, *(len(s.keys) for s in segments)], dtype=np.int64)
        first, second = np.ascontiguousarray(keys[new].T)
        return cls(first, second, order[new], starts, tuple(segments))

    def find(self, keys: Keys) -> npt.NDArray[np.int64]:
        """Return the place of each of the (n, 2) keys, -1 where there is none."""
        n = len(self.first)
        found = np.full(len(keys), -1, dtype=np.int64)
        asked = np.arange(len(keys))
        at = np.searchsorted(self.first, keys[:, 0])
        while len(asked):  # once more for each text that shares half of its key with another
            within = at < n
            asked, at = asked[within], at[within]
            same = self.first[at] == keys[asked, 0]
            asked, at = asked[same], at[same]
            hit = self.second[at] == keys[asked, 1]
            found[asked[hit]] = self.place[at[hit]]
            asked, at = asked[~hit], at[~hit] + 1
        return found

    def gather(self, places: npt.NDArray[np.int64]) -> Vectors:
        """Return the (n, d) vectors at `places`."""
        width = self.segments[0].vectors.shape[1] if self.segments else 0
        vectors = np.empty((len(places), width), dtype=np.float32)
        which = np.searchsorted(self.starts, places, side="right") - 1
        order = np.argsort(which, kind="stable")
        bounds = np.searchsorted(which[order], np.arange(len(self.segments) + 1))
        for i, part in enumerate(self.segments):
            rows = order[bounds[i] : bounds[i + 1]]
            vectors[rows] = part.vectors[places[rows] - self.starts[i]]
        return vectors


def _keys(texts: Iterable[str]) -> Keys:
    return np.frombuffer(text_keys(texts), dtype="<u8").reshape(-1, 2)


def _segment_files(folder: Path) -> list[Path]:
    with contextlib.suppress(FileNotFoundError):
        return sorted(p for p in folder.iterdir() if p.name.endswith(segment.SUFFIX))
    return []
