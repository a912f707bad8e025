"""When a request is repeated, and after how long.

What may succeed later is repeated: no connection, a timeout, an answer that is cut, status 408,
409, 429 and 5xx. The pause is what the endpoint asks for (`Retry-After`), else 0.5, 1, 2 … 8
seconds less a random quarter at most.
"""

from __future__ import annotations

import contextlib
import email.utils
import math
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from harness.errors import HarnessError, InvalidOption, Unavailable

# Spreads requests over time: at most so many requests and tokens a minute, fewer after a 429.
#
# One limiter serves all threads of an embedder. Requests begin at even distances, because endpoints
# also count by the second. A 429 doubles the distance and stops all requests for as long as the
# endpoint asks; each answer shortens it a little, down to what the limits allow.


MINUTE = 60.0
SLOWER = 2.0  # factor of the distance after a 429
FASTER = 0.97  # factor after each answer: half the distance after 23 answers
FIRST = 0.1  # seconds between requests after a 429 without limits and without earlier requests
SLOWEST = 60.0
NEGLIGIBLE = 0.001
LONGEST_GAP = 1.0  # seconds; a run also does other things between requests


class Clock(Protocol):
    """Tells the time, and waits."""

    def monotonic(self) -> float:
        """Return the seconds since some moment."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Wait."""
        ...


class Limiter:
    """Says when a request may be sent.

    Parameters
    ----------
    rpm, tpm
        Most requests and tokens a minute, above 0; None for no limit.
    clock
        What tells the time.

    Raises
    ------
    InvalidOption
        If a limit is not above 0.
    """

    def __init__(
        self, rpm: float | None = None, tpm: float | None = None, clock: Clock = time
    ) -> None:
        for name, limit in {"rpm": rpm, "tpm": tpm}.items():
            if limit is not None and not limit > 0:
                raise InvalidOption(f"{name}={limit:g}: must be above 0")
        self.clock = clock
        self._between = MINUTE / rpm if rpm else 0.0  # seconds from a request to the next
        self._per_token = MINUTE / tpm if tpm else 0.0
        self._processes = 1  # that share the limits
        self._slowed = 0.0  # seconds between requests after 429s
        self._slowed_at = float("-inf")
        self._usual = 0.0  # seconds between requests so far
        self._last: float | None = None
        self._next = self._paused_until = clock.monotonic()
        self._lock = threading.Lock()

    def share(self, processes: int) -> None:
        """Take only the part of the limits of one of so many processes."""
        self._processes = max(1, processes)

    def wait(self, tokens: int) -> float:
        """Wait until a request of so many tokens may be sent; return the time at which it is."""
        while True:
            with self._lock:
                now = self.clock.monotonic()
                start = max(now, self._next)
                self._next = start + self._distance(tokens)
            if start > now:
                self.clock.sleep(start - now)
            with self._lock:
                if self._paused_until <= start:  # else the endpoint asked to wait meanwhile
                    if self._last is not None:
                        gap = min(max(0.0, start - self._last), LONGEST_GAP)
                        self._usual += (gap - self._usual) / 4
                    self._last = start
                    return start

    def pause(self, seconds: float) -> bool:
        """Let no request begin for so many seconds; return whether that is longer than before."""
        with self._lock:
            until = self.clock.monotonic() + seconds
            longer = until > self._paused_until + 1
            self._paused_until = max(self._paused_until, until)
            self._next = max(self._next, until)
            return longer

    def slow_down(self, sent: float) -> None:
        """Lower the rate after a 429 to a request of the time `sent`: once for those in flight."""
        with self._lock:
            if sent <= self._slowed_at:
                return
            self._slowed_at = self.clock.monotonic()
            now = max(self._slowed, self._between * self._processes, self._usual) or FIRST / SLOWER
            self._slowed = min(SLOWEST, now * SLOWER)

    def speed_up(self) -> None:
        """Raise the rate a little after an answer."""
        with self._lock:
            faster = self._slowed * FASTER
            allowed = max(self._between * self._processes, NEGLIGIBLE)
            self._slowed = faster if faster > allowed else 0.0

    def _distance(self, tokens: int) -> float:
        limits = max(self._between, self._per_token * tokens) * self._processes
        return max(limits, self._slowed)


TIMEOUT = 60.0  # seconds
RETRIES = 6  # about 20 seconds in total, unless the endpoint asks for longer waits
MAX_WAIT = 600.0  # seconds
SHORTEST, LONGEST = 0.5, 8.0  # seconds of a pause, if the endpoint asks for none
TOLD = 5.0  # seconds; a line says that a longer wait is asked for
EVERY = 60.0  # seconds between such lines
TEMPORARY = (408, 409, 429)
UNREACHED_RETRIES = 2  # for an endpoint that nobody has reached yet: most likely none is there


@dataclass(frozen=True)
class Problem:
    """Why a request has no valid answer.

    Parameters
    ----------
    error
        What is raised if it is not repeated.
    again
        Whether it may succeed later.
    wait
        Seconds that the endpoint asks to wait; None if it asks for nothing.
    too_many
        Whether there were too many requests (status 429).
    unreached
        Whether there was no connection.
    """

    error: HarnessError
    again: bool = False
    wait: float | None = None
    too_many: bool = False
    unreached: bool = False


@dataclass
class Retrying:
    """Repeats requests to one endpoint.

    Parameters
    ----------
    limiter
        Says when a request may be sent.
    retries
        How often a request is repeated at most.
    max_wait
        Longest wait in seconds that the endpoint may ask for.
    say
        Shows a line while a run waits.
    reached
        Whether the endpoint has answered anything.
    """

    limiter: Limiter
    retries: int
    max_wait: float
    say: Callable[[str], None] = lambda _: None
    reached: bool = False

    def request(
        self,
        send: Callable[[], Mapping[str, Any] | Problem],
        tokens: int,
        address: str,
        retries: int | None = None,
    ) -> Mapping[str, Any]:
        """Return the answer to a request of so many tokens; raise its error if there is none."""
        most = self.retries if retries is None else retries
        repeated = 0
        while True:
            sent = self.limiter.wait(tokens)
            answer = send()
            if not isinstance(answer, Problem):
                self.reached = True
                self.limiter.speed_up()
                return answer
            self.reached |= not answer.unreached
            if answer.too_many:
                self.limiter.slow_down(sent)
            enough = most if self.reached else min(most, UNREACHED_RETRIES)
            if not answer.again or repeated >= enough:
                raise answer.error
            self._pause(answer, repeated, address)
            repeated += 1

    def _pause(self, problem: Problem, repeated: int, address: str) -> None:
        if problem.wait is None:
            pause = min(LONGEST, SHORTEST * 2**repeated)
            self.limiter.clock.sleep(pause * (1 - random.random() / 4))  # noqa: S311  # no secret
            return
        if problem.wait > self.max_wait:
            raise Unavailable(
                f"{problem.error}; it asks to wait {_seconds(problem.wait)} s, "
                f"and max_wait is {_seconds(self.max_wait)} s"
            )
        left, is_longer = problem.wait, self.limiter.pause(problem.wait)
        while left > TOLD and is_longer:
            self.say(f"{address}: waiting {_seconds(left)} s as the endpoint asks")
            self.limiter.clock.sleep(min(left, EVERY))
            left -= EVERY
        # The limiter waits for what is left.


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer asks to wait; None if it asks for nothing valid."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()[:100]
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if not math.isnan(seconds) and seconds > 0:
            return seconds
    return None


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"


# Maps a function over items in threads, for work that waits, such as requests.


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
