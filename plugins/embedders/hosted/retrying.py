"""When a request is repeated, and after how long.

What may succeed later is repeated: no connection, a timeout, an answer that is cut, status 408,
409, 429 and 5xx. The pause is what the endpoint asks for (`Retry-After`), else 0.5, 1, 2 … 8
seconds less a random quarter at most.
"""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import HarnessError, Unavailable
from harness.plugins.embedders.hosted.limiter import Limiter

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
