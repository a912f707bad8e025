"""`harness results` and `harness compare --recorded`: recorded scores, without the models."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from pathlib import Path

import polars as pl
import pytest
from score_records import many, record, void

from harness.results.folder import ResultsFile
from harness.results.records import Records

BOARD = Path(__file__).parents[3] / "docs" / "figures" / "board.jsonl.gz"


@pytest.fixture
def folder(tmp_path):
    """A results folder of two models under three mitigators, with a second scenario."""
    for model in ("one", "two"):
        shift = 0.0 if model == "one" else 0.1
        records = [
            r.model_copy(update={
                "model": r.model.model_copy(update={"name": model, "fingerprint": model}),
                "value": r.value + shift, "id": f"{model}-{i}",
            })
            for i, r in enumerate(many(3))
        ]  # fmt: skip
        records.append(
            record("association-0", model=model, scenario="positive", primary=False, value=0.125)
        )
        ResultsFile(tmp_path / "results", model).add(records)
    return tmp_path / "results"


def test_show_prints_the_primary_scores_of_each_model(harness, folder):
    said = harness("results", "show", folder)
    assert said.code == 0
    for title in ("one: bias", "one: usefulness", "two: bias", "two: usefulness"):
        assert title in said.out
    assert "0.125" not in said.out


def test_show_marks_rows_of_tasks_of_which_a_newer_version_is_installed(harness, tmp_path):
    records = [record("weat-1"), record("weat-2"), record("mine-1")]
    newer = records[1].task.model_copy(update={"version": 999})
    records[1] = records[1].model_copy(update={"task": newer})
    ResultsFile(tmp_path / "results", "m").add(records)
    said = harness("results", "show", tmp_path / "results")
    rows = [line for line in said.out.splitlines() if line.startswith((" weat-", " mine-"))]
    assert [" (version 1) " in row for row in rows] == [True, False, False]


def test_show_selects_models_mitigators_tasks_and_scenarios(harness, folder):
    arguments = ("-m", "one", "-M", "none", "-t", "association-*,similarity*", "--scenario", "*")
    said = harness("results", "show", folder, *arguments)
    assert said.code == 0
    assert "0.125" in said.out
    for absent in ("two", "mitigator-1"):
        assert absent not in said.out
    said = harness("results", "show", folder, "-M", "mitigator1")
    assert said.code == 2
    assert "'mitigator-1'" in said.err


def test_show_with_json_has_a_flat_row_for_each_score(harness, folder):
    rows = json.loads(harness("results", "show", folder, "--json").out)
    assert len(rows) == 2 * 3 * 10
    assert {row["scenario"] for row in rows} == {"default"}
    rows = json.loads(harness("results", "show", folder, "--json", "--all-scores").out)
    assert len(rows) == 2 * (3 * 10 + 1)


def test_a_folder_without_records_is_a_usage_error(harness, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("empty", "absent"):
        said = harness("results", "show", tmp_path / path)
        assert said.code == 2
        assert path in said.err


@pytest.fixture
def compared(harness):
    """Run `harness compare --recorded A B` on a results folder, with further arguments."""

    def run(a, b, folder, *arguments):
        options = ("-r", folder, "--fail-on", "never", *arguments)
        return harness("compare", "--recorded", a, b, *options)

    return run


def test_compare_two_mitigators_two_models_and_two_folders(compared, folder):
    said = compared("none", "mitigator-1", folder)
    assert said.code == 0
    for model in ("one", "two"):
        assert f"{model}: mitigator-1 beside none" in said.out
    said = compared("one", "two", folder, "-M", "none", "-t", "association-*")
    assert said.code == 0
    assert "+0.100" in said.out
    assert "similarity" not in said.out
    said = compared(folder, folder / "one.jsonl", "absent")
    assert said.code == 0
    assert "one under none: " in said.out
    assert "two under" not in said.out


def test_compare_as_json_has_the_verdict_paired_differences_and_their_mean(compared, folder):
    said = compared("none", "mitigator-2", folder, "--json")
    one, _ = json.loads(said.out)
    assert one["context"] == "one"
    bias = [row for row in one["scores"] if row["measures"] == "bias"]
    assert [row["difference"] for row in bias] == pytest.approx([-0.2] * 8)
    overall = one["verdict"]["differences"][0]
    assert (overall["name"], overall["difference"]) == (
        "overall",
        pytest.approx(-0.1, abs=1e-4),
    )
    assert overall["low"] == pytest.approx(-0.1, abs=1e-4)


def test_compare_names_the_items_that_moved_most_from_the_samples_of_both(compared, tmp_path):
    for mitigator, value in (("none", 1.0), ("x", 0.5)):
        rows = [{"input": "i", "text": str(i), "contribution": i * value} for i in range(8)]
        kept = record("t", mitigator, value).keeping({}, rows)
        ResultsFile(tmp_path / "results", "m").add([kept])
    said = compared("none", "x", tmp_path / "results", "--json")
    ((first, *_),) = [comparison["verdict"]["moved"] for comparison in json.loads(said.out)]
    assert (first["text"], first["base"], first["model"]) == ("i : 7", 7.0, 3.5)


def test_recorded_scores_fail_and_have_a_page_like_those_of_a_run(harness, compared, folder):
    said = harness("compare", "--recorded", "mitigator-2", "none", "-r", folder, "-m", "one")
    page = folder / "page.html"
    assert (said.code, "Result" not in said.out) == (3, True), said.out
    assert "fails: " in said.out
    large = ("compare", "--recorded", "mitigator-2", "none", "-r", folder, "--smallest", "0.2")
    said = harness(*large, "-m", "one")
    assert said.code == 0
    assert "below the smallest effect, 0.2" in said.out
    assert compared("none", "mitigator-1", folder, "--html", page, "-m", "one").code == 0
    assert "asked: fail on never" in page.read_text()
    said = compared("none", "mitigator-1", folder, "--html", page)
    assert said.code == 2
    assert "one, two" in said.err


def test_mistakes_of_a_comparison_are_usage_errors(compared, folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for a, b, place, options, fact in (
        ("none", "none", folder, (), "'none'"),
        ("none", "mitigatr-1", folder, (), "'mitigator-1'"),
        (folder, "absent", "elsewhere", (), "'absent'"),
        ("none", "mitigator-1", folder, ("--base", "one"), "--base"),
    ):
        said = compared(a, b, place, *options)
        assert (said.code, said.err.count("\n")) == (2, 1), said.err
        assert fact in said.err


def test_export_writes_each_format(harness, folder, tmp_path):
    def exported(kind):
        out = tmp_path / f"out.{kind}"
        said = harness("results", "export", folder, "--format", kind, "--out", out)
        assert (said.code, said.out) == (0, ""), said.err
        return out

    rows = list(csv.DictReader(io.StringIO(exported("csv").read_text())))
    frame = pl.read_parquet(exported("parquet"))
    assert len(rows) == frame.height == 60
    assert [float(row["value"]) for row in rows] == pytest.approx(frame["value"].to_list())
    assert exported("latex").read_text().count(r"\toprule") == 4
    assert exported("markdown").read_text().count("| task |") == 4


def total(rows, name):
    return math.fsum(float(row[name]) for row in rows)


def squares(rows, name, yardstick=False):
    """The variance of a sum; the errors of one yardstick of several tasks add up as they are."""
    errors = {}
    for row in rows:
        measured = row["yardstick_of"] if yardstick else "items"
        errors.setdefault(row["task"] if measured == "items" else measured, []).append(row)
    return math.fsum(total(part, name) ** 2 for part in errors.values())


def method(rows):
    """What a method says of r², and the reference encoder; the units of all tasks are others."""
    ratio = total(rows, "gap") / total(rows, "yardstick")
    of_reference = total(rows, "reference_gap") / total(rows, "reference_yardstick")
    if rows[0]["power"] == "2":
        return ratio / of_reference, 1.0
    v, v_reference = (
        (squares(rows, f"{of}_error") + r**2 * squares(rows, f"{of_d}_error", yardstick=True))
        / (total(rows, of_d) * of_reference) ** 2
        for of, of_d, r in (
            ("gap", "yardstick", ratio),
            ("reference", "reference_yardstick", of_reference),
        )
    )
    return (ratio / of_reference) ** 2 - v, 1 - v_reference


def mean_bias(rows):
    """The mean bias of rows, as the docstring of the estimator has it; None if it is unusable."""
    methods = {}
    for row in rows:
        methods.setdefault(row["family"], []).append(row)
    parts = [
        (part, total(part, "yardstick") > 0 and (not part[0]["t"] or t_of(part) >= 3))
        for part in methods.values()
        if total(part, "reference_gap") >= 2 * math.sqrt(squares(part, "reference_error"))
    ]
    of_evidence = [is_clear for part, is_clear in parts if part[0]["t"]]
    if sum(of_evidence) < len(of_evidence) / 2:
        return None
    said = [method(part) for part, is_clear in parts if is_clear]
    return math.sqrt(max(0.0, math.fsum(s for s, _ in said) / math.fsum(r for _, r in said)))


def t_of(rows):
    return total(rows, "yardstick") / math.sqrt(squares(rows, "yardstick_error", yardstick=True))


def test_the_means_of_real_models_can_be_computed_again_from_a_csv_alone(harness, tmp_path):
    """Up to what units change in the variances: a CSV has none, so the records have none here."""
    scores, out = tmp_path / "board.jsonl", tmp_path / "scores.csv"
    contents = map(json.loads, gzip.decompress(BOARD.read_bytes()).splitlines())
    without_units = ({**content, "deviations": {}, "check": ""} for content in contents)
    scores.write_text("".join(json.dumps(content) + "\n" for content in without_units))
    assert harness("results", "export", scores, "--out", out).code == 0
    tasks = {}
    for row in csv.DictReader(out.open(encoding="utf-8")):
        if row["measures"] == "bias" and row["primary"] == "True" and not row["left_out"]:
            tasks.setdefault((row["model"], row["mitigator"]), []).append(row)
    said = json.loads(harness("results", "show", "--average", scores, "--json").out)
    printed = {
        (row["model"], row["mitigator"]): row["mean"] for row in said if row["measures"] == "bias"
    }
    assert len(tasks) > 20
    for key, rows in tasks.items():
        mean, expected = mean_bias(rows), printed[key]
        assert (mean is None) == (expected is None), key
        assert mean is None or mean == pytest.approx(expected, abs=0.005), key


def test_smoke_runs_are_set_aside_where_whole_records_are(harness, compared, folder):
    whole = harness("results", "show", folder)
    before = compared("none", "mitigator-1", folder)
    smoke = [r.model_copy(update={"limit": 2, "value": 0.987, "id": f"x{r.id}"}) for r in many(2)]
    ResultsFile(folder, "smoke").add(smoke)
    said = harness("results", "show", folder)
    assert said.out == whole.out
    assert f"{len(smoke)} records of smoke runs" in said.err
    assert compared("none", "mitigator-1", folder).out == before.out
    alone = harness("results", "show", folder / "smoke.jsonl")
    assert alone.code == 0
    assert "0.987" in alone.out
    assert "--limit 2" in alone.out


def test_average_prints_means_over_tasks(harness, folder):
    said = harness("results", "show", "--average", folder)
    assert said.code == 0
    assert "8 of 8" in said.out


def test_over_seeds_shows_one_column_for_the_runs_of_a_mitigator(harness, tmp_path):
    records = [record("t", f"a?seed={seed}", value) for seed, value in ((1, 0.5), (2, 0.7))]
    ResultsFile(tmp_path / "results", "m").add(records)
    said = harness("results", "show", tmp_path / "results", "--over-seeds")
    assert "0.600" in said.out
    assert "± 0.100" in said.out
    assert "seed=" not in said.out
    rows = csv.DictReader(
        io.StringIO(
            harness(
                "results", "export", tmp_path / "results", "--over-seeds", "--format", "csv"
            ).out
        )
    )
    assert [(row["mitigator"], row["value"][:4]) for row in rows] == [("a", "0.6")]


@pytest.fixture
def judged(tmp_path):
    """A results folder in which two of three mitigated scores are not judged."""
    more = {"p_value": 0.0004, "withheld": ("she", "he")}
    records = [
        *(record(task, "none", 1.0, **more) for task in "abc"),
        *(record(task, "x", 0.0, unseen=void("too few pairs"), **more) for task in "ab"),
        record("c", "x", 0.5, **more),
        record("c", "x", 0.7, seed=1, created="2025-01-01T00:00:00Z", **more),
    ]
    ResultsFile(tmp_path / "results", "m").add(records)
    return tmp_path / "results"


def test_every_command_prints_one_mean_its_count_and_what_is_void(harness, compared, judged):
    shown = harness("results", "show", judged)
    lines = shown.out.splitlines()
    assert "x: not in the mean of 3 scores: 2 void (a, b)" in lines
    assert "void under x: a, b: too few pairs" in lines
    assert ["mean", "bias", "0", "0.500", "(3", "of", "3)", "0.250", "(1", "of", "3)"] in [
        line.split() for line in shown.out.splitlines()
    ]
    assert "1 score was run with several seeds: the latest is shown" in shown.out
    said = compared("none", "x", judged)
    assert "left out of bias: 2 void (a, b)" in said.out
    assert "1 score was run with several seeds: the latest counts" in said.out
    assert "a, b" in harness("results", "show", "--average", judged).out
    rows = json.loads(harness("results", "show", "--average", judged, "--json").out)
    assert [(row["mean"], row["n"]) for row in rows] == [
        (pytest.approx(0.5), 3), (pytest.approx(0.25), 1),
    ]  # fmt: skip
    (found,) = json.loads(compared("none", "x", judged, "--json").out)
    overall = found["verdict"]["differences"][0]
    assert rows[1]["change"] == overall
    assert (overall["base"], overall["model"], overall["tasks"]) == pytest.approx((0.5, 0.25, 1))
    assert found["verdict"]["left_out"]["bias"] == {"void": ["a", "b"]}
    alone = compared("none", "x", judged, "-t", "a")
    assert "bias: no task counts in both" in alone.out
    assert "not judged: gender: too few pairs" in alone.out


def test_a_change_is_over_the_tasks_of_both_and_the_same_everywhere(harness, compared, tmp_path):
    """The void score has the largest bias: the means of the own tasks would show a reduction."""
    values = {"a": (2.0, 0.0), "b": (0.4, 0.8), "c": (0.6, 0.6)}
    records = [
        *(record(task, "none", before) for task, (before, _) in values.items()),
        *(record(task, "x", after) for task, (_, after) in values.items() if task != "a"),
        record("a", "x", 0.0, unseen=void()),
    ]
    folder = tmp_path / "results"
    ResultsFile(folder, "m").add(records)
    # The tasks are of one method: the sum of the gaps over that of the yardsticks.
    own = [pytest.approx((1.0 + 0.2 + 0.3) / 3), pytest.approx((0.4 + 0.3) / 2)]
    averages = json.loads(harness("results", "show", "--average", folder, "--json").out)
    assert [row["mean"] for row in averages] == own
    assert Records(records).means() == averages
    (found,) = json.loads(compared("none", "x", folder, "--json").out)
    change = found["verdict"]["differences"][0]
    assert averages[1]["change"] == change
    assert (change["base"], change["model"], change["difference"]) == pytest.approx(
        (0.25, 0.35, 0.1)
    )
    for command in (("show", folder), ("show", "--average", folder)):
        printed = harness("results", *command).out
        assert change["sentence"] in " ".join(printed.split()), command


def test_csv_says_how_each_score_is_judged(harness, judged):
    text = harness("results", "export", judged, "--format", "csv", "-M", "x").out
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = "value", "unseen", "unseen_value", "withheld", "left_out"
    assert {row["task"]: [row[name] for name in columns] for row in rows} == {
        "a": ["0.0", "void", "", "2", "void"],
        "b": ["0.0", "void", "", "2", "void"],
        "c": ["0.7", "", "", "2", ""],
    }
