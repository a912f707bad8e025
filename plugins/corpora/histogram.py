"""The distribution of the scores of a corpus with its percentiles: figure 5 of Dolci et al. (2023).

A description for Plotly; `harness.results.figures` makes a page of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 100
BLUE, RED = "#3b6fb6", "#c8553d"


def histogram(
    scores: npt.NDArray[np.float64], thresholds: Mapping[str, float], model: str
) -> dict[str, Any]:
    """Return a histogram of scores with a red line at each threshold.

    Parameters
    ----------
    scores
        (n,) absolute bias scores; NaN is left out.
    thresholds
        Scores by percentile.
    model
        Name of the model that gave the scores.
    """
    known = scores[np.isfinite(scores)]
    numbers, edges = np.histogram(known, BINS, (0.0, float(known.max(initial=0.0)) or 1.0))
    middles, width = (edges[:-1] + edges[1:]) / 2, float(edges[1] - edges[0])
    bars = {
        "type": "bar",
        "x": middles.tolist(),
        "y": numbers.tolist(),
        "width": [width] * BINS,
        "marker": {"color": BLUE, "line": {"width": 0}},
        "hovertemplate": "%{y} entries at %{x:.4f}<extra></extra>",
    }
    lines = [
        {
            "type": "line",
            "yref": "paper",
            "x0": score,
            "x1": score,
            "y0": 0,
            "y1": 1,
            "line": {"color": RED, "width": 1.5},
        }
        for score in thresholds.values()
    ]
    labels = [
        {
            "x": score,
            "y": 1 - 0.06 * i,  # one below the other, because the lines are close
            "yref": "paper",
            "xanchor": "left",
            "showarrow": False,
            "text": f"{percentile} %: {score:.4f}",
            "font": {"color": RED, "size": 11},
        }
        for i, (percentile, score) in enumerate(thresholds.items())
    ]
    return {
        "data": [bars],
        "layout": {
            "title": {"text": f"Bias scores of {len(known):,} entries ({model})"},
            "xaxis": {"title": {"text": "absolute bias score, eq. 3"}},
            "yaxis": {"title": {"text": "entries"}},
            "shapes": lines,
            "annotations": labels,
            "bargap": 0,
            "plot_bgcolor": "#ffffff",
            "showlegend": False,
        },
    }
