"""Resumable steps of studies.

A step has the id of its record, and a key that covers everything that its result depends on. A
finished step is appended to a file of records as a whole line, so an interrupted run continues with
the remaining steps. Knows no models, and no other files of results.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from harness import parallel
from harness.errors import HarnessError
from harness.results import jsonl
from harness.results.record import Line


class Step(Protocol):
    """The members of a step that the runner uses."""

    @property
    def id(self) -> str:
        """Id of its record."""

    @property
    def key(self) -> str:
        """Digest of everything that its result depends on."""

    @property
    def name(self) -> str:
        """Its name in messages."""


class Finished(Protocol):
    """The member of a step's record that `unfinished` uses."""

    @property
    def key(self) -> str:
        """Key of the step that was done."""


StepT = TypeVar("StepT", bound=Step)
Result = TypeVar("Result")
Record = TypeVar("Record", bound=Line)


def unfinished(steps: Iterable[StepT], records: Mapping[str, Finished]) -> list[StepT]:
    """Return the steps without a record, or with a record of another key."""
    return [step for step in steps if step.id not in records or records[step.id].key != step.key]


def run(
    steps: Sequence[StepT],
    do: Callable[[StepT], Result],
    record: Callable[[StepT, Result, float], Record],
    file: jsonl.RecordsFile[Record],
    *,
    workers: int | None = None,
    cluster: parallel.Cluster | None = None,
    advance: Callable[[int], object] = lambda n: None,
) -> None:
    """Run steps, and record each when it is finished.

    Parameters
    ----------
    steps
        The steps. A step that needs the result of another comes after it.
    do
        Runs a step, and returns its result. An error that it raises ends the run.
    record
        Returns the record of a step, of its result and the seconds that it took.
    file
        The file to which records are added.
    workers
        Number of processes, each with one thread; the results are the same for any number of them.
        By default the steps run in this process, one after another, with all its threads.
    cluster
        The cluster that runs the steps, instead of processes of this machine.
    advance
        Called with 1 for each finished step.

    Raises
    ------
    HarnessError
        If a process died; the other steps are recorded first.
    """
    failures: list[str] = []
    with contextlib.closing(_results(do, steps, workers, cluster)) as results:
        for i, result in results:
            if isinstance(result, parallel.NoResult):
                failures.append(f"{steps[i].name}: {result.reason}")
                continue
            file.add([record(steps[i], *result)])
            advance(1)
    if failures:
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise HarnessError(f"{failures[0]}{more}; run it again to complete it")


def _results(
    do: Callable[[StepT], Result],
    steps: Sequence[StepT],
    workers: int | None,
    cluster: parallel.Cluster | None,
) -> Generator[tuple[int, tuple[Result, float] | parallel.NoResult], None, None]:
    timed = functools.partial(_timed, do)
    if workers is None:
        for i, step in enumerate(steps):
            yield i, timed(step)
    else:
        yield from parallel.results(timed, steps, workers=workers, cluster=cluster)


def _timed(do: Callable[[StepT], Result], step: StepT) -> tuple[Result, float]:
    """Return the result of a step and the seconds that it took; may run in another process."""
    started = time.perf_counter()
    result = do(step)
    return result, time.perf_counter() - started
