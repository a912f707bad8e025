"""A disk that fails, or loses its power: which files survive, at every step of a piece of work.

Work that writes files makes steps: it opens a file for writing, writes, syncs, renames, removes,
truncates, makes a folder. While a context of this module is open, these steps of this process are
seen, at whatever path.

`failing(k)`
    The k-th step raises an error instead; a write writes half of its bytes first.

        with failing(k) as disk:
            work()
        disk.failed  # the step that failed; None if the work has fewer steps

`power_cuts(root, work, promised)`
    Runs the work once. Before each step, and at the end, it yields what a disk could hold of the
    folder `root` after a power cut, with what had been promised until then:

        kept = set()
        for cut in power_cuts(root, work, lambda: set(kept)):
            cut.restore(folder)  # as it would be found
            assert cut.promised <= set(read(folder)), cut

    It yields each state of `STATES`: a file's content is safe when the file was synced, and its
    name when its folder was synced; what is not safe may be there or not.

For one thread, on POSIX. Readers are not seen. What SQLite and other libraries in C write is not.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import errno
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

Tree = dict[str, bytes | None]
"""Content by path below the root; None for a folder."""
Result = TypeVar("Result")
OnStep = Callable[[str], None]

STATES = ("synced", "named", "torn", "whole")
"""What a power cut may leave: only what is safe; all names with the safe contents; all names with
half of what is not safe; everything, as after a kill."""


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


@dataclass(frozen=True)
class Cut:
    """A state of the disk after a power cut."""

    step: str
    state: str
    promised: Any
    tree: Tree = field(repr=False)

    def restore(self, folder: Path) -> Path:
        """Write the files that survived to a folder, which is emptied first."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path, content in sorted(self.tree.items()):
            if content is None:
                (folder / path).mkdir(parents=True, exist_ok=True)
            else:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
        return folder


def power_cuts(
    root: Path, work: Callable[[], object], promised: Callable[[], object] = lambda: None
) -> Iterator[Cut]:
    """Run `work`, and yield each distinct state that a power cut could leave."""
    disk, cuts = _Disk(root), []

    def step(name: str) -> None:
        for state in STATES:
            cuts.append(Cut(name, state, copy.copy(promised()), disk.tree(state)))

    with contextlib.closing(disk):
        with _steps(step, disk.sync):
            work()
        step("end")
    before: dict[str, tuple[object, Tree]] = {}
    for cut in cuts:
        if before.get(cut.state) != (cut.promised, cut.tree):
            before[cut.state] = (cut.promised, cut.tree)
            yield cut


def kills(root: Path, work: Callable[[], Result], states: list[tuple[str, Tree]]) -> Result:
    """Run `work`, note before each step what a kill would leave, and return its result.

    Content that is still in a buffer of the process is not there.
    """

    def step(name: str) -> None:
        states.append((name, _whole(root)))

    with _steps(step):
        return work()


def _whole(root: Path) -> Tree:
    tree: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        tree[name] = None if path.is_dir() else _content(path)
    return tree


class _Disk:
    """What is safe of a folder: the contents of synced files, the names in synced folders."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._contents: dict[int, bytes] = {}  # by inode
        self._names: dict[int, dict[str, tuple[int, bool]]] = {}  # inode and is folder, by name
        self._held: dict[int, int] = {}  # open files by inode: it is not used again
        for path in (root, *root.rglob("*")):
            opened = os.open(path, os.O_RDONLY)
            self.sync(opened)
            os.close(opened)

    def sync(self, opened: int) -> None:
        """Take note that an open file or folder was synced."""
        state = os.fstat(opened)
        if state.st_ino not in self._held:
            self._held[state.st_ino] = os.dup(opened)
        if stat.S_ISDIR(state.st_mode):
            with os.scandir(opened) as entries:
                self._names[state.st_ino] = {
                    entry.name: (entry.inode(), entry.is_dir()) for entry in entries
                }
        else:
            self._contents[state.st_ino] = _content(f"/dev/fd/{opened}")

    def tree(self, state: str) -> Tree:
        """Return what a power cut leaves."""
        return self._safe(self.root.stat().st_ino, "") if state == "synced" else self._now(state)

    def close(self) -> None:
        for opened in self._held.values():
            os.close(opened)

    def _safe(self, folder: int, prefix: str) -> Tree:
        tree: Tree = {}
        for name, (inode, is_folder) in self._names.get(folder, {}).items():
            if is_folder:
                tree |= {prefix + name: None} | self._safe(inode, f"{prefix}{name}/")
            else:
                tree[prefix + name] = self._contents.get(inode, b"")
        return tree

    def _now(self, state: str) -> Tree:
        tree: Tree = {}
        for path in self.root.rglob("*"):
            name = path.relative_to(self.root).as_posix()
            if path.is_dir():
                tree[name] = None
                continue
            now, safe = _content(path), self._contents.get(path.stat().st_ino, b"")
            start = len(safe) if now.startswith(safe) else 0
            half = now[: start + (len(now) - start) // 2]
            tree[name] = {"named": safe, "torn": half, "whole": now}[state]
        return tree


def _content(path: str | Path) -> bytes:
    with _OPEN(path, "rb") as file:
        content: bytes = file.read()
    return content


_OPEN = io.open


@contextlib.contextmanager
def _steps(step: OnStep, synced: Callable[[int], None] = lambda opened: None) -> Iterator[None]:
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
        synced(file if isinstance(file, int) else file.fileno())

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
