"""The process of one device: makes the embedder by name and encodes the units it is handed.

Speaks with `.devices` over one connection: it sends `Ready`, and for each `Unit` a `Report` or
`Raised`. When it is sent None, or the other side is gone, it writes what it has, sends `Notes` and
ends.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from harness.embedder import Embedder
from harness.encode.batches import encode_batches, token_budget
from harness.errors import DiskError, HarnessError, ModelError
from harness.store.store import Store
from harness.store.writer import Writer


@dataclass(frozen=True)
class Order:
    """What a worker is to do: which model, where, into which store."""

    name: str
    device: str
    threads: int
    folder: Path
    fingerprint: str


@dataclass(frozen=True)
class Unit:
    """Texts to encode; before a suspect, which may kill, all else is written."""

    texts: Sequence[str]
    suspect: bool = False


@dataclass(frozen=True)
class Ready:
    """The embedder is made."""


@dataclass(frozen=True)
class Unusable:
    """The embedder cannot be made."""

    reason: str


@dataclass(frozen=True)
class Raised:
    """The embedder does not do what an embedder must, or says that it can do no more."""

    reason: str


@dataclass(frozen=True)
class Notes:
    """What the embedder tells users at the end."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Unwritable:
    """The store cannot be written."""

    reason: str


def work(connection: Connection, order: Order) -> None:
    """Be a worker until there is no more to do."""
    # Ctrl-C reaches the whole group of processes; the one that hands out work decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        try:
            embedder = _make(order)
        except Exception as error:  # a model may raise anything
            connection.send(Unusable(str(error) or type(error).__name__))
            return
        connection.send(Ready())
        try:
            with Store(order.folder, order.fingerprint).writer() as writer:
                _serve(connection, embedder, writer, order)
            connection.send(Notes(tuple(getattr(embedder, "notes", ()))))
        except DiskError as error:
            connection.send(Unwritable(str(error)))
        finally:
            getattr(embedder, "close", lambda: None)()
    except (EOFError, OSError):
        pass  # the other side is gone
    finally:
        connection.close()


def _make(order: Order) -> Embedder:
    # For what is not imported yet; torch may be, by the script that is run.
    for variable in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, str(order.threads))
    from harness.registry.registry import Registry

    embedder = Registry().embedder(order.name, device=order.device)
    if embedder.info.fingerprint != order.fingerprint:
        raise ModelError(
            f"in another process it is a different model "
            f"({embedder.info.fingerprint}, not {order.fingerprint})"
        )
    return embedder


def _serve(connection: Connection, embedder: Embedder, writer: Writer, order: Order) -> None:
    tokens = token_budget(embedder, order.device)
    while True:
        unit = connection.recv()
        if unit is None:
            return
        if unit.suspect:
            writer.flush()
        if "torch" in sys.modules:
            torch = sys.modules["torch"]
            torch.set_num_threads(min(order.threads, torch.get_num_threads()))
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
