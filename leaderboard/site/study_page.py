"""The page of a study on a model: its results, tables, drawings and set-up; without a script.

Only formats; every number comes from the summary. jinja2 escapes every text from a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.leaderboard.site.rendering import MADE_BY, short, template
from harness.leaderboard.site.violin_plot import WIDTH, drawings
from harness.study import study_tables
from harness.study.cells import Cell
from harness.study.study_record import MeasurePart, StudyPart
from harness.study.summary import Summary

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


def render(
    summary: Summary, *, unit: str, csv: str, records: str, leaderboard: str, built: str
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    summary
        Results of the study.
    unit
        What its folds consist of: `pairs` or `sets`.
    csv, records
        Names of the files beside the page.
    leaderboard
        Title of the index page, `../index.html`.
    built
        Date to print on the page.
    """
    study, model = summary.study, summary.model
    return template("study.html.j2").render(
        study=study,
        model=model,
        href=model.url if (model.url or "").startswith(("https://", "http://")) else None,
        unit=unit,
        summary=summary,
        measures=[_measure(study, label, part) for label, part in study.measures.items()],
        changes=_changes(summary),
        legend=study_tables.legend(summary),
        chosen=study_tables.chosen(summary) if summary.chosen else None,
        tests=[_test(cell) for cell in summary.cells.values() if _is_shown(summary, cell)],
        drawings=drawings(summary),
        width=WIDTH,
        short=short,
        csv=csv,
        records=records,
        leaderboard=leaderboard,
        generator=MADE_BY,
        built=built,
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

    The last rows of a group are its floor and what its tests detect.
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
