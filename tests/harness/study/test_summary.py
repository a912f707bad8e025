"""The summary of a study: changes, comparisons, their family, choices, and which records count."""

from __future__ import annotations

import math

import pytest
from study_records import MEASURES, records_of, study_part

from harness.study.summary import summarize

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.4, 0.3, 0.2], "ECT": [0.4, 0.3, 0.2]},
}
"""Distances from fair by fold."""


def summary_of(distances=DISTANCES, *, made=None, **changed):
    (summary,) = summarize(records_of(study_part(**changed), distances, **(made or {})))
    return summary


def cell(summary, row, measure, criterion="WEAT"):
    return summary.cells[criterion, row, measure]


# --- changes ----------------------------------------------------------------------------------


def test_a_change_is_counted_from_vectors_of_unit_length():
    # 0.5 − (1.0, 1.2, 1.4)
    found = cell(summary_of(), "old", "WEAT")
    assert (found.mean, found.sd, found.n) == (pytest.approx(-0.7), pytest.approx(0.2), 3)


def test_vectors_as_they_come_have_values_and_no_change():
    found = cell(summary_of(), "none", "WEAT")
    assert found.values == (2.0, 2.0, 2.0)
    assert math.isnan(found.mean)
    assert found.comparison is None


def test_a_measure_that_rises_as_it_gets_fairer_is_shown_as_its_score():
    # distances 0.4, 0.3, 0.2 of 1 from 0.5, 0.5, 0.8: the score rose by 0.1, 0.2, 0.6
    found = cell(summary_of(), "new", "ECT")
    assert found.values == pytest.approx((0.6, 0.7, 0.8))
    assert found.mean == pytest.approx(0.3)


# --- pooled scores and floors -------------------------------------------------------------------

SIGNED = {
    "WEAT": MEASURES["WEAT"].model_copy(update={"signed": True}),
    "ECT": MEASURES["ECT"],
}
SCORES = {
    "none": [[2.0], [2.0], [2.0]],
    "normalize": [[-1.0], [-1.2], [-1.4]],
    "old": [[0.3], [-0.1], [0.4]],
    "new": [[0.3], [-0.5], [0.2]],
}
"""Scores of WEAT less their fair value, by fold and scenario."""
FLOORS = [0.1, 0.1, 0.4]


def pooled_summary(**changed):
    found = {
        row: {
            "signed": {"WEAT": folds},
            "floors": {"WEAT": [0.9] * 3, "ECT": FLOORS if row == "old" else [0.1, None, 0.1]},
            "spreads": {"WEAT": [[0.3], [0.4], [0.5]]},
        }
        for row, folds in SCORES.items()
    }
    return summary_of(made={"found": found}, measures=SIGNED, **changed)


def test_a_score_with_a_sign_is_pooled_before_its_size_is_taken():
    summary = pooled_summary()
    assert cell(summary, "old", "WEAT").values == pytest.approx((0.3, -0.1, 0.4))
    # |0.6 / 3| − |−3.6 / 3|
    assert cell(summary, "old", "WEAT").mean == pytest.approx(-1.0)
    # 0 of the new row: no direction, no distance
    assert cell(summary, "new", "WEAT").comparison.mean == pytest.approx(-0.2)


def test_the_floor_is_subtracted_from_a_score_without_a_sign():
    # distances .4, .3, .2; a measure that does not depend on sides in a fold has no floor there
    summary = pooled_summary()
    assert cell(summary, "old", "ECT").values == pytest.approx((0.7, 0.8, 1.2))
    assert cell(summary, "new", "ECT").values == pytest.approx((0.7, 0.7, 0.9))


def test_as_published_distances_are_compared_as_they_are():
    summary = pooled_summary(protocol="published")
    assert cell(summary, "old", "WEAT").values == (0.5, 0.5, 0.5)
    assert cell(summary, "old", "ECT").values == pytest.approx((0.6, 0.7, 0.8))
    # from (1.0 + 1.2 + 1.4) / 3 to the floor
    assert summary.chance["WEAT", "WEAT"] == pytest.approx(0.9 - 1.2)


def test_the_floor_of_the_table_is_what_swapped_sides_leave_after_the_baseline():
    summary = pooled_summary()
    # √(2/π) · √(.09 + .16 + .25) / 3, counted from 1.2
    floor = math.sqrt(2 / math.pi) * math.sqrt(0.5) / 3
    assert summary.chance["WEAT", "WEAT"] == pytest.approx(floor - 1.2)
    # nothing above the floor, which ECT shows as a rise from (.4 + .5 + .7) / 3 above it
    assert summary.chance["WEAT", "ECT"] == pytest.approx((0.4 + 0.5 + 0.7) / 3)


def test_detectable_is_the_median_over_rows():
    found = summary_of()
    assert found.detectable("WEAT", "WEAT") == cell(found, "new", "WEAT").detectable
    alone = {row: values for row, values in DISTANCES.items() if row != "new"}
    assert math.isnan(summary_of(alone, rows=tuple(alone)).detectable("WEAT", "WEAT"))


# --- comparisons ------------------------------------------------------------------------------


def test_a_comparison_by_hand():
    # differences −0.1, −0.2, −0.3: mean −0.2, s 0.1; standard error 0.1 sqrt(1/3 + 3/6)
    found = cell(summary_of(), "new", "WEAT").comparison
    assert found.mean == pytest.approx(-0.2)
    assert found.t == pytest.approx(-2 / math.sqrt(1 / 3 + 3 / 6))
    assert found.confidence == 0.95


def test_the_published_protocol_has_its_own_variance_and_a_note():
    found = summary_of(protocol="published")
    # s²/3 (1 + 1/3) = 0.01 · 4/9
    assert cell(found, "new", "WEAT").comparison.t == pytest.approx(-3.0)
    assert "published" in found.test
    assert any("'published'" in note for note in found.notes)
    assert not any("published" in note for note in summary_of().notes)


def test_equal_values_are_equal():
    found = cell(summary_of(), "new", "ECT")
    assert (found.verdict, found.verdict_holm, found.comparison.p_value) == ("equal", "equal", 1.0)


def test_unit_length_is_a_contender_unless_all_rows_have_it():
    assert cell(summary_of(), "normalize", "WEAT").comparison is None
    found = summary_of(normalize=False)
    assert found.study.contenders == ("normalize", "new")
    assert cell(found, "normalize", "WEAT").comparison is not None


def test_a_single_test_may_find_a_difference_that_holm_does_not():
    # differences −.15, −.2, −.25: t = −.2 / (.05 sqrt(5/6)) = −4.38, p = .048 of two comparisons
    near = DISTANCES | {"new": {"WEAT": [0.35, 0.3, 0.25], "ECT": [0.4, 0.3, 0.2]}}
    found = summary_of(near)
    weat = cell(found, "new", "WEAT")
    assert found.family == 2
    assert weat.comparison.p_value == pytest.approx(0.0483, abs=5e-5)
    assert weat.p_holm == pytest.approx(2 * weat.comparison.p_value)
    assert (weat.verdict, weat.verdict_holm) == ("better", "equal")
    assert "not told apart: new by every measure" in found.statement


def test_less_distance_is_better_even_if_the_score_rises():
    found = summary_of(DISTANCES | {"new": {"WEAT": [0.5] * 3, "ECT": [0.2, 0.1, 0.01]}})
    ect = cell(found, "new", "ECT")
    assert ect.mean > cell(found, "old", "ECT").mean
    assert (ect.verdict, ect.verdict_holm) == ("better", "better")
    assert "fairer: new by ECT" in found.statement


# --- the family -------------------------------------------------------------------------------


def test_a_row_with_choices_is_a_comparison_under_each_criterion():
    params = {"new": {"WEAT": [{"k": 1}, {"k": 2}, {"k": 2}], "ECT": [{"k": 1}] * 3}}
    found = summary_of(criteria=("WEAT", "ECT"), made={"params": params})
    assert found.family == 4


def test_criteria_with_equal_values_share_a_table():
    assert summary_of(criteria=("WEAT", "ECT")).criteria == ("WEAT",)
    study = study_part(criteria=("WEAT", "ECT"))
    records = records_of(study, DISTANCES)
    other = records[-1].judged["ECT"].model_copy(update={"values": {"WEAT": 0.0, "ECT": 0.0}})
    judged = records[-1].judged | {"ECT": other}
    records[-1] = records[-1].model_copy(update={"judged": judged})
    (found,) = summarize(records)
    assert found.criteria == ("WEAT", "ECT")


# --- choices ---------------------------------------------------------------------------------


def test_choices_are_counted_over_the_folds():
    params = {"new": {"WEAT": [{"k": 1}, {"k": 2}, {"k": 2}]}}
    found = summary_of(made={"params": params})
    assert [(choice.params, choice.count) for choice in found.chosen["new", "WEAT"]] == [
        ({"k": 2}, 2),
        ({"k": 1}, 1),
    ]
    assert list(found.chosen) == [("new", "WEAT")], "the other rows have nothing to choose"


# --- which records count ----------------------------------------------------------------------


def test_each_model_has_a_summary():
    study = study_part()
    records = records_of(study, DISTANCES)
    other = records[0].model.model_copy(update={"name": "other", "fingerprint": "g"})
    records += [record.model_copy(update={"model": other}) for record in records]
    assert [summary.model.name for summary in summarize(records)] == ["toy-model", "other"]


@pytest.mark.parametrize("newer", ["d1", "d2"])
def test_of_two_set_ups_with_one_name_the_newest_counts(newer):
    written = {"d1": "2026-01-01T00:00:00+00:00", "d2": "2026-01-01T00:00:00+00:00"}
    written[newer] = "2026-02-01T00:00:00+00:00"
    records = [
        record
        for digest, created in written.items()
        for record in records_of(study_part(digest=digest), DISTANCES, created=created)
    ]
    (found,) = summarize(records)
    assert found.study.digest == newer
    assert found.complete
    assert any(note.startswith("12 older records") for note in found.notes)


def test_of_two_records_of_a_fold_the_newest_counts():
    study = study_part()
    old = records_of(study, {"new": {"WEAT": [9.0] * 3, "ECT": [0.5] * 3}})
    new = records_of(study, DISTANCES, created="2026-02-01T00:00:00+00:00")
    (found,) = summarize([*new, *old])
    assert cell(found, "new", "WEAT").values == (0.4, 0.3, 0.2)
