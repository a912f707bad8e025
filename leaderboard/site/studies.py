"""Studies on a leaderboard: reads their records and writes their pages.

Each study on each model has a page in `studies/`, with a CSV file of its table and its records.
Computes no number: `harness.study.summary` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import folders, limits
from harness.digest import digest
from harness.errors import HarnessError, one_line
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.study import study_tables
from harness.study.cells import RESOLUTION, Cell
from harness.study.study_record import MeasurePart, StudyPart, StudyRecord
from harness.study.summary import Summary, summarize
from harness.study.violins import ANY, BEFORE, axis, groups

from .rendering import short
from .static_pages import Page

# The distributions of a study as shapes for a static drawing: no script draws them.
#
# One line is a row of the study under one criterion: the density of its values over the folds, a
# point for each fold, and their mean. This module computes positions; the template draws.


WIDTH, MARGIN, TOP = 480, 12, 8
LABEL, LANE, FOOT = 20, 28, 40
"""Heights of a line's label, of its drawing, and of the axis."""
LONGEST = 60
"""Longest label in characters; a longer one is cut. The table of changes has it in full."""
_DENSE = 4  # fewest different values for a density


@dataclass(frozen=True)
class Line:
    """A row under a criterion.

    Parameters
    ----------
    label
        Row and criterion.
    y
        Middle of the line.
    outline
        Corners of the density, as the points of a polygon; empty without one.
    points
        Places of the folds.
    mean
        Place of their mean; None without values.
    number
        The mean.
    """

    label: str
    y: float
    outline: str
    points: tuple[tuple[float, float], ...]
    mean: float | None
    number: float


@dataclass(frozen=True)
class Drawing:
    """The distributions of a measure.

    Parameters
    ----------
    title
        The measure, its unit and its direction.
    lines
        By row of the study.
    ticks
        Places and texts of the axis.
    height
        Height of the drawing; it is `WIDTH` wide.
    """

    title: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    height: int

    @property
    def bottom(self) -> int:
        """Return the place of the axis."""
        return self.height - FOOT + 8


def drawings(summary: Summary) -> list[Drawing]:
    """Return the distributions of each measure, in the study's order."""
    return [_drawing(summary, measure) for measure in summary.study.measures]


def _drawing(summary: Summary, measure: str) -> Drawing:
    values = []
    for row in summary.study.rows:
        for group in groups(summary):
            if row in group.rows:
                label = row if group.name in (BEFORE, ANY) else f"{row}, chosen by {group.name}"
                of_folds = np.array(summary.cells[group.criterion, row, measure].values)
                values.append((label, of_folds[np.isfinite(of_folds)]))
    ticks = _ticks(np.concatenate([of_folds for _, of_folds in values] or [np.zeros(0)]))
    low, high = ticks[0], ticks[-1]

    def place(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return MARGIN + (x - low) / (high - low) * (WIDTH - 2 * MARGIN)

    lines = tuple(
        _line(label, of_folds, place(of_folds), TOP + i * (LABEL + LANE) + LABEL + LANE / 2)
        for i, (label, of_folds) in enumerate(values)
    )
    texts = [f"{tick:.6g}".replace("-", "−") for tick in ticks]
    places = place(np.array(ticks)).round(1).tolist()
    return Drawing(
        axis(summary.study, measure),
        lines,
        tuple(zip(places, texts, strict=True)),
        TOP + len(lines) * (LABEL + LANE) + FOOT,
    )


def _line(label: str, values: NDArray[np.float64], x: NDArray[np.float64], y: float) -> Line:
    cut = label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
    # Folds with similar values are drawn above each other; the order is fixed, not random.
    heights = y + LANE * 0.3 * np.array([0, -1, 1, -0.5, 0.5])[np.arange(len(x)) % 5]
    points = tuple(zip(x.round(1).tolist(), heights.round(1).tolist(), strict=True))
    mean = round(float(x.mean()), 1) if len(x) else None
    number = float(values.mean()) if len(values) else math.nan
    return Line(cut, y, _outline(x, y), points, mean, number)


def _outline(x: NDArray[np.float64], y: float) -> str:
    """Return the outline of a density over the places of values, as wide as the line is high."""
    if len(set(x.round(1).tolist())) < _DENSE:
        return ""
    from scipy.stats import gaussian_kde

    grid = np.linspace(x.min(), x.max(), 41)
    density = gaussian_kde(x)(grid)
    density *= LANE / 2 / density.max()
    upper, lower = zip(grid, y - density, strict=True), zip(grid, y + density, strict=True)
    corners = [*upper, *reversed(list(lower))]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def _ticks(values: NDArray[np.float64]) -> list[float]:
    """Return round numbers from below the least value to above the greatest."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low < RESOLUTION:
        low, high = low - 0.5, high + 0.5
    power = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= (high - low) / 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [i * step for i in range(first, last + 1)]


# The page of a study on a model: its results, tables, drawings and set-up; without a script.
#
# Only formats; every number comes from the summary. jinja2 escapes every text from a record.


VERDICTS = {
    "better": "fairer",
    "worse": "less fair",
    "equal": "no significant difference",
    "undefined": "no test",
}


@dataclass(frozen=True)
class Shown:
    """A cell of the table of changes.

    Parameters
    ----------
    text
        The change with its arrow.
    verdict
        The verdict of the test, which gives the colour.
    tip
        The text shown on hover.
    """

    text: str
    verdict: str
    tip: str


def page_of(study: StudyOnModel) -> Page:
    """Return the page of a study on a model."""
    summary = study.summary
    part, model = summary.study, summary.model
    return Page(
        path=study.page,
        title=f"{part.title}: {model.name}",
        description=f"The study {part.name} on {model.name}. {study.line()}",
        template="study.html.j2",
        content={
            "study": part,
            "model": model,
            "href": model.url if (model.url or "").startswith(("https://", "http://")) else None,
            "unit": study.unit,
            "summary": summary,
            "measures": [
                _measure(part, label, measure) for label, measure in part.measures.items()
            ],
            "changes": _changes(summary),
            "legend": study_tables.legend(summary),
            "chosen": study_tables.chosen(summary) if summary.chosen else None,
            "tests": [_test(cell) for cell in summary.cells.values() if _is_shown(summary, cell)],
            "drawings": drawings(summary),
            "width": WIDTH,
            "short": short,
            "csv": Path(study.csv).name,
            "records": Path(study.jsonl).name,
        },
    )


def _measure(study: StudyPart, label: str, part: MeasurePart) -> dict[str, Any]:
    ideal = part.ideal if isinstance(part.ideal, str) else f"{part.ideal:g}"
    return {
        "label": label,
        "metric": part.metric,
        "score": part.score,
        "fair": {"higher": "higher is better", "lower": "lower is better"}.get(ideal, ideal),
        "shown": "the score" if part.rises else "distance from fair",
        "judged": _judged(study, part),
        "better": "more is fairer" if part.rises else "less is fairer",
        "scenarios": part.scenarios,
    }


def _judged(study: StudyPart, part: MeasurePart) -> str:
    if study.judging == "distances":
        return "mean distance of the folds"
    return "pooled over the folds" if part.signed else "in each fold, less its floor"


def _changes(summary: Summary) -> list[tuple[str, list[tuple[str, list[Shown]]]]]:
    """Return the rows of the table of changes with their cells, grouped by criterion.

    The last rows of a group are the floor and the smallest difference that its tests find.
    """
    groups = []
    for criterion, block in zip(summary.criteria, study_tables.changes(summary), strict=True):
        rows = []
        for row, *texts in block.rows:
            cells = [summary.cells[criterion, row, measure] for measure in summary.study.measures]
            shown = [
                Shown(text, cell.verdict or "", _tip(summary.study, cell))
                for text, cell in zip(texts, cells, strict=True)
            ]
            rows.append((row, shown))
        rows += [(row, [Shown(text, "", "") for text in texts]) for row, *texts in block.foot]
        groups.append(("any" if summary.alike else criterion, rows))
    return groups


def _tip(study: StudyPart, cell: Cell) -> str:
    tip = f"over {cell.n} of {study.repeats * study.folds} folds"
    test = cell.comparison
    if test is None:
        return tip + (", the baseline" if cell.row == study.baseline else "")
    if test.reason:
        return f"{tip}; {test.reason}"
    tip += f"; distance from fair minus that of {study.baseline}: {_difference(cell)}"
    return f"{tip}; p = {_p(test.p_value)}, {_p(cell.p_holm)} after Holm's correction"


def _is_shown(summary: Summary, cell: Cell) -> bool:
    return cell.comparison is not None and cell.criterion in summary.criteria


def _test(cell: Cell) -> dict[str, Any]:
    """Return the line of the table of all comparisons for a cell with a comparison."""
    test = cell.comparison
    assert test is not None  # noqa: S101 -- see `_is_shown`
    posterior = cell.posterior
    return {
        "criterion": cell.criterion,
        "row": cell.row,
        "measure": cell.measure,
        "difference": _difference(cell),
        "t": _number(test.t),
        "n": test.n,
        "detectable": _number(cell.detectable),
        "p": _p(test.p_value),
        "p_holm": _p(cell.p_holm),
        "verdict": VERDICTS[cell.verdict_holm or "undefined"],
        "reason": test.reason,
        "posterior": (
            [_number(p) for p in (posterior.left, posterior.rope, posterior.right)]
            if posterior
            else None
        ),
    }


def _difference(cell: Cell) -> str:
    test = cell.comparison
    if test is None or test.mean != test.mean:
        return "–"
    mean = short(test.mean, sign=True)
    if test.low != test.low:
        return mean
    return f"{mean} ({short(test.low, sign=True)} to {short(test.high, sign=True)})"


def _p(value: float) -> str:
    if value != value:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.3g}" if value < 0.001 else f"{value:.3f}"


def _number(value: float) -> str:
    return "–" if value != value else short(value)


FOLDER = "studies"


Reading = jsonl.Reading[StudyRecord]
"""The records of studies, and notices about those that could not be read."""


@dataclass(frozen=True)
class StudyOnModel:
    """A study on one model: the content of a page.

    Parameters
    ----------
    name
        Name of its files without the suffix; unique.
    summary
        Results of the study.
    records
        Records that the results come from.
    """

    name: str
    summary: Summary
    records: tuple[StudyRecord, ...]

    @property
    def page(self) -> str:
        """Path of the page, relative to the folder of the leaderboard."""
        return f"{FOLDER}/{self.name}.html"

    @property
    def csv(self) -> str:
        """Path of the CSV file of its table."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def jsonl(self) -> str:
        """Path of its records."""
        return f"{FOLDER}/{self.name}{STUDY}"

    @property
    def unit(self) -> str:
        """The items of its folds: `pairs` or `sets` of words."""
        held_out = (words for record in self.records for words in record.held_out)
        return "pairs" if all(len(words) == 2 for words in held_out) else "sets"

    def line(self) -> str:
        """Return one line: name, model, number of rows and folds."""
        study, model = self.summary.study, self.summary.model
        folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
        line = f"study '{study.name}' on {model.name}: {len(study.rows)} rows in {folds}"
        if study.protocol == "published":
            line += "; published protocol"
        return line + ("" if self.summary.complete else "; incomplete")

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in leaderboard.json."""
        return {
            "study": self.summary.study.name,
            "title": self.summary.study.title,
            "model": self.summary.model.name,
            "complete": self.summary.complete,
            "protocol": self.summary.study.protocol,
            "judging": self.summary.study.judging,
            "page": self.page,
            "csv": self.csv,
            "records": self.jsonl,
            "notes": self.summary.notes,
            "statement": self.summary.statement,
            "cells": study_tables.lines(self.summary),
        }


def read(paths: Iterable[Path]) -> Reading:
    """Return the records of studies in files and folders, at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist. A line that is no record of a study is left out.
    """
    records: list[StudyRecord] = []
    notices: list[str] = []
    for file in jsonl.files(paths, f"*{STUDY}"):
        if file.name.endswith(STUDY):
            size = file.stat().st_size
            if size > limits.RECORDS_BYTES:
                reason = limits.too_many(size, limits.RECORDS_BYTES)
                notices.append(f"set aside: {file}: a file of {reason}")
                continue
            records += jsonl.read(file, StudyRecord, notices)
    # The latest record of an id counts: a leaderboard among the results has older copies.
    latest = {record.id: record for record in sorted(records, key=lambda record: record.created)}
    return Reading(tuple(latest.values()), tuple(notices))


def compile_studies(records: Iterable[StudyRecord], notices: list[str]) -> list[StudyOnModel]:
    """Return each study on each model, sorted by name.

    A study that cannot be computed or drawn becomes a line in `notices`: its records may have
    impossible values, such as near the largest float.
    """
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    files = {key: folders.safe_name("-".join(key)) for key in groups}
    folded = [file.lower() for file in files.values()]  # some file systems ignore case
    studies = []
    for key in sorted(groups):
        name = files[key]
        if folded.count(name.lower()) > 1:
            name += f"-{digest(list(key))[:8]}"
        group = sorted(groups[key], key=lambda r: (r.created, r.repeat, r.fold, r.row))
        try:
            (summary,) = summarize(group)
            drawings(summary)
        except (HarnessError, ArithmeticError, ValueError) as error:
            study, model = (label[:60] for label in key)
            notices.append(f"set aside: study {study!r} on {model!r}: {one_line(error)}")
            continue
        studies.append(StudyOnModel(name, summary, tuple(group)))
    return studies


def write(studies: Sequence[StudyOnModel], files: folders.BuiltFolder) -> None:
    """Write the tables and the records of studies; `page_of` has their pages.

    Parameters
    ----------
    studies
        Studies; may be empty.
    files
        The files of the leaderboard.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    for study in studies:
        files.write(study.jsonl, "".join(record.line() for record in study.records))
        files.write(study.csv, study_tables.changes_csv([study.summary]))
