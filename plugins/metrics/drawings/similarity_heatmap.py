"""A heatmap of cosines between texts, as Plotly describes it. Knows no metric."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

from harness.arrays import Floats

WIDTH = 60  # characters of a line of hover text
LABEL = 40  # characters of a label


def similarity_heatmap(
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    column_labels: Sequence[str] | None = None,
    row_title: str = "",
    column_title: str = "",
) -> dict[str, Any]:
    """Return the figure of a matrix of cosines, with the texts shown on hovering.

    Parameters
    ----------
    values
        (r, c) cosines.
    rows, columns
        Texts of the r rows and c columns; the first row is drawn at the top.
    column_labels
        What stands under the columns; by default the beginnings of their texts.
    row_title, column_title
        Of the axes.
    """
    data = {
        "type": "heatmap",
        "z": [[round(value, 4) for value in row] for row in values.tolist()],
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "cosine"}},
        # one text a cell: equal texts may stand in several rows
        "text": [
            [f"{_wrapped(row)}<br><br>{_wrapped(column)}" for column in columns] for row in rows
        ],
        "hovertemplate": "%{text}<br><br>cosine %{z:.3f}<extra></extra>",
    }
    beneath = list(columns if column_labels is None else column_labels)
    axis = {"automargin": True, "tickmode": "array"}
    layout = {
        "xaxis": axis
        | {
            "title": {"text": escape(column_title)},
            "tickvals": list(range(len(columns))),
            "ticktext": [_label(text) for text in beneath],
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


def _label(text: str) -> str:
    """Return the end of a long text: sentences of one kind begin alike."""
    return escape(text if len(text) <= LABEL else "…" + text[1 - LABEL :])


def _wrapped(text: str) -> str:
    # Plotly reads a little HTML in texts
    return "<br>".join(escape(line) for line in textwrap.wrap(text, WIDTH))
