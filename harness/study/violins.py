"""Violins of a study: the values of a measure over the folds, row by row, as Plotly's figure.

As figure 3 of Zambrano and Bravo-Marquez, where one violin stands for a mitigator under one
criterion. Plain values; how they become a page is for `harness.results.figures`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from harness.study.cells import RESOLUTION, contenders
from harness.study.study_record import StudyPart
from harness.study.summary import Summary

BEFORE = "before mitigation"
COLOURS = ("#3b6fb6", "#c8553d", "#4c9a6a", "#8a5fb0", "#b8892b", "#4a9bb0", "#b0567f", "#6b7280")
"""Of the criteria, in turn."""
ANY = "any criterion"
GREY, BLACK = "#9aa0a6", "#3c4043"


@dataclass(frozen=True)
class Group:
    """Violins of one name and colour.

    Parameters
    ----------
    name, colour
        As the legend has them.
    criterion
        Whose values they are.
    rows
        Which rows.
    offset, width
        Where they stand beside the middle of a row's place, which is 1 wide, and their width.
    """

    name: str
    colour: str
    criterion: str
    rows: Sequence[str]
    offset: float
    width: float


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
        for group in _groups(summary):
            traces.append(_trace(summary, measure, group))
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
            "height": 560,
            "violinmode": "overlay",  # each has its place
            "xaxis": {
                "tickvals": list(range(len(study.rows))),
                "ticktext": [escape(row) for row in study.rows],
                "range": [-0.6, len(study.rows) - 0.4],
                "zeroline": False,
                "automargin": True,
            },
            "yaxis": {"title": {"text": _axis(study, first)}, "automargin": True},
            "legend": {"title": {"text": "chosen by"}},
            "updatemenus": [menu] if len(buttons) > 1 else [],
        },
    }


def _groups(summary: Summary) -> list[Group]:
    """Return what has a name and a colour: rows that no criterion changes, and the others by it."""
    study = summary.study
    mitigated = {*contenders(study), study.baseline}
    first, width = summary.criteria[0], 0.8 / len(summary.criteria)
    fixed = [row for row in study.rows if _fixed(summary, row)]
    groups = [
        Group(BEFORE, GREY, first, [row for row in fixed if row not in mitigated], 0.0, width),
        Group(ANY, BLACK, first, [row for row in fixed if row in mitigated], 0.0, width),
    ]
    choosing = [row for row in study.rows if row not in fixed]
    for i, criterion in enumerate(summary.criteria):
        offset = (i - (len(summary.criteria) - 1) / 2) * width
        colour = COLOURS[i % len(COLOURS)]
        groups.append(Group(criterion, colour, criterion, choosing, offset, width))
    return [group for group in groups if group.rows]


def _fixed(summary: Summary, row: str) -> bool:
    """Return whether a row has the same values under every criterion."""
    return all(
        np.allclose(
            summary.cells[criterion, row, measure].values,
            summary.cells[summary.criteria[0], row, measure].values,
            rtol=0,
            atol=RESOLUTION,
            equal_nan=True,
        )
        for criterion in summary.criteria
        for measure in summary.study.measures
    )


def _trace(summary: Summary, measure: str, group: Group) -> dict[str, Any]:
    found = [
        (summary.study.rows.index(row), value)
        for row in group.rows
        for value in summary.cells[group.criterion, row, measure].values
        if math.isfinite(value)
    ]
    return {
        "type": "violin",
        "x": [place + group.offset for place, _ in found],
        "y": [value for _, value in found],
        "name": escape(group.name),
        "hoverinfo": "y+name",
        "width": group.width,
        "points": "all",
        "pointpos": 0,
        "jitter": 0.3,
        "marker": {"size": 4, "opacity": 0.6},
        "line": {"color": group.colour, "width": 1},
        "meanline": {"visible": True},
        "spanmode": "hard",
    }


def _axis(study: StudyPart, measure: str) -> str:
    rises = study.measures[measure].rises
    told = "score, higher is fairer" if rises else "distance from fair, lower is fairer"
    return escape(f"{measure}: {told}")
