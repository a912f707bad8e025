"""Adds vectors to a store: collects rows and writes them as segments of some thousand rows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import numpy as np

from harness.arrays import Vectors
from harness.errors import DiskError, ModelError
from harness.store import model_file
from harness.store.folder import Folder
from harness.store.key_index import keys_of
from harness.store.segment import Keys

_SEGMENT_BYTES = 64 << 20  # a segment of a wide embedder has fewer rows


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
        rows: int,
        seconds: float,
        on_flush: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._fingerprint = folder, fingerprint
        self._dimensions = dimensions
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
        if not self._buffer.size:
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
        self._folder.write(self._fingerprint, keys[order], self._buffer[order])
        self._keys, self._n = [], 0
        self._on_flush()

    def _check_width(self, d: int) -> None:
        """Compare the first vectors with those of the store, whose width they else define."""
        known, self._dimensions = self._dimensions, d
        if known is None:
            facts = {"fingerprint": self._fingerprint, model_file.DIMENSIONS: d}
            with contextlib.suppress(DiskError):  # segments state it, too, and are not lost
                model_file.update(self._folder, facts)
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
        except BaseException:  # a signal in the middle of it: the rows are still waiting
            self.flush()
            raise
        self._folder.send()
