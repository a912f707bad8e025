"""The process of one device: makes the embedder from its name, and encodes the units it receives.

It communicates with `.devices` over one connection: it sends `Ready`, and for each `Unit` a
`Report` or `Raised`. When it receives None, or the connection is closed, it writes the remaining
vectors, sends `Notes`, and ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from harness import signals
from harness.embedder import Embedder
from harness.encode.batch_size import token_budget
from harness.encode.batches import encode_batches
from harness.errors import DiskError, HarnessError, ModelError
from harness.store.store import Store
from harness.store.writer import Writer


@dataclass(frozen=True)
class Job:
    """What a worker does.

    Parameters
    ----------
    name
        Name of the model.
    device
        Device of the worker.
    threads
        Number of CPU threads.
    folder
        Folder of all stores.
    fingerprint
        The embedder's fingerprint.
    """

    name: str
    device: str
    threads: int
    folder: Path
    fingerprint: str


@dataclass(frozen=True)
class Unit:
    """Texts to encode in one step.

    Parameters
    ----------
    texts
        The texts.
    suspect
        Whether the texts may kill the process; earlier vectors are then written first.
    """

    texts: Sequence[str]
    suspect: bool = False


@dataclass(frozen=True)
class Ready:
    """The embedder has been made."""


@dataclass(frozen=True)
class Unusable:
    """The embedder cannot be made, for this reason."""

    reason: str


@dataclass(frozen=True)
class Raised:
    """The embedder raised a HarnessError: it cannot encode at all."""

    reason: str


@dataclass(frozen=True)
class Notes:
    """The embedder's notes, which are printed when the run ends."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Unwritable:
    """The store cannot be written, for this reason."""

    reason: str


def work(connection: Connection, job: Job) -> None:
    """Encode the units that arrive on `connection` until it sends None or is closed.

    SIGTERM and SIGHUP, and the end of the parent process, end it after it wrote what it has.
    """
    # Ctrl-C reaches the whole process group; the parent process decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals.raised():
            parent = multiprocessing.parent_process()
            if parent is not None and parent.pid is not None:
                signals.end_with_parent(parent.pid)
            _work(connection, job)
    except signals.Terminated as error:
        sys.exit(error.exit_code)


def _work(connection: Connection, job: Job) -> None:
    try:
        try:
            embedder = _make(job)
        except Exception as error:  # a model may raise anything
            connection.send(Unusable(str(error) or type(error).__name__))
            return
        connection.send(Ready())
        try:
            with Store(job.folder, job.fingerprint).writer() as writer:
                _serve(connection, embedder, writer, job)
            connection.send(Notes(tuple(getattr(embedder, "notes", ()))))
        except DiskError as error:
            connection.send(Unwritable(str(error)))
        finally:
            getattr(embedder, "close", lambda: None)()
    except (EOFError, OSError):
        pass  # the parent process closed the connection or died
    finally:
        connection.close()


def _make(job: Job) -> Embedder:
    # For libraries that are not imported yet; the user's script may have imported torch already.
    for variable in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, str(job.threads))
    from harness.registry.registry import Registry

    embedder = Registry().embedder(job.name, device=job.device)
    if embedder.info.fingerprint != job.fingerprint:
        raise ModelError(
            f"another process made a different model of this name "
            f"(fingerprint {embedder.info.fingerprint}, expected {job.fingerprint})"
        )
    return embedder


def _serve(connection: Connection, embedder: Embedder, writer: Writer, job: Job) -> None:
    tokens = token_budget(embedder, job.device)
    while True:
        unit = connection.recv()
        if unit is None:
            return
        if unit.suspect:
            writer.flush()
        if "torch" in sys.modules:
            torch = sys.modules["torch"]
            torch.set_num_threads(min(job.threads, torch.get_num_threads()))
        try:
            report = encode_batches(
                embedder, unit.texts, writer, batch_tokens=tokens, on_done=lambda n: None
            )
        except DiskError:
            raise
        except HarnessError as error:
            connection.send(Raised(str(error)))
            return
        tokens = report.batch_tokens
        connection.send(report)
