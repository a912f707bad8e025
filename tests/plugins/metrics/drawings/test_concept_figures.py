"""Figures 5 to 8 of Bolukbasi et al. (2016) are valid Plotly figures and show their numbers."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from harness.plugins.metrics.drawings import figures


def test_a_bar_is_the_accuracy_of_a_pair():
    figure = figures.accuracies(["she : he", "<b> : man"], np.array([0.92, 0.5]))
    go.Figure(figure)  # Plotly rejects unknown keys
    assert figure["data"][0]["x"] == [0.92, 0.5]
    assert figure["data"][0]["y"] == ["she : he", "&lt;b&gt; : man"]
    assert "71%" in figure["layout"]["title"]["text"]


def test_components_are_numbered_from_one_for_the_pairs_and_for_chance():
    figure = figures.components({"pairs": [0.6, 0.4], "random unit vectors": [0.5, 0.5]})
    go.Figure(figure)
    assert [(bars["name"], bars["x"], bars["y"]) for bars in figure["data"]] == [
        ("pairs", [1, 2], [0.6, 0.4]),
        ("random unit vectors", [1, 2], [0.5, 0.5]),
    ]


def test_words_are_written_at_their_projection_and_margin():
    parts = {"specific": (["queen", "<s>"], np.array([-0.3, 0.1]), np.array([-1.0, -0.2]))}
    figure = figures.margins(parts, "she and <he>")
    go.Figure(figure)
    (words,) = figure["data"]
    assert (words["text"], words["x"], words["y"]) == (
        ["queen", "&lt;s&gt;"],
        [-0.3, 0.1],
        [-1.0, -0.2],
    )
    assert "text" in words["mode"]
    assert "<he>" not in str(figure)


def test_a_curve_counts_the_rated_analogies_so_far():
    lists = {
        "model": {"stereotyped": [False, True, True], "appropriate": [True, False, True]},
        "<i>people": {"stereotyped": [True]},
    }
    figure = figures.rated_analogies(lists)
    go.Figure(figure)
    assert [(curve["name"], curve["x"], curve["y"]) for curve in figure["data"]] == [
        ("stereotyped, model", [1, 2, 3], [0, 1, 2]),
        ("appropriate, model", [1, 2, 3], [1, 1, 2]),
        ("stereotyped, &lt;i&gt;people", [1], [1]),
    ]
    colours = [curve["line"]["color"] for curve in figure["data"]]
    assert colours[0] == colours[2] != colours[1], "a colour is a rating"
