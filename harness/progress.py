"""How long work shows that it goes on: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Protocol

Advance = Callable[[int], None]
EVERY = 10.0  # seconds between plain lines


class Progress(Protocol):
    """Shows stages of work."""

    def stage(self, label: str, total: int, unit: str) -> AbstractContextManager[Advance]:
        """Begin a stage of `total` units; call what it gives with the units done since."""
        ...

    def say(self, line: str) -> None:
        """Show a line that stays."""
        ...


class Silent:
    """Shows nothing."""

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Do nothing."""
        yield lambda _: None

    def say(self, line: str) -> None:
        """Do nothing."""


class Lines:
    """Plain lines, for logs: one at most every ten seconds, and one at the end of a stage."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream = stream or sys.stderr

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Print how far a stage is."""
        started = told = time.monotonic()
        done = 0

        def advance(n: int) -> None:
            nonlocal done, told
            done += n
            now = time.monotonic()
            if now - told >= EVERY:
                told = now
                rate = done / (now - started)
                left = (total - done) / rate if rate else 0
                self.say(f"{label}: {done}/{total} {unit}, {rate:.1f}/s, {left:.0f} s left")

        yield advance
        self.say(f"{label}: {done}/{total} {unit} in {time.monotonic() - started:.1f} s")

    def say(self, line: str) -> None:
        """Print a line."""
        print(line, file=self.stream, flush=True)


class Bars:
    """A bar with rate and time left on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True)

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Show a bar that goes away when the stage ends, and a line that stays."""
        from rich import progress

        started = time.monotonic()
        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[unit]} {task.fields[rate]}", markup=False),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=self.console, transient=True) as bars:
            bar = bars.add_task(label, total=total, unit=unit, rate="")

            def advance(n: int) -> None:
                done = bars.tasks[0].completed + n
                rate = done / max(time.monotonic() - started, 1e-3)
                bars.update(bar, advance=n, rate=f"{rate:.1f}/s")

            yield advance
            done = int(bars.tasks[0].completed)
        self.say(f"{label}: {done}/{total} {unit} in {time.monotonic() - started:.1f} s")

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


def for_terminal() -> Progress:
    """Return bars if standard error is a terminal, else lines."""
    return Bars() if sys.stderr.isatty() else Lines()
