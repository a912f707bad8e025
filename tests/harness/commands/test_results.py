"""`harness results`: recorded scores, without the models."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
from pathlib import Path

import polars as pl
import pytest
from score_records import many, record

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
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
    assert "a newer version is installed of weat-1: harness eval runs it" in said.err


def test_the_folder_results_is_the_default(harness, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert harness("results", "show").out == harness("results", "show", folder).out


def test_show_selects_models_mitigators_tasks_and_scenarios(harness, folder):
    arguments = ("-m", "one", "-M", "none", "-t", "association-*", "--scenario", "positive")
    said = harness("results", "show", folder, *arguments)
    assert said.code == 0
    assert "0.125" in said.out
    for absent in ("two", "mitigator-1", "similarity"):
        assert absent not in said.out


def test_tasks_may_be_comma_separated(harness, folder):
    def said(*arguments):
        return harness("results", "show", folder, *arguments).out

    assert said("-t", "association-*,similarity*") == said(
        "-t", "association-*", "-t", "similarity*"
    )


def test_show_with_json_has_a_flat_row_for_each_score(harness, folder):
    rows = json.loads(harness("results", "show", folder, "--json").out)
    assert len(rows) == 2 * 3 * 10
    assert {row["scenario"] for row in rows} == {"default"}
    rows = json.loads(harness("results", "show", folder, "--json", "--all-scores").out)
    assert len(rows) == 2 * (3 * 10 + 1)


def test_an_unknown_name_gets_a_suggestion(harness, folder):
    said = harness("results", "show", folder, "-M", "mitigator1")
    assert said.code == 2
    assert "'mitigator-1'" in said.err


def test_a_folder_without_records_is_a_usage_error(harness, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("empty", "absent"):
        said = harness("results", "show", tmp_path / path)
        assert said.code == 2
        assert path in said.err


def test_compare_two_mitigators_has_a_table_for_each_model(harness, folder):
    said = harness("results", "compare", "none", "mitigator-1", "-r", folder)
    assert said.code == 0
    for fact in ("one: bias", "two: bias", "-0.100", "95% interval"):
        assert fact in said.out


def test_the_folder_of_two_rows_is_an_option_or_the_last_argument(harness, folder):
    by_option = harness("results", "compare", "none", "mitigator-1", "--results", folder)
    by_place = harness("results", "compare", "none", "mitigator-1", folder)
    assert (by_place.code, by_place.out) == (0, by_option.out)


def test_compare_as_json_has_paired_differences_and_their_mean(harness, folder):
    said = harness("results", "compare", "none", "mitigator-2", "-r", folder, "--json")
    one, _ = json.loads(said.out)
    assert one["context"] == "one"
    bias = [row for row in one["scores"] if row["measures"] == "bias"]
    assert [row["difference"] for row in bias] == pytest.approx([-0.2] * 8)
    mean, _ = one["means"]
    assert mean["difference"] == pytest.approx(-0.1)
    assert mean["interval"]["low"] == pytest.approx(-0.1)


def test_compare_uses_the_samples_of_both(harness, tmp_path):
    for mitigator, value in (("none", 1.0), ("x", 0.5)):
        rows = [{"input": "i", "text": str(i), "contribution": value} for i in range(8)]
        kept = record("t", mitigator, value).keeping({}, {}, rows)
        ResultsFile(tmp_path / "results", "m").add([kept])
    said = harness("results", "compare", "none", "x", "-r", tmp_path / "results", "--json")
    ((score,),) = [comparison["scores"] for comparison in json.loads(said.out)]
    assert (score["low"], score["difference"], score["high"]) == (-0.5, -0.5, -0.5)
    said = harness("results", "compare", "none", "x", "-r", tmp_path / "results")
    assert "[-0.500, -0.500]" in said.out


def test_compare_two_models_and_two_folders(harness, folder):
    said = harness("results", "compare", "one", "two", "-r", folder, "-M", "none")
    assert said.code == 0
    assert "none: bias" in said.out
    assert "+0.100" in said.out
    said = harness("results", "compare", folder, folder / "one.jsonl")
    assert said.code == 0
    assert "one under none: bias" in said.out
    assert "two under" not in said.out


def test_compare_of_a_row_with_itself_is_a_usage_error(harness, folder):
    said = harness("results", "compare", "none", "none", "-r", folder)
    assert said.code == 2
    assert "'none'" in said.err


def test_compare_with_an_unknown_name_is_a_usage_error(harness, folder):
    said = harness("results", "compare", "none", "mitigatr-1", "-r", folder)
    assert said.code == 2
    assert "'mitigator-1'" in said.err


def test_compare_with_a_folder_that_does_not_exist_names_it(harness, folder, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = harness("results", "compare", folder, "absent")
    assert said.code == 2
    assert "'absent'" in said.err


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
    assert exported("table").read_text().count("association-0") == 2


def test_the_means_can_be_computed_again_from_a_csv_alone(harness, tmp_path):
    def ratio(gap, yardstick, power, *reference):
        parts = {"gap": gap, "gap_error": 0.1, "yardstick": yardstick, "yardstick_error": 0.01}
        references = dict(zip(("reference_gap", "reference_yardstick"), reference, strict=False))
        fixed = {"value": 1.0, "low": 0.5, "high": 2.0, "t": 30.0, "df": 9.0, "of": "items"}
        return parts | references | {"reference_error": 0.01, "power": power} | fixed

    records = [
        record("a-1", family="a", ratio=ratio(0.3, 0.4, 1, 0.2, 0.5)),
        record("a-2", family="a", ratio=ratio(0.1, 0.9, 1, 0.4, 0.5)),
        record("b", ratio=ratio(0.09, 0.25, 2, 0.04, 0.16)),
        record("leak", ratio=ratio(9.0, 0.1, 1), overlap=("she",)),
        record("u-1", value=0.4, measures="usefulness", family="u"),
        record("u-2", value=0.9, measures="usefulness", family="u"),
        record("v", value=0.2, measures="usefulness"),
    ]
    ResultsFile(tmp_path / "results", "m").add(records)
    out = tmp_path / "scores.csv"
    assert harness("results", "export", tmp_path / "results", "--out", out).code == 0
    rows = [row for row in csv.DictReader(out.open()) if not row["left_out"]]
    names = (
        *("floor", "unit", "yardstick", "distance", "overlap", "low", "high", "level", "n"),
        *("version", "revision", "harness"),
    )
    assert {*names} <= {*rows[0]}
    families = {}
    for row in rows:
        families.setdefault((row["measures"], row["family"]), []).append(row)
    means = {"bias": [], "usefulness": []}
    for (measures, _), part in families.items():
        if measures == "usefulness":
            means[measures].append(sum(1 - float(row["distance"]) for row in part) / len(part))
            continue
        totals = [
            sum(float(row[name]) for row in part)
            for name in ("gap", "yardstick", "reference_gap", "reference_yardstick")
        ]
        root = 1 / int(part[0]["power"])
        means[measures].append((totals[0] / totals[1] / (totals[2] / totals[3])) ** root)
    said = json.loads(harness("results", "average", tmp_path / "results", "--json").out)
    printed = {row["measures"]: row["mean"] for row in said["means"]}
    for measures, parts in means.items():
        assert len(parts) == 2
        assert sum(parts) / len(parts) == pytest.approx(printed[measures])


def total(rows, name):
    return math.fsum(float(row[name]) for row in rows)


def pooled(rows, yardsticks):
    """The ratio of a family, as the docstring of `Records.rows` has it."""
    power = int(rows[0]["power"])
    own = total(rows, "gap") / total(yardsticks, "yardstick")
    reference = total(rows, "reference_gap") / total(rows, "reference_yardstick")
    return math.copysign(abs(own) ** (1 / power), own) / reference ** (1 / power)


def known(row):
    """A row whose reference is 1 over 1 if it has none; its family is one of its own."""
    if row["reference_gap"]:
        return row
    assert row["family"].endswith(" without a reference")
    return {**row, "reference_gap": 1, "reference_yardstick": 1, "reference_error": 0}


def with_scale(rows):
    """The rows of each family that counts."""
    families = {}
    for row in rows:
        families.setdefault(row["family"], []).append(row)
    return [
        part
        for part in families.values()
        if total(part, "reference_gap")
        >= 2 * math.hypot(*(float(row["reference_error"]) for row in part))
    ]


def mean_bias(rows, base):
    """The mean bias of the rows of a mitigator by task; `base` has those of `none`."""
    ts = [float(row["t"]) for row in rows.values() if row["t"]]
    if sum(t >= 3 for t in ts) < len(ts) / 2:
        return None
    families = [part for part in with_scale(base.values()) if total(part, "yardstick") > 0]
    mean = weighted([pooled(part, part) for part in families], families)
    changes = []
    families = with_scale([row for task, row in rows.items() if task in base])
    families = [part for part in families if total(part, "yardstick") > 0]
    for part in families:
        before = [base[row["task"]] for row in part]
        after = max(abs(pooled(part, part)), abs(pooled(part, before)))
        changes.append(after - abs(pooled(before, before)))
    return mean if rows is base else mean + weighted(changes, families)


def weighted(values, families):
    weights = [1 / float(part[0]["reference_scale"] or 1) for part in families]
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def test_the_means_of_real_models_can_be_computed_again_from_a_csv_alone(harness, tmp_path):
    scores, out = tmp_path / "board.jsonl", tmp_path / "scores.csv"
    scores.write_bytes(gzip.decompress(BOARD.read_bytes()))
    assert harness("results", "export", scores, "--out", out).code == 0
    tasks = {}
    for row in csv.DictReader(out.open(encoding="utf-8")):
        if row["measures"] == "bias" and not row["left_out"]:
            tasks.setdefault((row["model"], row["mitigator"]), {})[row["task"]] = known(row)
    said = json.loads(harness("results", "average", scores, "--json").out)
    printed = {
        (row["model"], row["mitigator"]): row["mean"]
        for row in said["means"]
        if row["measures"] == "bias"
    }
    assert len(tasks) > 20
    for (model, mitigator), rows in tasks.items():
        mean = mean_bias(rows, tasks[model, "none"])
        expected = printed[model, mitigator]
        assert (mean is None) == (expected is None), (model, mitigator)
        assert mean is None or math.isclose(mean, expected), (model, mitigator)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.md", b"### one: bias"), ("t.TEX", b"% one: bias"), ("t.csv", b"model,"),
        ("t.parquet", b"PAR1"), ("t.txt", b"one: bias"),
    ],
)  # fmt: skip
def test_the_suffix_of_out_selects_the_format(harness, folder, tmp_path, name, start):
    assert harness("results", "export", folder, "--out", tmp_path / name).code == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_suffix_without_a_format_is_a_usage_error(harness, folder, tmp_path):
    said = harness("results", "export", folder, "--out", tmp_path / "t.xlsx")
    assert said.code == 2
    assert "'.xlsx'" in said.err
    assert "--format" in said.err
    assert not (tmp_path / "t.xlsx").exists()


def test_export_prints_without_out_but_not_parquet(harness, folder):
    said = harness("results", "export", folder, "--format", "csv")
    assert len(said.out.splitlines()) == 61
    said = harness("results", "export", folder, "--format", "parquet")
    assert said.code == 2
    assert "--out" in said.err


def test_export_replaces_no_file_unless_it_is_told_to(harness, folder, tmp_path):
    out = tmp_path / "mine.tex"
    out.write_text("mine")
    arguments = ("results", "export", folder, "--format", "latex", "--out", out)
    assert harness(*arguments).code == 2
    assert out.read_text() == "mine"
    assert harness(*arguments, "--overwrite").code == 0
    assert "tabular" in out.read_text()


def test_on_a_terminal_of_80_columns_no_line_wraps_and_the_best_value_is_bold(
    harness, folder, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for arguments in (("show", folder), ("compare", "none", "mitigator-1", "-r", folder)):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        said = harness("results", *arguments)
        plain = re.sub("\x1b\\[[0-9;]*m", "", said.out)
        assert said.code == 0
        assert max(len(line.rstrip()) for line in plain.splitlines()) <= 80
    said = harness("results", "show", folder)
    assert "\x1b[1m•1.300**" in said.out


def test_smoke_runs_are_set_aside_where_whole_records_are(harness, folder):
    whole = harness("results", "show", folder)
    compared = harness("results", "compare", "none", "mitigator-1", "-r", folder)
    smoke = [r.model_copy(update={"limit": 2, "value": 0.987, "id": f"x{r.id}"}) for r in many(2)]
    ResultsFile(folder, "smoke").add(smoke)
    said = harness("results", "show", folder)
    assert said.out == whole.out
    assert f"{len(smoke)} records of smoke runs" in said.err
    assert harness("results", "compare", "none", "mitigator-1", "-r", folder).out == compared.out
    alone = harness("results", "show", folder / "smoke.jsonl")
    assert alone.code == 0
    assert "0.987" in alone.out
    assert "--limit 2" in alone.out


def test_average_prints_means_over_tasks_and_how_scores_agree(harness, folder):
    rows = json.loads(harness("results", "average", folder, "--json", "-M", "none").out)
    (one,) = [r for r in rows["averages"] if (r["model"], r["metric"]) == ("one", "weat")]
    assert one["tasks"] == 8
    assert one["mean"] == one["mean_absolute"] == pytest.approx(1.465)
    (pair,) = rows["agreements"]
    assert (pair["rows"], pair["pearson"]) == (2, None)
    said = harness("results", "average", folder)
    assert said.code == 0
    assert "8 of 8" in said.out
    assert "Spearman" in said.out
    (pair,) = json.loads(harness("results", "average", folder, "--json").out)["agreements"]
    assert pair["rows"] == 6
    assert -1 <= pair["spearman"] <= 1


def test_average_names_what_is_missing(harness, folder):
    ResultsFile(folder, "three").add([record("association-0", model="three", value=0.5)])
    said = harness("results", "average", folder, "-M", "none", "-t", "association-*")
    assert "1 of 8" in said.out
    assert "association-7" in said.out


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
def leaking(tmp_path):
    """A results folder in which two of three mitigated scores are leaks."""
    more = {"p_value": 0.0004}
    records = [
        *(record(task, "none", 1.0, **more) for task in "abc"),
        *(record(task, "x", 0.0, overlap=("she",), **more) for task in "ab"),
        record("c", "x", 0.5, **more),
        record("c", "x", 0.7, seed=1, created="2025-01-01T00:00:00Z", **more),
    ]
    ResultsFile(tmp_path / "results", "m").add(records)
    return tmp_path / "results"


def test_every_command_prints_one_mean_its_count_and_the_leaks(harness, leaking):
    leaks = "2 of 3 scores are leaks (†) and do not count in the mean: a, b"
    shown = harness("results", "show", leaking)
    assert f"x: {leaks}" in shown.out
    assert ["mean", "bias", "0", "0.500", "(3", "of", "3)", "0.250", "(1", "of", "3)"] in [
        line.split() for line in shown.out.splitlines()
    ]
    assert "1 score was run with several seeds: the latest is shown" in shown.out
    compared = harness("results", "compare", "none", "x", "-r", leaking)
    assert leaks in compared.out
    assert "(1 of 3): 0.500 and 0.250, difference -0.250" in compared.out
    assert "none 0.500 (3 of 3), x 0.250 (1 of 3)" in compared.out
    assert "of 1 score without a leak, none is nearer to the ideal on 0, x on 1" in compared.out
    averages = harness("results", "average", leaking)
    assert "a, b" in averages.out
    rows = json.loads(harness("results", "average", leaking, "--json").out)["means"]
    assert [(row["mean"], row["n"], row["change"]) for row in rows] == [
        (0.5, 3, None), (0.25, 1, -0.25),
    ]  # fmt: skip
    (found,) = json.loads(harness("results", "compare", "none", "x", "-r", leaking, "--json").out)
    (mean,) = found["means"]
    assert (mean["mean_a"], mean["n_a"], mean["mean_b"], mean["n_b"]) == (0.5, 3, 0.25, 1)
    assert mean["left_out"] == {"leak (†)": ["a", "b"]}


def test_a_comparison_of_leaks_alone_names_them(harness, leaking):
    said = harness("results", "compare", "none", "x", "-r", leaking, "-t", "a")
    assert "bias: no score counts in both" in said.out
    assert "1 of 1 score is a leak (†) and does not count in the mean: a" in said.out
    assert "is nearer" not in said.out


def test_the_mean_of_a_mitigated_row_is_that_of_its_model_and_its_change_everywhere(
    harness, tmp_path
):
    """The leak has the largest bias: a mean of x over its own tasks would show a reduction."""
    values = {"a": (2.0, 0.0), "b": (0.4, 0.8), "c": (0.6, 0.6)}
    records = [
        *(record(task, "none", before) for task, (before, _) in values.items()),
        *(record(task, "x", after) for task, (_, after) in values.items() if task != "a"),
        record("a", "x", 0.0, overlap=("she",)),
    ]
    folder = tmp_path / "results"
    ResultsFile(folder, "m").add(records)
    none = (1.0 + 0.2 + 0.3) / 3
    x = none + (0.4 + 0.3) / 2 - (0.2 + 0.3) / 2
    expected = [pytest.approx(none), pytest.approx(x)]
    assert [row["mean"] for row in Records(records).means()] == expected
    averages = json.loads(harness("results", "average", folder, "--json").out)
    assert [row["mean"] for row in averages["means"]] == expected
    (found,) = json.loads(harness("results", "compare", "none", "x", "-r", folder, "--json").out)
    (mean,) = found["means"]
    assert [mean["mean_a"], mean["mean_b"]] == expected
    (board,) = compile_boards(frame_of(records))
    assert board.rows.sort("mitigator")["bias"].to_list() == expected
    for command in (("results", "show", folder), ("results", "average", folder),
                    ("results", "compare", "none", "x", "-r", folder)):  # fmt: skip
        printed = harness(*command).out
        assert f"{none:.3f}" in printed, command
        assert f"{x:.3f}" in printed, command


def test_names_that_are_left_out_are_listed_on_request(harness, tmp_path):
    records = [
        record(task, mitigator, 1.0, overlap=("she",) if mitigator == "x" else ())
        for task in "abcdef"
        for mitigator in ("none", "x")
    ]
    ResultsFile(tmp_path / "results", "m").add([*records, record("g"), record("g", "x")])
    for line in (("show", tmp_path / "results"), ("compare", "none", "x", "-r",
                                                  tmp_path / "results")):  # fmt: skip
        assert "a, b, c and 3 more" in harness("results", *line).out
        assert "a, b, c, d, e, f" in harness("results", *line, "--verbose").out


def test_csv_has_the_leaks_and_what_counts(harness, leaking):
    text = harness("results", "export", leaking, "--format", "csv", "-M", "x").out
    rows = list(csv.DictReader(io.StringIO(text)))
    leaks = {row["task"]: (row["leak"], row["overlap"], row["left_out"]) for row in rows}
    assert leaks == {
        "a": ("True", "1", "leak (†)"), "b": ("True", "1", "leak (†)"), "c": ("False", "0", ""),
    }  # fmt: skip
