"""Figures of a concept's direction (Uriot 2024, figures 3 to 5), as Plotly dictionaries.

They show the pairs' projections, the attributes' projections against human labels, and the
correlations of random directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from harness.arrays import Floats

BINS = 50  # of the histogram of the null distribution
DIGITS = 5  # decimals of coordinates: finer than a pixel

Figure = dict[str, Any]


def separation(
    first: Floats, second: Floats, texts: tuple[Sequence[str], Sequence[str]], *, auc: float
) -> Figure:
    """Return figures 3 and 4: the two sides of the pairs along the direction.

    Parameters
    ----------
    first, second
        (n, 2) projections of the two sides: on the direction, and on another component that only
        spreads the points vertically.
    texts
        The n texts of each side.
    auc
        AUC of the direction, for the title.
    """
    return {
        "data": [
            _points(name, side, labels)
            for name, side, labels in zip(
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
    """Return figure 5 (a): (m,) human labels against (m,) projections on the direction."""
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
    """Return figure 5 (b): correlations of N random directions, (N,), and of the concept's."""
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


def _points(name: str, coordinates: Floats, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": _rounded(coordinates[:, 0]),
        "y": _rounded(coordinates[:, 1]),
        "text": [escape(text) for text in texts],  # Plotly interprets some HTML
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
