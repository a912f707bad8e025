"""Finds vectors in open segments by the keys of their texts. Knows no folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Vectors
from harness.digest import text_keys
from harness.store.segment import Damaged, Keys, Rows, Segment, row_checks

_BLOCK = 1 << 18  # numbers that are copied at once: they are still in the processor's cache


def keys_of(texts: Iterable[str]) -> Keys:
    """Return the (n, 2) keys of texts."""
    return np.frombuffer(text_keys(texts), dtype="<u8").reshape(-1, 2)


def first_of_each(
    keys: Keys, last: npt.NDArray[np.bool_] | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return the order that sorts (n, 2) keys, and which of them in that order are no repetition.

    Equal keys keep their order, but those that are marked in `last`, (n,), come after the others.
    """
    order = np.lexsort((keys[:, 1], keys[:, 0]) if last is None else (last, keys[:, 1], keys[:, 0]))
    is_new = np.ones(len(keys), dtype=bool)
    is_new[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    return order, is_new


@dataclass(frozen=True)
class KeyIndex:
    """All distinct keys of a store, sorted, with the position of each vector.

    Parameters
    ----------
    first, second
        (k,) the two halves of each key.
    position
        (k,) row of each key's vector, counted through all segments in their order.
    starts
        (segments + 1,) position of each segment's first row.
    segments
        The segments.
    """

    first: npt.NDArray[np.uint64]
    second: npt.NDArray[np.uint64]
    position: Rows
    starts: Rows
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> KeyIndex:
        """Return the index of segments.

        Of equal keys the one in the first segment is used, and a row of NaN only if all are.
        """
        keys = np.concatenate([np.empty((0, 2), np.uint64), *(s.keys for s in segments)])
        order, is_new = first_of_each(keys)
        if not is_new.all() and any(s.may_have_nan for s in segments):
            order, is_new = first_of_each(keys, last=np.concatenate([s.is_nan for s in segments]))
        starts = np.cumsum([0, *(len(s.keys) for s in segments)], dtype=np.int64)
        first, second = np.ascontiguousarray(keys[order][is_new].T)
        return cls(first, second, order[is_new], starts, tuple(segments))

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

    @property
    def width(self) -> int:
        """Number of dimensions of the vectors, 0 without segments."""
        return int(self.segments[0].vectors.shape[1]) if self.segments else 0

    def is_nan(self, positions: Rows) -> npt.NDArray[np.bool_]:
        """Return whether each vector at `positions`, (n,), is a row of NaN; -1 is none."""
        result = np.zeros(len(positions), dtype=bool)
        for i, segment in enumerate(self.segments):
            if segment.may_have_nan:
                start, stop = self.starts[i : i + 2]
                rows = np.flatnonzero((start <= positions) & (positions < stop))
                result[rows] = segment.is_nan[positions[rows] - start]
        return result

    def segments_of(self, positions: Rows) -> list[int]:
        """Return the numbers of the segments that have the vectors at `positions`."""
        numbers: list[int] = np.unique(self._numbers(positions)).tolist()
        return numbers

    def gather(self, positions: Rows, *, check: bool = True) -> Vectors:
        """Return the (n, d) vectors at `positions`, (n,), each compared with its check.

        Raises
        ------
        DamagedSegments
            If vectors differ from their checks.
        """
        vectors = np.empty((len(positions), self.width), dtype=np.float32)
        segment_of = self._numbers(positions)
        order = np.argsort(segment_of, kind="stable")
        bounds = np.searchsorted(segment_of[order], np.arange(len(self.segments) + 1))
        damaged = []
        for i, segment in enumerate(self.segments):
            rows = order[bounds[i] : bounds[i + 1]]
            if not len(rows):
                continue
            try:
                _copy(segment, positions[rows] - self.starts[i], vectors, rows, check=check)
            except Damaged as error:
                damaged.append((segment, error))
        if damaged:
            raise DamagedSegments(damaged)
        return vectors

    def _numbers(self, positions: Rows) -> Rows:
        return np.searchsorted(self.starts, positions, side="right") - 1


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
        vectors[to[block]] = copied
    if not check or not len(rows):
        return
    if not np.array_equal(checks, segment.checks[rows]):
        raise Damaged("a vector differs from its checksum")
    # A row of zeros has the check 0, and in a hole of a file both are zeros.
    if not checks.all() and not segment.is_whole:
        raise Damaged("a part of it may be missing: its checksum differs")
