"""The conclusion of a study in sentences: which rows differ from the baseline, and which do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from statistics import median

from harness.study.cells import POWER, Cell
from harness.study.study_record import StudyPart

VERDICTS = {"better": "fairer", "worse": "less fair", "equal": "not told apart"}
"""Verdicts in the words of the statement."""


def statement(
    study: StudyPart,
    cells: Sequence[Cell],
    family: int,
    *,
    chance: Mapping[tuple[str, str], float],
) -> tuple[str, ...]:
    """Return which rows differ significantly from the baseline, and which do not, in sentences.

    Parameters
    ----------
    study, cells
        The study and all its cells.
    family
        Number of comparisons of Holm's family.
    chance
        By criterion and measure, the change of the floor.
    """
    compared = [cell for cell in cells if cell.comparison]
    if not compared:
        return ()
    if not family:
        return (f"Nothing can be compared with {study.baseline} yet.",)
    lines = [
        f"Compared with {study.baseline}, after Holm's correction over {family} comparisons at "
        f"{study.alpha:g}:"
    ]
    for verdict, words in VERDICTS.items():
        cells_of = [cell for cell in compared if cell.verdict_holm == verdict]
        lines.append(f"{words}: {_rows(study, cells_of)}")
    if any(cell.verdict_holm == "equal" for cell in compared):
        lines.append(
            "Rows that are not told apart are not shown to be equal; the intervals say how far "
            "they may differ."
        )
        lines.append(_power(study, compared))
        if measures := _without_room(study, cells, chance):
            lines.append(
                f"Less than that is left between {study.baseline} and the floor by "
                f"{', '.join(measures)}: a row at the floor would often be missed."
            )
    if study.rope:
        level = 1 - study.alpha
        within = [c for c in compared if c.posterior and c.posterior.rope >= level]
        lines.append(
            f"within {study.rope:g} of {study.baseline} with a probability of at least {level:g}: "
            f"{_rows(study, within)}"
        )
    return tuple(lines)


def _power(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return which differences the tests would have found, in a sentence."""
    sizes = {measure: _detectable(cells, measure) for measure in study.measures}
    shown = ", ".join(f"{size:.3g} by {name}" for name, size in sizes.items() if isfinite(size))
    return f"A difference of this size would be found with a probability of {POWER:.0%}: {shown}."


def _without_room(
    study: StudyPart, cells: Sequence[Cell], chance: Mapping[tuple[str, str], float]
) -> list[str]:
    """Return the measures by which a row at the floor is found less often than `POWER`."""
    rooms: dict[str, list[float]] = {}
    for cell in cells:
        if cell.row == study.baseline:
            room = abs(chance[cell.criterion, cell.measure] - cell.mean)
            rooms.setdefault(cell.measure, []).append(room)
    return [name for name, of_name in rooms.items() if max(of_name) < _detectable(cells, name)]


def _detectable(cells: Sequence[Cell], measure: str) -> float:
    """Return the median over rows of the smallest difference that is found; NaN without a test."""
    sizes = [c.detectable for c in cells if c.measure == measure and isfinite(c.detectable)]
    return median(sizes) if sizes else nan


def _rows(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return the rows of cells, each with its measures."""
    rows = dict.fromkeys(cell.row for cell in cells)
    texts = [f"{row} by {_measures(study, [c for c in cells if c.row == row])}" for row in rows]
    return "; ".join(texts) or "none"


def _measures(study: StudyPart, cells: Sequence[Cell]) -> str:
    """Return the measures of a row's cells, with the criteria if it is not all of them."""
    criteria: dict[str, list[str]] = {}
    for cell in cells:
        criteria.setdefault(cell.measure, []).append(cell.criterion)
    n = len(study.criteria)
    if len(criteria) == len(study.measures) and all(len(names) == n for names in criteria.values()):
        return "every measure"
    return ", ".join(
        measure if len(names) == n else f"{measure} (if chosen by {' or '.join(names)})"
        for measure, names in criteria.items()
    )
