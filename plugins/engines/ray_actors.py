"""The actors of the engine `ray`: how they are started, given units, heard and ended.

Ray restarts no actor and repeats no call: `.driver` replaces what died, and asks the store what is
missing. The answers of an actor come in the order of its calls, so the oldest is waited for.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import signals
from harness.embedder import Embedder
from harness.encode.engine import Report
from harness.errors import one_line
from harness.plugins.engines import crew
from harness.plugins.engines.messages import (
    Died,
    Message,
    Notes,
    Raised,
    Unit,
    Unusable,
    Unwritable,
)
from harness.plugins.engines.worker import Encoder, Job

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

    def encode(self, unit: Unit) -> Report | Raised | Unwritable:
        try:
            return super().encode(unit)
        except signals.Terminated as error:
            self.finish()
            sys.exit(error.exit_code)


def _terminate(number: int, _: object) -> None:
    raise signals.Terminated(number)


@dataclass(eq=False, kw_only=True)
class Actor(crew.Worker):
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


class Actors(crew.Crew[Actor]):
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

    def receive(
        self, workers: Sequence[Actor], seconds: float | None
    ) -> Iterable[tuple[Actor, Message]]:
        """Return messages, at most one of each actor."""
        first = {worker.answers[0]: worker for worker in workers}
        unplaced = [worker for worker in workers if not worker.is_placed]
        limits = [worker.asked_at + _START - time.monotonic() for worker in unplaced]
        limits += [] if seconds is None else [seconds]
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
