"""Progress reporting: a bar on a terminal, a line in a notebook, plain lines, or nothing."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Any, Protocol

from harness.errors import InvalidOption
from harness.printing import printable

Advance = Callable[[int], None]
"""Called with the number of units that were done since the last call."""
EVERY = 10.0  # seconds between plain lines
REFRESH = 0.5  # seconds between two states of a line in a notebook
FORESEEABLE = 0.1  # share of the units after which their rate foretells the rest


class Progress(Protocol):
    """Reports how much of a piece of work is done."""

    def stage(self, label: str, total: int, unit: str) -> AbstractContextManager[Advance]:
        """Begin a stage of `total` units; the context's value is called as units are done."""
        ...

    def say(self, line: str) -> None:
        """Print a line that stays on the screen."""
        ...


class Silent:
    """Reports nothing."""

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Do nothing."""
        yield lambda _: None

    def say(self, line: str) -> None:
        """Do nothing."""


class Lines:
    """Plain lines, for logs: at most one every ten seconds, and one at the end of a stage."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream = stream or sys.stderr

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Print the progress of a stage."""
        started = printed = time.monotonic()
        done = 0

        def advance(n: int) -> None:
            nonlocal done, printed
            done += n
            now = time.monotonic()
            if now - printed >= EVERY:
                printed = now
                rate = done / (now - started)
                left = _left(done, total, now - started)
                self.say(f"{label}: {done}/{total} {unit}, {rate:.1f}/s{left}")

        yield advance
        self.say(f"{label}: {done}/{total} {unit} in {time.monotonic() - started:.1f} s")

    def say(self, line: str) -> None:
        """Print a line."""
        print(printable(line), file=self.stream, flush=True)


class Bars:
    """A bar on a terminal, with the rate and the remaining time."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(stderr=True)

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Show a bar, which disappears when the stage ends, and then print one line."""
        from rich import progress

        started = time.monotonic()
        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[unit]} {task.fields[rate]}", markup=False),
            progress.TextColumn("{task.fields[left]}", markup=False),
        )
        with progress.Progress(*columns, console=self.console, transient=True) as bars:
            bar = bars.add_task(printable(label), total=total, unit=unit, rate="", left="")

            def advance(n: int) -> None:
                done = int(bars.tasks[0].completed) + n
                seconds = max(time.monotonic() - started, 1e-3)
                left = _left(done, total, seconds).removeprefix(", ")
                bars.update(bar, advance=n, rate=f"{done / seconds:.1f}/s", left=left)

            yield advance
            done = int(bars.tasks[0].completed)
        self.say(f"{label}: {done}/{total} {unit} in {time.monotonic() - started:.1f} s")

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


class CellLine:
    """A line below the cell of a notebook, which is replaced until its stage ends.

    Bars of rich need a widget, which a saved notebook keeps as an empty output.
    """

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        """Show the progress of a stage in one output of the cell."""
        from IPython.display import display

        started = shown = time.monotonic()
        done = 0
        state = _plain(f"{label}: 0/{total} {unit}")
        line = display(state, raw=True, display_id=True)  # type: ignore[no-untyped-call]

        def advance(n: int) -> None:
            nonlocal done, shown
            done += n
            now = time.monotonic()
            if now - shown >= REFRESH:
                shown = now
                left = _left(done, total, now - started)
                line.update(_plain(f"{label}: {done}/{total} {unit}{left}"), raw=True)

        yield advance
        seconds = time.monotonic() - started
        line.update(_plain(f"{label}: {done}/{total} {unit} in {seconds:.1f} s"), raw=True)

    def say(self, line: str) -> None:
        """Print a line."""
        print(printable(line), file=sys.stderr, flush=True)


def _left(done: int, total: int, seconds: float) -> str:
    """Return the remaining time; empty while few units are done.

    The longest texts come first, and a first batch has a start-up cost.
    """
    if done < FORESEEABLE * total:
        return ""
    return f", {(total - done) * seconds / done:.0f} s left" if done else ""


def _plain(line: str) -> dict[str, Any]:
    return {"text/plain": printable(line)}


def for_terminal() -> Progress:
    """Return `Bars` if standard error is a terminal, `CellLine` in a notebook, else `Lines`."""
    if sys.stderr.isatty():
        return Bars()
    return CellLine() if _in_notebook() else Lines()


def shown(progress: bool | Progress) -> Progress:
    """Return `Silent` for False, `for_terminal()` for True, and a `Progress` itself.

    Raises
    ------
    InvalidOption
        If it is something else.
    """
    if isinstance(progress, bool):
        return for_terminal() if progress else Silent()
    if not callable(getattr(progress, "stage", None)):
        raise InvalidOption(f"progress={progress}: expected True, False or a Progress")
    return progress


def _in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
