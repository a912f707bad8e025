"""The violin plots of a study's values over the folds."""

from __future__ import annotations

import json

import plotly.graph_objects
import pytest
from study_records import records_of, study_part

from harness.study.summary import summarize
from harness.study.violins import violins

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, None], "ECT": [0.4, 0.3, 0.2]},
}


def drawn(records):
    (summary,) = summarize(records)
    return violins(summary)


@pytest.fixture
def figure():
    return drawn(records_of(study_part(), DISTANCES))


def test_the_figure_is_valid_for_plotly(figure):
    plotly.graph_objects.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_each_row_has_a_position_and_each_defined_fold_a_point(figure):
    before, after = (trace for trace in figure["data"] if trace["visible"])
    assert (before["name"], before["x"]) == ("before mitigation", [0, 0, 0, 1, 1, 1])
    assert before["y"] == [2.0, 2.0, 2.0, 1.0, 1.2, 1.4]
    assert (after["name"], after["x"]) == ("any criterion", [2, 2, 2, 3, 3])
    assert after["y"] == [0.5, 0.5, 0.5, 0.1, 0.11]
    assert after["points"] == "all"
    assert figure["layout"]["xaxis"]["ticktext"] == ["none", "normalize", "old", "new"]


def test_the_menu_shows_one_measure_at_a_time(figure):
    (menu,) = figure["layout"]["updatemenus"]
    assert [button["label"] for button in menu["buttons"]] == ["WEAT", "ECT"]
    shown, title = menu["buttons"][1]["args"]
    assert shown["visible"] == [False, False, True, True]
    assert title == {"yaxis.title.text": "ECT: score plus the floor of the fold, higher is fairer"}
    assert figure["data"][3]["y"][:3] == pytest.approx([0.6, 0.7, 0.8])


def test_a_row_that_differs_by_criterion_has_a_violin_for_each_criterion():
    records = records_of(study_part(criteria=("WEAT", "ECT")), DISTANCES)
    other = records[-1].judged["ECT"].model_copy(update={"values": {"WEAT": 0.3, "ECT": 0.1}})
    records[-1] = records[-1].model_copy(update={"judged": records[-1].judged | {"ECT": other}})
    traces = {trace["name"]: trace for trace in drawn(records)["data"] if trace["visible"]}
    assert list(traces) == ["before mitigation", "any criterion", "WEAT", "ECT"]
    assert traces["any criterion"]["x"] == [2, 2, 2]
    assert traces["WEAT"]["x"] == pytest.approx([2.8, 2.8])
    assert traces["ECT"]["x"] == pytest.approx([3.2, 3.2, 3.2])
    assert traces["WEAT"]["width"] == pytest.approx(0.4)


def test_names_are_escaped():
    distances = {("<b>" if row == "new" else row): v for row, v in DISTANCES.items()}
    figure = drawn(records_of(study_part(rows=tuple(distances)), distances))
    assert "<b>" not in json.dumps(figure)
