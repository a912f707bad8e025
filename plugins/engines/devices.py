"""The engine `devices` runs one process a device, each with its own copy of the model.

The loop is in `.driver`, the work of a process in `.worker`. Here is how processes are started,
heard and ended: each has a pipe.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from harness import parallel, signals
from harness.embedder import Embedder
from harness.encode.batch_size import token_budget
from harness.encode.engine import OnDone, Report
from harness.errors import UsageError
from harness.plugins.engines import crew, driver
from harness.plugins.engines.local import default_device
from harness.plugins.engines.messages import Died, Message, Unit, Unusable
from harness.plugins.engines.worker import Encoder, Job
from harness.store.store import Store

_PIPE_BYTES = 8_000  # of texts that a pipe holds until they are read, on every system
_GRACE = 5  # seconds that a hanging process has for what it encoded before


class DevicesEngine:
    """Encodes on several devices at once.

    Parameters
    ----------
    devices
        One worker for each device: `["cuda:0", "cuda:1"]`, or `["cpu", "cpu"]` for two processes
        that share the cores. With a `timeout`, by default the device that a model chooses.
    timeout
        Seconds for a batch; a worker that takes longer is ended. None waits.

    Raises
    ------
    UsageError
        If there is no device.
    """

    def __init__(self, devices: Sequence[str], *, timeout: float | None = None) -> None:
        if not devices and timeout is not None:
            devices = [default_device()]
        if not devices:
            raise UsageError(
                "engine 'devices' needs a list of devices, such as cuda:0,cuda:1 or cpu,cpu"
            )
        self.devices, self.timeout = tuple(devices), timeout

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
        job = Job(name, store.fingerprint, store.folder.parent, device="", threads=1)
        return driver.encode(
            _Processes(self.devices, job),
            embedder,
            texts,
            store,
            on_done=on_done,
            name=name,
            batch_tokens=min(token_budget(embedder, device) for device in self.devices),
            timeout=self.timeout,
        )


@dataclass(eq=False, kw_only=True)
class _Process(crew.Worker):
    """A process of this machine and the pipe to it."""

    process: BaseProcess
    pipe: Connection

    def send(self, unit: Unit | None) -> None:
        with contextlib.suppress(OSError):  # a dead process is noticed when it is heard
            self.pipe.send(unit)

    def has_room(self, unit: Unit) -> bool:
        # Else this process would wait for a worker that hangs, or that waits for it to be heard.
        return sum(len(text.encode("utf-8", "replace")) for text in unit.texts) < _PIPE_BYTES

    def kill(self) -> None:
        self.process.terminate()  # if it can still be interrupted, it writes what it has
        self.process.join(_GRACE)
        self.process.kill()

    def cause_of_death(self) -> str:
        self.process.join(_GRACE)
        code = self.process.exitcode
        cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        hint = "" if self.is_ready else "; a script must call it under `if __name__ == '__main__':`"
        return f"the process for {self.label} died ({cause}){hint}"


class _Processes(crew.Crew[_Process]):
    """One process a device."""

    def __init__(self, devices: Sequence[str], job: Job) -> None:
        self.devices, self.size = devices, len(devices)
        self._job = job
        self._context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        self._started: list[_Process] = []

    @contextlib.contextmanager
    def open(self, n: int) -> Iterator[None]:
        self._job = replace(self._job, threads=max(1, parallel.cores() // n), processes=n)
        self._started = []
        try:
            yield
        finally:
            for worker in self._started:
                worker.pipe.close()  # the worker finishes its batch, writes, and ends
            deadline = time.monotonic() + signals.PATIENCE
            try:
                for worker in self._started:
                    worker.process.join(max(0.0, deadline - time.monotonic()))
            finally:
                for worker in self._started:
                    if worker.process.is_alive():
                        worker.process.kill()
                        worker.process.join()

    def start(self, slot: int) -> _Process:
        own_end, worker_end = self._context.Pipe()
        job = replace(self._job, device=self.devices[slot])
        process = self._context.Process(target=work, args=(worker_end, job), daemon=True)
        process.start()
        worker_end.close()
        worker = _Process(slot=slot, label=job.device, process=process, pipe=own_end)
        self._started.append(worker)
        return worker

    def receive(
        self, workers: Sequence[_Process], seconds: float | None
    ) -> Iterable[tuple[_Process, Message]]:
        ready = wait([worker.pipe for worker in workers], seconds)
        for worker in [worker for worker in workers if worker.pipe in ready]:
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                message = Died(worker.cause_of_death())
            yield worker, message


def work(pipe: Connection, job: Job) -> None:
    """Encode the units that arrive on `pipe` until it brings None or is closed.

    SIGTERM and SIGHUP, and the end of the parent process, end it after it wrote what it has.
    """
    # Ctrl-C reaches the whole process group; the parent process decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals.raised():
            parent = multiprocessing.parent_process()
            if parent is not None and parent.pid is not None:
                signals.end_with_parent(parent.pid)
            _work(pipe, Encoder(job))
    except signals.Terminated as error:
        sys.exit(error.exit_code)


def _work(pipe: Connection, encoder: Encoder) -> None:
    try:
        answer: Message = encoder.make()
        pipe.send(answer)
        if isinstance(answer, Unusable):
            return
        try:
            while isinstance(unit := pipe.recv(), Unit):
                answer = encoder.encode(unit)
                pipe.send(answer)
                if not isinstance(answer, Report):
                    break
        finally:
            answer = encoder.finish()
        pipe.send(answer)
    except (EOFError, OSError):
        pass  # the parent process closed the pipe or died
    finally:
        pipe.close()
