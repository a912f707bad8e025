"""Signals that end the program: what was encoded is written first, and no process is left behind.

A command raises `Terminated` on SIGTERM and SIGHUP, as Python raises KeyboardInterrupt on SIGINT:
every context is then left in order, so writers flush and workers end. Only commands install the
handlers; a script that imports the harness keeps its own. A process that the harness starts asks to
end with its parent.

SIGBUS is another kind: a page of a mapped file is gone, since the file became shorter or its disk
failed. The instruction that reads it cannot go on, so a command prints a line and ends.
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
from typing import NoReturn

PATIENCE = 30.0
"""Seconds for writing what was encoded. A second signal within them does not interrupt it."""
_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LOST_PAGE = (
    "harness: a mapped file became shorter while it was read, or its disk fails (SIGBUS); "
    "run the same command again to continue\n"
)


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


class _Handler:
    """Raises at the first signal; later ones, while contexts are being left, print a line."""

    def __init__(self) -> None:
        self.first = -float("inf")

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self.first < PATIENCE:
            line = "harness: still writing what was encoded; only SIGKILL ends it at once\n"
            with contextlib.suppress(OSError):
                os.write(2, line.encode())  # sys.stderr may be in the middle of a line
            return
        self.first = now
        _raise(number)

    @contextlib.contextmanager
    def finalizers(self) -> Iterator[None]:
        """Repeat a signal that came in a finalizer, where Python only prints exceptions."""
        before = sys.unraisablehook

        def hook(unraisable: sys.UnraisableHookArgs) -> None:
            error = unraisable.exc_value
            if not isinstance(error, Terminated | KeyboardInterrupt):
                before(unraisable)
                return
            number = error.number if isinstance(error, Terminated) else signal.SIGINT
            self.first = -float("inf")
            again = threading.Timer(0.01, os.kill, (os.getpid(), number))  # after the finalizer
            again.daemon = True
            again.start()

        sys.unraisablehook = hook
        try:
            yield
        finally:
            sys.unraisablehook = before


def _raise(number: int) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Terminated(number)


@contextlib.contextmanager
def raised() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM and SIGHUP, and KeyboardInterrupt on SIGINT, in this context.

    A signal that is ignored stays ignored, as SIGHUP is under nohup. In another thread than the
    main one nothing changes. Processes that are forked in this context end with this process. At
    SIGBUS this process ends with a line.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler, before = _Handler(), {}
    for number in _numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    _forked_children.end_with(os.getpid())
    try:
        with handler.finalizers(), _ending_at_lost_pages():
            yield
    finally:
        _forked_children.end_with(None)
        for number, old in before.items():
            signal.signal(number, old)


@contextlib.contextmanager
def _ending_at_lost_pages() -> Iterator[None]:
    """End this process with a line at SIGBUS.

    A handler of the module `signal` runs after the instruction, which here never ends: the handler
    has to be one of C.
    """
    if os.name != "posix":
        yield
        return
    import ctypes

    def end(_number: int) -> None:
        os.write(2, _LOST_PAGE.encode())
        os._exit(1)

    install = ctypes.CDLL(None).signal
    install.argtypes, install.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    before = install(signal.SIGBUS, ctypes.cast(handler, ctypes.c_void_p))
    try:
        yield
    finally:
        install(signal.SIGBUS, before)


def end_with_parent(parent: int) -> None:
    """Send this process SIGTERM when the process `parent` ends, and SIGKILL 30 seconds later.

    On Linux the kernel sends SIGTERM, also when the thread that started this process ends.
    """
    _ask_kernel()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process after its parent: for other systems, and for a process that hangs."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _ask_kernel() -> None:
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class _ForkedChildren:
    """Ends the children that libraries fork from a command, such as spaCy's, with their parent."""

    def __init__(self) -> None:
        self._parent: int | None = None
        self._is_registered = False

    def end_with(self, parent: int | None) -> None:
        """Let children that are forked from now on end with `parent`; None lets them live."""
        self._parent = parent
        if not self._is_registered and hasattr(os, "register_at_fork"):
            self._is_registered = True
            os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        if self._parent is None:
            return
        parent, self._parent = self._parent, None
        for number in _numbers():
            if isinstance(signal.getsignal(number), _Handler):
                default = signal.default_int_handler
                signal.signal(number, default if number == signal.SIGINT else signal.SIG_DFL)
        _ask_kernel()
        if os.getppid() != parent:  # it ended before the kernel was asked
            os.kill(os.getpid(), signal.SIGTERM)


_forked_children = _ForkedChildren()


def _numbers() -> list[signal.Signals]:
    return [signal.Signals[name] for name in _NAMES if hasattr(signal, name)]
