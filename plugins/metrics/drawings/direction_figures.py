"""Figures of a concept's direction (Uriot 2024, figures 3 to 5), as Plotly dictionaries.

They show the pairs' projections, the attributes' projections against human labels, and the
correlations of random directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.drawings.plotly_parts import (
    DIGITS,
    Figure,
    layout,
    points,
    rounded,
)

BINS = 50  # of the histogram of the null distribution


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
            points(name, side, labels)
            for name, side, labels in zip(
                ("first side", "second side"), (first, second), texts, strict=True
            )
        ],
        "layout": layout(
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
        "x": rounded(ends),
        "y": rounded(intercept + slope * ends),
        "hoverinfo": "skip",
    }
    attributes = points("attributes", np.stack([projections, labels], axis=1), texts)
    return {
        "data": [attributes, line],
        "layout": layout(
            f"Pearson {correlation:.3f}", "projection on the direction", "people's label"
        ),
    }


def null_distribution(null: Floats, *, correlation: float, p_value: float) -> Figure:
    """Return figure 5 (b): correlations of N random directions, (N,), and of the concept's."""
    counts, edges = np.histogram(null, bins=BINS, range=(-1, 1))
    bars = {
        "type": "bar",
        "name": "random directions",
        "x": rounded((edges[:-1] + edges[1:]) / 2),
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
    return {"data": [bars, mark], "layout": layout(title, "correlation with labels", "directions")}
