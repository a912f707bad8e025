"""The engine `devices` runs one process a device, each with its own copy of the model.

This process sends batches to the workers (`.worker`), longest texts first; the workers write the
segments themselves. Texts that failed, and the batch of a worker that died, are tried once more by
new workers, one by one and last. Vectors that a dead worker had not written are encoded again.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from harness.embedder import Embedder
from harness.encode.batch_size import token_budget
from harness.encode.batches import split, token_lengths
from harness.encode.engine import OnDone, Report
from harness.errors import DiskError, ModelError, UsageError
from harness.plugins.engines import worker
from harness.store.store import Store

_ROUNDS = (
    4  # each with new workers: enough if a few texts kill, and an end if the model always dies
)
_PATIENCE = 30  # seconds that a worker has for its last batch and segment before it is killed


class DevicesEngine:
    """Encodes on several devices at once.

    Parameters
    ----------
    devices
        One worker for each device: `["cuda:0", "cuda:1"]`, or `["cpu", "cpu"]` for two processes
        that share the cores.

    Raises
    ------
    UsageError
        If there is no device.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        if not devices:
            raise UsageError(
                "engine 'devices' needs a list of devices, such as cuda:0,cuda:1 or cpu,cpu"
            )
        self.devices = tuple(devices)

    def encode(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        store: Store,
        *,
        on_done: OnDone,
        name: str | None,
    ) -> Report:
        """Encode `texts` into the store; see `harness.encode.engine.Engine`.

        Raises
        ------
        UsageError
            If the embedder has no name from which a worker could make its own copy.
        ModelError
            If no worker can make the embedder, or it violates the contract of an embedder.
        DiskError
            If the store cannot be written.
        """
        if name is None:
            raise UsageError(
                "engine 'devices' needs a model given by its name, not as an object: "
                "each process makes its own copy"
            )
        began = time.perf_counter()
        job = _Job(name, store, self.devices, _Progress(len(texts), on_done))
        n_failures: Counter[str] = Counter()
        reasons: dict[str, str] = {}
        failed: dict[str, str] = {}
        missing = list(texts)
        for _ in range(_ROUNDS):
            new_reasons = job.run(self._units(embedder, missing, suspects=n_failures))
            n_failures.update(new_reasons.keys())
            reasons |= new_reasons
            store.refresh()
            missing = store.missing(texts)
            failed |= {text: reasons[text] for text in missing if n_failures[text] > 1}
            missing = [text for text in missing if text not in failed]
            # Without a batch and without a death, the model fails on each text alone.
            if not missing or not (job.n_batches or job.deaths):
                break
        failed |= {text: reasons.get(text, "its processes died") for text in missing}
        job.progress.finish()
        return Report(
            n_texts=len(texts) - len(failed),
            n_batches=job.n_batches,
            n_halvings=job.n_halvings,
            seconds=time.perf_counter() - began,
            failed=failed,
        )

    def _units(
        self, embedder: Embedder, texts: Sequence[str], *, suspects: Counter[str]
    ) -> list[worker.Unit]:
        """Return batches of new texts, longest first, and then each suspect alone."""
        tokens = min(token_budget(embedder, device) for device in self.devices)
        new = [text for text in texts if not suspects[text]]
        batches = split(token_lengths(embedder, new), tokens)
        units = [worker.Unit([new[i] for i in batch]) for batch in batches]
        return units + [worker.Unit([text], suspect=True) for text in texts if suspects[text]]


class _Progress:
    """Counts every text once, even if it is encoded twice."""

    def __init__(self, total: int, on_done: OnDone) -> None:
        self._remaining, self._on_done = total, on_done

    def add(self, n: int) -> None:
        n = min(n, self._remaining)
        self._remaining -= n
        if n:
            self._on_done(n)

    def finish(self) -> None:
        self.add(self._remaining)


@dataclass
class _Worker:
    """A process, and the unit that it is encoding."""

    process: BaseProcess
    connection: Connection
    device: str
    unit: worker.Unit | None = None


@dataclass
class _Round:
    """The units that one set of workers encodes.

    Parameters
    ----------
    waiting
        Units that no worker has received.
    reasons
        Why each text failed, or how its worker died.
    problem
        Why a worker could not be used; empty if all could.
    """

    waiting: deque[worker.Unit]
    reasons: dict[str, str] = field(default_factory=dict)
    problem: str = ""


@dataclass
class _Job:
    """The encoding of one model into one store, and its counts over all rounds."""

    name: str
    store: Store
    devices: Sequence[str]
    progress: _Progress
    n_batches: int = 0
    n_halvings: int = 0
    deaths: int = 0

    def run(self, units: Sequence[worker.Unit]) -> dict[str, str]:
        """Encode units with new workers; return why each text failed, or how its worker died."""
        current = _Round(deque(units))
        with self._workers(min(len(self.devices), len(units))) as workers:
            active = {item.connection: item for item in workers}
            while active:
                for ready in wait(list(active)):
                    sender = active[ready]  # type: ignore[index]  # wait() returns its arguments
                    try:
                        message = sender.connection.recv()
                    except (EOFError, OSError):
                        del active[sender.connection]
                        self._count_death(sender, current)
                        continue
                    if self._handle(message, sender, current):
                        sender.unit = current.waiting.popleft() if current.waiting else None
                        with suppress(OSError):  # a dead worker is noticed at the next recv()
                            sender.connection.send(sender.unit)
        if current.waiting and not self.n_batches and not current.reasons:
            raise ModelError(f"model '{self.name}' cannot be used: {current.problem}")
        return current.reasons

    def _handle(self, message: Any, sender: _Worker, current: _Round) -> bool:
        """Handle a worker's message; return whether the worker waits for its next unit."""
        match message:
            case worker.Unusable(reason):
                current.problem = reason.removeprefix(f"model '{self.name}' ")
                self.store.notices.append(
                    f"model '{self.name}' is not used on {sender.device}: {current.problem}"
                )
                return False
            case worker.Notes(lines):
                self.store.notices += [f"{sender.device}: {line}" for line in lines]
                return False
            case worker.Unwritable(reason):
                raise DiskError(reason)
            case worker.Raised(reason):
                raise ModelError(reason)
            case Report():
                self.n_batches += message.n_batches
                self.n_halvings += message.n_halvings
                self.progress.add(message.n_texts)
                current.reasons |= message.failed
        return True

    def _count_death(self, dead: _Worker, current: _Round) -> None:
        reason = _cause_of_death(dead)
        if dead.unit is not None:
            self.deaths += 1
            current.reasons |= dict.fromkeys(dead.unit.texts, reason)
        current.problem = current.problem or reason

    @contextmanager
    def _workers(self, n: int) -> Iterator[list[_Worker]]:
        """Start a worker on each of the first `n` devices; end all of them on leaving."""
        context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        threads = max(1, _cores() // n)
        started: list[_Worker] = []
        try:
            for device in self.devices[:n]:
                own_end, worker_end = context.Pipe()
                job = worker.Job(
                    self.name, device, threads, self.store.folder.parent, self.store.fingerprint
                )
                process = context.Process(target=worker.work, args=(worker_end, job), daemon=True)
                process.start()
                worker_end.close()
                started.append(_Worker(process, own_end, device))
            yield started
        finally:
            for item in started:
                item.connection.close()  # the worker finishes its batch, writes, and ends
            deadline = time.monotonic() + _PATIENCE
            try:
                for item in started:
                    item.process.join(max(0.0, deadline - time.monotonic()))
            finally:
                for item in started:
                    if item.process.is_alive():
                        item.process.kill()
                        item.process.join()


def _cause_of_death(dead: _Worker) -> str:
    dead.process.join(5)
    code = dead.process.exitcode
    cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    hint = "" if dead.unit else "; a script must call it under `if __name__ == '__main__':`"
    return f"the process for {dead.device} died ({cause}){hint}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
