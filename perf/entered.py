"""Modules that one score enters: those in which a function is called between call and record.

    python perf/entered.py [--model glove-6b-50d] [--tasks weat-6] [--list]
    python perf/entered.py --model all-MiniLM-L6-v2 --tasks seat-c6

`harness eval` runs twice: first in a process of its own, which stores the vectors, then in this
one, where the calls of all threads are followed. So a warm run in one process is counted. Imports
are left out: the bodies of modules, and what is called while a module is imported, such as a
decorator.
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
from collections.abc import Sequence
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
    parser.add_argument("--list", action="store_true", help="print the modules with their lines")
    arguments = parser.parse_args()
    command = ["eval", "--model", arguments.model, "--tasks", arguments.tasks]
    command += ["--mitigator", "none", "--results"]
    with tempfile.TemporaryDirectory() as results:
        first = [sys.executable, "-c", HARNESS, *command, f"{results}/first"]
        subprocess.run(first, check=True, stdout=subprocess.DEVNULL)
        with contextlib.redirect_stdout(io.StringIO()):
            files = called([*command, f"{results}/second"])
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


def called(command: Sequence[str]) -> set[Path]:
    """Return the files whose functions a command of `harness` calls."""
    from harness.commands.main import run

    files: set[str] = set()
    calls = Calls(files)
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        code = run(list(command))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        sys.exit(code)
    return {Path(file) for file in files}


if __name__ == "__main__":
    main()
