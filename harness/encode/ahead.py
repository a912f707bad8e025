"""The texts of the next model, which processes with GPUs encode while the last model is scored.

It fills the store and decides nothing. An error is forgotten: at its turn the model is encoded as
ever, finds what is stored, and fails as it would have. Nothing is shown before that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from harness import signals
from harness.encode.engine import Engine, Report
from harness.encode.stored_embedder import StoredEmbedder
from harness.errors import PLUGIN_ERRORS
from harness.progress import Advance

_LOOK = 0.2
"""Seconds between two looks at how far it is."""


class _Stopped(BaseException):
    """The run ends, so that the rest is not needed."""


class Ahead:
    """Encodes the texts of a model in a thread, which begins at once.

    Parameters
    ----------
    vectors
        The model with its store, which nobody else uses until `wait` returns.
    keys
        Keys of the texts.
    engine
        An engine that encodes in other processes.

    Attributes
    ----------
    total
        Number of texts that the store lacked.
    """

    def __init__(self, vectors: StoredEmbedder, keys: Sequence[str], engine: Engine) -> None:
        self._vectors, self._engine = vectors, engine
        self._missing = vectors.store.missing(keys)
        self.total, self._done = len(self._missing), 0
        self._began, self._seconds = time.monotonic(), 0.0
        self._report: Report | None = None
        self._is_stopped = False
        # A daemon: a process that hangs must not keep the program from ending.
        self._thread = threading.Thread(target=self._encode, name="ahead", daemon=True)
        self._thread.start()

    def wait(self, advance: Advance) -> None:
        """Wait until it is done, and add what it did to the counts of the model."""
        shown = 0
        while True:
            is_done = not self._thread.is_alive()
            done = self._done
            advance(done - shown)
            shown = done
            if is_done:
                break
            self._thread.join(_LOOK)
        self._vectors.encoded += self._done if self._report is None else self._report.n_texts
        self._vectors.seconds += self._seconds
        self._vectors.store.refresh()

    def stop(self) -> None:
        """End it after the batches that are being encoded; their vectors are kept."""
        self._is_stopped = True
        self._thread.join(signals.PATIENCE)

    def _encode(self) -> None:
        vectors = self._vectors
        n_notices = len(vectors.store.notices)
        try:
            self._report = self._engine.encode(
                vectors.embedder,
                self._missing,
                vectors.store,
                on_done=self._advance,
                name=vectors.name,
            )
        except (_Stopped, *PLUGIN_ERRORS):
            del vectors.store.notices[n_notices:]
        self._seconds = time.monotonic() - self._began

    def _advance(self, n: int) -> None:
        if self._is_stopped:
            raise _Stopped
        self._done += n
