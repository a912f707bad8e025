"""Threads of numerical libraries: one in a call, so that sums are the same in every process."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

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
