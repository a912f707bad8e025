"""Modules that one score enters: those in which a function is called between call and record.

    python perf/entered.py [--model glove-6b-50d] [--tasks weat-6] [--list]
    python perf/entered.py --model all-MiniLM-L6-v2 --tasks seat-c6
    python perf/entered.py --vectors

`harness eval` runs twice: first in a process of its own, which stores the vectors, then in this
one, where the calls of all threads are followed. So a warm run in one process is counted. Imports
are left out: the bodies of modules, and what is called while a module is imported, such as a
decorator. With `--vectors` the score is that of `harness.evaluate`, of a mapping from word to
vector, and its table is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

FOLDERS = ("harness.plugins", "harness.tasks", "harness.leaderboard", "harness")
"""`harness` comes last: where it is installed, the others are in it."""
HARNESS = "from harness.commands.main import main; main()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="glove-6b-50d")
    parser.add_argument("--tasks", default="weat-6")
    parser.add_argument("--vectors", action="store_true", help="of a mapping, in Python")
    parser.add_argument("--list", action="store_true", help="print the modules with their lines")
    arguments = parser.parse_args()
    with contextlib.redirect_stdout(io.StringIO()):
        count = of_vectors if arguments.vectors else of_command
        files = count(arguments)
    folders = [Path(importlib.import_module(name).__path__[0]) for name in FOLDERS]
    lines: dict[str, int] = {}
    for file in sorted(files):
        if folder := next((folder for folder in folders if file.is_relative_to(folder)), None):
            name = str(file.relative_to(folder.parent))
            lines[name] = len(file.read_text("utf-8").splitlines())
    if arguments.list:
        for name, count in lines.items():
            print(f"{count:6,} {name}")
    print(f"{len(lines)} modules of {sum(lines.values()):,} lines are entered")


class Calls(threading.local):
    """A function for `sys.setprofile` that collects the files whose functions are called."""

    def __init__(self, files: set[str]) -> None:
        self.files = files
        self.imports = 0  # modules whose bodies run in this thread

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Add the file of a call, unless it is part of an import."""
        is_module = frame.f_code.co_name == "<module>"
        if event == "call":
            self.imports += is_module
            if not self.imports:
                self.files.add(frame.f_code.co_filename)
        elif event == "return":
            self.imports -= is_module


def of_command(arguments: argparse.Namespace) -> set[Path]:
    """Return the files whose functions `harness eval` calls."""
    from harness.commands.main import run

    command = ["eval", "--model", arguments.model, "--tasks", arguments.tasks]
    command += ["--mitigator", "none", "--results"]
    with tempfile.TemporaryDirectory() as results:
        first = [sys.executable, "-c", HARNESS, *command, f"{results}/first"]
        subprocess.run(first, check=True, stdout=subprocess.DEVNULL)
        with called() as files:
            code = run([*command, f"{results}/second"])
    if code:
        sys.exit(code)
    return files


def of_vectors(arguments: argparse.Namespace) -> set[Path]:
    """Return the files whose functions a score of a mapping from word to vector calls."""
    import numpy as np

    import harness
    from harness.registry.registry import Registry

    inputs = Registry().task(arguments.tasks).needed_texts()
    words = dict.fromkeys(text for input_ in inputs for text in input_.texts or ())
    rng = np.random.default_rng(0)
    vectors = {word: rng.normal(size=8) for word in words}
    with tempfile.TemporaryDirectory() as cache:
        harness.evaluate(vectors, arguments.tasks, cache=cache)
        with called() as files:
            print(harness.evaluate(vectors, arguments.tasks, cache=cache))
    return files


@contextlib.contextmanager
def called() -> Iterator[set[Path]]:
    """Yield a set that has, at the end, the files whose functions were called in the context."""
    names: set[str] = set()
    files: set[Path] = set()
    calls = Calls(names)
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        files |= set(map(Path, names))


if __name__ == "__main__":
    main()
