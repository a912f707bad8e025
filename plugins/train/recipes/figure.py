"""Figure 6: the mean effect size by percentile, for Plotly."""

from __future__ import annotations

from html import escape
from typing import Any

from .summary import RowPart, Summary

COLOURS = {"original": "#6b7280", "subtract": "#3b6fb6", "augment": "#c8553d", "random": "#b8892b"}


def figure(summary: Summary) -> dict[str, Any]:
    """Return `data` and `layout` of a figure; no data if no row has a percentile.

    A line is a method; its points are means over the seeds with their standard deviation. The
    original corpus is the horizontal line, and a menu chooses the mean.
    """
    means = [measure.measure for measure in summary.columns("bias") if measure.is_mean]
    rows = [row for row in summary.rows if row.percentile]
    methods = list(dict.fromkeys(row.method for row in rows))
    if not rows or not means:
        return {"data": [], "layout": {}}
    traces = [
        trace
        for mean in means
        for trace in (
            *(_line(summary, [r for r in rows if r.method == m], mean) for m in methods),
            _original(summary, rows, mean),
        )
    ]
    n = len(methods) + 1
    for i, trace in enumerate(traces):
        trace["visible"] = i < n
    buttons = [
        {
            "label": escape(mean),
            "method": "update",
            "args": [
                {"visible": [i // n == m for i in range(len(traces))]},
                {"yaxis.title.text": escape(mean)},
            ],
        }
        for m, mean in enumerate(means)
    ]
    seeds = f"{len(summary.seeds)} seeds" if len(summary.seeds) > 1 else "one seed"
    return {
        "data": traces,
        "layout": {
            "title": {"text": escape(f"{summary.title}: mean effect size, {seeds}")},
            "template": "none",
            "xaxis": {
                "title": {"text": "percentile above which pairs are corrected"},
                "autorange": "reversed",
                "tickvals": sorted({row.percentile for row in rows}),
                "automargin": True,
            },
            "yaxis": {"title": {"text": escape(means[0])}, "automargin": True},
            "updatemenus": [
                {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.15, "yanchor": "top"}
            ],
        },
    }


def _line(summary: Summary, rows: list[RowPart], mean: str) -> dict[str, Any]:
    cells = [summary.cell(row.row, mean) for row in rows]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": rows[0].method,
        "x": [row.percentile for row in rows],
        "y": [cell.mean for cell in cells],
        "error_y": {"type": "data", "array": [cell.sd for cell in cells]},
        "line": {"color": COLOURS[rows[0].method]},
    }


def _original(summary: Summary, rows: list[RowPart], mean: str) -> dict[str, Any]:
    first = summary.rows[0]
    places = [row.percentile for row in rows if row.percentile is not None]
    value = summary.cell(first.row, mean).mean
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(first.row),
        "x": [min(places) - 0.5, max(places) + 0.5],
        "y": [value, value],
        "line": {"color": COLOURS["original"], "dash": "dash"},
    }
