"""What a worker does: makes the embedder, encodes units, and writes the segments itself.

A worker is a process of `.devices` or a Ray actor of `.ray_actors`. Both call an `Encoder`, whose
answers are the messages that `.driver` reads.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.embedder import Embedder
from harness.encode import admission, canary
from harness.encode.batch_size import BatchSize, batch_size
from harness.encode.batches import encode_batches
from harness.encode.engine import Report
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, ModelError, one_line
from harness.folders import Place
from harness.plugins.engines.messages import Notes, Raised, Ready, Unit, Unusable, Unwritable
from harness.store.store import Store
from harness.store.writer import Writer


@dataclass(frozen=True)
class Job:
    """The encoding of one model into one store.

    Parameters
    ----------
    name
        Name of the model; None if it is given as an object.
    fingerprint
        Fingerprint that the worker's embedder must have.
    place
        Folder of all stores.
    device
        Device of the worker.
    threads
        Number of CPU threads.
    processes
        Number of workers, which share what a hosted model may be asked.
    marker
        File that the worker must find: it proves that the worker sees the folder of the stores.
    """

    name: str | None
    fingerprint: str
    place: Place
    device: str
    threads: int
    processes: int = 1
    marker: Path | None = None


class Encoder:
    """Encodes the units of a job: `make`, then `encode` for each unit, then `finish`.

    Parameters
    ----------
    job
        The job.
    embedder
        The model, if it is given as an object.
    """

    def __init__(self, job: Job, embedder: Embedder | None = None) -> None:
        self._job, self._embedder = job, embedder
        self._left = contextlib.ExitStack()
        self._store: Store | None = None
        self._writer: Writer | None = None
        self._size: BatchSize | None = None
        self._is_checked = False

    def make(self) -> Ready | Unusable:
        """Make the embedder, compare it with the one of the driver, and open the store."""
        try:
            if self._job.marker is not None and not self._job.marker.exists():
                raise HarnessError(
                    f"it does not see the folder '{self._job.place}' of this machine; a store for "
                    "several machines is a folder that they share, or a bucket"
                )
            self._embedder = self._embedder or _embedder(self._job)
            self._left.callback(getattr(self._embedder, "close", lambda: None))
            getattr(self._embedder, "share", lambda _: None)(self._job.processes)
            canary.follow(self._embedder, self._job.place, self._job.fingerprint)
            own = self._embedder.info.fingerprint
            if own != self._job.fingerprint:
                raise ModelError(
                    "another process made a different model of this name "
                    f"(fingerprint {own}, expected {self._job.fingerprint})"
                )
            self._size = batch_size(self._embedder, self._job.device)
            self._store = Store(self._job.place, own)
            self._writer = self._left.enter_context(self._store.writer())
        except PLUGIN_ERRORS as error:  # a model may raise anything, and a store be out of reach
            return Unusable(str(error) or type(error).__name__)
        atexit.register(self._left.close)  # a Ray actor that is ended by SIGTERM writes, too
        return Ready()

    def encode(self, unit: Unit) -> Report | Raised | Unwritable:
        """Encode a unit; its vectors are written some time later."""
        assert self._embedder is not None  # noqa: S101  # `make` was called
        assert self._store is not None  # noqa: S101
        assert self._writer is not None  # noqa: S101
        assert self._size is not None  # noqa: S101
        if "torch" in sys.modules:
            torch = sys.modules["torch"]
            torch.set_num_threads(min(self._job.threads, torch.get_num_threads()))
        try:
            if not self._is_checked:
                admission.admit(self._embedder, self._store, unit.texts)
                self._is_checked = True
            if unit.suspect:
                self._writer.flush()
            return encode_batches(
                self._embedder,
                unit.texts,
                self._writer,
                size=self._size,
                on_done=lambda n: None,
            )
        except DiskError as error:
            return Unwritable(str(error))
        except HarnessError as error:
            return Raised(str(error))

    def finish(self) -> Notes | Unwritable:
        """Write the remaining vectors."""
        try:
            self._left.close()
        except DiskError as error:
            return Unwritable(str(error))
        except PLUGIN_ERRORS as error:  # from the embedder's `close`; the vectors are written
            return Notes((one_line(error),))
        return Notes(tuple(getattr(self._embedder, "notes", ())))


def _embedder(job: Job) -> Embedder:
    # For libraries that are not imported yet; the user's script may have imported torch already.
    for variable in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, str(job.threads))
    from harness.registry.registry import Registry

    assert job.name is not None  # noqa: S101  # else the job comes with an object
    return Registry().embedder(job.name, device=job.device)
