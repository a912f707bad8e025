"""Figures 5 to 8 of Bolukbasi et al. (2016), as Plotly dictionaries.

They show how well a concept's pairs define it, how its list of words is found, and how people rate
the analogies of a list.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from harness.arrays import Floats, Reals
from harness.plugins.metrics.drawings.plotly_parts import Figure, escaped, layout, points, rounded

COLOURS = ("#d62728", "#1f77b4", "#2ca02c")  # one a rating
DASHES = ("solid", "dash", "dot")  # one a list


def accuracies(pairs: Sequence[str], values: Floats) -> Figure:
    """Return figure 5: the (n,) shares of words that each of n pairs puts on their side."""
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": rounded(values),
        "y": escaped(pairs),
        "hovertemplate": "%{y}: %{x:.0%}<extra></extra>",
    }
    figure = layout(f"Mean of {len(pairs)}: {np.mean(values):.0%}", "accuracy", "")
    figure["xaxis"] |= {"range": [0, 1], "tickformat": ".0%"}
    figure["yaxis"] |= {"automargin": True, "type": "category", "autorange": "reversed"}
    half = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    figure["shapes"] = [half | {"line": {"dash": "dot"}}]
    return {"data": [bars], "layout": figure}


def components(shares: Mapping[str, Sequence[float]]) -> Figure:
    """Return figure 6: the share of each principal component, for the pairs and for chance.

    Parameters
    ----------
    shares
        Shares of the components, the largest first, by the name of what they belong to.
    """
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": list(range(1, len(values) + 1)),
            "y": rounded(np.asarray(values, dtype=np.float64)),
            "hovertemplate": "component %{x}: %{y:.1%}<extra></extra>",
        }
        for name, values in shares.items()
    ]
    figure = layout("Variance of the differences of pairs", "component", "share of the variance")
    figure["xaxis"]["dtick"] = 1
    figure["yaxis"]["tickformat"] = ".0%"
    return {"data": traces, "layout": figure}


def margins(parts: Mapping[str, tuple[Sequence[str], Reals, Reals]], axis: str) -> Figure:
    """Return figure 7: words by their projection and by the margin of a classifier.

    Parameters
    ----------
    parts
        Words, (n,) projections and (n,) margins, by the name of the part. The words are written
        beside their points.
    axis
        What the projections are on.
    """
    traces = []
    for name, (words, projections, values) in parts.items():
        trace = points(name, np.stack([projections, values], axis=1), words)
        traces.append(trace | {"mode": "markers+text", "textposition": "top center"})
    figure = layout(
        "Above the line: words that the classifier takes for neutral",
        f"projection on {axis}",
        "distance from the classifier's boundary, neutral up",
    )
    line = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 0, "y1": 0}
    figure["shapes"] = [line]
    figure["height"] = 900
    return {"data": traces, "layout": figure}


def rated_analogies(lists: Mapping[str, Mapping[str, Sequence[bool]]]) -> Figure:
    """Return figure 8: how many of the first analogies of a list people rated in some way.

    Parameters
    ----------
    lists
        By list and rating, whether each analogy of the list has the rating, the best first.
    """
    ratings = list(dict.fromkeys(rating for counted in lists.values() for rating in counted))
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": escape(f"{rating}, {name}"),
            "x": list(range(1, len(values) + 1)),
            "y": np.cumsum(np.asarray(values, dtype=np.int64)).tolist(),
            "line": {"color": COLOURS[ratings.index(rating) % len(COLOURS)], "dash": dash},
            "hovertemplate": "%{y} of the first %{x}<extra>%{fullData.name}</extra>",
        }
        for dash, (name, counted) in zip(itertools.cycle(DASHES), lists.items(), strict=False)
        for rating, values in counted.items()
    ]
    return {"data": traces, "layout": layout("Ratings of the analogies", "analogies", "rated")}
