"""`harness results pack`: what is in a submission, what is left out, and that nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from submission_records import changed, good_records

from harness.commands.main import run
from harness.leaderboard.submissions import submission
from harness.leaderboard.submissions.check import check
from harness.results.folder import ResultsFile
from harness.results.record import Record

TASK = """
name: mine
version: 1
title: Mine
category: test
inputs:
  targets_1: {words: [he]}
  targets_2: {words: [she]}
  attributes_1: {words: [captain]}
  attributes_2: {words: [nurse]}
metrics: {weat: {}}
primary: {metric: weat, score: effect_size}
"""
RUN_FILE = "models: [good-words]\ntasks: [weat, simlex-999]\nexclude: [weat-3]\nconcept: religion\n"


def content(record: Record) -> dict:
    return record.model_dump(mode="json", by_alias=True)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder of one model with four records, as an evaluation writes it."""
    folder = tmp_path / "results"
    ResultsFile(folder, "good-words").add(good_records(run="aaaaaaaaaaaa", tasks=4))
    return folder


def pack(results: Path, out: Path, *options: str) -> int:
    return run(["results", "pack", str(results), "--out", str(out), "--by", "Ada", *options])


def packed(out: Path) -> list[Record]:
    lines = [line for file in out.rglob("*.jsonl") for line in file.read_text().splitlines()]
    return [Record.model_validate_json(line) for line in lines]


def test_what_is_packed_passes_the_check_and_says_who_and_how(results, tmp_path, capsys):
    out = tmp_path / "out"
    (results / "runs").mkdir()
    (results / "runs" / "aaaaaaaaaaaa.yaml").write_text(RUN_FILE)
    assert pack(results, out, "--licence", "cc-by-4.0", "--contact", "https://a.example") == 0
    assert "harness results check" in capsys.readouterr().out
    checked = check([out])
    assert checked.problems == ()
    assert len(checked.records) == 4
    (file,) = out.rglob("*.jsonl")
    assert file.relative_to(out).parts[:2] == ("results", "good-words")
    entry = submission.read(file.parent)["aaaaaaaaaaaa"]
    assert (entry.submitted_by, entry.licence) == ("Ada", "CC-BY-4.0")
    assert entry.contact == "https://a.example"
    assert entry.command == (
        "harness eval --model good-words --mitigator none --tasks weat,simlex-999 "
        "--exclude weat-3 --concept religion"
    )


def test_a_path_in_the_file_of_a_run_is_not_in_the_command(results, tmp_path):
    (results / "runs").mkdir()
    text = RUN_FILE.replace("weat,", "/home/ada/mine.yaml,")
    (results / "runs" / "aaaaaaaaaaaa.yaml").write_text(text)
    assert pack(results, tmp_path / "out") == 0
    (file,) = (tmp_path / "out").rglob("*.jsonl")
    command = submission.read(file.parent)["aaaaaaaaaaaa"].command
    assert "/home" not in command
    assert "--tasks " + ",".join(sorted({r.task.name for r in packed(tmp_path / "out")})) in command


def test_a_second_run_changes_nothing(results, tmp_path, capsys):
    out = tmp_path / "out"
    assert pack(results, out) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert pack(results, out) == 0
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert "unchanged" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["records", "entry"])
def test_a_file_that_differs_is_not_replaced(results, tmp_path, capsys, what):
    out = tmp_path / "out"
    assert pack(results, out) == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    if what == "records":
        ResultsFile(results, "good-words").add(good_records(run="aaaaaaaaaaaa", tasks=5))
    options = ["--contact", "https://b.example"] if what == "entry" else []
    assert pack(results, out, *options) == 2
    assert "choose another --out" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_later_run_joins_the_first(results, tmp_path):
    out = tmp_path / "out"
    assert pack(results, out) == 0
    ResultsFile(results, "good-words").add(good_records(run="bbbbbbbbbbbb", tasks=6)[4:])
    assert pack(results, out) == 0
    (folder,) = {file.parent for file in out.rglob("*.jsonl")}
    assert set(submission.read(folder)) == {"aaaaaaaaaaaa", "bbbbbbbbbbbb"}
    assert check([out]).problems == ()


def test_what_a_check_would_refuse_is_left_out_with_its_reason(results, tmp_path, capsys):
    record = content(good_records(run="aaaaaaaaaaaa")[5])
    file = ResultsFile(results, "good-words")
    file.add([changed(record, limit=3, task__digest="cut")])
    file.add([changed(record, mitigator__params={"file": "/home/ada/words.txt"}, seed=5)])
    assert pack(results, tmp_path / "out") == 0
    err = capsys.readouterr().err
    assert "smoke run" in err
    assert "path of a machine" in err
    assert len(packed(tmp_path / "out")) == 4


def test_a_task_that_is_not_registered_is_left_out_unless_it_is_included(results, tmp_path, capsys):
    record = content(good_records(run="aaaaaaaaaaaa")[0])
    mine = changed(record, task__name="mine", task__digest="mine")
    ResultsFile(results, "good-words").add([mine])
    assert pack(results, tmp_path / "out") == 0
    assert "1 record left out" in (err := capsys.readouterr().err)
    assert "mine" in err
    assert len(packed(tmp_path / "out")) == 4
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "mine.yaml").write_text(TASK)
    assert run(["validate", str(folder / "mine.yaml")]) == 0
    pack(results, tmp_path / "included", "--include", str(folder))
    assert "not registered" not in capsys.readouterr().err


def test_tables_and_samples_stay_at_home(results, tmp_path):
    record = content(good_records(run="aaaaaaaaaaaa")[0])
    places = {"tables": {"words": "tables/x.tsv"}}
    line = json.dumps(record | places | {"samples": "samples/x.samples.jsonl"})
    (results / "good-words.jsonl").write_text(line + "\n")
    assert pack(results, tmp_path / "out") == 0
    (kept,) = packed(tmp_path / "out")
    assert (kept.tables, kept.samples) == ({}, None)


def test_a_name_of_a_model_cannot_leave_the_folder(tmp_path):
    results, out = tmp_path / "results", tmp_path / "out"
    ResultsFile(results, "m").add(good_records("a/../../../escaped", run="aaaaaaaaaaaa", tasks=2))
    assert pack(results, out) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"results", "out"}
    assert [path.name for path in out.iterdir()] == ["results"]
