"""Caveats are printed with a study's numbers, each once."""

from __future__ import annotations

import math

import pytest
from study_records import records_of, study_part

from harness.registry import discovery
from harness.registry.registry import Registry
from harness.study import study_tables
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


def test_changes_from_other_lengths_are_noted_where_no_plugin_brings_unit_length(records):
    nothing = Registry(discovery.Plugins(()))
    (summary,) = summarize(records, nothing)
    (note,) = summary.notes
    assert has(note, "'none'", "unit length")
    (as_they_come,) = summarize(records_of(study_part(normalize=False), DISTANCES), nothing)
    assert as_they_come.notes == ()


def test_records_that_compare_distances_of_single_folds_are_noted():
    (note,) = only(records_of(study_part(judging="distances"), DISTANCES)).notes
    assert has(note, "mean distances", "run the study again")


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


def test_equal_differences_that_are_not_0_have_no_test():
    equal = DISTANCES | {"new": {"WEAT": [0.4, 0.4, 0.4], "ECT": [0.4, 0.3, 0.2]}}
    summary = only(records_of(study_part(), equal))
    assert summary.undefined
    assert summary.cells["WEAT", "new", "WEAT"].verdict == "undefined"
    (note,) = summary.notes
    assert has(note, "1 of the cells", "3 differences are -0.1")


def test_a_row_that_was_changed_between_folds_is_not_complete(records):
    summary = only(changed(records, 4, mitigator="normalize?more=1"))
    assert not summary.complete
    assert has(summary.notes[0], "incomplete", "normalize")


def test_missing_words_are_counted_and_the_first_ten_listed():
    words = tuple(f"w{i:02}" for i in range(12))
    (note,) = only(records_of(study_part(), DISTANCES, missing=words)).notes
    assert has(note, "12 words", "w00, w01", "w09 and 2 more", "9 pairs")
    assert "w10" not in note


def test_an_allowed_overlap_is_noted(records):
    summary = only(changed(records, len(records) - 1, overlap=("he",)))
    (note,) = summary.notes
    assert has(note, "'new'", "fitted on: he")
    assert summary.overlap == ("he",)
    no_overlap = "no row was judged on a text that it was fitted on"
    assert no_overlap in study_tables.legend(only(records))
    assert no_overlap not in study_tables.legend(summary)


# --- of runs ----------------------------------------------------------------------------------


def test_a_setting_that_could_not_be_chosen_is_noted_once_for_all_measures(run, content):
    content["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [0, 1]}}}
    summary = only(run().records)
    (note,) = (note for note in summary.notes if "alpha" in note)
    assert has(note, "'half-sibling-regression'", "WEAT, ECT", "12 of 24 fits", '{"alpha": 0}')
    assert not summary.undefined, "only inner folds are"


def test_an_undefined_row_is_noted_with_its_reason(run, content):
    content["mitigators"] = {"half-sibling-regression": {"grid": {"alpha": [0]}}}
    summary = only(run().records)
    (note,) = (note for note in summary.notes if "'half-sibling-regression'" in note)
    assert has(note, "WEAT, ECT", "4 of 4 folds", "alpha=0", "12 words")
    assert summary.undefined


def test_a_row_that_starts_from_other_lengths_is_noted(run, content):
    content["mitigators"] = {"leace": {"normalize": False}, "hard-debias": {"normalize": True}}
    (note,) = (note for note in only(run().records).notes if "starts from" in note)
    assert has(note, "'leace'", "as they come")
