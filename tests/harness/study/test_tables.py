"""The cells of a study's tables, and their legend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from study_records import records_of, study_part

from harness.study import study_tables
from harness.study.cells import Cell
from harness.study.significance import corrected_t_test
from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
}
PARAMS = {"new": {"WEAT": [{"k": 1, "theta": 0.5}, {"k": 2}, {"k": 2}], "ECT": [{"k": 2}] * 3}}


def summary_of(distances=DISTANCES, *, params=None, **changed):
    (summary,) = summarize(records_of(study_part(**changed), distances, params=params))
    return summary


@pytest.fixture
def cell():
    tested = corrected_t_test([-0.1, -0.2, -0.3], test_to_train=0.5)
    return Cell(
        criterion="WEAT",
        row="new",
        measure="WEAT",
        values=(0.4, 0.3, 0.2),
        mean=-0.1,
        sd=0.0314,
        n=3,
        comparison=tested,
        p_holm=0.2,
        verdict="worse",
        verdict_holm="equal",
    )


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "−0.100 ± 0.031 (↓)"),
        ({"verdict_holm": "worse"}, "−0.100 ± 0.031 (↓*)"),
        ({"verdict": "better", "verdict_holm": "better"}, "−0.100 ± 0.031 (↑*)"),
        ({"verdict": "equal"}, "−0.100 ± 0.031 (=)"),
        ({"verdict": "undefined", "verdict_holm": "undefined"}, "−0.100 ± 0.031 (?)"),
        ({"verdict": None, "comparison": None}, "−0.100 ± 0.031"),
        ({"mean": -0.00001, "verdict": "equal"}, "0.000 ± 0.031 (=)"),
        ({"mean": 0.14, "sd": float("nan")}, "0.140 ± – (↓)"),
        ({"mean": float("nan"), "verdict": "undefined"}, "undefined (?)"),
        ({"mean": float("nan"), "verdict": None, "comparison": None}, "–"),
    ],
)
def test_a_cell_is_printed_as_in_table_iv(cell, changed, text):
    assert study_tables.text(replace(cell, **changed)) == text


def test_the_table_has_all_rows_but_vectors_as_they_come():
    (table,) = study_tables.changes(summary_of())
    assert table.title == "chosen by any criterion"
    assert table.columns == ("mitigator", "WEAT", "ECT")
    assert table.rows == (
        ("normalize", "−0.800 ± 0.200", "0.300 ± 0.173"),
        ("old", "−0.700 ± 0.200", "0.300 ± 0.265"),
        ("new", "−1.090 ± 0.190 (↑*)", "0.300 ± 0.265 (=)"),
    )


def test_there_is_a_table_for_each_criterion_unless_all_are_alike():
    params = {"new": {"WEAT": [{"k": 1}] * 3, "ECT": [{"k": 2}] * 3}}
    study = study_part(criteria=("WEAT", "ECT"))
    records = records_of(study, DISTANCES, params=params)
    (alike,) = summarize(records)
    assert len(study_tables.changes(alike)) == 1
    assert "all criteria (WEAT, ECT)" in study_tables.legend(alike)[-1]
    other = records[-1].judged["ECT"].model_copy(update={"values": {"WEAT": 0.3, "ECT": 0.2}})
    judged = records[-1].judged | {"ECT": other}
    (summary,) = summarize([*records[:-1], records[-1].model_copy(update={"judged": judged})])
    tables = study_tables.changes(summary)
    assert [table.title for table in tables] == ["chosen by WEAT", "chosen by ECT"]


def test_a_measure_whose_changes_are_tiny_has_more_digits():
    tiny = {
        row: {name: [x / 1000 for x in folds] for name, folds in measures.items()}
        for row, measures in DISTANCES.items()
    }
    (table,) = study_tables.changes(summary_of(tiny))
    assert table.rows[0][1] == "−0.0008 ± 0.0002"


def test_the_most_frequent_choice_is_shown_with_its_count():
    table = study_tables.chosen(summary_of(params=PARAMS, criteria=("WEAT", "ECT")))
    assert table.rows == (
        ("new", "WEAT", "k=2", "2 of 3", "k=1, theta=0.5: 1"),
        ("new", "ECT", "k=2", "3 of 3", "–"),
    )


def test_a_line_has_every_number_of_a_comparison():
    lines = study_tables.lines(summary_of())
    assert len(lines) == 4 * 2
    weat = next(line for line in lines if (line["row"], line["measure"]) == ("new", "WEAT"))
    assert None not in [value for name, value in weat.items() if name not in ("reason", "floor")]
    assert weat["difference"] == pytest.approx(-0.39)
    assert weat["low"] < weat["difference"] < weat["high"] < 0
    assert weat["p_holm"] == pytest.approx(2 * weat["p_value"])
