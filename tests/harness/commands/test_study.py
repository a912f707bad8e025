"""`harness study`: run, show and list; and what other commands know of studies."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import small_study
import yaml
from jsonschema import Draft202012Validator
from study_records import records_of, study_part

import harness.tasks

SHIPPED = Path(harness.tasks.__file__).parent / "studies"
DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
}
WRITTEN = {
    *("chosen.csv", "plotly.min.js", "table.csv", "table.md", "table.tex", "table.txt"),
    "violins.html",
}


@pytest.fixture
def folder(tmp_path):
    """A folder with the small study."""
    folder = small_study.fill(tmp_path, small_study.vectors())
    (folder / "studies").mkdir()
    small_study.write(folder / "studies" / "small.yaml", small_study.said(folder))
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
    """Records of the study `toy` made of plain numbers."""
    results = tmp_path / "results"
    results.mkdir()
    path = results / "toy.study.jsonl"
    path.write_text("".join(record.line() for record in records_of(study_part(), DISTANCES)))
    return path


# --- run --------------------------------------------------------------------------------------


def test_a_run_prints_its_table_and_writes_it_beside_the_records(run, harness, folder):
    said = run()
    assert said.code == 0, said.err
    records, beside = folder / "results" / "small.study.jsonl", folder / "results" / "small.study"
    assert said.out.startswith("A small study (small, on vectors:")
    last = f"16 of 16 records made now, in {records}; tables and violins in {beside}"
    assert said.out.splitlines()[-1] == last
    assert {path.name for path in beside.iterdir()} == WRITTEN
    text = (beside / "table.txt").read_text()
    assert said.out == f"{text}{last}\n"
    assert "± " in text
    assert "Compared with hard-debias, after Holm's correction over " in text
    lines = list(csv.DictReader((beside / "table.csv").open()))
    assert len(lines) == 2 * 4 * 2
    assert "plotly" in (beside / "violins.html").read_text()

    again = run("--json")
    (told,) = json.loads(again.out)
    assert (told["made"], told["records"]) == (0, str(records))
    (summary,) = told["summaries"]
    assert summary["complete"]
    assert len(summary["cells"]) == len(lines)
    shown = harness("study", "show", "small", "--results", folder / "results")
    assert shown.out == text


def test_models_that_fail_are_told_and_leave_no_tables(harness, folder):
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("career0 1 0\ncareer1 0 1\n")
    models = [f"vectors:{folder / name}.txt" for name in ("a", "b")]
    path = small_study.write(folder / "two.yaml", small_study.said(folder) | {"models": models})
    results = folder / "results"
    said = harness("study", "run", path, "--include", folder, "-r", results, "--workers", "1")
    assert said.code == 1
    assert said.out == f"0 of 0 records made now, in {results / 'small.study.jsonl'}\n"
    assert [line.split("'")[0] for line in said.err.splitlines()] == [
        f"FAILED: {model}: " for model in models
    ]
    assert not (results / "small.study").exists()


def test_a_study_file_with_a_mistake_is_refused_in_one_line(harness, folder):
    said = small_study.said(folder) | {"folds": 9}
    path = small_study.write(folder / "wrong.yaml", said)
    told = harness("study", "run", path, "--include", folder)
    assert told.code == 2
    assert told.err == (
        f"harness: {path}:7: folds: 9 folds of 8 definitional pairs: at most one fold for each\n"
    )


def test_an_unknown_study_is_told_with_the_nearest(run, harness, folder):
    said = harness("study", "run", "smal", "--include", folder)
    assert said.code == 2
    assert said.err.startswith("harness: unknown study 'smal'; did you mean 'small'?")
    assert said.err.count("\n") == 1


def test_a_study_needs_a_name(harness):
    said = harness("study", "run")
    assert said.code == 2
    assert said.err.startswith("harness: missing argument 'STUDIES...'")


# --- show -------------------------------------------------------------------------------------


def test_records_are_shown_by_name_and_by_path(harness, recorded):
    by_path = harness("study", "show", recorded)
    by_name = harness("study", "show", "toy", "-r", recorded.parent)
    assert by_path == by_name
    assert by_name.code == 0
    assert "−1.090 ± 0.190 (↑*)" in by_name.out
    assert "not told apart: new by ECT" in by_name.out


@pytest.mark.parametrize(
    ("kind", "begins"),
    [
        ("csv", "study,model,criterion,row,measure,mean,"),
        ("latex", "% A toy (toy, on toy-model)"),
        ("markdown", "## A toy (toy, on toy-model)"),
        ("json", "[\n"),
    ],
)
def test_other_formats_are_printed_alone(harness, recorded, kind, begins):
    said = harness("study", "show", recorded, "--format", kind)
    assert said.out.startswith(begins)
    assert (said.code, said.err) == (0, "")


def test_a_study_that_was_cut_off_is_shown_with_a_note_and_exit_code_1(harness, recorded):
    lines = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(lines[:-1]))
    said = harness("study", "show", recorded)
    assert said.code == 1
    assert "note: incomplete: of 3 folds 'new' has 2; another run goes on from there\n" in said.out


def test_an_undefined_value_gives_exit_code_1(harness, recorded):
    undefined = DISTANCES | {"new": {"WEAT": [None] * 3, "ECT": [0.4, 0.3, 0.2]}}
    records = records_of(study_part(), undefined, reasons={"WEAT": "no vectors"})
    recorded.write_text("".join(record.line() for record in records))
    said = harness("study", "show", recorded)
    assert said.code == 1
    assert "undefined (?)" in said.out
    assert "note: 'new' has no value of WEAT in 3 of 3 folds: no vectors\n" in said.out


def test_what_is_no_study_that_was_run_is_told_in_one_line(harness, recorded):
    folder = recorded.parent
    other = folder / "evaluated.jsonl"
    other.write_text('{"schema": 1}\n')
    empty = folder / "empty.study.jsonl"
    empty.write_text("")
    for given, told in (
        ("tay", f"no study 'tay' was run in '{folder}'; did you mean 'toy'?; 'harness study run'"),
        (folder / "no.study.jsonl", "no such file: the records of a study are a file"),
        (folder, f"{folder}: a folder: the records of a study are a file '….study.jsonl'"),
        (other, f"{other}:1: no records of a study, whose files end in '.study.jsonl': not a"),
        (empty, "there is no record in it yet"),
    ):
        said = harness("study", "show", given, "-r", folder)
        assert said.code == 2
        assert told in said.err
        assert said.err.count("\n") == 1


# --- what else knows of studies ---------------------------------------------------------------


def test_studies_are_listed_by_either_command(harness, folder):
    said = harness("study", "list", "small", "--include", folder, "--json")
    assert said == harness("list", "studies", "small", "--include", folder, "--json")
    (row,) = json.loads(said.out)
    assert (row["name"], row["concept"], row["mitigators"], row["measures"]) == (
        *("small", "sides", 2, 2),
    )


def test_a_study_is_shown_with_its_grid_and_pairs(harness, folder):
    said = harness("show", "study", "small", "--include", folder, "--json")
    facts = json.loads(said.out)
    assert facts["settings"] == {"none": 1, "normalize": 1, "hard-debias": 2, "leace": 1}
    assert len(facts["definitional_pairs"]) == 8


def test_a_study_is_validated_with_the_folder_it_lies_in(harness, folder):
    path = folder / "studies" / "small.yaml"
    said = harness("validate", path)
    assert said.out == (
        f"{path}: study 'small', 8 definitional pairs in 4 folds, 4 rows with 5 settings, "
        "2 measures\n1 file, 0 with mistakes\n"
    )
    assert "study 'small'" in harness("validate", folder).out


def test_a_mistake_in_a_study_is_told_with_its_line(harness, folder):
    given = small_study.said(folder)
    given["mitigators"]["leace"] = {"grid": {"shrink": [0.1]}}
    path = small_study.write(folder / "studies" / "small.yaml", given)
    said = harness("validate", path)
    assert said.code == 2
    assert f"{path}:" in said.out
    assert "mitigators.leace.grid: mitigator 'leace' has no option 'shrink'" in said.out


def test_the_schemas_fit_a_study_file_and_its_records(harness, folder, recorded):
    schema = json.loads(harness("schema", "study").out)
    given = json.loads(json.dumps(small_study.said(folder)))
    Draft202012Validator(schema).validate(given)
    assert not Draft202012Validator(schema).is_valid(given | {"foldz": 3})
    schema = json.loads(harness("schema", "study-record").out)
    Draft202012Validator(schema).validate(json.loads(recorded.read_text().splitlines()[0]))


def test_the_studies_that_ship_fit_the_schema(harness):
    validator = Draft202012Validator(json.loads(harness("schema", "study").out))
    paths = [path for path in SHIPPED.glob("*.yaml") if not path.name.startswith("_")]
    assert paths
    for path in paths:
        assert [
            one.message for one in validator.iter_errors(yaml.safe_load(path.read_text()))
        ] == []
