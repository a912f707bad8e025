"""The statement of a study: which rows differ from the baseline, and which do not."""

from __future__ import annotations

from study_records import records_of, study_part

from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.4, 0.3, 0.2], "ECT": [0.4, 0.3, 0.2]},
}


def statement_of(records):
    (summary,) = summarize(records)
    return summary.statement


def test_the_statement_lists_the_rows_by_verdict():
    distances = DISTANCES | {
        "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
        "bad": {"WEAT": [0.9, 0.91, 0.92], "ECT": [0.4, 0.3, 0.2]},
    }
    study = study_part(rows=("none", "normalize", "old", "new", "bad"))
    first, *verdicts, last, power = statement_of(records_of(study, distances))
    assert all(fact in first for fact in ("old", "Holm", "4 comparisons", "0.05"))
    assert verdicts == [
        "fairer: new by WEAT",
        "less fair: bad by WEAT",
        "not told apart: new by ECT; bad by ECT",
    ]
    assert "not shown to be equal" in last
    assert "80%" in power
    assert "by WEAT" in power


def test_a_verdict_that_differs_by_criterion_names_the_criterion():
    params = {"new": {"WEAT": [{"k": 1}] * 3, "ECT": [{"k": 2}] * 3}}
    records = records_of(study_part(criteria=("WEAT", "ECT")), DISTANCES, params=params)
    for place, value in zip(range(-3, 0), (0.1, 0.11, 0.12), strict=True):
        judged = records[place].judged
        by_ect = judged["ECT"].model_copy(update={"values": {"WEAT": value, "ECT": 0.3}})
        records[place] = records[place].model_copy(update={"judged": judged | {"ECT": by_ect}})
    statement = statement_of(records)
    assert "fairer: new by WEAT (if chosen by ECT)" in statement
    assert "not told apart: new by WEAT (if chosen by WEAT), ECT" in statement
