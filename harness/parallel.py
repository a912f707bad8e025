"""Calls in several processes, through joblib: results as they are ready, equal for any number.

Every call has one thread of BLAS, OpenMP and torch, in another process and in this one. Sums, and
so numbers, then do not depend on the number of processes. Arrays of more than a megabyte are
written once and memory-mapped by all processes, copy-on-write. Functions and classes of a notebook
or script are sent, too.

The processes are loky's. They are used again by the next calls, end when they are idle for some
minutes, and end with this process at the latest. A cluster can take their place, such as the one of
the engine `ray`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pickle
import re
import signal
import sys
import uuid
import warnings
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from harness import signals
from harness.errors import (
    DiskError,
    HarnessError,
    ModelError,
    NotApplicable,
    Unavailable,
    UsageError,
    one_line,
)

# Objects that are sent to other processes once, however many calls need them.
#
# They are pickled by cloudpickle, so that functions and classes of a notebook or script are sent,
# too. Only what another process of this run has pickled is read.


Value = TypeVar("Value")

NOTHING: Mapping[str, object] = MappingProxyType({})
OPENED = 2**28
"""Most bytes of pickles whose objects a process keeps."""
OBJECTS = 64
"""Most objects that it keeps: enough for the mitigators of a run and some tasks."""


class OnlyInMain(BaseException):
    """A call needs what only the main process has, such as a model.

    It is no Exception, so that no code between takes it for a failure.
    """


class Shared(Generic[Value]):
    """An object that many calls need: pickled once, and read once in each process.

    Parameters
    ----------
    value
        The object.
    apart
        Objects that `value` refers to, by name, and that are not sent with it: others take their
        places.

    Raises
    ------
    Exception
        Of any class, if the object cannot be pickled.
    """

    def __init__(self, value: Value, *, apart: Mapping[str, object] = NOTHING) -> None:
        self.token = uuid.uuid4().hex
        # As an array, joblib writes it to a file once, if it is large.
        self._pickle = np.frombuffer(_pickled(value, apart), dtype=np.uint8)

    def open(self, *, apart: Mapping[str, object] = NOTHING) -> Value:
        """Return the object: the same each time in a process that keeps it.

        Parameters
        ----------
        apart
            What takes the place of each object that was not sent.

        Raises
        ------
        OnlyInMain
            If this process cannot read it, for example because a module is not found.
        """
        if self.token in _opened:
            _opened.move_to_end(self.token)
            value: Value = _opened[self.token][0]
            return value
        value = self.copy(apart=apart)
        _opened[self.token] = value, len(self._pickle)
        while len(_opened) > OBJECTS or sum(size for _, size in _opened.values()) > OPENED:
            _opened.popitem(last=False)
        return value

    def copy(self, *, apart: Mapping[str, object] = NOTHING) -> Value:
        """Return the object, read anew; parameters and errors are those of `open`."""
        try:
            value: Value = _unpickled(self._pickle, apart)
        except Exception as error:
            raise OnlyInMain(one_line(error)) from None
        return value


_opened: OrderedDict[str, tuple[Any, int]] = OrderedDict()


def _pickled(value: object, apart: Mapping[str, object]) -> bytes:
    import cloudpickle

    names = {id(part): name for name, part in apart.items()}

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it ships no types
        def persistent_id(self, part: object) -> str | None:
            return names.get(id(part))

    pickler = Pickler if names else cloudpickle.Pickler
    with io.BytesIO() as file:
        pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
        return file.getvalue()


def _unpickled(content: npt.NDArray[np.uint8], apart: Mapping[str, object]) -> Any:
    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: str) -> object:
            return apart[name]

    return Unpickler(io.BytesIO(content.data)).load()


# Threads of numerical libraries: one in a call, so that sums are the same in every process.


_VARIABLE = "OMP_NUM_THREADS"


class _Limit:
    """Limits BLAS, OpenMP and torch to one thread, from now until it is lifted.

    What this limits must be loaded. Others of these libraries are, but torch takes seconds, and is
    loaded by the first task that needs it. It reads the environment then.
    """

    def __init__(self) -> None:
        torch = sys.modules.get("torch")
        self._threads: int | None = torch.get_num_threads() if torch else None
        if torch:
            torch.set_num_threads(1)
        self._variable = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = "1"
        self._libraries = _controller(len(sys.modules)).limit(limits=1)

    def lift(self) -> None:
        self._libraries.restore_original_limits()
        os.environ.pop(_VARIABLE, None)
        if self._variable is not None:
            os.environ[_VARIABLE] = self._variable
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(self._threads or _threads_of_torch(self._variable))


_limits: list[_Limit] = []  # of nested contexts; only the first of them changes anything


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread: for small arrays that is faster, too."""
    _limits.append(_Limit())
    try:
        yield
    finally:
        _limits.pop().lift()


@contextlib.contextmanager
def all_threads() -> Iterator[None]:
    """Lift the limit of `one_thread`, such as for a model that encodes a text after all."""
    n = len(_limits)
    while _limits:
        _limits.pop().lift()
    try:
        yield
    finally:
        _limits.extend(_Limit() for _ in range(n))


def _threads_of_torch(variable: str | None) -> int:
    """Return how many threads torch would have, had it been loaded without a limit."""
    if variable and variable.isdecimal() and int(variable):
        return int(variable)
    import joblib

    with warnings.catch_warnings():  # it may not find out, and counts all cores then
        warnings.simplefilter("ignore")
        n: int = joblib.cpu_count(only_physical_cores=True)
    return n


@functools.lru_cache(maxsize=1)  # looking for libraries takes 2 ms, as long as a small call
def _controller(n_modules: int) -> Any:
    """Return what limits the threads of all libraries that are loaded with `n_modules` modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


Argument = TypeVar("Argument")
Result = TypeVar("Result")

_most: ContextVar[int | None] = ContextVar("most", default=None)


@runtime_checkable
class Cluster(Protocol):
    """Runs calls on other machines, too; an engine may be one."""

    def results(
        self, function: Callable[[Any], Any], arguments: Sequence[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the position and the result of each call as they are ready, as `results` does.

        A call whose process died gives a `Lost`. Closing the iterator ends the calls.
        """
        ...


@dataclass(frozen=True)
class Lost:
    """A call without a result.

    Parameters
    ----------
    reason
        What happened to its process.
    killed
        Whether the process died. Else the main process can try: the call or its result could not
        be sent, or it raised OnlyInMain.
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
    """Limit the processes of everything in this context that asks for `allowed`; None: cores."""
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
    arguments: Sequence[Argument],
    *,
    workers: int,
    cluster: Cluster | None = None,
) -> Generator[tuple[int, Result | Lost], None, None]:
    """Yield the position and the result of each call, as they are ready.

    With one worker the calls run in this process, in their order. If a process dies, the calls that
    it may have been working on are repeated one by one, so that one is lost at most for each
    death. Close the iterator if it is not read to its end (`contextlib.closing`): that ends the
    processes at once.

    Parameters
    ----------
    function
        The function. An error that it raises ends all calls; OnlyInMain gives a `Lost`. In another
        process, a HarnessError becomes one of the main classes with the same message.
    arguments
        The argument of each call. It is looked up when the call is sent, maybe by another thread.
    workers
        Most processes of this machine; no more are started than there are calls.
    cluster
        Where the calls run instead.
    """
    if cluster is not None:
        with contextlib.closing(
            cluster.results(functools.partial(call, function), arguments)
        ) as elsewhere:
            yield from elsewhere
        return
    if min(workers, len(arguments)) < 2:
        for position in range(len(arguments)):
            with one_thread():
                result = _result(function, arguments[position])
            yield position, result
        return
    unfinished = dict.fromkeys(range(len(arguments)))
    suspects: list[int] = []  # calls of which one may have killed its process
    while unfinished:
        sent: list[int] = []
        # One call at a time: joblib sends the next one before the result of the last is read.
        alone = suspects[:1]
        calls = ((i, arguments[i]) for i in _noted(alone or list(unfinished), sent))
        # All processes start at once, and joblib would call with one of them in this process.
        processes = 2 if alone else max(2, min(workers, len(unfinished)))
        try:
            for position, result in _parallel(function, calls, processes, bool(alone)):
                del unfinished[position]
                yield position, result
            suspects = suspects[1:]
        except _broken_pool() as error:
            if not alone:
                suspects = [position for position in sent if position in unfinished]
                continue
            suspects = suspects[1:]
            (position,) = alone
            if position in unfinished:
                del unfinished[position]
                yield position, _lost(error)


def call(function: Callable[[Argument], Result], argument: Argument) -> Result | Lost:
    """Return the result of a call; in another process."""
    try:
        with one_thread(), at_most(1):
            result = _result(function, argument)
    except Exception as error:
        raise sendable(error) from None
    problem = _problem_of_sending(result)
    return Lost(problem, killed=False) if problem else result


def _problem_of_sending(result: object) -> str | None:
    """Return why a result cannot be sent to the main process, where that would end all calls."""
    import cloudpickle

    try:
        cloudpickle.dumps(result)
    except Exception as error:
        return one_line(error)
    return None


def sendable(error: Exception) -> Exception:
    """Return an error that another process can read; many classes need more than a message."""
    for plain in (UsageError, DiskError, NotApplicable, Unavailable, ModelError, HarnessError):
        if isinstance(error, plain):
            return plain(str(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- what this process has just pickled
    except Exception:
        return RuntimeError(one_line(error))
    return error


def _noted(positions: Iterable[int], sent: list[int]) -> Iterator[int]:
    for position in positions:
        sent.append(position)
        yield position


def _parallel(
    function: Callable[[Argument], Result],
    calls: Iterable[tuple[int, Argument]],
    workers: int,
    alone: bool,
) -> Iterator[tuple[int, Result | Lost]]:
    """Yield the position and the result of each call; with `alone`, one call runs at a time."""
    import joblib

    # loky replaces a worker that has grown by 300 MB, as one does that maps large files.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
    with joblib.parallel_config(
        backend="loky",
        inner_max_num_threads=1,  # of libraries that a worker loads later
        initializer=signals.end_with_parent,  # before its first call, which may never come
        initargs=(os.getpid(),),
    ):
        parallel = joblib.Parallel(
            n_jobs=workers,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch=1 if alone else "2*n_jobs",
            mmap_mode="c",
        )
    work = (joblib.delayed(_call)(function, *call, sys.path) for call in calls)
    with _without_interrupts():  # workers inherit that: Ctrl-C is for this process, which ends them
        ready = parallel(work)
    with contextlib.closing(ready):
        yield from ready


def _call(
    function: Callable[[Argument], Result], position: int, argument: Argument, path: list[str]
) -> tuple[int, Result | Lost]:
    """Return the position and the result of a call; in a process of loky."""
    sys.path += [folder for folder in path if folder not in sys.path]  # it may be an old process
    return position, call(function, argument)


def _result(function: Callable[[Argument], Result], argument: Argument) -> Result | Lost:
    try:
        return function(argument)
    except OnlyInMain as error:
        return Lost(str(error), killed=False)


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


def _broken_pool() -> type[Exception]:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    broken: type[Exception] = BrokenProcessPool
    return broken


def _lost(error: Exception) -> Lost:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if not isinstance(error, TerminatedWorkerError):
        return Lost("it cannot be sent to another process", killed=False)
    code = re.search(r"\{(.+?)\}", str(error))
    cause = f" ({code[1]})" if code else ""
    return Lost(f"its process was killed{cause}; is there too little memory?", killed=True)
