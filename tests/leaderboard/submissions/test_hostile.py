"""Hostile and broken submissions: each is refused in one line, and no board changes by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_submissions import SUBMISSIONS, VICTIM, Hostile
from submission_records import good_records, write

from harness.commands.main import run

CASES = [pytest.param(hostile, id=hostile.name) for hostile in SUBMISSIONS]


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    """The results of two models."""
    folder = tmp_path_factory.mktemp("good")
    for name in (VICTIM, "model-b"):
        write(folder, good_records(name))
    return folder


def test_there_are_more_than_fifty_and_each_has_a_name_of_its_own():
    names = [hostile.name for hostile in SUBMISSIONS]
    assert len(names) > 50
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("hostile", CASES)
def test_it_is_refused_in_one_line_that_names_its_file(hostile: Hostile, good, tmp_path, capsys):
    file = hostile.make(tmp_path)
    comment = tmp_path.parent / "comment.md"
    options = ["--base", str(good), "--markdown", str(comment)]
    code = run(["results", "check", str(tmp_path / "results"), *options])
    said = capsys.readouterr()
    assert code == 1, said
    assert said.err == ""
    problems = [line for line in said.out.splitlines() if line.startswith(f"{file}")]
    assert problems, said.out
    assert max(map(len, problems)) < 600
    assert "Traceback" not in said.out
    written = comment.read_text("utf-8")
    assert "<script" not in written.replace("```text", "").split("```")[-1]
