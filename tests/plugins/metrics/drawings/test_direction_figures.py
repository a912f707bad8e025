"""The figures are valid Plotly figures and show their numbers."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from harness.plugins.metrics.drawings import figures


def test_sides_are_drawn_at_their_projections_with_escaped_texts():
    first, second = np.array([[-1.0, 0.5]]), np.array([[1.0, -0.5]])
    figure = figures.separation(first, second, (["<b>she"], ["he"]), auc=1.0)
    go.Figure(figure)  # Plotly rejects unknown keys
    assert [(side["x"], side["y"]) for side in figure["data"]] == [([-1.0], [0.5]), ([1.0], [-0.5])]
    assert figure["data"][0]["text"] == ["&lt;b&gt;she"]


def test_the_line_through_labels_is_a_least_squares_fit():
    x = np.array([0.0, 1.0, 2.0])
    figure = figures.against_labels(x, 0.2 + 0.3 * x, ["a", "b", "c"], correlation=1.0)
    go.Figure(figure)
    line = figure["data"][1]
    assert line["x"] == [0, 2]
    assert line["y"] == pytest.approx([0.2, 0.8])


def test_the_null_counts_each_direction_once_and_marks_the_concept():
    null = np.array([-0.99, -0.01, 0.01, 0.011, 1.0])
    figure = figures.null_distribution(null, correlation=0.7, p_value=0.4)
    go.Figure(figure)
    bars, mark = figure["data"]
    assert sum(bars["y"]) == 5
    assert bars["x"][0] == -0.98
    assert mark["x"] == [0.7, 0.7]
    assert "p = 0.4000" in figure["layout"]["title"]["text"]
