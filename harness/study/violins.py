"""Violin plots of a study: the values of a measure over the folds, row by row.

Like figure 3 of Zambrano and Bravo-Marquez: one violin is a mitigator under one criterion. Plain
values in the form of Plotly; `harness.results.figures` draws them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from harness.results.figures import buttons
from harness.study.cells import RESOLUTION
from harness.study.study_record import StudyPart
from harness.study.summary import Summary

BEFORE = "before mitigation"
COLOURS = ("#3b6fb6", "#c8553d", "#4c9a6a", "#8a5fb0", "#b8892b", "#4a9bb0", "#b0567f", "#6b7280")
"""Colours of the criteria, in turn."""
ANY = "any criterion"
GREY, BLACK = "#9aa0a6", "#3c4043"


@dataclass(frozen=True)
class Group:
    """The violins of one name and colour.

    Parameters
    ----------
    name, colour
        Name and colour in the legend.
    criterion
        The criterion whose values are drawn.
    rows
        The rows that have a violin.
    offset, width
        Distance from the middle of a row's slot, which is 1 wide, and width of a violin.
    """

    name: str
    colour: str
    criterion: str
    rows: Sequence[str]
    offset: float
    width: float


def violins(summary: Summary) -> dict[str, Any]:
    """Return a figure: a violin for each row and criterion, with a menu of measures.

    Each point is a fold. A measure whose higher scores are fairer is shown as its score, any other
    as the distance from fair. In a study that judges pooled scores, a fold may be below 0.

    Parameters
    ----------
    summary
        The results of the study on a model.

    Returns
    -------
    dict[str, Any]
        `data` and `layout` of a Plotly figure.
    """
    study = summary.study
    traces = [
        _trace(summary, measure, group) for measure in study.measures for group in groups(summary)
    ]
    return {"data": traces, "layout": _layout(summary, traces)}


def _layout(summary: Summary, traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    study = summary.study
    first = next(iter(study.measures))
    choices = buttons({measure: axis(study, measure) for measure in study.measures}, len(traces))
    folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
    title = f"{study.name} on {summary.model.name}: one point for each of {folds}"
    menu = {"buttons": choices, "x": 1, "xanchor": "right", "y": 1.15, "yanchor": "top"}
    return {
        "title": {"text": escape(title)},
        "template": "none",
        "height": 560,
        "violinmode": "overlay",  # each violin has its own position
        "xaxis": {
            "tickvals": list(range(len(study.rows))),
            "ticktext": [escape(row) for row in study.rows],
            "range": [-0.6, len(study.rows) - 0.4],
            "zeroline": False,
            "automargin": True,
        },
        "yaxis": {"title": {"text": escape(axis(study, first))}, "automargin": True},
        "legend": {"title": {"text": "chosen by"}},
        "updatemenus": [menu] if len(choices) > 1 else [],
    }


def groups(summary: Summary) -> list[Group]:
    """Return a group for the rows that are equal under all criteria, and one for each criterion."""
    study = summary.study
    mitigated = {*summary.contenders, study.baseline}
    first, width = summary.criteria[0], 0.8 / len(summary.criteria)
    fixed = [row for row in study.rows if _fixed(summary, row)]
    kinds = [
        Group(BEFORE, GREY, first, [row for row in fixed if row not in mitigated], 0.0, width),
        Group(ANY, BLACK, first, [row for row in fixed if row in mitigated], 0.0, width),
    ]
    choosing = [row for row in study.rows if row not in fixed]
    for i, criterion in enumerate(summary.criteria):
        offset = (i - (len(summary.criteria) - 1) / 2) * width
        colour = COLOURS[i % len(COLOURS)]
        kinds.append(Group(criterion, colour, criterion, choosing, offset, width))
    return [group for group in kinds if group.rows]


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
    first = next(iter(summary.study.measures))
    points = [
        (summary.study.rows.index(row), value)
        for row in group.rows
        for value in summary.cells[group.criterion, row, measure].values
        if math.isfinite(value)
    ]
    return {
        "type": "violin",
        "x": [place + group.offset for place, _ in points],
        "y": [value for _, value in points],
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
        "visible": measure == first,
    }


def axis(study: StudyPart, measure: str) -> str:
    """Return the title of the axis of a measure: its name, unit and direction."""
    part = study.measures[measure]
    unit = "score, higher is fairer" if part.rises else "distance from fair, lower is fairer"
    if study.judging == "pooled":
        unit = "score plus the floor of the fold, higher is fairer"
        if part.signed:
            unit = "what the fold adds to the pooled distance from fair, lower is fairer"
        elif not part.rises:
            unit = "distance from fair less the floor of the fold, lower is fairer"
    return f"{measure}: {unit}"
