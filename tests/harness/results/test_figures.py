"""Figures beside the records: descriptions that need no library, and pictures of them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import pytest

from harness.errors import InvalidFile, UsageError
from harness.results import figures

DOTS = {
    "data": [{"type": "scatter", "x": [1, 2], "y": [3, 4], "text": ["<script>alert(1)</script>"]}],
    "layout": {"title": {"text": "Mine &amp; <b>yours</b>, $5 and $6"}},
}
BEGINS = {".svg": b"<?xml", ".pdf": b"%PDF-", ".png": b"\x89PNG"}
SAMPLES = {
    "none": [
        {"input": "targets_1", "text": "John", "association": 0.2, "contribution": 0.3},
        {"input": "targets_1", "text": "Paul", "association": 0.1, "contribution": 0.2},
        {"input": "targets_2", "text": "Amy", "association": -0.2, "contribution": 0.1},
        {"input": "attributes_1", "text": "career", "association": 0.9, "contribution": 0.1},
    ],
    "<hard>": [
        {"input": "targets_1", "text": "John", "association": 0.0, "contribution": 0.3},
        {"input": "targets_2", "text": "Amy", "association": None, "contribution": None},
    ],
}


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_a_picture_is_of_the_kind_of_its_suffix_and_the_same_each_time(tmp_path, suffix):
    for name in ("a", "b"):
        figures.write_figure(tmp_path / (name + suffix), DOTS)
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in ("a", "b"))
    assert first.startswith(BEGINS[suffix])
    assert first == second


@pytest.mark.parametrize("name", ["fig.html", "fig", "fig.jpg"])
def test_another_suffix_is_a_mistake_and_nothing_is_written(tmp_path, name):
    with pytest.raises(UsageError, match=r"\.svg, \.pdf, \.png, or as its description \.json"):
        figures.write_figure(tmp_path / name, DOTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("drawing", [{}, {"data": "none"}, {"data": [1]}])
def test_an_invalid_figure_is_an_error(tmp_path, drawing):
    with pytest.raises(ValueError, match="'data'"):
        figures.write_figure(tmp_path / "a.json", drawing)
    assert not (tmp_path / "a.json").exists()


def test_a_trace_that_is_not_drawn_is_named_and_its_description_is_kept(tmp_path):
    pie = {"data": [{"type": "pie", "values": [1, 2]}]}
    figures.write_figure(tmp_path / "a.json", pie)
    with pytest.raises(UsageError, match="'pie' is not drawn, only scatter, bar"):
        figures.write_figure(tmp_path / "a.svg", pie)


def test_a_description_gives_its_figure_back(tmp_path):
    figures.write_figure(tmp_path / "a.json", DOTS)
    assert figures.read_figure(tmp_path / "a.json") == DOTS
    for name, content in (("b.json", "no JSON"), ("c.json", "\xff"), ("d.html", "no figure")):
        (tmp_path / name).write_bytes(content.encode("latin-1"))
        with pytest.raises(InvalidFile, match=name):
            figures.read_figure(tmp_path / name)


def test_a_page_of_an_earlier_version_gives_its_figure_back(tmp_path):
    embedded = json.dumps(DOTS).replace("<", "\\u003c")
    page = f'<html><script type="application/json" id="figure">{embedded}</script></html>'
    (tmp_path / "a.html").write_text(page)
    assert figures.read_figure(tmp_path / "a.html") == DOTS


def test_arrays_and_missing_numbers_become_json(tmp_path):
    drawing = {"data": [{"type": "bar", "y": np.array([1.0, np.nan])}], "layout": {}}
    figures.write_figure(tmp_path / "a.json", drawing)
    assert figures.read_figure(tmp_path / "a.json")["data"][0]["y"] == [1.0, None]
    figures.write_figure(tmp_path / "a.svg", drawing)


def test_a_description_is_written_without_matplotlib_and_a_picture_names_the_extra(tmp_path):
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from pathlib import Path\n"
        "from harness.errors import Unavailable\n"
        "from harness.results import figures\n"
        "here, dots = Path(sys.argv[1]), {'data': [{'y': [1]}]}\n"
        "assert figures.write_with_picture(here / 'a.json', dots).suffix == '.json'\n"
        "try: figures.write_figure(here / 'a.svg', dots)\n"
        "except Unavailable as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert "embedding-bias-harness[figures]" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_each_trace_with_its_axes_is_drawn(tmp_path):
    heatmap = {"type": "heatmap", "z": [[1, 2], [3, 4]], "colorbar": {"title": {"text": "cosine"}}}
    ticks = {"tickvals": [0, 1], "ticktext": ["&lt;a&gt;", "b"], "autorange": "reversed"}
    bars = {"type": "bar", "orientation": "h", "x": [0.1, None], "y": ["one", "two"]}
    points = {"mode": "markers+text", "text": ["p", "q"], "x": [1, 2], "y": [1, 2]}
    line = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 0, "y1": 0}
    note = {"x": 1, "y": 1, "yref": "paper", "text": "90 %"}
    violin = {"type": "violin", "x": [0, 0, 1], "y": [1.0, 1.0, 2.0]}
    errors = {"y": [1, 2], "error_y": {"type": "data", "array": [0.1, None]}}
    for name, drawing in {
        "heatmap": {"data": [heatmap], "layout": {"yaxis": ticks}},
        "bars": {"data": [bars, bars], "layout": {"xaxis": {"tickformat": ".0%"}}},
        "points": {"data": [points, errors], "layout": {"shapes": [line], "annotations": [note]}},
        "violin": {"data": [violin], "layout": {}},
        "empty": {"data": [], "layout": None},
    }.items():
        go.Figure(drawing)
        figures.write_figure(tmp_path / f"{name}.svg", drawing)
        assert (tmp_path / f"{name}.svg").stat().st_size > 1_000


def test_figures_together_have_the_traces_of_all_under_the_labels():
    line = {"type": "scatter", "name": "rated", "y": [1], "line": {"color": "red", "dash": "dot"}}
    one = {"data": [line], "layout": {"title": {"text": "Ratings"}}}
    both = figures.figures_together({"none": one, "<hard>": one, "": DOTS})
    go.Figure(both)
    names = [trace.get("name") for trace in both["data"]]
    assert names == ["none, rated", "&lt;hard&gt;, rated", ""]
    assert both["data"][0]["line"] == {"dash": "dot"}
    assert both["layout"]["title"]["text"] == "Ratings"


def test_a_menu_becomes_panels_and_is_shared_by_figures_together(tmp_path):
    def button(name, *visible):
        return {"label": name, "args": [{"visible": [*visible]}, {"yaxis.title.text": name}]}

    menu = {"buttons": [button("loss", True, False), button("score", False, True)]}
    one = {"data": [{"y": [1, 2]}, {"y": [3, 4]}], "layout": {"updatemenus": [menu]}}
    both = figures.figures_together({"a": one, "b": one})
    first, second = both["layout"]["updatemenus"][0]["buttons"]
    assert first["args"][0]["visible"] == [True, False, True, False]
    assert second["args"] == [{"visible": [False, True] * 2}, {"yaxis.title.text": "score"}]
    sizes = []
    for name, drawing in {"one": DOTS, "two": both}.items():
        figures.write_figure(tmp_path / f"{name}.svg", drawing)
        text = (tmp_path / f"{name}.svg").read_text()
        sizes.append(text.count('<g id="axes_'))
    assert sizes == [1, 2]


def test_items_are_drawn_by_side_before_and_after_a_mitigator(tmp_path):
    drawing = figures.items_figure(SAMPLES, "WEAT", names={"targets_1": "men"})
    go.Figure(drawing)
    points = {trace["name"]: trace["x"] for trace in drawing["data"] if "name" in trace}
    assert points == {
        "men, none": [0.1, 0.2],
        "men, &lt;hard&gt;": [None, 0.0],
        "targets 2, none": [-0.2],
        "targets 2, &lt;hard&gt;": [None],
    }
    assert drawing["layout"]["yaxis"]["ticktext"] == ["Paul", "John", "Amy"]
    figures.write_figure(tmp_path / "a.svg", drawing)


def test_sides_and_labels_are_told_apart_in_grey():
    marks = [
        trace["marker"]["symbol"]
        for trace in figures.items_figure(SAMPLES, "WEAT")["data"]
        if "marker" in trace
    ]
    assert marks == ["circle-open", "circle", "square-open", "square"]


def test_items_that_have_only_counts_and_marks_have_no_figure():
    rows = [{"input": "words", "text": "nurse", "fold": 3, "found": True}]
    with pytest.raises(UsageError, match="no item of Words has a value"):
        figures.items_figure({"none": rows}, "Words")


def test_a_narrow_picture_has_letters_of_the_same_size(tmp_path):
    long = DOTS | {"layout": {"title": {"text": "A title of many words " * 5}}}
    for width in (6.3, 3.3):
        figures.write_figure(tmp_path / "a.svg", long, width=width)
        text = (tmp_path / "a.svg").read_text()
        assert f'width="{width * 72:g}pt"' in text
        assert "scale(0.09 -0.09)" in text, "the title has 9 points"


def test_names_of_points_that_would_overlap_are_left_out(tmp_path):
    points = {"mode": "markers+text", "x": [0, 0.001, 1], "y": [0, 0.001, 1]}
    drawing = {"data": [points | {"text": ["first name", "second name", "third name"]}]}
    figures.write_figure(tmp_path / "a.svg", drawing)
    text = (tmp_path / "a.svg").read_text()
    assert "first name" in text
    assert "third name" in text
    assert "second name" not in text


def test_many_items_are_violins_and_no_values_are_an_error(tmp_path):
    rows = [{"input": "words", "text": f"w{i}", "contribution": i / 10} for i in range(200)]
    drawing = figures.items_figure({"none": rows, "leace": rows[:100]}, "Many")
    assert [trace["type"] for trace in drawing["data"]] == ["violin", "violin"]
    assert [len(trace["y"]) for trace in drawing["data"]] == [200, 100]
    figures.write_figure(tmp_path / "a.svg", drawing)
    with pytest.raises(UsageError, match="no item of Many"):
        figures.items_figure({"none": [{"input": "a", "text": "b", "contribution": None}]}, "Many")
