"""The tables of a study: as formatted text, as numbers, and in all output formats.

They follow tables IV and V of Zambrano and Bravo-Marquez: changes with their tests, and the chosen
hyper-parameters. Computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from harness.results import formats
from harness.results.formats import Report, Sentences, Table, comma_separated
from harness.results.record import finite
from harness.study.cells import POWER, RESOLUTION, Cell
from harness.study.summary import Summary

ARROWS = {"better": "↑", "worse": "↓", "equal": "=", "undefined": "?"}
"""As in table IV: an arrow up is fairer than the baseline, by the test of this cell alone."""
FLOOR = "floor"
"""Row of the change at which the distance from fair is that of chance."""
DETECTABLE = "detectable"
"""Row of the smallest difference that the tests find."""
HOLM = "*"
"""Marks an arrow that holds after Holm's correction."""


def changes(summary: Summary) -> tuple[Table, ...]:
    """Return the changes of each measure by row: a table for each criterion, or one if all agree.

    The row of the original vectors is left out, because changes are measured from it.
    """
    study = summary.study
    rows = [row for row in study.rows if study.before(row)]
    digits = {measure: _digits(summary, measure) for measure in study.measures}
    return tuple(
        Table(
            title=chosen_by(summary, criterion),
            columns=("mitigator", *study.measures),
            rows=tuple(
                (row, *(text(summary.cells[criterion, row, m], digits[m]) for m in study.measures))
                for row in rows
            ),
            foot=_foot(summary, criterion, digits),
            repeat=1,
        )
        for criterion in summary.criteria
    )


def _foot(
    summary: Summary, criterion: str, digits: Mapping[str, int]
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of the floor and of the power, if they are known."""
    measures = summary.study.measures
    numbers = {
        FLOOR: {m: summary.chance[criterion, m] for m in measures},
        DETECTABLE: {m: summary.detectable(criterion, m) for m in measures},
    }
    return tuple(
        (name, *(number(of_row[measure], digits[measure]) for measure in measures))
        for name, of_row in numbers.items()
        if any(map(math.isfinite, of_row.values()))
    )


def chosen(summary: Summary) -> Table:
    """Return the table of the hyper-parameters by how often they were chosen."""
    rows = []
    for (row, criterion), choices_ in summary.chosen.items():
        same = all(summary.chosen[row, other] == choices_ for other in summary.study.criteria)
        if same and criterion != summary.study.criteria[0]:
            continue
        most, *others = choices_
        rows.append(
            (
                row,
                "any criterion" if same else criterion,
                params(most.params),
                f"{most.count} of {sum(choice.count for choice in choices_)}",
                "; ".join(f"{params(other.params)}: {other.count}" for other in others) or "–",
            )
        )
    return Table(
        title="hyper-parameters chosen most often",
        columns=("mitigator", "chosen by", "value", "folds", "others"),
        rows=tuple(rows),
        shorten=("others",),
        repeat=1,
    )


def legend(summary: Summary) -> tuple[str, ...]:
    """Return the explanation of the table of changes, a line each."""
    study = summary.study
    start, exception = "vectors as they come", ""
    if study.start == study.unit:
        exception = f" ({study.unit}: from {start})"
        start = "vectors of length 1"
    folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
    rising = [name for name, measure in study.measures.items() if measure.rises]
    lines = [
        f"change from {start}{exception}, mean ± standard deviation over {folds}; "
        "negative is fairer" + (f", but positive for {', '.join(rising)}" if rising else "")
    ]
    if summary.test:
        lines.append(
            f"(↑) fairer than {study.baseline}, (↓) less fair, (=) not told apart, (?) no test: "
            f"{summary.test}, level {study.alpha:g}; {HOLM} also after Holm's correction over "
            f"{summary.family} comparisons"
        )
    if any(map(math.isfinite, summary.chance.values())):
        lines.append(
            f"{FLOOR}: the change at which no more is left after {study.baseline} than with the "
            "sides of held-out pairs swapped at random"
        )
    if summary.test:
        lines.append(
            f"{DETECTABLE}: the smallest difference from {study.baseline} that is found with a "
            f"probability of {POWER:.0%} after the correction, the median over rows"
        )
    lines.append("no row was judged on a text that it was fitted on")
    if summary.alike and len(study.criteria) > 1:
        lines.append(f"all criteria ({', '.join(study.criteria)}) gave the same values")
    return tuple(lines)


def chosen_by(summary: Summary, criterion: str) -> str:
    """Return the title of a criterion's table."""
    return "chosen by any criterion" if summary.alike else f"chosen by {criterion}"


def text(cell: Cell, digits: int = 3) -> str:
    """Return a cell as `−0.100 ± 0.031 (↓*)`, or `–` if it has no change.

    Parameters
    ----------
    cell
        The cell.
    digits
        Digits after the decimal point.
    """
    if math.isnan(cell.mean):
        change = "undefined" if cell.comparison else "–"
    else:
        deviation = "–" if math.isnan(cell.sd) else f"{cell.sd:.{digits}f}"
        change = f"{number(cell.mean, digits)} ± {deviation}"
    return f"{change} ({mark(cell)})" if cell.verdict else change


def number(value: float, digits: int = 3) -> str:
    """Return a number with its sign, or `–` if it is undefined."""
    return "–" if math.isnan(value) else f"{value:z.{digits}f}".replace("-", "−")


def mark(cell: Cell) -> str:
    """Return a cell's arrow, marked if it holds after Holm's correction; empty without a test."""
    if cell.verdict is None:
        return ""
    holds = cell.verdict == cell.verdict_holm and cell.verdict in ("better", "worse")
    return ARROWS[cell.verdict] + (HOLM if holds else "")


def params(values: Mapping[str, Any]) -> str:
    """Return hyper-parameters as `k=2, theta=0.05`."""
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "–"


def lines(summary: Summary) -> list[dict[str, Any]]:
    """Return all numbers, a line for each criterion, row and measure; None where undefined.

    `mean`, `sd` and `n` describe the change. `difference` and the columns after it compare the
    distance from fair with the baseline's: for all measures, smaller is fairer.
    """
    return [_line(summary, cell) for cell in summary.cells.values()]


def choices(summary: Summary) -> list[dict[str, Any]]:
    """Return the chosen hyper-parameters, a line for each row, criterion and choice."""
    study, model = summary.study, summary.model
    return [
        {
            "study": study.name,
            "model": model.name,
            "row": row,
            "criterion": criterion,
            "params": dict(choice.params),
            "folds": choice.count,
        }
        for (row, criterion), choices_ in summary.chosen.items()
        for choice in choices_
    ]


def _line(summary: Summary, cell: Cell) -> dict[str, Any]:
    test = cell.comparison
    return {
        "study": summary.study.name,
        "model": summary.model.name,
        "criterion": cell.criterion,
        "row": cell.row,
        "measure": cell.measure,
        "mean": finite(cell.mean),
        "sd": finite(cell.sd),
        "n": cell.n,
        "difference": finite(test.mean) if test else None,
        "difference_sd": finite(test.sd) if test else None,
        "t": finite(test.t) if test else None,
        "df": test.df if test else None,
        "p_value": finite(test.p_value) if test else None,
        "p_holm": finite(cell.p_holm),
        "low": finite(test.low) if test else None,
        "high": finite(test.high) if test else None,
        "confidence": test.confidence if test else None,
        "detectable": finite(cell.detectable),
        "floor": finite(summary.chance[cell.criterion, cell.measure]),
        "verdict": cell.verdict,
        "verdict_holm": cell.verdict_holm,
        "reason": (test.reason or None) if test else None,
    }


def _digits(summary: Summary, measure: str) -> int:
    """Return digits after the decimal point: three as published, more if all changes are tiny."""
    sizes = [abs(cell.mean) for cell in summary.cells.values() if cell.measure == measure]
    largest = max((size for size in sizes if math.isfinite(size) and size > 0), default=1.0)
    if largest < RESOLUTION:
        return 3
    return 3 if largest >= 0.01 else min(9, 1 - math.floor(math.log10(largest)))


def changes_csv(summaries: Iterable[Summary]) -> str:
    """Return all numbers as CSV, a line for each model, criterion, row and measure."""
    return comma_separated([line for summary in summaries for line in lines(summary)])


def choices_csv(summaries: Iterable[Summary]) -> str:
    """Return the chosen hyper-parameters as CSV, each as JSON; empty if nothing was chosen."""
    return comma_separated([line for summary in summaries for line in choices(summary)])


def report(summary: Summary) -> Report:
    """Return the tables, their legend, the conclusion and the caveats."""
    return Report(
        about(summary),
        (
            *changes(summary),
            Sentences("", legend(summary)),
            *([chosen(summary)] if summary.chosen else []),
            Sentences("Conclusion", summary.statement),
            Sentences("Notes", summary.notes, prefix="note: "),
        ),
    )


def formatted(summaries: Iterable[Summary], kind: str) -> str:
    """Return the results on all models as `csv`, `latex` or `markdown`."""
    if kind == "csv":
        return changes_csv(summaries)
    write = {"latex": formats.latex, "markdown": formats.markdown}[kind]
    return "\n".join(write(report(summary)) for summary in summaries)


def as_json(summary: Summary) -> dict[str, Any]:
    """Return a summary as plain values."""
    return {
        "study": summary.study.model_dump(mode="json"),
        "model": summary.model.model_dump(mode="json"),
        "complete": summary.complete,
        "undefined": summary.undefined,
        "test": summary.test,
        "family": summary.family,
        "cells": lines(summary),
        "chosen": choices(summary),
        "legend": list(legend(summary)),
        "statement": list(summary.statement),
        "notes": list(summary.notes),
    }


def about(summary: Summary) -> str:
    """Return the title of a study's result on a model."""
    return f"{summary.study.title} ({summary.study.name}, on {summary.model.name})"
