"""The figure of a board: bias against usefulness, for papers. The page draws its own plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import polars as pl

from .board import PREFIXES, Board
from .findings import count


def figure(board: Board) -> dict[str, Any]:
    """Return a Plotly figure of bias against usefulness: a point for each usable row.

    A row of a mitigator hangs on the point of its model. The bars are what the items of the
    tasks leave open; rows without both values have no point.
    """
    rows = _with_both(board).sort(pl.col("role") != "model").to_dicts()
    plain = {row["model"]: row for row in rows if row["role"] == "model"}
    links: tuple[list[float | None], list[float | None]] = ([], [])
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["mitigator"], []).append(row)
        if row["role"] != "model" and (start := plain.get(row["model"])):
            links[0].extend([start["bias"], row["bias"], None])
            links[1].extend([start["usefulness"], row["usefulness"], None])
    traces = [_points(mitigator, group) for mitigator, group in groups.items()]
    line = {"color": "#9aa0a6", "width": 0.6}
    if links[0]:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": links[0],
                "y": links[1],
                "line": line,
                "showlegend": False,
            }
        )
    bias, usefulness = (count(len(board.names(side)), "task") for side in PREFIXES)
    layout = {
        "title": {"text": f"Bias and usefulness of {board.kind} embeddings"},
        "xaxis": {"title": {"text": f"bias, of {bias}; 1 is the reference encoder, left is less"}},
        "yaxis": {"title": {"text": f"usefulness, of {usefulness}; up is more"}},
        "height": 480,
        "shapes": [
            {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper"}
            | {"line": {"color": "#9aa0a6", "dash": "dot"}}
        ],
    }
    return {"data": traces, "layout": layout}


def without_point(board: Board) -> list[str]:
    """Return a line for each row that is not in the figure, with the reason."""
    rows = board.rows.filter(role="reference").select("row").vstack(_with_both(board).select("row"))
    reason = pl.coalesce(
        "unusable",
        pl.when(~pl.col("bias").is_finite().fill_null(value=False))
        .then(pl.lit("no bias that counts"))
        .otherwise(pl.lit("no usefulness")),
    )
    return [
        f"not drawn: {model} under {mitigator}: {why}"
        for model, mitigator, why in board.rows.join(rows, on="row", how="anti")
        .select("model", "mitigator", reason)
        .iter_rows()
    ]


def _with_both(board: Board) -> pl.DataFrame:
    """Return the usable rows with a bias and a usefulness."""
    both = pl.col("bias").is_finite() & pl.col("usefulness").is_finite()
    return board.rows.filter(both, pl.col("unusable").is_null() & (pl.col("role") != "reference"))


def _points(mitigator: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the points of the rows of a mitigator; those of the models have their names."""
    ends = {
        name: [
            abs((row[side] if row[side] is not None else row["bias"]) - row["bias"]) for row in rows
        ]
        for name, side in (("arrayminus", "bias_low"), ("array", "bias_high"))
    }
    named = any(row["role"] == "model" for row in rows)
    return {
        "type": "scatter",
        "mode": "markers+text" if named else "markers",
        "name": escape("no mitigator" if named else mitigator),
        "x": [row["bias"] for row in rows],
        "y": [row["usefulness"] for row in rows],
        "text": [escape(f"{row['model']}") for row in rows],
        "error_x": {"type": "data", "symmetric": False, **ends},
    }
