"""Golden files: what a command prints, compared with a file in `golden/`.

`UPDATE_GOLDEN=1 python -m pytest tests/harness/commands` rewrites the files; read the difference
before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.commands import main, results

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(autouse=True)
def commands_of_this_test(monkeypatch):
    """Forget the commands that a test's plugins add to the program."""
    for group in (main.group, results.command):  # plugins may add to both
        monkeypatch.setattr(group, "commands", dict(group.commands))


@pytest.fixture
def golden():
    """Compare a text with a golden file: `golden("list", text)`."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("UPDATE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        assert text == expected, f"{path.name} differs; UPDATE_GOLDEN=1 rewrites it"

    return check


@pytest.fixture
def transcript(harness, tmp_path, monkeypatch):
    """Run command lines and return what a user sees: the lines, the output, the exit codes."""
    monkeypatch.setenv("COLUMNS", "80")  # click wraps help at the width of the terminal
    monkeypatch.chdir(tmp_path)

    def run(*lines: str) -> str:
        parts = []
        for line in lines:
            result = harness(*line.split())
            code = f"[exit code {result.code}]\n" if result.code else ""
            parts.append(f"$ harness {line}\n{result.out}{result.err}{code}")
        rows = "\n".join(parts).replace(str(tmp_path), "TMP").splitlines()
        return "\n".join(row.rstrip() for row in rows) + "\n"

    return run
