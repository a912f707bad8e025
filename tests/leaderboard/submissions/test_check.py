"""`harness results check`: a good submission passes, and the base stays as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from submission_records import changed, good_records, write

from harness.commands.main import run
from harness.leaderboard.submissions import submission
from harness.leaderboard.submissions.check import check
from harness.leaderboard.submissions.init import PROJECT


def reasons(paths: Path | list[Path], base: Path | None = None) -> list[str]:
    paths = [paths] if isinstance(paths, Path) else paths
    return [str(problem) for problem in check(paths, base).problems]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A repository with two models."""
    folder = tmp_path / "base"
    for name in ("model-a", "model-b"):
        write(folder, good_records(name))
    (folder / "README.md").write_text("a board")
    return folder


@pytest.fixture
def fork(base: Path, tmp_path: Path) -> Path:
    """A changed copy of it, with one new model."""
    folder = tmp_path / "fork"
    shutil.copytree(base, folder)
    write(folder, good_records("model-c"))
    return folder


def test_a_good_submission_is_valid(capsys, tmp_path):
    records = good_records()
    write(tmp_path, records)
    assert run(["results", "check", str(tmp_path)]) == 0
    assert f"valid; {len(records)} new records" in capsys.readouterr().out


def test_only_what_the_base_lacks_is_new(base, fork):
    checked = check([fork], base)
    assert checked.problems == ()
    assert {record.model.name for record in checked.records} == {"model-c"}


def test_a_file_of_the_base_that_is_gone_is_a_problem(base, fork):
    shutil.rmtree(next((fork / "results").glob("model-a")))
    gone = reasons(fork, base)
    assert len(gone) == 2, "the records and submission.json"
    assert "model-a" in gone[0]
    assert "gone" in gone[0]


def test_a_line_of_the_base_that_is_gone_or_changed_is_a_problem(base, fork):
    file = next((fork / "results" / "model-a").rglob("r1.jsonl"))
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:1] + lines[2:]))
    (problem,) = reasons(fork, base)
    assert str(file) in problem
    assert "line 2 of the base" in problem


def test_an_entry_of_the_base_cannot_get_another_name(base, fork):
    file = next((fork / "results" / "model-a").rglob("submission.json"))
    file.write_text(file.read_text().replace("Ada Example", "Eve Example"))
    (problem,) = reasons(fork, base)
    assert str(file) in problem
    assert "runs.r1" in problem


def test_a_second_run_of_a_model_of_the_base_is_valid(base, tmp_path):
    records = good_records("model-a", run="r2")
    seeded = [changed(r.model_dump(mode="json", by_alias=True), seed=1) for r in records]
    write(tmp_path / "packed", seeded, submitted_by="Eve Example")
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    assert len(checked.records) == len(records)


def test_records_that_the_base_has_are_known_not_new(base, tmp_path):
    write(tmp_path / "packed", good_records("model-a", run="r2"))
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    assert (len(checked.records), checked.known) == (0, len(good_records()))


def test_a_fingerprint_of_the_base_keeps_its_name(base, tmp_path):
    records = [
        changed(record.model_dump(mode="json", by_alias=True), model__name="mine")
        for record in good_records("model-a", run="r2")
    ]
    write(tmp_path / "packed", records)
    found = reasons(tmp_path / "packed", base)
    assert len(found) == len(records)
    assert "'model-a'" in found[0]


def test_a_maintainer_is_warned_of_a_known_name_with_other_weights(base, tmp_path):
    records = [
        changed(json.loads(record.line()), model__fingerprint="vectors-" + "a" * 32)
        for record in good_records("model-a", run="r2")
    ]
    write(tmp_path / "packed", records)
    checked = check([tmp_path / "packed"], base)
    assert checked.problems == ()
    (warning,) = checked.warnings
    assert "'model-a'" in str(warning)


@pytest.mark.parametrize(
    ("fingerprint", "name", "is_refused"),
    [
        ("unnamed-" + "a" * 32, "mine", True),
        ("mock-text-16", "mock-text", True),
        ("random-texts-300", "random-texts", False),
        ("vectors-" + "a" * 32, "mine", False),
    ],
)
def test_a_model_that_nobody_can_repeat_is_refused(fingerprint, name, is_refused):
    record = changed(
        good_records()[0].model_dump(mode="json", by_alias=True),
        model__name=name,
        model__fingerprint=fingerprint,
    )
    reason = submission.refusal(record.model, frozenset({"random-texts"}))
    assert bool(reason) == is_refused


def test_a_model_of_a_plugin_needs_a_hash_for_boards_that_lack_the_plugin():
    model = changed(json.loads(good_records()[0].line()), model__fingerprint="good-1").model
    plugin = {model.name: "'mine' (harness-mine 0.1.0)"}
    assert submission.refusal(model, plugin) == ""
    assert "lacks its plugin 'mine' (harness-mine 0.1.0)" in submission.warning(model, plugin)
    shipped = {model.name: f"'builtin-embedders' ({PROJECT} 0.1.0)"}
    assert submission.warning(model, shipped) == ""
