"""Violins of a study: the values of a measure over the folds, row by row, as Plotly's figure.

As figure 3 of Zambrano and Bravo-Marquez, where one violin stands for a mitigator under one
criterion. Plain values; how they become a page is for `harness.figures`.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

from harness.study.cells import contenders
from harness.study.study_record import StudyPart
from harness.study.summary import Summary

BEFORE = "before mitigation"
COLOURS = ("#3b6fb6", "#c8553d", "#4c9a6a", "#8a5fb0", "#b8892b", "#4a9bb0", "#b0567f", "#6b7280")
"""Of the criteria, in turn."""
GREY = "#9aa0a6"


def violins(summary: Summary) -> dict[str, Any]:
    """Return a figure: a violin for each row and criterion, with a menu of measures.

    Each point is a fold. A measure whose score rises as it gets fairer is shown as its score, any
    other as the distance from fair.

    Parameters
    ----------
    summary
        What the study says of a model.

    Returns
    -------
    dict[str, Any]
        `data` and `layout`, as Plotly's figures have them.
    """
    study = summary.study
    traces: list[dict[str, Any]] = []
    owners: list[str] = []
    for measure in study.measures:
        for name, colour, criterion, rows in _groups(summary):
            traces.append(_trace(summary, measure, criterion, rows, name=name, colour=colour))
            owners.append(measure)
    first = next(iter(study.measures))
    for trace, owner in zip(traces, owners, strict=True):
        trace["visible"] = owner == first
    buttons = [
        {
            "label": escape(measure),
            "method": "update",
            "args": [
                {"visible": [owner == measure for owner in owners]},
                {"yaxis.title.text": _axis(study, measure)},
            ],
        }
        for measure in study.measures
    ]
    folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
    title = f"{study.name} on {summary.model.name}: one point for each of {folds}"
    menu = {"buttons": buttons, "x": 1, "xanchor": "right", "y": 1.15, "yanchor": "top"}
    return {
        "data": traces,
        "layout": {
            "title": {"text": escape(title)},
            "template": "none",
            "violinmode": "group" if len(summary.criteria) > 1 else "overlay",
            "xaxis": {
                "categoryorder": "array",
                "categoryarray": [escape(row) for row in study.rows],
                "automargin": True,
            },
            "yaxis": {"title": {"text": _axis(study, first)}, "automargin": True},
            "legend": {"title": {"text": "chosen by"}},
            "updatemenus": [menu] if len(buttons) > 1 else [],
        },
    }


def _groups(summary: Summary) -> list[tuple[str, str, str, list[str]]]:
    """Return what has a name and a colour: rows before mitigation, and the others by criterion."""
    study, criteria = summary.study, summary.criteria
    mitigated = {*contenders(study), study.baseline}
    earlier = [row for row in study.rows if row not in mitigated]
    rows = [row for row in study.rows if row in mitigated]
    groups = [(BEFORE, GREY, criteria[0], earlier)] if earlier else []
    for i, criterion in enumerate(criteria):
        name = "any criterion" if summary.alike else criterion
        groups.append((name, COLOURS[i % len(COLOURS)], criterion, rows))
    return groups


def _trace(
    summary: Summary, measure: str, criterion: str, rows: list[str], *, name: str, colour: str
) -> dict[str, Any]:
    found = [
        (row, value)
        for row in rows
        for value in summary.cells[criterion, row, measure].values
        if math.isfinite(value)
    ]
    return {
        "type": "violin",
        "x": [escape(row) for row, _ in found],
        "y": [value for _, value in found],
        "name": escape(name),
        "legendgroup": escape(name),
        "scalegroup": escape(name),
        "points": "all",
        "pointpos": 0,
        "jitter": 0.3,
        "marker": {"size": 4, "opacity": 0.6},
        "line": {"color": colour, "width": 1},
        "meanline": {"visible": True},
        "spanmode": "hard",
    }


def _axis(study: StudyPart, measure: str) -> str:
    rises = study.measures[measure].rises
    told = "score, higher is fairer" if rises else "distance from fair, lower is fairer"
    return escape(f"{measure}: {told}")
