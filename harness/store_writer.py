"""Adds vectors to a store: gathers rows and writes them as segments of some thousands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from harness import segment
from harness.arrays import Vectors
from harness.errors import ModelError
from harness.key_index import keys_of
from harness.segment import Keys

if TYPE_CHECKING:
    from harness.store import Store

_SEGMENT_BYTES = 64 << 20  # a segment of a wide embedder has fewer rows


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
