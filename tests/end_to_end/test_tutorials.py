"""The tutorials, followed to the letter in a fresh environment.

A fence that follows a line with nothing but a file name in backquotes and a colon is that file. A
`console` fence is run, command by command. The lines of a `text` fence are printed by the commands
of the fence before it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT, run

PAGES = sorted((ROOT / "docs" / "tutorials").glob("my-*.md"))
FENCE = re.compile(
    r"(?:^`(?P<file>[^`\n]+)`:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
NOT_RUN = {"--include ./my-tasks": "it needs a folder of the reader's"}
"""Parts of commands that are not run, with the reason."""


def test_there_is_a_tutorial_for_each_kind_of_stub() -> None:
    assert [page.stem for page in PAGES] == ["my-metric", "my-mitigator", "my-model", "my-task"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_leads_to_a_printed_score(
    page: Path, make_environment: Callable[[str], Any], wheel: Path
) -> None:
    environment = make_environment(page.stem)
    environment.install(wheel)
    folder = environment.folder / "work"
    folder.mkdir()
    printed = ""
    scores = 0
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        text = fence["text"]
        if fence["file"]:
            path = folder / fence["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif fence["language"] == "console":
            commands = [line.removeprefix("$ ") for line in text.splitlines()]
            printed = "".join(follow(command, folder, environment) for command in commands)
        elif fence["language"] == "text":
            lines = [" ".join(line.split()) for line in printed.splitlines()]
            missing = [line for line in text.splitlines() if " ".join(line.split()) not in lines]
            assert not missing, f"{page.name} promises {missing}, printed was:\n{printed}"
            scores += 1
        elif fence["language"] == "python":
            environment.run(text)
    assert scores, f"{page.name} shows no score"


def follow(command: str, folder: Path, environment: Any) -> str:
    """Run a command as a reader of the page would; return what it prints."""
    if any(part in command for part in NOT_RUN):
        return ""
    program, *arguments = shlex.split(command)
    if program == "pip":
        assert arguments[:2] == ["install", "-e"]
        environment.install("-e", folder / arguments[2])
        return ""
    place = environment.folder / "bin" / program
    return run([str(place), *arguments], cwd=folder, HARNESS_CACHE=str(folder / "cache")).stdout
