"""Parts that several figures share: points, their layout, rounded coordinates."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals

DIGITS = 5  # decimals of coordinates: finer than a pixel

Figure = dict[str, Any]


def points(name: str, coordinates: Floats, texts: Sequence[str]) -> Figure:
    """Return (n, 2) points as a trace; hovering shows the n texts."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": rounded(coordinates[:, 0]),
        "y": rounded(coordinates[:, 1]),
        "text": escaped(texts),
        "hovertemplate": "%{text}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
    }


def layout(title: str, x: str, y: str) -> Figure:
    """Return a layout with a title and the titles of both axes; they are escaped."""
    return {
        "title": {"text": escape(title)},
        "xaxis": {"title": {"text": escape(x)}},
        "yaxis": {"title": {"text": escape(y)}},
    }


def rounded(values: Floats) -> list[float]:
    """Return coordinates as a figure needs them."""
    decimals: list[float] = np.round(values, DIGITS).tolist()
    return decimals


def escaped(texts: Sequence[str]) -> list[str]:
    """Return texts without markup: Plotly interprets some HTML."""
    return [escape(text) for text in texts]


# Figures 5 to 8 of Bolukbasi et al. (2016), as Plotly dictionaries.
#
# They show how well a concept's pairs define it, how its list of words is found, and how people
# rate the analogies of a list.


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


# Figures of a concept's direction (Uriot 2024, figures 3 to 5), as Plotly dictionaries.
#
# They show the pairs' projections, the attributes' projections against human labels, and the
# correlations of random directions.


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


# Heatmap of cosines between texts, as a Plotly dictionary.


WIDTH = 60  # characters per line of hover text
LABEL = 40  # characters of an axis label


def similarity_heatmap(
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    column_labels: Sequence[str] | None = None,
    row_title: str = "",
    column_title: str = "",
) -> dict[str, Any]:
    """Return the heatmap of a matrix of cosines; hovering shows the two texts of a cell.

    Parameters
    ----------
    values
        (r, c) cosines.
    rows, columns
        Texts of the r rows and c columns; the first row is at the top.
    column_labels
        Labels under the columns; by default the ends of their texts.
    row_title, column_title
        Titles of the axes.
    """
    data = {
        "type": "heatmap",
        "z": [[round(value, 4) for value in row] for row in values.tolist()],
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "cosine"}},
        # one hover text per cell, because several rows may have the same text
        "text": [
            [f"{_wrapped(row)}<br><br>{_wrapped(column)}" for column in columns] for row in rows
        ],
        "hovertemplate": "%{text}<br><br>cosine %{z:.3f}<extra></extra>",
    }
    labels = list(columns if column_labels is None else column_labels)
    axis = {"automargin": True, "tickmode": "array"}
    layout = {
        "xaxis": axis
        | {
            "title": {"text": escape(column_title)},
            "tickvals": list(range(len(columns))),
            "ticktext": [_label(text) for text in labels],
            "tickangle": -60,
        },
        "yaxis": axis
        | {
            "title": {"text": escape(row_title)},
            "tickvals": list(range(len(rows))),
            "ticktext": [_label(text) for text in rows],
            "autorange": "reversed",
        },
    }
    return {"data": [data], "layout": layout}


def distinct_words(texts: Sequence[str]) -> list[str]:
    """Return for each text its words that are not in all texts, such as its inserted names.

    They label texts that differ in a few words. The label of a text without such words is its
    number, from 1.
    """
    split = [text.split() for text in texts]
    shared = set(split[0]).intersection(*split) if split else set()
    return [
        " ".join(dict.fromkeys(word.strip(",.;:!?\"'()") for word in words if word not in shared))
        or str(number)
        for number, words in enumerate(split, start=1)
    ]


def _label(text: str) -> str:
    """Return a text, or its end if it is long: sentences of one template begin alike."""
    return escape(text if len(text) <= LABEL else "…" + text[1 - LABEL :])


def _wrapped(text: str) -> str:
    # Plotly interprets some HTML in texts
    return "<br>".join(escape(line) for line in textwrap.wrap(text, WIDTH))


# Words along a direction: the extreme ones as a table and as bars, and all against ratings.
#
# Figure 1 of Bolukbasi et al. (2016) is the table for occupations along she − he.


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
