"""Caveats are printed with a study's numbers, each once."""

from __future__ import annotations

import math

import pytest
from study_records import records_of, study_part

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


def has(note, *facts):
    return all(fact in note for fact in facts)


# --- of records -------------------------------------------------------------------------------


def test_a_complete_study_has_no_note(records):
    summary = only(records)
    assert (summary.notes, summary.complete, summary.undefined) == ((), True, False)


def test_an_incomplete_study_names_the_rows_that_lack_folds(records):
    summary = only(records[:-1])
    assert not summary.complete
    (note,) = summary.notes
    assert has(note, "incomplete", "3 folds", "'new' has 2")
    assert summary.cells["WEAT", "new", "WEAT"].comparison.n == 2


def test_a_study_with_a_single_record_has_no_test_and_gives_the_reason(records):
    summary = only(records[:1])
    assert not summary.complete
    assert any(has(note, "2 of the cells", "0 of 3 differences") for note in summary.notes)
    assert summary.undefined
    assert math.isnan(summary.cells["WEAT", "old", "WEAT"].mean)


def test_an_undefined_value_is_noted_with_its_row_and_reason(records):
    values = {"WEAT": None, "ECT": 0.2}
    judged = {"WEAT": records[-1].judged["WEAT"].model_copy(update={"values": values})}
    last = len(records) - 1
    summary = only(changed(records, last, judged=judged, reasons={"WEAT": "a: no vectors"}))
    assert summary.undefined
    assert summary.complete
    (note,) = summary.notes
    assert has(note, "'new'", "WEAT", "1 of 3 folds", "a: no vectors")
    assert summary.cells["WEAT", "new", "WEAT"].n == 2
    assert math.isnan(summary.cells["WEAT", "new", "WEAT"].values[2])


def test_missing_words_are_counted_and_the_first_ten_listed():
    words = tuple(f"w{i:02}" for i in range(12))
    (note,) = only(records_of(study_part(), DISTANCES, missing=words)).notes
    assert has(note, "12 words", "w00, w01", "w09 and 2 more", "9 pairs")
    assert "w10" not in note


# --- of runs ----------------------------------------------------------------------------------
