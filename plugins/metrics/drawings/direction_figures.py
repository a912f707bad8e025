"""Figures of a concept's direction (Uriot 2024, figures 3 to 5), as Plotly describes them.

The pairs apart along the direction, attributes' projections against people's labels, and the
correlations of random directions. Computes no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from harness.arrays import Floats

BINS = 50  # of the null's histogram
DIGITS = 5  # a pixel is wider

Figure = dict[str, Any]


def separation(
    first: Floats, second: Floats, texts: tuple[Sequence[str], Sequence[str]], *, auc: float
) -> Figure:
    """Return figures 3 and 4: the sides of the pairs along the direction.

    Parameters
    ----------
    first, second
        (n, 2) projections of the pairs' sides on the direction, and on the component that is drawn
        upwards only to spread the points.
    texts
        The n texts of each side.
    auc
        How well the direction tells the sides apart.
    """
    return {
        "data": [
            _points(name, side, told)
            for name, side, told in zip(
                ("first side", "second side"), (first, second), texts, strict=True
            )
        ],
        "layout": _layout(
            f"AUC {auc:.3f}", "projection on the direction", "projection on another component"
        ),
    }


def against_labels(
    projections: Floats, labels: Floats, texts: Sequence[str], *, correlation: float
) -> Figure:
    """Return figure 5 (a): people's labels, (m,), against projections on the direction, (m,)."""
    slope, intercept = np.polyfit(projections, labels, 1)
    ends = np.array([projections.min(), projections.max()])
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "least squares",
        "x": _rounded(ends),
        "y": _rounded(intercept + slope * ends),
        "hoverinfo": "skip",
    }
    points = _points("attributes", np.stack([projections, labels], axis=1), texts)
    return {
        "data": [points, line],
        "layout": _layout(
            f"Pearson {correlation:.3f}", "projection on the direction", "people's label"
        ),
    }


def null_distribution(null: Floats, *, correlation: float, p_value: float) -> Figure:
    """Return figure 5 (b): the correlations of random directions, (N,), and that of the concept."""
    counts, edges = np.histogram(null, bins=BINS, range=(-1, 1))
    bars = {
        "type": "bar",
        "name": "random directions",
        "x": _rounded((edges[:-1] + edges[1:]) / 2),
        "y": counts.tolist(),
        "width": 2 / BINS,
    }
    mark = {
        "type": "scatter",
        "mode": "lines",
        "name": "the concept's direction",
        "x": [round(correlation, DIGITS)] * 2,
        "y": [0, int(counts.max())],
        "line": {"width": 4},
    }
    title = f"p = {p_value:.4f}, spread of the null {null.std():.3f}"
    return {"data": [bars, mark], "layout": _layout(title, "correlation with labels", "directions")}


def _points(name: str, places: Floats, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": _rounded(places[:, 0]),
        "y": _rounded(places[:, 1]),
        "text": [escape(text) for text in texts],  # Plotly reads a little HTML
        "hovertemplate": "%{text}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
    }


def _layout(title: str, x: str, y: str) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
    }


def _rounded(values: Floats) -> list[float]:
    rounded: list[float] = np.round(values, DIGITS).tolist()
    return rounded
