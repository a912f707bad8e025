"""Texts of others cannot act on a terminal, wherever commands print them."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Fault
from score_records import record

from harness.commands import main
from harness.results.jsonl import RecordsFile
from harness.results.record import Record

pytestmark = pytest.mark.posix

CODES = (
    *("\x1b]0;EVIL\x07", "\x1b[2J", "\x1b[8m", "\x1b[31m", "\x1b[1A\x1b[2K", "\x1bc", "\x1b[?25l"),
    *("\x1b]8;;https://evil.example\x1b\\", "\x1b]52;c;RVZJTA==\x07", "\x1bP+q544e\x1b\\"),
    *("\x9b2J", "\x9d0;EVIL\x9c", "\r", "\b\b\b", "\x00", "\x07", "\x0b", "\x0c", "\x7f", "\x85"),
    *("\x8e", "\u2028", "\u2029", "\u202e", "\u202d", "\u2066", "\u2067", "\u2069", "\u200e"),
    *("\u200f", "\u061c", "\ufeff", "\U000e0041", "\u2060", "\xad"),
)
TEXTS = (*(f"a{code}b" for code in CODES), *(f"{code * 3}EVIL" for code in CODES))
HOSTILE = (*TEXTS[:50], f"{'x' * 900}\x1b[2J")
OWN = re.compile(
    r"\x1b\[([0-3]|32|35|38;[\d;]+|39|9\d)?m|\x1b\[\?25[lh]|\x1b\[1A|\x1b\[2K|\r(?=\n|\x1b\[2K|random)"
)
"""What the harness itself writes on a terminal: bold, dim and italic, and progress bars."""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that runs a command on a pseudo-terminal, and returns all it shows."""

    def run(*arguments: object) -> str:
        master, slave = pty.openpty()
        shown: list[bytes] = []

        def read() -> None:
            try:
                while part := os.read(master, 65_536):
                    shown.append(part)
            except OSError:  # the end, on Linux
                pass

        reader = threading.Thread(target=read)
        reader.start()
        with os.fdopen(slave, "w", encoding="utf-8") as terminal, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            main.run([str(argument) for argument in arguments])
        reader.join()
        os.close(master)
        return b"".join(shown).decode()

    return run


def check(shown: str, *facts: str) -> None:
    """Assert that nothing acts on the terminal, and that the facts were shown."""
    assert "Traceback" not in shown
    assert "unexpected" not in shown
    for fact in facts:
        assert fact in shown
    rest = OWN.sub("", OWN.sub("", shown))
    acting = {c for c in rest if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n", "\t"}
    assert not acting, [line for line in rest.split("\n") if acting & set(line)][:3]
    for code in ("\x1b[8m", "\x1b[31m", "\x1b[2J"):
        assert code not in shown


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder of results whose names and reasons are hostile."""
    records = [
        record(
            f"t{i % 3}{text}", text or "none", None if i % 3 == 1 else 0.5, model=f"{i % 5}{text}",
            **({"reason": text} if i % 3 == 1 else {}),
        )
        for i, text in enumerate(HOSTILE)
    ]  # fmt: skip
    RecordsFile(tmp_path / "results" / "records.jsonl", Record).add(records)
    return tmp_path / "results"


@pytest.mark.parametrize(
    "command",
    [
        ("results", "show"),
        ("results", "export", "--format", "csv"),
        ("cite",),
    ],
    ids=" ".join,
)
def test_results_of_others(screen, results, command):
    check(screen(*command, results))


def test_names_of_files_and_things(screen, tmp_path):
    names = [re.sub(r"[\0/]", "", text)[:80] for text in HOSTILE]
    for name in names:
        (tmp_path / f"{name}.yaml").write_text("name: [", "utf-8")
    check(screen("validate", *tmp_path.glob("*.yaml")))
    for name in names[:9]:
        check(screen("show", "task", name), "unknown task")
        check(screen("eval", "-m", name, "-t", "weat-1"))
        check(screen("eval", "-m", "random-words", "-M", name, "-t", "weat-1"))


def test_errors_of_a_server(screen, loopback, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    model = f"openai:m?base_url={loopback.url}&retries=0"
    for i in range(0, len(CODES), 6):
        text = "EVIL".join(("said", *CODES[i : i + 6]))
        body = json.dumps({"error": {"message": text, "type": text}}).encode()
        loopback.always = lambda _, body=body: Fault(status=400, body=body)
        shown = screen("eval", "-m", model, "-t", "weat-1", "--results", tmp_path / str(i))
        check(shown, "said")


def test_errors_of_a_plugin(screen, install):
    text = "EVIL".join(("said", *CODES))
    install("hostile", {"hostile": "hostile_module"}, hostile_module=f"raise ValueError({text!r})")
    check(screen("plugins"), "said")
    check(screen("list", "tasks"), "said")
