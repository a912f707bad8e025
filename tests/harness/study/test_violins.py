"""The violin plots of a study's values over the folds."""

from __future__ import annotations

import pytest
from study_records import records_of, study_part

from harness.results import figures
from harness.results.figures import picture, write_figure
from harness.study.summary import summarize
from harness.study.violins import violins

DISTANCES = {
    "none": {"WEAT": [2.0, 2.0, 2.0], "ECT": [0.9, 0.9, 0.9]},
    "normalize": {"WEAT": [1.0, 1.2, 1.4], "ECT": [0.5, 0.5, 0.8]},
    "old": {"WEAT": [0.5, 0.5, 0.5], "ECT": [0.4, 0.3, 0.2]},
    "new": {"WEAT": [0.1, 0.11, None], "ECT": [0.4, 0.3, 0.2]},
}


def test_a_panel_is_a_measure(tmp_path):
    (summary,) = summarize(records_of(study_part(), DISTANCES))
    title, panels = violins(summary)
    assert len(panels) == 2
    write_figure(tmp_path / "a.svg", title, panels)
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert all(name in text for name in ("WEAT", "ECT", *DISTANCES))


def test_each_criterion_has_its_violins(monkeypatch):
    records = records_of(study_part(criteria=("WEAT", "ECT")), DISTANCES)
    other = records[-1].judged["ECT"].model_copy(update={"values": {"WEAT": 0.3, "ECT": 0.1}})
    records[-1] = records[-1].model_copy(update={"judged": records[-1].judged | {"ECT": other}})
    (summary,) = summarize(records)
    drawn = []
    monkeypatch.setattr(
        figures, "violins", lambda ax, values, **more: drawn.append((list(values), more["label"]))
    )
    picture("svg", *violins(summary))
    places, labels = zip(*drawn, strict=True)
    assert labels == ("WEAT", "ECT") * 2
    assert places[0] == pytest.approx([-0.2, 0.8, 1.8, 2.8])
    assert places[1] == pytest.approx([0.2, 1.2, 2.2, 3.2])
