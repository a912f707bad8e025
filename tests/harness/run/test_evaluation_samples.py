"""`evaluate(samples=True)`: what each item contributes, in memory and in a results folder."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.errors import DiskError, InvalidFile, UsageError
from harness.results.folder import read_results

PLUGIN = """
    from harness import MetricSpec, Samples, Scale, Score, metric, hookimpl

    @hookimpl
    def harness_metrics():
        return [MetricSpec(name="mine", target="THIS:mine")]

    @metric("mine", scores={"gap": Scale(ideal=0)})
    def mine(targets_1, targets_2):
        return Score(1.0, samples=SAMPLES)
"""
TASK = """
    name: mine
    version: 1
    title: Mine
    category: places
    kinds: [text]
    sets: {country: [village, farm], town: [city, street]}
    templates: {sentence: ["This is a {text}.", "It is a {text}."]}
    inputs:
      targets_1: {set: country, template: sentence}
      targets_2: {set: town}
    metrics: {mine: {}}
    primary: {metric: mine, score: gap}
"""


@pytest.fixture
def rows_of(evaluate, registry_with, plugin, write):
    """Return the rows of a metric's samples, which are Python source."""

    def rows(samples, **more):
        registry = registry_with(plugin(PLUGIN.replace("SAMPLES", samples)))
        options = {"registry": registry, "samples": True} | more
        records = evaluate(tasks=str(write("mine.yaml", TASK)), **options)
        if records.failed:
            raise AssertionError(records.failed[0].reason)
        return records[0].read_samples(more.get("results"))

    return rows


def test_a_row_has_the_text_as_written_and_what_it_contributes(rows_of):
    rows = rows_of("[Samples('targets_1', [1, 2, 3, float('nan')], {'c': targets_1[:, 0]})]")
    assert [row["text"] for row in rows] == [
        "This is a village.", "It is a village.", "This is a farm.", "It is a farm.",
    ]  # fmt: skip
    assert [row["contribution"] for row in rows] == [1, 2, 3, None]
    assert list(rows[0]) == ["input", "set", "text", "c", "contribution"]
    assert rows[0]["input"] == "targets_1"


def test_the_text_that_a_mitigator_makes_of_it_is_beside_it(rows_of):
    rows = rows_of("[Samples('targets_2', [1, 2])]", mitigators="toy-polite")
    assert [row["text"] for row in rows] == ["city", "street"]
    assert [row["embedded"] for row in rows] == ["city please", "street please"]


@pytest.mark.parametrize(
    ("samples", "problem"),
    [
        ("[Samples('targets_3', [1])]", "'targets_3'"),
        ("[Samples('targets_2', [1, 2, 3])]", "text 2, contribution 3"),
        ("[Samples('targets_2', [1], rows=[7])]", "rows that 'targets_2' does not have"),
    ],
)
def test_samples_that_do_not_fit_name_the_metric_and_the_plugin(rows_of, samples, problem):
    with pytest.raises(AssertionError, match="metric 'mine' of the plugin 'mine'") as error:
        rows_of(samples)
    assert problem in str(error.value)


def test_an_item_of_several_inputs_has_each_text_by_name(evaluate):
    (record,) = evaluate(tasks="toy-ratings", samples=True)
    assert [(row["pairs_1"], row["pairs_2"], row["label"]) for row in record.read_samples()] == [
        ("village", "farm", 4), ("village", "tower", 1), ("city", "street", 3.5),
        ("calm", "loud", 0.5),
    ]  # fmt: skip


def test_columns_of_arrays_are_written_without_nan(rows_of, tmp_path):
    nested = "[Samples('targets_1', None, {'c': [[1.0, float('nan')]] * 4})]"
    assert rows_of(nested, results=tmp_path)[0]["c"] == [1.0, None]


def test_each_record_has_a_file_and_the_folder_reads_back(evaluate, tmp_path):
    shift = "toy-shift?k=2"
    (record,) = evaluate(tasks="toy-ratings", mitigators=shift, results=tmp_path, samples=True)
    assert record.samples == f"samples/{record.id}.samples.jsonl"
    lines = (tmp_path / record.samples).read_text().splitlines()
    (read,) = records = read_results(tmp_path)
    assert [json.loads(line) for line in lines] == read.read_samples(tmp_path)
    flat = records.samples(tmp_path)
    assert len(flat) == len(lines)
    assert (flat[0]["task"], flat[0]["mitigator"], flat[0]["pairs_1"]) == (
        "toy-ratings", shift, "village"
    )  # fmt: skip
    with pytest.raises(UsageError, match="results folder"):
        read.read_samples()


def test_records_without_samples_are_made_again_only_if_samples_are_asked_for(evaluate, tmp_path):
    def run(**more):
        return [r.run for r in evaluate(tasks="toy-ratings", results=tmp_path, **more)]

    first = run()
    asked = run(samples=True)
    assert asked != first
    assert run(samples=True) == run() == asked
    for file in (tmp_path / "samples").iterdir():
        file.unlink()
    assert run() == asked
    assert run(samples=True) != asked


def test_a_metric_without_samples_is_told_once_and_not_run_again(evaluate, tmp_path):
    def run():
        return evaluate(
            ["toy-letters", "toy:9"], "places", ["none", "toy-shift"],
            results=tmp_path, samples=True,
        )  # fmt: skip

    first = run()
    assert sorted(line for line in first.notices if "samples" in line) == [
        "metric 'toy-draw' of the plugin 'toy' (? ?) gives no samples",
        "metric 'toy-gap' of the plugin 'toy' (? ?) gives no samples",
    ]
    assert {record.run for record in run()} == {record.run for record in first}


def test_a_damaged_or_missing_file_is_named(evaluate, tmp_path):
    (record,) = evaluate(tasks="toy-ratings", results=tmp_path, samples=True)
    (tmp_path / record.samples).write_text('{"a": 1}\n[1]\n')
    with pytest.raises(InvalidFile, match=r"samples.jsonl:2: not a JSON object"):
        record.read_samples(tmp_path)
    (tmp_path / record.samples).unlink()
    with pytest.raises(DiskError, match="cannot read"):
        record.read_samples(tmp_path)


def test_an_id_never_becomes_a_path_unchecked(evaluate, tmp_path):
    (record,) = evaluate(tasks="toy-ratings", results=tmp_path / "results", samples=True)
    bad = record.model_copy(update={"id": "../../x", "samples": "/etc/passwd"})
    with pytest.raises(DiskError, match=r"samples/x\.samples\.jsonl|_x\.samples\.jsonl"):
        bad.read_samples(tmp_path / "results")


def test_values_that_are_not_finite_are_null(rows_of):
    rows = rows_of("[Samples('targets_2', [float('inf'), 1], {'x': [float('nan'), True]})]")
    assert [row["contribution"] for row in rows] == [None, 1]
    assert [row["x"] for row in rows] == [None, True]
    assert not any(isinstance(value, np.generic) for row in rows for value in row.values())
