"""Violin plots of a study: the values of a measure over the folds, row by row.

Like figure 3 of Zambrano and Bravo-Marquez: one violin is a mitigator under one criterion.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from harness.results import figures
from harness.study.cells import RESOLUTION
from harness.study.study_record import StudyPart
from harness.study.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.results.figures import Panel

BEFORE = "before mitigation"
ANY = "any criterion"


@dataclass(frozen=True)
class Group:
    """The violins of one name.

    Parameters
    ----------
    name
        Name in the legend.
    criterion
        The criterion whose values are drawn.
    rows
        The rows that have a violin.
    offset, width
        Distance from the middle of a row's slot, which is 1 wide, and width of a violin.
    """

    name: str
    criterion: str
    rows: Sequence[str]
    offset: float
    width: float


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
    study = summary.study
    for number, group in enumerate(groups(summary)):
        values = {
            study.rows.index(row) + group.offset: summary.cells[
                group.criterion, row, measure
            ].values
            for row in group.rows
        }
        figures.violins(ax, values, width=group.width, label=group.name, number=number)
    ax.set_xticks(range(len(study.rows)), study.rows)
    ax.set_ylabel(textwrap.fill(axis(study, measure), 38))


def groups(summary: Summary) -> list[Group]:
    """Return a group for the rows that are equal under all criteria, and one for each criterion."""
    study = summary.study
    mitigated = {*study.contenders, study.baseline}
    first, width = summary.criteria[0], 0.8 / len(summary.criteria)
    fixed = [row for row in study.rows if _fixed(summary, row)]
    kinds = [
        Group(BEFORE, first, [row for row in fixed if row not in mitigated], 0.0, width),
        Group(ANY, first, [row for row in fixed if row in mitigated], 0.0, width),
    ]
    choosing = [row for row in study.rows if row not in fixed]
    for i, criterion in enumerate(summary.criteria):
        offset = (i - (len(summary.criteria) - 1) / 2) * width
        kinds.append(Group(criterion, criterion, choosing, offset, width))
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
