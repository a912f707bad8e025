"""The violin plots of a study's values over the folds."""

from __future__ import annotations

import pytest
from study_records import records_of, study_part

from harness.results.figures import write_figure
from harness.study.summary import summarize
from harness.study.violins import groups, violins

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, None], "ECT": [0.4, 0.3, 0.2]},
}


def test_a_panel_is_a_measure_and_a_group_the_rows_that_are_equal_under_all_criteria(tmp_path):
    (summary,) = summarize(records_of(study_part(), DISTANCES))
    before, after = groups(summary)
    assert (before.name, before.rows) == ("before mitigation", ["none", "normalize"])
    assert (after.name, after.rows) == ("any criterion", ["old", "new"])
    title, panels = violins(summary)
    assert len(panels) == 2
    write_figure(tmp_path / "a.svg", title, panels)
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert all(name in text for name in ("WEAT", "ECT", *DISTANCES))


def test_a_row_that_differs_by_criterion_has_a_violin_for_each_criterion():
    records = records_of(study_part(criteria=("WEAT", "ECT")), DISTANCES)
    other = records[-1].judged["ECT"].model_copy(update={"values": {"WEAT": 0.3, "ECT": 0.1}})
    records[-1] = records[-1].model_copy(update={"judged": records[-1].judged | {"ECT": other}})
    (summary,) = summarize(records)
    found = {group.name: group for group in groups(summary)}
    assert list(found) == ["before mitigation", "any criterion", "WEAT", "ECT"]
    assert found["WEAT"].rows == found["ECT"].rows == ["new"]
    assert found["WEAT"].offset == pytest.approx(-0.2)
    assert found["ECT"].offset == pytest.approx(0.2)
    assert found["WEAT"].width == pytest.approx(0.4)
