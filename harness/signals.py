"""Signals that end the program: what was encoded is written first, and no process is left behind.

A command raises `Terminated` on SIGTERM and SIGHUP, as Python raises KeyboardInterrupt on SIGINT:
every context is then left in order, so writers flush and workers end. Only commands install the
handlers; a script that imports the harness keeps its own. A process that the harness starts asks to
end with its parent.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

PATIENCE = 30.0
"""Seconds for writing what was encoded."""
_NAMES = ("SIGTERM", "SIGHUP")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Terminated(BaseException):
    """A signal ends this process; no `except Exception` catches it.

    Parameters
    ----------
    number
        Number of the signal.
    """

    def __init__(self, number: int) -> None:
        self.number, self.name = number, signal.Signals(number).name
        self.exit_code = 128 + number  # the shell's exit code of a process that a signal ended
        super().__init__(f"ended by {self.name}")


def _raise(number: int, frame: FrameType | None) -> None:
    """Raise `Terminated`; a second signal does not interrupt what is written then."""
    for other in _numbers():
        signal.signal(other, signal.SIG_IGN)
    raise Terminated(number)


@contextlib.contextmanager
def raised() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM and SIGHUP in this context.

    A signal that is ignored stays ignored, as SIGHUP is under nohup. In another thread than the
    main one nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, _raise)
        for number in _numbers()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def end_with_parent(parent: int) -> None:
    """Send this process SIGTERM when the process `parent` ends, and SIGKILL 30 seconds later.

    On Linux the kernel sends SIGTERM, also when the thread that started this process ends.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process after its parent: for other systems, and for a process that hangs."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _NAMES if hasattr(signal, name)]
