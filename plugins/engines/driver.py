"""The loop of engines with several workers: units out, reports in, deaths counted.

How workers are started, fed, heard and ended is the engine's (`Crew`). Each has up to three units:
it encodes one, and has split the next ones into tokens when that is done. The unit of a worker that
died is tried once more by new workers, text by text and last. Vectors that a dead
worker had not written are encoded again: after each round the store is asked what is missing.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeAlias, TypeVar

from harness import parallel, signals
from harness.embedder import Embedder
from harness.encode import admission
from harness.encode.batches import (
    Loop,
    OnReport,
    Piece,
    batch_size,
    estimated_lengths,
    prepared,
    split,
    takes_tokens,
    token_budget,
    token_lengths,
)
from harness.encode.engine import OnDone, Report
from harness.encode.stored_embedder import store_of, visible_gpus
from harness.errors import PLUGIN_ERRORS, DiskError, HarnessError, ModelError, UsageError, one_line
from harness.folders import Place
from harness.store.store import Store, Writer

# What the driver and its workers say to each other: units out; reports and troubles in.


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
    """The embedder cannot be made, or the store not be opened, for this reason."""

    reason: str


@dataclass(frozen=True)
class Raised:
    """The embedder cannot encode at all, or the store not be written: an error for the user."""

    kind: type[HarnessError]
    reason: str


@dataclass(frozen=True)
class Notes:
    """All vectors are written; the embedder's notes, which are printed when the run ends."""

    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Died:
    """The worker ended without a word, for this reason; the driver is told by its engine."""

    reason: str


Message: TypeAlias = Ready | Unusable | Report | Raised | Notes | Died


# What an engine with several workers gives to the loop of `.driver`: its crew and the members.


@dataclass(eq=False)
class Worker(ABC):
    """A process or an actor, as the loop sees it.

    Parameters
    ----------
    slot
        Its place in the crew.
    label
        Its device or node, for messages.
    units
        Units that it has; it encodes the first.
    is_ready
        Whether it has made the embedder.
    is_proven
        Whether it has encoded a unit.
    is_ending
        Whether it was told that there is no more.
    """

    slot: int
    label: str
    units: deque[Unit] = field(default_factory=deque)
    is_ready: bool = False
    is_proven: bool = False
    is_ending: bool = False

    @abstractmethod
    def send(self, unit: Unit | None) -> None:
        """Give it a unit; None lets it write its vectors and end. A dead one is given nothing.

        Returns at once, even if the worker is busy.
        """


W = TypeVar("W", bound=Worker)


class Crew(ABC, Generic[W]):
    """The workers of an engine.

    Attributes
    ----------
    size
        How many there are at most.
    starts_at_once
        Whether a worker starts as soon as it is asked for; else it may wait for a free place.
    """

    size: int
    starts_at_once: bool = True

    @abstractmethod
    def open(self, n: int) -> AbstractContextManager[object]:
        """Prepare for `n` workers; on leaving, let all write what they have, and end them."""

    @abstractmethod
    def start(self, slot: int) -> W:
        """Start a worker in one of the places from 0; its first message is `Ready`."""

    @abstractmethod
    def receive(self, workers: Sequence[W]) -> Iterable[tuple[W, Message]]:
        """Wait for messages, and return at most one of each worker."""


_IN_FLIGHT = 3  # units of a worker: the one that it encodes, and two ahead
_ROUNDS = (
    4  # each with new workers: enough if a few texts kill, and an end if the model always dies
)


class CrewEngine(ABC):
    """An engine that encodes with several workers.

    Attributes
    ----------
    devices
        The devices that its workers use.
    """

    devices: Sequence[str]

    @abstractmethod
    def crew(
        self, embedder: Embedder, store: Store, name: str | None
    ) -> AbstractContextManager[Crew[Any]]:
        """Return the workers, which have not started yet.

        Raises
        ------
        Unavailable
            If what they run on is not available.
        UsageError
            If they cannot have the embedder.
        """

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
        Unavailable, UsageError
            If there are no workers for this embedder; see `crew`.
        ModelError
            If no worker can make the embedder, or it violates the contract of an embedder.
        DiskError
            If the store cannot be written.
        """
        with self.crew(embedder, store, name) as crew:
            batch_tokens = min(token_budget(embedder, device) for device in self.devices)
            progress = _Progress(len(texts), on_done)
            run = _Run(crew, name or embedder.info.name, store, progress)
            return _encoded(run, embedder, texts, store, batch_tokens)


def _encoded(
    run: _Run[Any], embedder: Embedder, texts: Sequence[str], store: Store, batch_tokens: int
) -> Report:
    began = time.perf_counter()
    suspects: set[str] = set()  # texts whose worker died
    missing = list(texts)
    for _ in range(_ROUNDS):
        run.round(_units(embedder, missing, suspects, batch_tokens))
        run.failed |= {text: reason for text, reason in run.died.items() if text in suspects}
        suspects |= run.died.keys()
        store.refresh()
        missing = [text for text in store.missing(texts) if text not in run.failed]
        if not missing:
            break
    unknown = "its processes died" if suspects else "its vector is not in the store"
    failed = run.failed | {text: run.died.get(text, unknown) for text in missing}
    run.progress.finish()
    return Report(
        n_texts=len(texts) - len(failed),
        n_batches=run.n_batches,
        n_halvings=run.n_halvings,
        seconds=time.perf_counter() - began,
        failed=failed,
    )


def _units(
    embedder: Embedder, texts: Sequence[str], suspects: Set[str], batch_tokens: int
) -> list[Unit]:
    """Return batches of new texts, longest first, and then each suspect alone."""
    new = [text for text in texts if text not in suspects]
    # A worker splits texts into tokens itself, and once is enough.
    count = estimated_lengths if takes_tokens(embedder) else token_lengths
    batches = split(count(embedder, new), batch_tokens)
    units = [Unit([new[i] for i in batch]) for batch in batches]
    return units + [Unit([text], suspect=True) for text in texts if text in suspects]


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
class _Run(Generic[W]):
    """The encoding of one model into one store, and its counts over all rounds."""

    crew: Crew[W]
    name: str
    store: Store
    progress: _Progress
    n_batches: int = 0
    n_halvings: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # why, by text
    waiting: deque[Unit] = field(default_factory=deque)  # units that no worker has
    died: dict[str, str] = field(default_factory=dict)  # by text, how its worker died in a round
    problem: str = ""  # why a worker could not be used

    def round(self, units: Sequence[Unit]) -> None:
        """Encode units with new workers."""
        self.waiting, self.died = deque(units), {}
        n = min(self.crew.size, len(units))
        with self.crew.open(n):
            workers = [self.crew.start(slot) for slot in range(n)]
            while workers and self._is_open(workers):
                for sender, message in self.crew.receive(workers):
                    if not self._handle(message, sender):
                        workers.remove(sender)
                        if sender.is_proven and self.waiting:  # so each new one brings progress
                            workers.append(self.crew.start(sender.slot))
        if self.waiting and not (self.n_batches or self.failed or self.died):
            raise ModelError(f"model '{self.name}' cannot be used: {self.problem}")

    def _is_open(self, workers: Sequence[W]) -> bool:
        """Return whether there is work, or a worker that must be heard."""
        if self.waiting or self.crew.starts_at_once:
            return True
        return any(worker.is_ready for worker in workers)

    def _handle(self, message: Message, sender: W) -> bool:
        """Handle a worker's message; return whether more messages of it are expected."""
        match message:
            case Ready():
                sender.is_ready = True
            case Unusable(reason):
                self.problem = reason.removeprefix(f"model '{self.name}' ")
                self.store.notices.append(
                    f"model '{self.name}' is not used on {sender.label}: {self.problem}"
                )
                return False
            case Notes(lines):
                self.store.notices += [f"{sender.label}: {line}" for line in lines]
                return False
            case Raised(kind, reason):
                raise kind(reason)
            case Died(reason):
                self._count_death(sender, reason)
                return False
            case Report():
                sender.units.popleft()
                sender.is_proven = True
                self.n_batches += message.n_batches
                self.n_halvings += message.n_halvings
                self.progress.add(message.n_texts)
                self.failed |= message.failed
        self._feed(sender)
        return True

    def _feed(self, worker: W) -> None:
        while len(worker.units) < _IN_FLIGHT and self.waiting:
            unit = self.waiting[0]  # a suspect goes alone: else which unit killed?
            if worker.units and unit.suspect:
                break
            worker.units.append(self.waiting.popleft())
            worker.send(worker.units[-1])
        if not worker.units and not worker.is_ending:
            worker.is_ending = True
            worker.send(None)

    def _count_death(self, dead: W, reason: str) -> None:
        if dead.units:
            self.died |= dict.fromkeys(dead.units.popleft().texts, reason)
            # It has not begun with these, or with one of them: that one then kills the next worker,
            # and the text that was taken for the killer is encoded in the next round.
            self.waiting.extendleft(reversed(dead.units))
        self.problem = self.problem or reason


# What a worker does: makes the embedder, encodes units, and writes the segments itself.
#
# A worker is a process of `.devices` or a Ray actor of `.ray_actors`. Both call an `Encoder`, whose
# answers are the messages that `.driver` reads.


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
    marker
        File that the worker must find: it proves that the worker sees the folder of the stores.
    """

    name: str | None
    fingerprint: str
    place: Place
    device: str
    threads: int
    marker: Path | None = None


class Encoder:
    """Encodes the units of a job: `make`, then `encode` for each unit, then `finish`.

    Instead of `encode`, `begin` may be called for each unit, and `collect` behind the last one. A
    device then begins with a unit before the vectors of the last one are read.

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
        self._loop: Loop | None = None
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
            admission.follow(self._embedder, self._job.fingerprint)
            own = self._embedder.info.fingerprint
            if own != self._job.fingerprint:
                raise ModelError(
                    "another process made a different model of this name "
                    f"(fingerprint {own}, expected {self._job.fingerprint})"
                )
            self._store = store_of(self._embedder, self._job.place)
            self._writer = self._left.enter_context(self._store.writer())
            size = batch_size(self._embedder, self._job.device)
            self._loop = Loop(self._embedder, self._writer, size, on_done=lambda n: None)
            self._left.callback(self._loop.close)  # before the writer is closed
        except PLUGIN_ERRORS as error:  # a model may raise anything, and a store be out of reach
            return Unusable(str(error) or type(error).__name__)
        atexit.register(self._left.close)  # a Ray actor that is ended by SIGTERM writes, too
        return Ready()

    def encode(self, unit: Unit) -> Report | Raised:
        """Encode a unit; its vectors are written some time later."""
        reports: list[Report] = []
        problem = self.begin(unit, None, reports.append) or self.collect()
        return problem or reports[0]

    def prepared(self, unit: Unit) -> Piece | None:
        """Return the texts of a unit, split into tokens; None if that fails. For a thread.

        None, too, for an embedder that does not take tokens: its methods may share a tokenizer,
        which fails if two threads use it.
        """
        assert self._embedder is not None  # noqa: S101  # `make` has set it
        if not takes_tokens(self._embedder):
            return None
        try:
            return prepared(self._embedder, unit.texts)
        except HarnessError:  # `begin` meets it again
            return None

    def begin(self, unit: Unit, piece: Piece | None, on_report: OnReport) -> Raised | None:
        """Begin to encode a unit; return why the embedder or the store cannot be used, or None.

        Parameters
        ----------
        unit
            The unit.
        piece
            What `prepared` returned for it.
        on_report
            Called with its report: in this call, or in a later one.
        """
        assert self._embedder is not None  # noqa: S101  # `make` has set all four
        assert self._store is not None  # noqa: S101  # as above
        assert self._writer is not None  # noqa: S101  # as above
        assert self._loop is not None  # noqa: S101  # as above
        if "torch" in sys.modules:
            torch = sys.modules["torch"]
            torch.set_num_threads(min(self._job.threads, torch.get_num_threads()))
        try:
            if not self._is_checked:
                admission.admit(self._embedder, self._store, unit.texts)
                self._is_checked = True
            if unit.suspect:
                self._loop.collect()
                self._writer.flush()
            self._loop.encode(piece or prepared(self._embedder, unit.texts), on_report)
        except HarnessError as error:
            return _raised(error)
        return None

    def collect(self) -> Raised | None:
        """Read the vectors of all units that began; the result is that of `begin`."""
        assert self._loop is not None  # noqa: S101  # `make` has set it
        try:
            self._loop.collect()
        except HarnessError as error:
            return _raised(error)
        return None

    def finish(self) -> Notes | Raised:
        """Write the remaining vectors."""
        try:
            self._left.close()
        except DiskError as error:
            return _raised(error)
        except PLUGIN_ERRORS as error:  # from the embedder's `close`; the vectors are written
            return Notes((one_line(error),))
        return Notes(tuple(getattr(self._embedder, "notes", ())))


def _raised(error: HarnessError) -> Raised:
    return Raised(DiskError if isinstance(error, DiskError) else ModelError, str(error))


def _embedder(job: Job) -> Embedder:
    # For libraries that are not imported yet; the user's script may have imported torch already.
    for variable in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ.setdefault(variable, str(job.threads))
    from harness.registry.registry import Registry

    assert job.name is not None  # noqa: S101  # else the job comes with an object
    return Registry().embedder(job.name, device=job.device)


# The engine `devices` runs one process a device, each with its own copy of the model.
#
# The loop is in `.driver`, the work of a process in `.worker`. Here is how processes are started,
# heard and ended: each has a pipe.


_GRACE = 5  # seconds in which a process that closed its pipe ends


class DevicesEngine(CrewEngine):
    """Encodes on several devices at once.

    Parameters
    ----------
    devices
        One worker for each device: `["cuda:0", "cuda:1"]`, or `["cpu", "cpu"]` for two processes
        that share the cores. By default all GPUs.

    Raises
    ------
    UsageError
        If there is no device.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        devices = devices or visible_gpus()
        if not devices:
            raise UsageError(
                "engine 'devices' needs a list of devices, such as cuda:0,cuda:1 or cpu,cpu"
            )
        self.devices = tuple(devices)

    def crew(
        self, embedder: Embedder, store: Store, name: str | None
    ) -> AbstractContextManager[Crew[Any]]:
        """Return a process a device; UsageError for an object, of which they can make no copy."""
        if name is None:
            raise UsageError(
                "engine 'devices' needs a model given by its name, not as an object: "
                "each process makes its own copy"
            )
        job = Job(name, store.fingerprint, store.folder.parent, device="", threads=1)
        return contextlib.nullcontext(_Processes(self.devices, job))


@dataclass(eq=False, kw_only=True)
class _Process(Worker):
    """A process of this machine and the pipe to it."""

    process: BaseProcess
    pipe: Connection
    sender: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def send(self, unit: Unit | None) -> None:
        # In a thread: a pipe holds few bytes, and a worker that hangs does not read it. A dead
        # process is noticed when it is heard, so errors are not looked at.
        self.sender.submit(self.pipe.send, unit)

    def close(self) -> None:
        self.sender.shutdown(wait=False, cancel_futures=True)
        self.pipe.close()  # the worker finishes its batch, writes, and ends

    def cause_of_death(self) -> str:
        self.process.join(_GRACE)
        code = self.process.exitcode
        cause = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        hint = "" if self.is_ready else "; a script must call it under `if __name__ == '__main__':`"
        return f"the process for {self.label} died ({cause}){hint}"


class _Processes(Crew[_Process]):
    """One process a device."""

    def __init__(self, devices: Sequence[str], job: Job) -> None:
        self.devices, self.size = devices, len(devices)
        self._job = job
        self._context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        self._started: list[_Process] = []

    @contextlib.contextmanager
    def open(self, n: int) -> Iterator[None]:
        self._job = replace(self._job, threads=max(1, parallel.cores() // n))
        self._started = []
        try:
            yield
        finally:
            for worker in self._started:
                worker.close()
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

    def receive(self, workers: Sequence[_Process]) -> Iterable[tuple[_Process, Message]]:
        ready = wait([worker.pipe for worker in workers])
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
            problem = _encode_units(pipe, encoder)
        finally:
            answer = encoder.finish()
        pipe.send(problem or answer)
    except (EOFError, OSError):
        pass  # the parent process closed the pipe or died
    finally:
        pipe.close()


def _encode_units(pipe: Connection, encoder: Encoder) -> Raised | None:
    """Encode the units that arrive, and answer; a thread reads them and splits their texts."""
    arrived: SimpleQueue[tuple[Unit, Piece | None] | BaseException | None] = SimpleQueue()

    def read() -> None:
        try:
            while isinstance(unit := pipe.recv(), Unit):
                arrived.put((unit, encoder.prepared(unit)))
            arrived.put(None)
        except BaseException as error:  # the other thread raises it
            arrived.put(error)

    Thread(target=read, name="units", daemon=True).start()
    while True:
        if arrived.empty() and (problem := encoder.collect()):
            return problem
        match arrived.get():
            case None:
                return encoder.collect()
            case BaseException() as error:
                encoder.collect()
                raise error
            case unit, piece:
                if problem := encoder.begin(unit, piece, pipe.send):
                    return problem
