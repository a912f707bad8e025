"""A reader can follow one text from task file to record through eight modules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import FrameType

import harness
from harness.embedder import MockEmbedder

ROOT = Path(__file__).parents[2]
PAGE = "docs/how-it-works.md"
TASK = """
name: one-text
version: 1
title: One text
category: test
inputs:
  targets_1: {words: [he]}
  targets_2: {words: [she]}
  attributes_1: {words: [captain], template: job}
  attributes_2: {words: [nurse], template: job}
templates:
  job: "This person works as {text}."
metrics:
  weat: {}
primary: {metric: weat, score: effect_size}
"""


def modules_of_the_page() -> list[str]:
    """Return the modules in the table that follows one text."""
    section = (ROOT / PAGE).read_text(encoding="utf-8").split("\n## One text", 1)[1]
    return re.findall(r"^\| `([\w/]+\.py)` \|", section.split("\n## ", 1)[0], re.MULTILINE)


def test_the_page_names_at_most_eight_modules_and_they_exist() -> None:
    named = modules_of_the_page()
    assert 0 < len(set(named)) <= 8
    assert [name for name in named if not (ROOT / "harness" / name).is_file()] == []


def test_a_text_goes_through_the_modules_that_the_page_names(tmp_path: Path) -> None:
    home = str(Path(harness.__file__).parent)
    entered: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(home):
            entered.add(Path(name).relative_to(home).as_posix())

    (tmp_path / "one-text.yaml").write_text(TASK)
    task = str(tmp_path / "one-text.yaml")
    harness.evaluate(MockEmbedder(), task, cache=tmp_path / "before")  # imports, unwatched
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        records = harness.evaluate(MockEmbedder(), task, results=tmp_path, cache=tmp_path)
    finally:
        sys.setprofile(before)
    assert len(records)
    assert set(modules_of_the_page()) - entered == set()


def test_a_score_of_a_mapping_enters_at_most_45_modules() -> None:
    command = [sys.executable, str(ROOT / "perf/entered.py"), "--vectors"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(printed.split()[0]) <= 45, printed
