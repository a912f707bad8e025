"""Heatmap of cosines between texts, as a Plotly dictionary."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

from harness.arrays import Floats

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
