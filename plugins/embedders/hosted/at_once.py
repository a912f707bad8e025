"""Runs a function on several items at once, in threads: for what waits for others, not computes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def at_once(function: Callable[[T], R], items: Sequence[T], parallel: int) -> list[R]:
    """Return `function` of each item, in order, so many of them at once.

    When it raises, as on Ctrl-C, nothing further is begun, and what is under way is not waited
    for: a slow endpoint should not keep a program that is to end.
    """
    if parallel == 1 or len(items) < 2:
        return [function(item) for item in items]
    answers: list[Future[R]] = [Future() for _ in items]
    todo: SimpleQueue[tuple[T, Future[R]]] = SimpleQueue()
    for pair in zip(items, answers, strict=True):
        todo.put(pair)

    def work() -> None:
        with contextlib.suppress(Empty):
            while True:
                item, answer = todo.get_nowait()
                try:
                    answer.set_result(function(item))
                except BaseException as error:  # raised again where it is waited for
                    answer.set_exception(error)

    for _ in range(min(parallel, len(items))):
        threading.Thread(target=work, daemon=True).start()
    try:
        return [answer.result() for answer in answers]
    finally:
        with contextlib.suppress(Empty):
            while True:
                todo.get_nowait()
