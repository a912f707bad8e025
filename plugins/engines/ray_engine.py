"""The engine `ray` encodes in actors of Ray, on all cores, several GPUs or a cluster.

The loop is in `.driver`, the actors in `.ray_actors`, what they do in `.worker`. Scoring and
studies run on the same cluster (`.ray_calls`).
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import re
import signal
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ByteSize

from harness import folders, signals
from harness.embedder import Embedder
from harness.encode.engine import Report
from harness.errors import Unavailable, UsageError, one_line
from harness.parallel import NoResult
from harness.store.store import Store

from . import driver
from .driver import (
    Died,
    Encoder,
    Job,
    Message,
    Notes,
    Raised,
    Unit,
    Unusable,
)

# The actors of the engine `ray`: how they are started, given units, heard and ended.
#
# Ray restarts no actor and repeats no call: `.driver` replaces what died, and asks the store what
# is missing. The answers of an actor come in the order of its calls, so the oldest is waited for.


_START = 600  # seconds that a cluster has for a place, in which it may start a node


class _Encoder(Encoder):
    """The encoder in its actor. It writes what it has if SIGTERM ends the actor."""

    def __init__(self, job: Job, embedder: Embedder | None) -> None:
        super().__init__(job, embedder)
        signal.signal(signal.SIGTERM, _terminate)  # Ray's raises SystemExit, as a model may

    def where(self) -> str:
        """Return the node and the process of the actor."""
        import ray

        util: Any = ray.util
        return f"{util.get_node_ip_address()} (process {os.getpid()})"

    def encode(self, unit: Unit) -> Report | Raised:
        try:
            return super().encode(unit)
        except signals.Terminated as error:
            self.finish()
            sys.exit(error.exit_code)


def _terminate(number: int, _: object) -> None:
    raise signals.Terminated(number)


@dataclass(eq=False, kw_only=True)
class Actor(driver.Worker):
    """An actor and the answers that it owes, in their order."""

    ray: Any
    actor: Any
    answers: deque[Any] = field(default_factory=deque)
    asked_at: float = 0.0

    @property
    def is_placed(self) -> bool:
        """Whether a node runs it."""
        return bool(self.label)

    def send(self, unit: Unit | None) -> None:
        """Call it with a unit; None lets it write its vectors."""
        actor = self.actor
        self.answers.append(actor.finish.remote() if unit is None else actor.encode.remote(unit))

    def kill(self) -> None:
        """End it."""
        self.ray.kill(self.actor)


class Actors(driver.Crew[Actor]):
    """Actors of Ray.

    Parameters
    ----------
    ray
        The package, connected.
    n
        Number of actors.
    options
        What Ray reserves for each.
    job
        What they do.
    model
        The model, put into Ray's store of objects; None if the job has its name.
    """

    starts_at_once = False

    def __init__(self, ray: Any, n: int, options: dict[str, Any], job: Job, model: Any) -> None:
        self.size = n
        self._ray, self._job, self._model = ray, job, model
        self._class = ray.remote(_Encoder).options(
            **options, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        self._started: list[Actor] = []

    @contextlib.contextmanager
    def open(self, n: int) -> Iterator[None]:
        """Prepare; on leaving, all actors write what they have, and end."""
        self._started = []
        try:
            yield
        finally:
            try:
                last = [
                    worker.actor.finish.remote()
                    for worker in self._started
                    if worker.answers and worker.is_placed
                ]
                if last:
                    self._ray.wait(last, num_returns=len(last), timeout=signals.PATIENCE)
            finally:
                for worker in self._started:
                    worker.kill()

    def start(self, slot: int) -> Actor:
        """Start an actor; Ray may wait for a free place."""
        actor = self._class.remote(self._job, self._model)
        answers = deque([actor.where.remote(), actor.make.remote()])
        worker = Actor(
            slot=slot,
            label="",
            ray=self._ray,
            actor=actor,
            answers=answers,
            asked_at=time.monotonic(),
        )
        self._started.append(worker)
        return worker

    def receive(self, workers: Sequence[Actor]) -> Iterable[tuple[Actor, Message]]:
        """Wait for messages, and return at most one of each actor."""
        first = {worker.answers[0]: worker for worker in workers}
        unplaced = [worker for worker in workers if not worker.is_placed]
        limits = [worker.asked_at + _START - time.monotonic() for worker in unplaced]
        self._ray.wait(list(first), timeout=max(0.0, min(limits)) if limits else None)
        ready, _ = self._ray.wait(list(first), num_returns=len(first), timeout=0)
        for worker in [first[answer] for answer in ready]:
            message = self._answer(worker)
            if message is not None:
                yield worker, message
        for worker in unplaced:
            if not worker.is_placed and time.monotonic() > worker.asked_at + _START:
                worker.label = "no node"
                yield worker, Unusable(f"the cluster had no place for it in {_START} seconds")

    def _answer(self, worker: Actor) -> Message | None:
        """Return the answer of an actor, None if it only says where it is."""
        try:
            answer = self._ray.get(worker.answers.popleft())
        except self._ray.exceptions.RayActorError as error:
            worker.answers.clear()
            return Died(f"the actor on {worker.label or 'a node'} died{_cause(error)}")
        except self._ray.exceptions.RayError as error:
            worker.answers.clear()
            worker.kill()  # it lives, and would keep the place of its successor
            cause = getattr(error, "cause", error)
            return Died(f"the actor on {worker.label} failed: {one_line(cause)[:200]}")
        if isinstance(answer, str):
            worker.label = answer
            return None
        if isinstance(answer, Notes | Unusable):
            worker.answers.clear()
        message: Message = answer
        return message


def _cause(error: Exception) -> str:
    """Return the cause of an actor's death in brackets, from Ray's message of many lines."""
    if "creation task" in str(error):  # such as a node without the harness
        return f" ({str(error).strip().splitlines()[-1].strip()[:200]})"
    cause = re.search(r"exit type: (\w+)|(its node has died)", str(error))
    return f" ({cause[1] or cause[2]})" if cause else ""


# Calls on a Ray cluster: scoring and studies, as `harness.parallel` runs them on one machine.
#
# joblib's Ray backend returns all results at once, when the last is ready (`return_as` is not
# supported), and one dead process ends all calls. Ray's own tasks give each result when it is
# ready, and a dead process loses its call alone.


Argument = TypeVar("Argument")
Result = TypeVar("Result")


def results_on_ray(
    ray: Any, function: Callable[[Argument], Result], arguments: Iterable[Argument]
) -> Generator[tuple[int, Result | NoResult], None, None]:
    """Yield the position and the result of each call, as they are ready.

    Parameters
    ----------
    ray
        The package, connected.
    function
        The function; an error that it raises ends all calls.
    arguments
        The argument of each call, taken when it is sent.
    """
    remote = ray.remote(_call).options(num_cpus=1, max_retries=0)
    sent = ray.put(function)
    calls = enumerate(arguments)
    at_once = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))  # no process waits for work
    running: dict[Any, int] = {}
    try:
        while True:
            while len(running) < at_once and (waiting := next(calls, None)) is not None:
                position, argument = waiting
                try:
                    running[remote.remote(sent, argument)] = position
                except (TypeError, AttributeError, ValueError):  # it cannot be pickled
                    yield position, NoResult("it cannot be sent to another process", killed=False)
            if not running:
                return
            for answer in ray.wait(list(running), num_returns=1)[0]:
                position = running.pop(answer)
                try:
                    yield position, ray.get(answer)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except ray.exceptions.RayError as error:
                    reason = f"its process died on the cluster ({type(error).__name__})"
                    yield position, NoResult(f"{reason}; is there too little memory?", killed=True)
    finally:
        for answer in running:
            ray.cancel(answer, force=True)


def _call(function: Callable[[Argument], Result], argument: Argument) -> Result:
    return function(argument)


# Ray: connecting to a cluster, or starting it on this machine, and leaving what was started.
#
# With RAY_ADDRESS, or after a `ray.init` of the user, that cluster is used. Else Ray runs on this
# machine, without its dashboard and without statistics of use.


class Cluster:
    """A connection to Ray, which is opened when it is first used, and closed once."""

    def __init__(self) -> None:
        self._left = contextlib.ExitStack()

    def ray(self) -> Any:
        """Return the package `ray`, connected.

        Raises
        ------
        Unavailable
            If the package is not installed, or the cluster cannot be reached.
        """
        try:
            import ray
        except ImportError:
            raise Unavailable(
                "engine 'ray' needs the package 'ray': pip install 'embedding-bias-harness[ray]'"
            ) from None
        if not ray.is_initialized():
            self._left.enter_context(_started(ray))
        return ray

    def close(self) -> None:
        """Leave the cluster, if it was joined or started here; a user's own stays."""
        self._left.close()


def places(ray: Any, wanted: Mapping[str, float]) -> int:
    """Return how many actors that each want some resources the nodes have room for."""
    return sum(
        min(
            (math.floor(node["Resources"].get(key, 0) / n) for key, n in wanted.items() if n),
            default=0,
        )
        for node in ray.nodes()
        if node["Alive"]
    )


@contextlib.contextmanager
def _started(ray: Any) -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    local = {} if address else {"include_dashboard": False}
    with _handlers_kept():
        try:
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **local,
            )
        except Exception as error:  # of many kinds
            at = f"reached at RAY_ADDRESS={address}" if address else "started"
            raise Unavailable(f"Ray cannot be {at} ({one_line(error)[:200]})") from None
    try:
        # Ray prints that an actor died, to where our own output goes.
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Undo that `ray.init` installs its own handler of SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)


class RayEngine(driver.CrewEngine):
    """Encodes in Ray actors, which write to a store that all nodes share.

    Parameters
    ----------
    devices
        None: Ray chooses the devices.
    actors
        Number of actors; by default as many as the cluster has room for.
    cpus
        CPUs of each actor.
    gpus
        GPUs of each actor, such as 0.5 for two actors on one; by default 1 if the cluster has any.
    memory
        Memory that Ray reserves for each actor, such as `4GB`.

    Raises
    ------
    UsageError
        If there are devices, or a number is too small.
    """

    def __init__(
        self,
        devices: Sequence[str] = (),
        *,
        actors: int | None = None,
        cpus: float = 1,
        gpus: float | None = None,
        memory: ByteSize | None = None,
    ) -> None:
        if devices:
            raise UsageError(
                "engine 'ray' takes no devices: Ray chooses them; "
                "ray?gpus=1 asks for a GPU for each actor"
            )
        if actors is not None and actors < 1:
            raise UsageError(f"engine 'ray': option actors={actors}: expected at least 1")
        amounts = (cpus, gpus or 0, memory or 0)
        if not all(0 <= amount < math.inf for amount in amounts) or not (cpus or gpus):
            raise UsageError("engine 'ray': an actor needs CPUs or GPUs: ray?cpus=1&gpus=0.5")
        self.devices: Sequence[str] = ()
        self.actors, self.cpus, self.gpus = actors, cpus, gpus
        self.memory = int(memory or 0)
        self._cluster = Cluster()

    @contextlib.contextmanager
    def crew(
        self, embedder: Embedder, store: Store, name: str | None
    ) -> Iterator[driver.Crew[Any]]:
        """Yield the actors.

        Raises
        ------
        Unavailable
            If Ray is not installed or cannot be reached, or no node has room for an actor.
        UsageError
            If the embedder is an object that cannot be sent to another process.
        """
        ray = self._cluster.ray()
        gpus = self.gpus
        if gpus is None:
            gpus = 1 if ray.cluster_resources().get("GPU") else 0
        device = "cuda" if gpus else "cpu"
        self.devices = (device,)
        n = self.actors or self._room(ray, gpus)
        options = {"num_cpus": self.cpus, "num_gpus": gpus, "memory": self.memory or None}
        with _marker(store) as marker:
            job = Job(
                name=name,
                fingerprint=store.fingerprint,
                place=folders.absolute(store.folder.parent),
                device=device,
                threads=max(1, int(self.cpus)),
                marker=marker,
            )
            yield Actors(ray, n, options, job, None if name else _sent(ray, embedder))

    def results(
        self, function: Callable[[Any], Any], arguments: Iterable[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the results of calls on the cluster; see `harness.parallel.Cluster`."""
        yield from results_on_ray(self._cluster.ray(), function, arguments)

    def close(self) -> None:
        """Leave the cluster, if it was joined or started by this engine."""
        self._cluster.close()

    def _room(self, ray: Any, gpus: float) -> int:
        wanted = {"CPU": self.cpus, "GPU": gpus, "memory": float(self.memory)}
        room = places(ray, wanted)
        if not room:
            asked = ", ".join(f"{key} {n:g}" for key, n in wanted.items() if n)
            raise Unavailable(
                f"no node of the Ray cluster has room for an actor ({asked}); ask for less, or, if "
                "the cluster grows by itself, say how many: ray?actors=4"
            )
        return room


@contextlib.contextmanager
def _marker(store: Store) -> Iterator[Path | None]:
    """Yield a file in the folder of the stores, by which a node knows that it sees the folder."""
    folder = folders.absolute(store.folder.parent)
    if not isinstance(folder, Path):  # all nodes see a bucket
        yield None
        return
    marker = folder / f".{uuid.uuid4().hex}.ray"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:  # it cannot be written: the actors will say so
        yield None
        return
    try:
        yield marker
    finally:
        marker.unlink(missing_ok=True)


def _sent(ray: Any, embedder: Embedder) -> Any:
    try:
        return ray.put(embedder)
    except Exception as error:  # a model may raise anything when it is pickled
        raise UsageError(
            f"model '{embedder.info.name}' cannot be sent to another process "
            f"({one_line(error)[:200]}); give it by its name"
        ) from None
