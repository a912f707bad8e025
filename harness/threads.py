"""Threads of numerical libraries: one in a call, so that sums are the same in every process."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any


class _Limit:
    """Limits BLAS, OpenMP and torch to one thread, from now until it is lifted."""

    def __init__(self) -> None:
        self._torch = sys.modules.get("torch")
        self._threads = self._torch.get_num_threads() if self._torch else 0
        if self._torch:
            self._torch.set_num_threads(1)
        self._libraries = _controller(len(sys.modules)).limit(limits=1)

    def lift(self) -> None:
        self._libraries.restore_original_limits()
        if self._torch:
            self._torch.set_num_threads(self._threads)


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


@functools.lru_cache(maxsize=1)  # looking for libraries takes 2 ms, as long as a small call
def _controller(n_modules: int) -> Any:
    """Return what limits the threads of all libraries that are loaded with `n_modules` modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
