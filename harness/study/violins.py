"""Violin plots of a study: the values of a measure over the folds, row by row.

Like figure 3 of Zambrano and Bravo-Marquez: one violin is a mitigator under one criterion.
"""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING

from harness.results import figures
from harness.study.study_record import StudyPart
from harness.study.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.results.figures import Panel


def violins(summary: Summary) -> tuple[str, list[Panel]]:
    """Return the title and the panels of a figure: for each measure, violins of rows and criteria.

    Each point is a fold. A measure whose higher scores are fairer is shown as its score, any other
    as the distance from fair. In a study that judges pooled scores, a fold may be below 0.
    """
    study = summary.study
    folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
    title = f"{study.name} on {summary.model.name}: one point for each of {folds}"
    return title, [partial(_panel, summary=summary, measure=name) for name in study.measures]


def _panel(ax: Axes, summary: Summary, measure: str) -> None:
    study, criteria = summary.study, summary.criteria
    width = 0.8 / len(criteria)
    for number, criterion in enumerate(criteria):
        offset = (number - (len(criteria) - 1) / 2) * width
        values = {
            place + offset: summary.cells[criterion, row, measure].values
            for place, row in enumerate(study.rows)
        }
        label = "any criterion" if summary.alike else criterion
        figures.violins(ax, values, width=width, label=label, number=number)
    ax.set_xticks(range(len(study.rows)), study.rows)
    ax.set_ylabel(textwrap.fill(axis(study, measure), 38))


def axis(study: StudyPart, measure: str) -> str:
    """Return the title of the axis of a measure: its name, unit and direction."""
    part = study.measures[measure]
    unit = "score, higher is fairer" if part.rises else "distance from fair, lower is fairer"
    if study.pools:
        unit = "score plus the floor of the fold, higher is fairer"
        if part.signed:
            unit = "what the fold adds to the pooled distance from fair, lower is fairer"
        elif not part.rises:
            unit = "distance from fair less the floor of the fold, lower is fairer"
    return f"{measure}: {unit}"
