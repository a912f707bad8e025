"""What lacks or was bent in a study is said beside its numbers."""

from __future__ import annotations

import math

import pytest
from study_records import records_of, study_part

from harness.study import tables
from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.4, 0.3, 0.2], "ECT": [0.4, 0.3, 0.2]},
}


@pytest.fixture
def records():
    return records_of(study_part(), DISTANCES)


def only(records):
    (summary,) = summarize(records)
    return summary


def changed(records, place, **update):
    return [*records[:place], records[place].model_copy(update=update), *records[place + 1 :]]


def test_a_whole_study_has_no_note(records):
    found = only(records)
    assert (found.notes, found.complete, found.undefined) == ((), True, False)


def test_a_study_that_was_cut_off_says_which_rows_lack_folds(records):
    found = only(records[:-1])
    assert not found.complete
    assert found.notes == ("incomplete: of 3 folds 'new' has 2; another run goes on from there",)
    assert found.cells["WEAT", "new", "WEAT"].comparison.n == 2


def test_a_study_that_was_cut_off_at_its_first_record_has_no_test_and_says_why(records):
    found = only(records[:1])
    assert not found.complete
    assert "without a test in 2 of the cells: 0 of 3 differences are defined: 2 are needed" in (
        found.notes
    )
    assert found.undefined
    assert math.isnan(found.cells["WEAT", "old", "WEAT"].mean)
    assert found.statement == ("Nothing can be compared with old yet.",)


def test_a_value_that_is_undefined_is_told_with_its_row_and_reason(records):
    judged = {
        "WEAT": records[-1].judged["WEAT"].model_copy(update={"values": {"WEAT": None, "ECT": 0.2}})
    }
    found = only(
        changed(records, -1 % len(records), judged=judged, reasons={"WEAT": "a: no vectors"})
    )
    assert found.undefined
    assert found.complete
    assert found.notes == ("'new' has no value of WEAT in 1 of 3 folds: a: no vectors",)
    assert found.cells["WEAT", "new", "WEAT"].n == 2
    assert math.isnan(found.cells["WEAT", "new", "WEAT"].values[2])


def test_equal_differences_that_are_not_0_have_no_test():
    same = DISTANCES | {"new": {"WEAT": [0.4, 0.4, 0.4], "ECT": [0.4, 0.3, 0.2]}}
    found = only(records_of(study_part(), same))
    assert found.undefined
    assert found.cells["WEAT", "new", "WEAT"].verdict == "undefined"
    assert found.notes == (
        "without a test in 1 of the cells: all 3 differences are -0.1: without spread there is "
        "no test",
    )


def test_a_row_that_was_changed_between_folds_is_not_complete(records):
    found = only(changed(records, 4, mitigator="normalize?more=1"))
    assert not found.complete
    assert found.notes[0].startswith("incomplete: normalize was set otherwise in some folds")


def test_missing_words_are_counted_and_the_first_named():
    words = tuple(f"w{i:02}" for i in range(12))
    (note,) = only(records_of(study_part(), DISTANCES, missing=words)).notes
    assert note.startswith("the model lacks 12 words of the study: w00, w01")
    assert note.endswith("w09 and 2 more; 9 pairs or sets were dealt out")


def test_an_overlap_that_was_allowed_is_told(records):
    found = only(changed(records, -1 % len(records), overlap=("he",)))
    assert found.notes == ("'new' was judged on what it was fitted on: he",)
    assert found.overlap == ("he",)
    none = "no row was judged on a word that it was fitted on, in any fold"
    assert none in tables.legend(only(records))
    assert none not in tables.legend(found)


def test_the_statement_names_what_can_not_be_told_apart_and_what_can():
    distances = DISTANCES | {
        "new": {"WEAT": [0.1, 0.11, 0.12], "ECT": [0.4, 0.3, 0.2]},
        "bad": {"WEAT": [0.9, 0.91, 0.92], "ECT": [0.4, 0.3, 0.2]},
    }
    rows = ("none", "normalize", "old", "new", "bad")
    found = only(records_of(study_part(rows=rows), distances))
    assert found.statement == (
        "Compared with old, after Holm's correction over 4 comparisons at 0.05:",
        "fairer: new by WEAT",
        "less fair: bad by WEAT",
        "not told apart: new by ECT; bad by ECT",
        "What is not told apart is not shown to be equal; the intervals tell how far.",
    )


def test_what_differs_by_criterion_is_told_with_the_criterion():
    params = {"new": {"WEAT": [{"k": 1}] * 3, "ECT": [{"k": 2}] * 3}}
    records = records_of(study_part(criteria=("WEAT", "ECT")), DISTANCES, params=params)
    for place, value in zip(range(-3, 0), (0.1, 0.11, 0.12), strict=True):
        one = records[place]
        other = one.judged["ECT"].model_copy(update={"values": {"WEAT": value, "ECT": 0.3}})
        records[place] = one.model_copy(update={"judged": one.judged | {"ECT": other}})
    statement = only(records).statement
    assert "fairer: new by WEAT (if chosen by ECT)" in statement
    assert "not told apart: new by WEAT (if chosen by WEAT), ECT" in statement


def test_a_region_of_equivalence_adds_what_lies_within_it():
    found = only(records_of(study_part(rope=0.1), DISTANCES))
    assert found.statement[-1] == "within 0.1 of it with a probability of at least 0.95: new by ECT"
