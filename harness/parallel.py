"""Calls in several processes; results come as they are ready and do not depend on the number.

Every call has one thread of BLAS, OpenMP and torch, in another process and in this one. Sums, and
so numbers, then do not depend on the number of processes. Calls are pickled by cloudpickle, so
functions and classes of a notebook or script can be sent.

The processes are those of loky. They stay for the next calls, end after some minutes without work,
and end with this process at the latest. A cluster can replace them, such as that of the engine
`ray`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import pickle
import re
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from harness import signals
from harness.arrays import one_thread
from harness.errors import (
    DiskError,
    HarnessError,
    ModelError,
    NotApplicable,
    Unavailable,
    UsageError,
    one_line,
)
from harness.printing import apart

Argument = TypeVar("Argument")
Result = TypeVar("Result")

IDLE = 300
"""Seconds after which an idle process ends."""
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"),
)
"""Variables of the environment that set the number of threads of a library when it is loaded."""

_most: ContextVar[int | None] = ContextVar("most", default=None)


@runtime_checkable
class Cluster(Protocol):
    """Runs calls on other machines, too; an engine may be one."""

    def results(
        self, function: Callable[[Any], Any], arguments: Iterable[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the position and the result of each call as they are ready, as `results` does.

        A call whose process died gives a `NoResult`. Closing the iterator ends the calls.
        """
        ...


@dataclass(frozen=True)
class NoResult:
    """A call without a result.

    Parameters
    ----------
    reason
        What happened to its process.
    killed
        Whether the process died. If not, the call or its result could not be sent, and the main
        process can run it.
    """

    reason: str
    killed: bool


def cores() -> int:
    """Return the number of cores that this process may use."""
    import joblib

    n: int = joblib.cpu_count()
    return n


@contextlib.contextmanager
def at_most(workers: int | None) -> Iterator[None]:
    """Limit what `allowed` returns within this context; None is the number of cores."""
    token = _most.set(workers)
    try:
        yield
    finally:
        _most.reset(token)


def allowed() -> int:
    """Return how many processes a plugin may use: 1 in a process that runs calls itself."""
    return _most.get() or cores()


def results(
    function: Callable[[Argument], Result],
    arguments: Iterable[Argument],
    *,
    workers: int,
    cluster: Cluster | None = None,
) -> Generator[tuple[int, Result | NoResult], None, None]:
    """Yield the position and the result of each call, as they are ready.

    With one worker the calls run in this process, in their order. If a process dies, the calls that
    it may have been running are repeated one by one, so that each death costs at most one call.
    Close the iterator if it is not read to its end (`contextlib.closing`): that ends the processes
    at once.

    Parameters
    ----------
    function
        The function. An error that it raises ends all calls. In another process, a HarnessError
        becomes one of the main classes with the same message.
    arguments
        The argument of each call. A generator is read as calls are sent: two for each process
        before the first result is yielded.
    workers
        Most processes of this machine; no more are started than there are calls.
    cluster
        The cluster that runs the calls, instead of processes of this machine.
    """
    if cluster is not None:
        elsewhere = cluster.results(functools.partial(call, function), arguments)
        with contextlib.closing(elsewhere):
            yield from elsewhere
        return
    calls: Iterator[tuple[int, Argument]] = enumerate(arguments)
    first = list(itertools.islice(calls, workers))
    calls = itertools.chain(first, calls)
    if len(first) < 2:
        for position, argument in calls:
            with one_thread():
                result = function(argument)
            yield position, result
        return
    processes = _Processes(function, len(first))
    try:
        yield from processes.results(calls)
    finally:
        processes.close()


def call(function: Callable[[Argument], Result], argument: Argument) -> Result | NoResult:
    """Return the result of a call; in another process."""
    try:
        with one_thread(), at_most(1):
            result = function(argument)
    except Exception as error:
        raise _sendable(error) from None
    try:
        _pickled(result)
    except Exception as error:
        return NoResult(one_line(error), killed=False)
    return result


class _Processes:
    """Runs the calls of a function in processes of this machine.

    Parameters
    ----------
    function
        The function.
    n
        Number of processes.
    """

    def __init__(self, function: Callable[[Any], Any], n: int) -> None:
        self._function, self._n = _pickled(function), n
        self._running: dict[Future[bytes], tuple[int, bytes]] = {}
        self._suspects: list[tuple[int, bytes]] = []  # one of them may have killed its process

    def results(self, calls: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Yield the position and the result of each call, as they are ready."""
        more = True
        while more or self._running or self._suspects:
            while more and not self._suspects and len(self._running) < 2 * self._n:
                waiting = next(calls, None)
                if waiting is None:
                    more = False
                    break
                position, argument = waiting
                try:
                    content = _pickled(argument)
                except Exception:  # of any class
                    yield position, NoResult("it cannot be sent to another process", killed=False)
                else:
                    self._send(position, content)
            if self._running:
                for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                    position, content = self._running.pop(future)
                    try:
                        answer = future.result()
                    except BrokenProcessPool:
                        self._suspects.append((position, content))
                    else:
                        yield position, _read(answer)
            elif self._suspects:
                yield self._alone(*self._suspects.pop(0))

    def close(self) -> None:
        """End the processes if they have work left."""
        if self._running:
            self._executor().shutdown(wait=True, kill_workers=True)

    def _send(self, position: int, content: bytes) -> None:
        try:
            self._running[self._submit(content)] = position, content
        except BrokenProcessPool:  # one has just died
            self._suspects.append((position, content))

    def _alone(self, position: int, content: bytes) -> tuple[int, Any]:
        """Return the position and the result of a call that runs while no other does."""
        try:
            future = self._submit(content)
            self._running[future] = position, content
            wait(self._running)
            self._running.clear()
            return position, _read(future.result())
        except BrokenProcessPool as error:
            code = re.search(r"\{(.+?)\}", str(error))
            cause = f" ({code[1]})" if code else ""
            reason = f"its process was killed{cause}; is there too little memory?"
            return position, NoResult(reason, killed=True)

    def _submit(self, content: bytes) -> Future[bytes]:
        # Workers inherit the signals that are blocked: Ctrl-C is for this process, which ends them.
        with _without_interrupts():
            future: Future[bytes] = self._executor().submit(
                _answer, self._function, content, sys.path
            )
        return future

    def _executor(self) -> Any:
        """Return loky's executor: the same as before, or a new one if a process died."""
        from joblib.externals.loky import get_reusable_executor

        # loky replaces a process that has grown by 300 MB, for example by mapping large files.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        return get_reusable_executor(
            max_workers=self._n,
            timeout=IDLE,
            initializer=signals.end_with_parent,  # before its first call, which may never come
            initargs=(os.getpid(),),
            env=dict.fromkeys(THREADS, "1"),  # for libraries that a process loads later
        )


def _answer(function: bytes, argument: bytes, path: list[str]) -> bytes:
    """Return the pickled result of a pickled call; in a process of loky."""
    sys.path += [folder for folder in path if folder not in sys.path]  # it may be an old process
    try:
        called = pickle.loads(function), pickle.loads(argument)  # noqa: S301 -- of this run
    except Exception as error:
        return _pickled(NoResult(one_line(error), killed=False))
    with apart():
        return _pickled(call(*called))


def _read(answer: bytes) -> Any:
    """Return a result that another process pickled."""
    try:
        return pickle.loads(answer)  # noqa: S301 -- what a process of this run has pickled
    except Exception as error:
        return NoResult(one_line(error), killed=False)


def _pickled(value: object) -> bytes:
    import cloudpickle

    content: bytes = cloudpickle.dumps(value)
    return content


def _sendable(error: Exception) -> Exception:
    """Return an error that another process can read; many classes need more than a message."""
    for plain in (UsageError, DiskError, NotApplicable, Unavailable, ModelError, HarnessError):
        if isinstance(error, plain):
            return plain(str(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- what this process has just pickled
    except Exception:
        return RuntimeError(one_line(error))
    return error


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that are started in this context ignore Ctrl-C."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
