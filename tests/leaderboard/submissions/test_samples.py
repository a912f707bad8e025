"""The strongest items of a submission: packed, checked against the tasks, merged, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evidence_items import results_with_items

from harness.commands.main import run
from harness.leaderboard.claims.evidence import Extract
from harness.leaderboard.submissions.check import check

Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    """A submission with the items of one score."""
    folder = tmp_path_factory.mktemp("packed")
    results_with_items(folder / "results")
    options = ["--out", str(folder / "out"), "--by", "Ada"]
    assert run(["results", "pack", str(folder / "results"), *options]) == 0
    return folder / "out"


@pytest.fixture
def submission(packed: Path, tmp_path: Path) -> Path:
    """A copy of the submission, which a test may spoil."""
    copy = tmp_path / "submission"
    for file in packed.rglob("*.json*"):
        target = copy / file.relative_to(packed)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return copy


def samples_of(submission: Path) -> Path:
    (file,) = submission.rglob("*.samples.jsonl")
    return file


def test_the_items_are_beside_the_records_of_the_run_and_pass_the_check(packed):
    file = samples_of(packed)
    assert file.with_name("aaaaaaaaaaaa.jsonl").is_file()
    (line,) = file.read_text().splitlines()
    extract = Extract.model_validate_json(line)
    assert (extract.items, len(extract.strongest)) == (32, 32)
    assert extract.strongest[0].texts is not None
    assert check([packed]).problems == ()


def test_merge_adds_items_once_and_a_later_submission_may_bring_them(submission, tmp_path, capsys):
    board = tmp_path / "board"
    samples, content = samples_of(submission), samples_of(submission).read_bytes()
    samples.unlink()
    assert run(["results", "merge", str(submission), "--into", str(board)]) == 0
    samples.write_bytes(content)
    assert run(["results", "merge", str(submission), "--into", str(board)]) == 0
    assert "strongest items of 1 record" in capsys.readouterr().out
    assert samples_of(board).read_bytes() == content
    assert run(["results", "merge", str(submission), "--into", str(board)]) == 0
    assert "strongest" not in capsys.readouterr().out
    assert samples_of(board).read_bytes() == content
    assert check([submission], board).problems == ()


def test_items_of_the_base_may_not_go_in_a_copy_of_it(submission, tmp_path):
    board = tmp_path / "board"
    assert run(["results", "merge", str(submission), "--into", str(board)]) == 0
    (submission / "README.md").write_text("a copy of the base")
    samples_of(submission).unlink()
    reasons = [problem.reason for problem in check([submission], board).problems]
    assert any("the base has it, and it is gone" in reason for reason in reasons)


def text(value: Any, of: str = "strongest") -> Edit:
    return lambda line: line[of][0].update(texts=value)


def first(**changes: Any) -> Edit:
    return lambda line: line["strongest"][0].update(changes)


def whole(**changes: Any) -> Edit:
    return lambda line: line.update(changes)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (text(["<script>alert(1)</script>"]), "another text"),
        (text(["programmer"]), "another text"),
        (text(["x" * 50_000]), "at most 16,000"),
        (text([]), "texts"),
        (first(of=["no-such-input"]), "no input with texts"),
        (first(of=[]), "of"),
        (first(value=float("nan")), "NaN"),
        (first(value=1e9), "not the mean"),
        (first(link="https://spam.example"), "link"),
        (whole(items=31), "32 items of 31"),
        (whole(schema=2), "newer"),
        (lambda line: line["strongest"].reverse(), "not in order"),
        (lambda line: line["strongest"].insert(0, line["strongest"][0]), "33 items of 32"),
    ],
)
def test_an_edited_line_is_refused_in_one_line(submission, edit, reason, capsys):
    file = samples_of(submission)
    content = json.loads(file.read_text())
    del content["check"]
    edit(content)
    file.write_text(json.dumps(content, ensure_ascii=False) + "\n")
    refused(submission, file, reason, capsys)


def refused(submission: Path, file: Path, reason: str, capsys: Any) -> None:
    """Check that the command says one line about the file, of a bounded length."""
    assert run(["results", "check", str(submission)]) == 1
    said = capsys.readouterr()
    (problem,) = (line for line in said.out.splitlines() if line.startswith(str(file)))
    assert reason in problem, problem
    assert len(problem) < 600
    assert problem.isprintable()
    assert said.err == ""


def test_a_line_of_another_task_is_refused(submission, capsys):
    file = samples_of(submission)
    content = json.loads(file.read_text())
    records = map(json.loads, file.with_name("aaaaaaaaaaaa.jsonl").read_text().splitlines())
    other = next(r for r in records if r["task"]["name"] == "weat-7" and r["primary"])
    for i, value in enumerate(content["strongest"]):
        value["value"] = other["value"] + (0.5 if i % 2 else -0.5)
    content["strongest"].sort(key=lambda item: -abs(item["value"]))
    del content["check"]
    file.write_text(json.dumps(content | {"id": other["id"]}) + "\n")
    refused(submission, file, "weat-7", capsys)


def test_a_link_and_a_file_without_its_run_are_refused(submission, tmp_path, capsys):
    file = samples_of(submission)
    alone = file.with_name("bbbbbbbbbbbb.samples.jsonl")
    alone.write_bytes(file.read_bytes())
    refused(submission, alone, "no file bbbbbbbbbbbb.jsonl beside it", capsys)
    alone.unlink()
    (tmp_path / "secret").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(tmp_path / "secret")
    refused(submission, file, "a link", capsys)


def test_merge_takes_no_line_that_is_wrong_in_itself(submission, tmp_path, capsys):
    file = samples_of(submission)
    file.write_bytes(file.read_bytes() + b"{}\n" + file.read_bytes()[:50])
    assert run(["results", "merge", str(submission), "--into", str(tmp_path / "board")]) == 1
    assert "torn" in capsys.readouterr().err
    assert len(samples_of(tmp_path / "board").read_text().splitlines()) == 1
