"""`harness results rerun`: what is run again, what differs, and what is never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from submission_records import changed, good_records, write

from harness.commands.main import run
from harness.leaderboard.boards import references
from harness.leaderboard.claims.trust import TOLERANCE
from harness.results.record import Record

TASKS = ("direct-bias", "ect-gender", "simlex-999")


def reference_records(**changes: object) -> list[Record]:
    """Return records of a registered model that needs no files."""
    return [
        changed(json.loads(record.line()), run="r1", **changes)
        for record in references.shipped()
        if record.model.name == "random-words" and record.task.name in TASKS
    ]


def verdicts(capsys, path: Path, *options: str) -> tuple[int, list[dict[str, str]]]:
    code = run(["results", "rerun", str(path), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path.parent / "cache"))


def test_right_values_are_the_same(tmp_path, capsys):
    write(tmp_path, reference_records())
    code, rows = verdicts(capsys, tmp_path, "--cells", "2")
    assert code == 0
    assert [row["outcome"] for row in rows] == ["same", "same"]
    assert {row["task"] for row in rows} < set(TASKS)


def test_what_the_base_has_is_not_run(tmp_path, capsys):
    base, fork = tmp_path / "base", tmp_path / "fork"
    records = reference_records()
    for folder in (base, fork):
        write(folder, [r for r in records if r.task.name != "direct-bias"])
    write(fork, [changed(json.loads(r.line()), run="r2") for r in records])
    _, rows = verdicts(capsys, fork, "--base", str(base), "--cells", "9")
    assert [row["task"] for row in rows] == ["direct-bias"]
    assert run(["results", "rerun", str(base), "--base", str(base)]) == 2
    assert "no new" in capsys.readouterr().err


def test_the_seed_chooses_the_cells(tmp_path, capsys):
    write(tmp_path, reference_records())
    tasks = {
        seed: verdicts(capsys, tmp_path, "--cells", "1", "--seed", seed)[1][0]["task"]
        for seed in ("0", "1", "2", "3", "4")
    }
    assert len(set(tasks.values())) > 1
    again = verdicts(capsys, tmp_path, "--cells", "1", "--seed", "3")[1][0]["task"]
    assert again == tasks["3"]


@pytest.mark.parametrize(("shift", "outcome"), [(0.5, "same"), (2.0, "differs")])
def test_a_value_may_differ_by_the_tolerance(tmp_path, capsys, shift, outcome):
    record = next(r for r in reference_records() if r.task.name == "direct-bias")
    assert record.value is not None
    unit = record.unit or 1.0
    moved = record.model_copy(update={"value": record.value + shift * TOLERANCE * unit})
    write(tmp_path, [moved])
    code, (row,) = verdicts(capsys, tmp_path)
    assert row["outcome"] == outcome
    assert code == (outcome == "differs")
    assert "direct_bias" in row["reason"]


def test_other_weights_under_a_registered_name_are_not_compared(tmp_path, capsys):
    write(tmp_path, reference_records(model__fingerprint="vectors-" + "a" * 32))
    code, rows = verdicts(capsys, tmp_path, "--cells", "1")
    assert (code, rows[0]["outcome"]) == (0, "cannot be run")
    assert "other weights" in rows[0]["reason"]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model__name": "vectors:../w.txt"}, "--trust-models"),
        ({"model__name": "someone/model?trust_remote_code=true"}, "--trust-models"),
        ({"mitigator__label": "anonymize?model=evil"}, "option"),
        ({"mitigator__label": "rm -rf"}, "not registered"),
        ({"task__name": "../evil.yaml"}, "not registered"),
    ],
)
def test_what_a_stranger_names_is_not_run(tmp_path, capsys, changes, word):
    write(tmp_path, reference_records(**changes)[:1])
    code, rows = verdicts(capsys, tmp_path)
    assert (code, rows[0]["outcome"]) == (0, "cannot be run")
    assert word in rows[0]["reason"]


def test_a_submission_without_records_is_a_mistake_of_usage(tmp_path, capsys):
    write(tmp_path, good_records()[:1]).write_text("{}\n")
    assert run(["results", "rerun", str(tmp_path)]) == 2
    assert "no valid records" in capsys.readouterr().err
