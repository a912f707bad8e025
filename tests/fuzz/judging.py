"""Reads an input and says what is wrong with how the harness took it; None if nothing is.

Allowed is a value, or a `HarnessError` whose message has one line. It must come within seconds, and
no file outside of the sandbox may have been opened.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

SECONDS = 10
"""Time for one input; usual ones take milliseconds."""
FORBIDDEN = ("/dev/zero",)  # a file may name any model, so it may look into any file
_opened: list[str] = []
_watching = False


class Hang(BaseException):
    """An input took too long."""


def finding(read: Callable[[Path], object], path: Path, outside: Path | None) -> str | None:
    """Return what is wrong with how an input is read; None if nothing is.

    Parameters
    ----------
    read
        Reads a file.
    path
        The input.
    outside
        Folder that no input may read; None if the input is the user's own word.
    """
    global _watching
    _opened.clear()
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    _watching = outside is not None
    try:
        read(path)
    except HarnessError as error:
        if "\n" in str(error) and outside is not None:
            return f"a message of several lines: {error!r}"
    except Hang:
        return f"no end after {SECONDS} s"
    except (Exception, SystemExit) as error:
        return _place(error)
    finally:
        _watching = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    for name in _opened:
        real = os.path.realpath(name)
        if real in FORBIDDEN or (outside and real.startswith(f"{outside}{os.sep}")):
            return f"it opened {real}"
    return None


def _place(error: BaseException) -> str:
    """Return an exception with the last line of our own code under it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/tests/" not in f.filename and "site-packages" not in f.filename]
    last = own[-1] if own else frames[-1]
    return f"{type(error).__name__} at {last.filename}:{last.lineno}: {str(error)[:200]}"


def _too_long(*_: object) -> None:
    raise Hang


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "open" and isinstance(arguments[0], str | bytes):
        _opened.append(os.fsdecode(arguments[0]))


sys.addaudithook(_audit)
