"""Figures beside the records: pages that need no network, and one script for all of them."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from harness.errors import InvalidFile
from harness.results import folder

DOTS = {
    "data": [{"type": "scatter", "x": [1, 2], "y": [3, 4], "text": ["<script>alert(1)</script>"]}],
    "layout": {"title": {"text": "Dots"}},
}


def test_a_figure_is_a_page_beside_plotlys_script(tmp_path):
    for name in ("a.html", "b.html"):
        folder.write_figure(tmp_path / name, DOTS, "Mine & <yours>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html", folder.SCRIPT]
    page = (tmp_path / "a.html").read_text()
    assert "Mine &amp; &lt;yours&gt;" in page
    assert 'src="plotly.min.js"' in page
    assert "https://cdn" not in page
    assert len(page) < 20_000


def test_text_in_a_figure_cannot_end_its_script(tmp_path):
    folder.write_figure(tmp_path / "a.html", DOTS, "Dots")
    assert "<script>alert(1)" not in (tmp_path / "a.html").read_text()


def test_an_invalid_figure_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="nonsense"):
        folder.write_figure(
            tmp_path / "a.html", {"data": [{"type": "scatter", "nonsense": 1}]}, "No"
        )
    assert not (tmp_path / "a.html").exists()


def test_a_page_gives_its_figure_back(tmp_path):
    folder.write_figure(tmp_path / "a.html", DOTS, "Dots")
    assert folder.read_figure(tmp_path / "a.html") == DOTS
    for name, content in (("b.html", "no page of ours"), ("c.html", "\xff")):
        (tmp_path / name).write_bytes(content.encode("latin-1"))
        with pytest.raises(InvalidFile, match=name):
            folder.read_figure(tmp_path / name)


def test_figures_together_have_the_traces_of_all_under_the_labels():
    line = {"type": "scatter", "name": "rated", "y": [1], "line": {"color": "red", "dash": "dot"}}
    one = {"data": [line], "layout": {"title": {"text": "Ratings"}}}
    both = folder.figures_together({"none": one, "<hard>": one, "": DOTS})
    go.Figure(both)
    names = [trace.get("name") for trace in both["data"]]
    assert names == ["none, rated", "&lt;hard&gt;, rated", ""]
    assert both["data"][0]["line"] == {"dash": "dot"}
    assert both["layout"]["title"]["text"] == "Ratings"
