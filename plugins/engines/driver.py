"""The loop of engines with several workers: units out, reports in, deaths counted.

How workers are started, fed, heard and ended is the engine's (`.crew`). Each has two units, so that
it does not wait for the next one; only one if sending the next could wait for it. Texts that
failed, and the unit of a worker that died or took too long, are tried once more by new workers, one
by one and last. Vectors that a dead worker had not written are encoded again: after each round the
store is asked what is missing. A model that fails on many texts in a row, short ones too, is given
up.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from harness.embedder import Embedder
from harness.encode.batches import split, token_lengths
from harness.encode.engine import OnDone, Report
from harness.errors import DiskError, ModelError
from harness.limits import FAILURES_IN_A_ROW
from harness.plugins.engines import messages
from harness.plugins.engines.crew import Crew, W
from harness.plugins.engines.messages import Message, Unit
from harness.store.store import Store

_IN_FLIGHT = 2  # units of a worker
_LONGEST_WAIT = 3600.0  # seconds; the system calls that wait take no longer than some days
_ROUNDS = (
    4  # each with new workers: enough if a few texts kill, and an end if the model always dies
)


def encode(
    crew: Crew[W],
    embedder: Embedder,
    texts: Sequence[str],
    store: Store,
    *,
    on_done: OnDone,
    name: str,
    batch_tokens: int,
    timeout: float | None,
) -> Report:
    """Encode `texts` into the store by a crew; see `harness.encode.engine.Engine`.

    Parameters
    ----------
    crew
        The workers.
    embedder, texts, store, on_done
        As in `Engine.encode`.
    name
        Name of the model for messages.
    batch_tokens
        Token budget of a batch, which is a unit.
    timeout
        Seconds for a unit; a worker that takes longer is ended. None waits.

    Raises
    ------
    ModelError
        If no worker can make the embedder, or it violates the contract of an embedder.
    DiskError
        If the store cannot be written.
    """
    began = time.perf_counter()
    run = _Run(crew, name, store, timeout, _Progress(len(texts), on_done))
    n_failures: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    failed: dict[str, str] = {}
    missing = list(texts)
    for _ in range(_ROUNDS):
        new_reasons = run.round(_units(embedder, missing, n_failures, batch_tokens))
        n_failures.update(new_reasons.keys())
        reasons |= new_reasons
        store.refresh()
        missing = store.missing(texts)
        failed |= {text: reasons[text] for text in missing if n_failures[text] > 1}
        missing = [text for text in missing if text not in failed]
        # Without a batch and without a death, the model fails on each text alone.
        if not missing or run.given_up or not (run.n_batches or run.deaths):
            break
    unknown = "its processes died" if run.deaths else "its vector is not in the store"
    failed |= {text: reasons.get(text, run.given_up or unknown) for text in missing}
    run.progress.finish()
    return Report(
        n_texts=len(texts) - len(failed),
        n_batches=run.n_batches,
        n_halvings=run.n_halvings,
        seconds=time.perf_counter() - began,
        failed=failed,
    )


def _units(
    embedder: Embedder, texts: Sequence[str], suspects: Counter[str], batch_tokens: int
) -> list[Unit]:
    """Return batches of new texts, longest first, and then each suspect alone."""
    new = [text for text in texts if not suspects[text]]
    batches = split(token_lengths(embedder, new), batch_tokens)
    units = [Unit([new[i] for i in batch]) for batch in batches]
    return units + [Unit([text], suspect=True) for text in texts if suspects[text]]


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
class _Round:
    """The units that one set of workers encodes.

    Parameters
    ----------
    waiting
        Units that no worker has.
    reasons
        Why each text failed, or how its worker died.
    in_a_row
        Number of texts that failed since one was encoded.
    before
        Units that workers had when the order was reversed; None if it is not reversed.
    """

    waiting: deque[Unit]
    reasons: dict[str, str] = field(default_factory=dict)
    in_a_row: int = 0
    before: set[int] | None = None


@dataclass
class _Run(Generic[W]):
    """The encoding of one model into one store, and its counts over all rounds."""

    crew: Crew[W]
    name: str
    store: Store
    timeout: float | None
    progress: _Progress
    n_batches: int = 0
    n_halvings: int = 0
    deaths: int = 0
    problem: str = ""  # why a worker could not be used
    given_up: str = ""  # why the texts that are left were not tried

    def round(self, units: Sequence[Unit]) -> dict[str, str]:
        """Encode units with new workers; return why each text failed, or how its worker died."""
        current = _Round(deque(units))
        n = min(self.crew.size, len(units))
        with self.crew.open(n):
            workers = [self.crew.start(slot) for slot in range(n)]
            while workers and self._is_open(current, workers):
                for sender, message in self.crew.receive(workers, self._seconds(workers)):
                    if isinstance(message, Report):
                        self._count_failures(message, sender.units[0], current, workers)
                    if not self._handle(message, sender, current):
                        workers.remove(sender)
                        if sender.is_proven and current.waiting:  # so each new one brings progress
                            workers.append(self.crew.start(sender.slot))
                self._end_hanging(workers, current)
        if current.waiting and not self.n_batches and not current.reasons:
            raise ModelError(f"model '{self.name}' cannot be used: {self.problem}")
        return current.reasons

    def _is_open(self, current: _Round, workers: Sequence[W]) -> bool:
        """Return whether there is work, or a worker that must be heard."""
        if current.waiting or self.crew.starts_at_once:
            return True
        return any(worker.is_ready for worker in workers)

    def _handle(self, message: Message, sender: W, current: _Round) -> bool:
        """Handle a worker's message; return whether more messages of it are expected."""
        match message:
            case messages.Ready():
                sender.is_ready = True
            case messages.Unusable(reason):
                self.problem = reason.removeprefix(f"model '{self.name}' ")
                self.store.notices.append(
                    f"model '{self.name}' is not used on {sender.label}: {self.problem}"
                )
                return False
            case messages.Notes(lines):
                self.store.notices += [f"{sender.label}: {line}" for line in lines]
                return False
            case messages.Unwritable(reason):
                raise DiskError(reason)
            case messages.Raised(reason):
                raise ModelError(reason)
            case messages.Died(reason):
                self._count_death(sender, reason, current)
                return False
            case Report():
                sender.units.popleft()
                sender.is_proven = True
                self.n_batches += message.n_batches
                self.n_halvings += message.n_halvings
                self.progress.add(message.n_texts)
                current.reasons |= message.failed
        self._feed(sender, current)
        return True

    def _count_failures(
        self, report: Report, unit: Unit, current: _Round, workers: Sequence[W]
    ) -> None:
        """After many failures in a row, try short texts, and then give up."""
        if report.n_texts:
            current.in_a_row, current.before = 0, None
        elif current.before is None or id(unit) not in current.before:
            current.in_a_row += len(report.failed)
        if current.in_a_row < FAILURES_IN_A_ROW or not current.waiting:
            return
        if current.before is None:
            current.waiting.reverse()
            current.in_a_row = 0
            current.before = {id(unit) for worker in workers for unit in worker.units}
        else:
            last = list(report.failed.values())[-1]
            self.given_up = f"given up after many texts in a row failed, the last: {last}"
            current.waiting.clear()

    def _feed(self, worker: W, current: _Round) -> None:
        worker.since = time.monotonic()
        while len(worker.units) < _IN_FLIGHT and current.waiting:
            unit = current.waiting[0]  # a suspect goes alone: else which unit killed?
            if worker.units and (unit.suspect or not worker.has_room(unit)):
                break
            worker.units.append(current.waiting.popleft())
            worker.send(worker.units[-1])
        if not worker.units and not worker.is_ending:
            worker.is_ending = True
            worker.send(None)

    def _count_death(self, dead: W, reason: str, current: _Round) -> None:
        if dead.units:
            self.deaths += 1
            current.reasons |= dict.fromkeys(dead.units.popleft().texts, reason)
            current.waiting.extendleft(reversed(dead.units))  # it had not begun with these
        self.problem = self.problem or reason

    def _seconds(self, workers: Sequence[W]) -> float | None:
        """Return the seconds until the first worker is late; None if there is no limit."""
        begun = [worker.since for worker in workers if worker.units]
        if self.timeout is None or not begun:
            return None
        return min(_LONGEST_WAIT, max(0.0, min(begun) + self.timeout - time.monotonic()))

    def _end_hanging(self, workers: list[W], current: _Round) -> None:
        for worker in list(workers):
            if self.timeout is None or not worker.units:
                continue
            if time.monotonic() - worker.since >= self.timeout:
                workers.remove(worker)
                worker.kill()
                reason = f"the batch took longer than {self.timeout:g} seconds on {worker.label}"
                self._count_death(worker, reason, current)
                if worker.is_proven and current.waiting:
                    workers.append(self.crew.start(worker.slot))
