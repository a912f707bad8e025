"""Spreads requests over time: at most so many requests and tokens a minute, fewer after a 429.

One limiter serves all threads of an embedder. Requests begin at even distances, because endpoints
also count by the second. A 429 doubles the distance and stops all requests for as long as the
endpoint asks; each answer shortens it a little, down to what the limits allow.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from harness.errors import InvalidOption

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
