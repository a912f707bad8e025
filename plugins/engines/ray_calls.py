"""Calls on a Ray cluster: scoring and studies, as `harness.parallel` runs them on one machine.

joblib's Ray backend returns all results at once, when the last is ready (`return_as` is not
supported), and one dead process ends all calls. Ray's own tasks give each result when it is ready,
and a dead process loses its call alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from harness.parallel import Lost

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def results(
    ray: Any, function: Callable[[Argument], Result], arguments: Sequence[Argument]
) -> Generator[tuple[int, Result | Lost], None, None]:
    """Yield the position and the result of each call, as they are ready.

    Parameters
    ----------
    ray
        The package, connected.
    function
        The function; an error that it raises ends all calls.
    arguments
        The argument of each call, looked up when it is sent.
    """
    remote = ray.remote(_call).options(num_cpus=1, max_retries=0)
    sent = ray.put(function)
    waiting = iter(range(len(arguments)))
    at_once = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))  # no process waits for work
    running: dict[Any, int] = {}
    try:
        while True:
            while len(running) < at_once and (position := next(waiting, None)) is not None:
                try:
                    running[remote.remote(sent, arguments[position])] = position
                except (TypeError, AttributeError, ValueError):  # it cannot be pickled
                    yield position, Lost("it cannot be sent to another process", killed=False)
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
                    yield position, Lost(f"{reason}; is there too little memory?", killed=True)
    finally:
        for answer in running:
            ray.cancel(answer, force=True)


def _call(function: Callable[[Argument], Result], argument: Argument) -> Result:
    return function(argument)
