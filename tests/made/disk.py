"""A disk that fails, and what a kill leaves, at every step of a piece of work.

Work that writes files makes steps: it opens a file for writing, writes, syncs, renames, removes,
truncates, makes a folder. While a context of this module is open, these steps of this process are
seen, at whatever path.

`failing(k)`
    The k-th step raises an error instead; a write writes half of its bytes first.

        with failing(k) as disk:
            work()
        disk.failed  # the step that failed; None if the work has fewer steps

`kills(root, work)`
    Runs the work, and returns what a kill would leave of the folder `root` before each step.

For one thread, on POSIX. Readers are not seen. What SQLite and other libraries in C write is not.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

Tree = dict[str, bytes | None]
"""Content by path below the root; None for a folder."""
OnStep = Callable[[str], None]


@dataclass
class Failing:
    """What `failing` saw."""

    steps: list[str] = field(default_factory=list)
    failed: str | None = None


@contextlib.contextmanager
def failing(k: int, error: Callable[[], BaseException] | None = None) -> Iterator[Failing]:
    """Let the k-th step fail, counted from 0, by default with an error of a full disk."""
    seen = Failing()

    def step(name: str) -> None:
        seen.steps.append(name)
        if len(seen.steps) == k + 1:
            seen.failed = name
            raise error() if error else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with _steps(step):
        yield seen


def kills(root: Path, work: Callable[[], object]) -> list[tuple[str, Tree]]:
    """Run `work`, and return what a kill would leave before each step, with the step's name.

    Content that is still in a buffer of the process is not there.
    """
    states: list[tuple[str, Tree]] = []
    with _steps(lambda name: states.append((name, tree(root)))):
        work()
    return states


def tree(root: Path) -> Tree:
    """Return the files of a folder by path, and its folders as None."""
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }


def restore(files: Tree, folder: Path) -> Path:
    """Make a folder hold these files, and no others."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, content in sorted(files.items()):
        if content is None:
            (folder / name).mkdir(parents=True, exist_ok=True)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    return folder


_OPEN = io.open


@contextlib.contextmanager
def _steps(step: OnStep) -> Iterator[None]:
    """Call `step` with the name of each step before it is made."""

    class Raw(io.FileIO):
        """A file whose writes are steps."""

        def write(self, content: Any, /) -> int:
            try:
                step("write")
            except OSError:
                super().write(memoryview(content)[: len(content) // 2])
                raise
            return super().write(content)

    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        text = {"encoding": encoding, "errors": errors, "newline": newline}
        if not set(mode) & set("wax+"):
            return _OPEN(file, mode, buffering, **text, closefd=closefd, opener=opener)
        if not isinstance(file, int):  # it is open already
            step("open")
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffered = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, **text)

    def write(file: int, content: bytes, /) -> int:
        try:
            step("write")
        except OSError:
            real_write(file, content[: len(content) // 2])
            raise
        return real_write(file, content)

    def fsync(file: Any, /) -> None:
        step("sync")

    def seen(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            step(name)
            return function(*arguments, **more)

        return call

    def seen_open(path: Any, flags: int, *arguments: Any, **more: Any) -> int:
        if flags & (os.O_CREAT | os.O_TRUNC):
            step("open")
        return real_open(path, flags, *arguments, **more)

    real_write, real_open = os.write, os.open
    names = {"rename": "rename", "replace": "rename", "unlink": "remove", "remove": "remove"}
    names |= {"mkdir": "make", "rmdir": "remove", "truncate": "truncate", "ftruncate": "truncate"}
    with contextlib.ExitStack() as stack:
        for function, name in names.items():
            stack.enter_context(patch.object(os, function, seen(name, getattr(os, function))))
        for place, function, replacement in (
            (os, "write", write),
            (os, "open", seen_open),
            (os, "fsync", fsync),
            (os, "fdatasync", fsync),
            (io, "open", opened),
            (builtins, "open", opened),
        ):
            if hasattr(place, function):
                stack.enter_context(patch.object(place, function, replacement))
        yield
