"""The tables of an evaluation: a section for each model and for what its tasks measure.

A row is a score of a task, a column a mitigator. This module computes the cells; `formats` writes
them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness import names
from harness.results import resampling
from harness.results.formats import (
    BEST,
    NOTHING,
    Report,
    Sentences,
    Table,
    Value,
)
from harness.results.record import STARS, IntervalPart, Record, stars
from harness.results.record import loss as loss_of
from harness.results.resampling import standard_error

MEASURES = ("bias", "usefulness", "control")
"""Sections of a model, in this order."""
ONE_SIDED = {"greater": 1, "less": -1}
"""Values of `details.alternative` with a one-sided p-value: the direction that it tests."""
DIGITS = 3
"""Digits after the decimal point. Values that are equal when rounded to these are ties."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A score as a table shows it.

    Parameters
    ----------
    value
        The number; None if the score is void.
    stars
        Stars of its p-value; empty where it has none, and for usefulness, whose p-values only say
        that a correlation differs from 0.
    is_reversed
        Whether the association has the opposite direction: opposite to the direction of a one-sided
        test; or significantly opposite to the expected one, if the metric states that
        (`details.reversed`); or else opposite to the association of the unmitigated model.
    is_best
        Whether no other value of the row is as near to the ideal.
    change
        The value minus the value of the unmitigated model.
    interval
        Confidence interval of the value.
    standard_error
        Standard error of a mean over runs with other seeds.
    """

    value: float | None
    stars: str = ""
    is_reversed: bool = False
    is_best: bool = False
    change: float | None = None
    interval: IntervalPart | None = None
    standard_error: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    task, score
        The task and the score. The task includes its scenario if the table has several of them.
    ideal
        The fair value, or `higher` or `lower`.
    cells
        One for each column; None if the task was not run.
    """

    task: str
    score: str
    ideal: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Section:
    """The table of one model and of what its tasks measure.

    Parameters
    ----------
    model
        Label of the model.
    measures
        `bias`, `usefulness` or `control`.
    columns
        Labels of the mitigators.
    rows
        The scores.
    mean
        Mean distance to the ideal, over the tasks that all columns have; None with fewer than two
        such tasks, and for controls.
    one_sided
        Metrics whose p-values are one-sided.
    limit
        Number of items that sets and tables were cut to, in a smoke run.
    """

    model: str
    measures: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    mean: Row | None = None
    one_sided: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def title(self) -> str:
        """The model, and what is measured."""
        limit = "" if self.limit is None else f" (--limit {self.limit})"
        return f"{self.model}: {self.measures}{limit}"

    @property
    def cells(self) -> list[Cell]:
        """All cells that have a score."""
        rows = (*self.rows, self.mean) if self.mean else self.rows
        return [cell for row in rows for cell in row.cells if cell]


Key = tuple[str, str, str, str]
"""Task, scenario, metric and score of a row."""


def sections(records: Iterable[Record]) -> list[Section]:
    """Return the tables of records: models and mitigators in the order of the records.

    Of several records of one cell, such as those of two seeds, the newest version and then the
    latest record counts. Different weights under one name have a section each, with the end of
    their fingerprint.
    """
    from harness.results.columns import Columns

    columns = Columns.of(records)
    models = columns.places_by_model()
    known_by_name = Counter(name for name, _ in models)
    return [
        _section(
            name if known_by_name[name] == 1 else names.with_fingerprint(name, fingerprint),
            measures,
            chosen,
        )
        for (name, fingerprint), places in models.items()
        for of_model in [list(columns.at(places))]  # the records of one model at a time
        for measures in MEASURES
        if (chosen := [record for record in of_model if record.task.measures == measures])
    ]


def _section(model: str, measures: str, records: Sequence[Record]) -> Section:
    lines: dict[Key, dict[str, Record]] = {}
    for record in records:
        key = (record.task.name, record.scenario, record.metric, record.score)
        line = lines.setdefault(key, {})
        other = line.get(record.mitigator.label)
        if other is None or age(other) <= age(record):
            line[record.mitigator.label] = record
    columns = _columns(lines.values())
    named = _names(lines)
    one_sided = [
        record.metric
        for line in lines.values()
        for record in line.values()
        if record.p_value is not None and record.details.get("alternative") in ONE_SIDED
    ]
    return Section(
        model=model,
        measures=measures,
        columns=columns,
        rows=tuple(_row(*named[key], line, columns) for key, line in lines.items()),
        mean=None if measures == "control" else _mean(measures, list(lines.values()), columns),
        one_sided=() if measures == "usefulness" else tuple(dict.fromkeys(one_sided)),
        limit=max((record.limit for record in records if record.limit is not None), default=None),
    )


def _columns(lines: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the labels of all lines, so that the labels of each line keep their order.

    A task to which only the last mitigator applies may come first.
    """
    columns: list[str] = []
    for line in lines:
        in_line = list(line)
        for i, name in enumerate(in_line):
            if name not in columns:
                later = [columns.index(other) for other in in_line[i + 1 :] if other in columns]
                columns.insert(min(later, default=len(columns)), name)
    return tuple(columns)


def age(record: Record) -> tuple[int, str]:
    """Return the version of a record's task and its time: the larger, the newer."""
    return record.task.version, record.created


def _names(keys: Iterable[Key]) -> dict[Key, tuple[str, str]]:
    """Return the task and the score of each row, with the scenario and metric if needed."""
    keys = list(keys)
    named = {}
    for task, scenario, metric, score in keys:
        same = [key for key in keys if key[0] == task]
        shown = task if len({key[1] for key in same}) == 1 else f"{task} ({scenario})"
        several = len({key[2] for key in same}) > 1
        named[task, scenario, metric, score] = shown, f"{metric} {score}" if several else score
    return named


def _row(task: str, score: str, line: Mapping[str, Record], columns: Sequence[str]) -> Row:
    first = next(iter(line.values()))
    base = line.get(names.NONE)
    cells = [_cell(line[column], base) if column in line else None for column in columns]
    ideal = first.ideal if isinstance(first.ideal, str) else f"{first.ideal:g}"
    if first.task.measures != "control":
        losses = {
            column: loss_of(record.value, record.ideal, record.bounds)
            for column, record in line.items()
            if record.value is not None
        }
        cells = _with_best(cells, columns, losses)
    return Row(task, score, ideal, tuple(cells))


def _cell(record: Record, base: Record | None) -> Cell:
    if record.value is None:
        return Cell(None)
    before = None if base is None or base is record else base.value
    return Cell(
        value=record.value,
        stars="" if record.task.measures == "usefulness" else stars(record.p_value),
        is_reversed=_is_reversed(record, base),
        change=None if before is None else record.value - before,
        interval=record.interval,
        standard_error=standard_error(record),
    )


def _is_reversed(record: Record, base: Record | None) -> bool:
    side = _side(record)
    tested = ONE_SIDED.get(str(record.details.get("alternative")))
    if tested is not None and record.p_value is not None:
        return side == -tested
    if "reversed" in record.details:
        return bool(record.details["reversed"])
    return base is not None and side * _side(base) < 0


def _side(record: Record) -> int:
    """Return the side of its ideal on which a value lies: −1, 0 or 1."""
    if record.value is None or isinstance(record.ideal, str):
        return 0
    difference = round(record.value - record.ideal, DIGITS)
    return (difference > 0) - (difference < 0)


def _with_best(
    cells: Sequence[Cell | None], columns: Sequence[str], losses: Mapping[str, float]
) -> list[Cell | None]:
    """Mark the cell with the smallest loss, unless another one has the same."""
    rounded = {column: round(loss, DIGITS) for column, loss in losses.items()}
    least = [column for column, loss in rounded.items() if loss == min(rounded.values())]
    if len(rounded) < 2 or len(least) > 1:
        return list(cells)
    return [
        dataclasses.replace(cell, is_best=True) if cell and column == least[0] else cell
        for cell, column in zip(cells, columns, strict=True)
    ]


def _mean(
    measures: str, lines: Sequence[Mapping[str, Record]], columns: Sequence[str]
) -> Row | None:
    """Return the mean over families of the tasks that count in all columns, as on a leaderboard."""
    counted = resampling.mean_over_families(lines, columns)
    if counted is None:
        return None
    by_column, n = counted
    base = by_column.get(names.NONE)
    cells = [
        Cell(mean, change=None if base is None or column == names.NONE else mean - base)
        for column, mean in by_column.items()
    ]
    title = f"{resampling.NAMES[measures]} ({n} of {len(lines)})"
    return Row(title, "", "0", tuple(_with_best(cells, columns, by_column)))


# The same as `Table`s, which `formats` writes.


REVERSED = "↔"
"""Marks a reversed association."""
VOID = "void"
WIDEST = 50
"""Number of columns that do not fit any terminal."""


def report(sections: Sequence[Section], *, intervals: bool = False, best: str = BEST) -> Report:
    """Return the tables, and a legend.

    Parameters
    ----------
    sections
        The sections of an evaluation.
    intervals
        Whether to show confidence intervals in place of changes.
    best
        The mark of the best value of a row in the legend.
    """
    tables = [_table(section, intervals=intervals) for section in sections]
    return Report("", [*tables, Sentences("", legend(sections, intervals=intervals, best=best))])


def _table(section: Section, *, intervals: bool) -> Table:
    """Return a section; few tasks become columns if only that fits the terminal."""
    rows = [
        [row.task, row.score, row.ideal, *(_value(cell, intervals) for cell in row.cells)]
        for row in (*section.rows, *([section.mean] if section.mean else []))
    ]
    turned = None
    if len(rows) < WIDEST:
        tasks = [f"{task}\n{score or 'lower is better'}\nideal {i}" for task, score, i, *_ in rows]
        labels = enumerate(section.columns, start=3)
        lines = [[label, *(row[i] for row in rows)] for i, label in labels]
        turned = Table(section.title, ["mitigator", *tasks], lines, repeat=1)
    return Table(
        section.title,
        ["task", "score", "ideal", *section.columns],
        rows[: len(section.rows)],
        rows[len(section.rows) :],
        drop=["score"],
        repeat=1,
        turned=turned,
    )


def _value(cell: Cell | None, intervals: bool) -> Value:
    if cell is None:
        return Value(NOTHING)
    return Value(
        VOID if cell.value is None else f"{cell.value:z.{DIGITS}f}",
        stars=cell.stars,
        sign=REVERSED if cell.is_reversed else "",
        beside=beside(cell, intervals=intervals),
        is_best=cell.is_best,
    )


def beside(cell: Cell, *, intervals: bool) -> str:
    """Return the change of a cell from the unmitigated model, or its interval; empty if none.

    A mean over runs has its standard error in place of the change.
    """
    if intervals:
        interval = cell.interval
        return f"[{interval.low:z.2f}, {interval.high:z.2f}]" if interval else ""
    if cell.standard_error is not None:
        return f"± {cell.standard_error:.{DIGITS}f}"
    if cell.change is None:
        return ""
    change = f"{cell.change:+z.{DIGITS}f}"
    return "(=)" if float(change) == 0 else f"({change})"


def legend(sections: Sequence[Section], *, intervals: bool, best: str = BEST) -> list[str]:
    """Return the meaning of the marks that occur in the tables, a line each.

    Parameters
    ----------
    sections
        The tables.
    intervals
        Whether they show intervals in place of changes.
    best
        What marks the best value of a row.
    """
    cells = [cell for section in sections for cell in section.cells]
    lines = []
    if any(cell.stars for cell in cells):
        lines.append(STARS)
    if intervals:
        levels = sorted({f"{cell.interval.level:.0%}" for cell in cells if cell.interval})
        lines += [f"[low, high]: {' or '.join(levels)} confidence interval"] if levels else []
    elif any(beside(cell, intervals=False).startswith("(") for cell in cells):
        lines.append("(change): difference from none; (=): no difference")
    if any(cell.standard_error is not None for cell in cells) and not intervals:
        lines.append("± standard error of the mean over runs that differ only in their seed")
    if any(cell.is_best for cell in cells):
        lines.append(f"{best} nearest to the ideal in its row")
    if any(cell.is_reversed for cell in cells):
        lines.append(f"{REVERSED} reversed: the association points the other way")
    if one_sided := dict.fromkeys(name for section in sections for name in section.one_sided):
        lines.append(f"p-values of {', '.join(one_sided)} are one-sided: reversed has no star")
    if any(cell.value is None for cell in cells):
        lines.append(f"{VOID}: no number could be computed")
    if any(cell is None for section in sections for row in section.rows for cell in row.cells):
        lines.append(f"{NOTHING} not run")
    if any(section.limit is not None for section in sections):
        lines.append("smoke run (--limit): the scores only show that it runs; never ranked")
    if any(section.mean for section in sections):
        lines += [
            f"{name}: {resampling.HELP[name]}; lower is better"
            for name in dict.fromkeys(
                resampling.NAMES[section.measures] for section in sections if section.mean
            )
        ]
        lines.append("(n of m): n of m tasks count in all columns; a family has one vote")
    return lines
