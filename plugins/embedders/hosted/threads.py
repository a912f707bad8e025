"""Maps a function over items in threads, for work that waits, such as requests."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def map_in_threads(function: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Return `function` of each item, in their order, computed in up to `threads` threads.

    If it raises, as on Ctrl-C, no further item is started, and items in progress are not waited
    for: a slow endpoint must not keep an ending program alive.
    """
    if threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    results: list[Future[R]] = [Future() for _ in items]
    waiting: SimpleQueue[tuple[T, Future[R]]] = SimpleQueue()
    for pair in zip(items, results, strict=True):
        waiting.put(pair)

    def work() -> None:
        with contextlib.suppress(Empty):
            while True:
                item, result = waiting.get_nowait()
                try:
                    result.set_result(function(item))
                except BaseException as error:  # raised again by result.result()
                    result.set_exception(error)

    for _ in range(min(threads, len(items))):
        threading.Thread(target=work, daemon=True).start()
    try:
        return [result.result() for result in results]
    finally:
        with contextlib.suppress(Empty):
            while True:
                waiting.get_nowait()
