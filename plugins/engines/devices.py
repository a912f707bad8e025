"""The engine `devices`: one process a device, each with its own copy of the model.

This process hands out batches, longest first, to whoever is free; the workers (`.worker`) write
segments themselves. What failed, and the batch of a worker that died, is tried once more, by new
workers, text by text and last; what a dead worker had not yet written is encoded again.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from harness.embedder import Embedder
from harness.encode.batches import split, token_budget, token_lengths
from harness.encode.engine import OnDone, Report
from harness.errors import DiskError, ModelError, UsageError
from harness.plugins.engines import worker
from harness.store.store import Store

_ROUNDS = 4  # with new workers each: enough for some texts that kill, an end for a model that does
_PATIENCE = 30  # seconds that a worker has for its last batch and segment before it is ended


class DevicesEngine:
    """Encodes on several devices at once.

    Parameters
    ----------
    devices
        One worker each: `["cuda:0", "cuda:1"]`, or `["cpu", "cpu"]` for two processes that share
        the cores.

    Raises
    ------
    UsageError
        If there is none.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        if not devices:
            raise UsageError("the engine 'devices' needs devices, such as cuda:0,cuda:1 or cpu,cpu")
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
            If the embedder has no name by which a worker could make its own.
        ModelError
            If no worker can make it, or it does not do what an embedder must.
        DiskError
            If the store cannot be written.
        """
        if name is None:
            raise UsageError(
                "several devices need a model given by its name: each process makes its own, "
                "which an embedder given as an object does not allow"
            )
        began = time.perf_counter()
        job = _Job(name, store, self.devices, _Progress(len(texts), on_done))
        blamed: Counter[str] = Counter()
        reasons: dict[str, str] = {}
        failed: dict[str, str] = {}
        left = list(texts)
        for _ in range(_ROUNDS):
            tokens = min(token_budget(embedder, device) for device in self.devices)
            fresh = [text for text in left if not blamed[text]]
            lengths = token_lengths(embedder, fresh)
            units = [worker.Unit([fresh[i] for i in batch]) for batch in split(lengths, tokens)]
            units += [worker.Unit([text], suspect=True) for text in left if blamed[text]]
            accused = job.run(units)
            blamed.update(accused.keys())
            reasons |= accused
            store.refresh()
            left = store.missing(texts)
            failed |= {text: reasons[text] for text in left if blamed[text] > 1}
            left = [text for text in left if text not in failed]
            if not left or not (job.n_batches or job.deaths):  # it fails on each text alone
                break
        gave_up = "the processes that were to encode it died"
        failed |= {text: reasons.get(text, gave_up) for text in left}
        job.progress.finish()
        return Report(
            n_texts=len(texts) - len(failed),
            n_batches=job.n_batches,
            n_halvings=job.n_halvings,
            seconds=time.perf_counter() - began,
            failed=failed,
        )


class _Progress:
    """Counts every text once, whatever is encoded twice."""

    def __init__(self, total: int, on_done: OnDone) -> None:
        self._left, self._on_done = total, on_done

    def add(self, n: int) -> None:
        n = min(n, self._left)
        self._left -= n
        if n:
            self._on_done(n)

    def finish(self) -> None:
        self.add(self._left)


@dataclass
class _Worker:
    """A process, and the unit that it is at."""

    process: BaseProcess
    connection: Connection
    device: str
    unit: worker.Unit | None = None


@dataclass
class _Job:
    """What is encoded, by which workers, and what came of it so far."""

    name: str
    store: Store
    devices: Sequence[str]
    progress: _Progress
    n_batches: int = 0
    n_halvings: int = 0
    deaths: int = 0

    def run(self, units: Sequence[worker.Unit]) -> dict[str, str]:
        """Have the units encoded; return by text why it failed, or what its worker died of."""
        waiting = deque(units)
        accused: dict[str, str] = {}
        problem = ""
        with self._workers(min(len(self.devices), len(units))) as workers:
            busy = {each.connection: each for each in workers}
            while busy:
                for ready in wait(list(busy)):
                    each = busy[ready]  # type: ignore[index]  # wait() returns what it was given
                    try:
                        answer = each.connection.recv()
                    except (EOFError, OSError):
                        del busy[each.connection]
                        reason = _epitaph(each)
                        if each.unit is not None:
                            self.deaths += 1
                            accused |= dict.fromkeys(each.unit.texts, reason)
                        problem = problem or reason
                        continue
                    if isinstance(answer, worker.Unusable):
                        problem = answer.reason.removeprefix(f"model '{self.name}' ")
                        self.store.notices.append(
                            f"model '{self.name}' is not used on {each.device}: {problem}"
                        )
                        continue
                    if isinstance(answer, worker.Notes):
                        self.store.notices += [f"{each.device}: {line}" for line in answer.lines]
                        continue
                    if isinstance(answer, worker.Unwritable):
                        raise DiskError(answer.reason)
                    if isinstance(answer, worker.Raised):
                        raise ModelError(answer.reason)
                    if isinstance(answer, Report):
                        self._count(answer)
                        accused |= answer.failed
                    each.unit = waiting.popleft() if waiting else None
                    with suppress(OSError):  # its death is seen when it is read from
                        each.connection.send(each.unit)
        if waiting and not self.n_batches and not accused:
            raise ModelError(f"model '{self.name}' cannot be used: {problem}")
        return accused

    def _count(self, report: Report) -> None:
        self.n_batches += report.n_batches
        self.n_halvings += report.n_halvings
        self.progress.add(report.n_texts)

    @contextmanager
    def _workers(self, n: int) -> Iterator[list[_Worker]]:
        """Start a worker on each of the first n devices; end them however this is left."""
        context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        threads = max(1, _cores() // n)
        started: list[_Worker] = []
        try:
            for device in self.devices[:n]:
                mine, its = context.Pipe()
                order = worker.Order(
                    self.name, device, threads, self.store.folder.parent, self.store.fingerprint
                )
                process = context.Process(target=worker.work, args=(its, order), daemon=True)
                process.start()
                its.close()
                started.append(_Worker(process, mine, device))
            yield started
        finally:
            for each in started:
                each.connection.close()  # it finishes its batch, writes what it has, and ends
            deadline = time.monotonic() + _PATIENCE
            try:
                for each in started:
                    each.process.join(max(0.0, deadline - time.monotonic()))
            finally:
                for each in started:
                    if each.process.is_alive():
                        each.process.kill()
                        each.process.join()


def _epitaph(dead: _Worker) -> str:
    dead.process.join(5)
    code = dead.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    hint = "" if dead.unit else "; a script must call it under `if __name__ == '__main__':`"
    return f"the process for {dead.device} died ({how}){hint}"


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
