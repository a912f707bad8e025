"""Words along a direction: the extreme ones as a table and as bars, and all against ratings.

Figure 1 of Bolukbasi et al. (2016) is the table for occupations along she − he.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.drawings.plotly_parts import Figure, escaped, layout, points, rounded

EXTREMES = 12  # words on each side of Bolukbasi et al. (2016), figure 1


@dataclass(frozen=True)
class Views:
    """The table and the figure `extremes`, for a score; without words there are none.

    Parameters
    ----------
    tables, figures
        Tables and figures by name.
    """

    tables: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)


def views(texts: Mapping[str, Sequence[str]] | None, name: str, projections: Floats) -> Views:
    """Return the views of the words of an input along the direction of a metric's pairs.

    Parameters
    ----------
    texts
        Words by input name: of `name`, `pairs_1` and `pairs_2`.
    name
        Name of the input with the n words.
    projections
        (n,) projections, from the first side of the pairs to the second.
    """
    if texts is None:
        return Views()
    rows = extremes(texts[name], projections)
    figure = extremes_figure(rows, (texts["pairs_1"], texts["pairs_2"]))
    return Views({"extremes": rows}, {"extremes": figure})


def extremes(words: Sequence[str], projections: Floats) -> list[dict[str, Any]]:
    """Return the words with the most extreme projections, a row for each place.

    Parameters
    ----------
    words
        The n words.
    projections
        (n,) projections on a direction from a first side to a second.

    Returns
    -------
    list of dict
        `place`, from 1; `first`, the word that lies farthest towards the first side, with
        `projection_1`; `second` and `projection_2`. A word on the other half is no extreme of a
        side, so a side may end early, with None.
    """
    order = np.argsort(projections, kind="stable")
    sides = [
        [(words[i], float(projections[i])) for i in most[:EXTREMES] if sign * projections[i] > 0]
        for sign, most in ((-1, order), (1, order[::-1]))
    ]
    for side in sides:
        side += [("", float("nan"))] * (max(map(len, sides)) - len(side))
    return [
        {
            "place": place,
            "first": first or None,
            "projection_1": None if np.isnan(low) else low,
            "second": second or None,
            "projection_2": None if np.isnan(high) else high,
        }
        for place, ((first, low), (second, high)) in enumerate(zip(*sides, strict=True), start=1)
    ]


def extremes_figure(
    rows: Sequence[dict[str, Any]], sides: tuple[Sequence[str], Sequence[str]]
) -> Figure:
    """Return the rows of `extremes` as bars; `sides` are the words of both sides of the pairs."""
    traces = []
    names = [side[0] if len(side) == 1 else f"{side[0]} …" for side in sides]
    for name, word, value in zip(
        names, ("first", "second"), ("projection_1", "projection_2"), strict=True
    ):
        shown = [row for row in rows if row[word] is not None]
        if word == "second":  # the most extreme words are at the bottom and at the top
            shown.reverse()
        labels = escaped([row[word] for row in shown])
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": escaped([name])[0],
                "x": rounded(np.array([row[value] for row in shown], dtype=np.float64)),
                "y": labels,
                "hovertemplate": "%{y}: %{x:.3f}<extra></extra>",
            }
        )
    figure = layout(f"The most extreme words: {' and '.join(names)}", "projection", "")
    figure["yaxis"] |= {"automargin": True, "type": "category", "dtick": 1}
    figure["height"] = 160 + 18 * sum(len(trace["y"]) for trace in traces)
    return {"data": traces, "layout": figure}


def against_ratings(
    projections: Floats, ratings: Floats, words: Sequence[str], *, spearman: float
) -> Figure:
    """Return (n,) projections of words against (n,) ratings of people."""
    return {
        "data": [points("words", np.stack([projections, ratings], axis=1), words)],
        "layout": layout(
            f"Spearman {spearman:.3f}", "projection on the direction", "people's rating"
        ),
    }
