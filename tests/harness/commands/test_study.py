"""`harness study`: run, show and list; and studies in other commands."""

from __future__ import annotations

import csv
import json
import re

import pytest
import small_study
from jsonschema import Draft202012Validator
from study_records import records_of, study_part

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
}
WRITTEN = {
    *("chosen.csv", "table.csv", "table.md", "table.tex", "table.txt"),
    *("violins.pdf", "violins.svg"),
}


@pytest.fixture
def folder(tmp_path):
    """A folder with the small study."""
    folder = small_study.fill(tmp_path, small_study.vectors())
    (folder / "studies").mkdir()
    small_study.write(folder / "studies" / "small.yaml", small_study.content(folder))
    return folder


@pytest.fixture
def run(harness, folder):
    """Run the small study by its name."""

    def make(*more):
        options = ("--include", folder, "--results", folder / "results", "--workers", "1")
        return harness("study", "run", "small", *options, *more)

    return make


@pytest.fixture
def recorded(tmp_path):
    """Records of the study `toy`, from plain numbers."""
    results = tmp_path / "results"
    results.mkdir()
    path = results / "toy.study.jsonl"
    path.write_text("".join(record.line() for record in records_of(study_part(), DISTANCES)))
    return path


# --- run --------------------------------------------------------------------------------------


def _lines(text):
    """Return lines without the spaces at their ends, which a terminal gets and a file does not."""
    return [line.rstrip() for line in text.splitlines()]


def test_a_run_prints_its_table_and_writes_it_beside_the_records(run, harness, folder):
    result = run()
    assert result.code == 0, result.err
    records, beside = folder / "results" / "small.study.jsonl", folder / "results" / "small.study"
    assert result.out.startswith("A small study (small, on vectors:")
    last = result.out.splitlines()[-1]
    assert last.startswith("16 records, 16 of them new, ")
    assert str(records) in last
    assert last.endswith(str(beside))
    assert {path.name for path in beside.iterdir()} == WRITTEN
    text = (beside / "table.txt").read_text()
    assert _lines(result.out) == _lines(f"{text}{last}\n")
    assert "± " in text
    assert "Compared with hard-debias" in text
    lines = list(csv.DictReader((beside / "table.csv").open()))
    assert len(lines) == 2 * 4 * 2
    assert (beside / "violins.pdf").read_bytes().startswith(b"%PDF-")

    again = run("--json")
    (report,) = json.loads(again.out)
    assert (report["made"], report["records"]) == (0, str(records))
    (summary,) = report["summaries"]
    assert summary["complete"]
    assert len(summary["cells"]) == len(lines)
    shown = harness("study", "show", "small", "--results", folder / "results")
    assert _lines(shown.out) == _lines(text)


def test_failed_models_are_reported_and_have_no_tables(harness, folder):
    for name, number in (("a", 0), ("b", 1)):
        (folder / f"{name}.txt").write_text(f"career0 1 {number}\ncareer1 0 1\n")
    models = [f"vectors:{folder / name}.txt" for name in ("a", "b")]
    path = small_study.write(folder / "two.yaml", small_study.content(folder) | {"models": models})
    results = folder / "results"
    result = harness("study", "run", path, "--include", folder, "-r", results, "--workers", "1")
    assert result.code == 1
    assert result.out == f"0 records, 0 of them new, in {results / 'small.study.jsonl'}\n"
    assert [line.split("'")[0] for line in result.err.splitlines()] == [
        f"FAILED: {model}: " for model in models
    ]
    assert not (results / "small.study").exists()


def test_an_invalid_study_file_is_an_error_in_one_line(harness, folder):
    content = small_study.content(folder) | {"folds": 9}
    path = small_study.write(folder / "wrong.yaml", content)
    result = harness("study", "run", path, "--include", folder)
    assert result.code == 2
    assert result.err.startswith(f"harness: {path}:7: folds: 9 folds")
    assert result.err.count("\n") == 1


# --- show -------------------------------------------------------------------------------------


def test_records_are_shown_by_name_and_by_path(harness, recorded):
    by_path = harness("study", "show", recorded)
    by_name = harness("study", "show", "toy", "-r", recorded.parent)
    assert by_path == by_name
    assert by_name.code == 0
    assert "−1.090 ± 0.190 (↑*)" in by_name.out
    assert "not told apart: new by ECT" in by_name.out


def test_what_is_shown_of_a_study(transcript, golden, recorded):
    golden("study", transcript("study show toy", "study show tay"))


def test_an_incomplete_study_is_shown_with_a_note_and_exit_code_1(harness, recorded):
    lines = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(lines[:-1]))
    result = harness("study", "show", recorded)
    assert result.code == 1
    assert re.search(r"^note: incomplete: .*'new' has 2", result.out, re.MULTILINE)


def test_anything_but_the_records_of_a_study_is_an_error_in_one_line(harness, recorded):
    folder = recorded.parent
    other = folder / "evaluated.jsonl"
    other.write_text('{"schema": 1}\n')
    empty = folder / "empty.study.jsonl"
    empty.write_text("")
    for argument, facts in (
        ("tay", ("'tay'", f"'{folder}'", "'toy'", "harness study run")),
        (folder / "no.study.jsonl", ("no.study.jsonl: no such file",)),
        (folder, (f"{folder}: is a folder", ".study.jsonl")),
        (other, (f"{other}:1: ", ".study.jsonl")),
        (empty, (f"{empty}: ", "no records")),
    ):
        result = harness("study", "show", argument, "-r", folder)
        assert result.code == 2
        assert all(fact in result.err for fact in facts), result.err
        assert result.err.count("\n") == 1


# --- other commands ----------------------------------------------------------------------------


def test_a_study_is_shown_with_its_grid_and_pairs(harness, folder):
    result = harness("show", "study", "small", "--include", folder, "--json")
    facts = json.loads(result.out)
    assert facts["settings"] == {"none": 1, "normalize": 1, "hard-debias": 2, "leace": 1}
    assert len(facts["definitional_pairs"]) == 8


def test_a_study_is_validated_with_the_folder_it_lies_in(harness, folder):
    path = folder / "studies" / "small.yaml"
    result = harness("validate", path)
    line = result.out.splitlines()[0]
    for fact in (f"{path}: ", "'small'", "8 ", "4 folds", "4 rows", "5 settings", "2 measures"):
        assert fact in line
    assert result.code == 0
    assert "study 'small'" in harness("validate", folder).out


def test_a_study_file_and_its_records_fit_the_schemas(harness, folder, recorded):
    schema = json.loads(harness("schema", "study").out)
    content = json.loads(json.dumps(small_study.content(folder)))
    Draft202012Validator(schema).validate(content)
    assert not Draft202012Validator(schema).is_valid(content | {"foldz": 3})
    schema = json.loads(harness("schema", "study-record").out)
    Draft202012Validator(schema).validate(json.loads(recorded.read_text().splitlines()[0]))
