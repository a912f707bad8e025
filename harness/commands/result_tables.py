"""Prints the tables of an evaluation on a terminal: `harness eval` and `harness results`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from harness.commands import output

if TYPE_CHECKING:
    from rich.text import Text

    from harness.results.record import Record
    from harness.results.tables import Cell, Row, Section


def show(records: Iterable[Record], *, intervals: bool, width: int | None) -> None:
    """Print the tables of records, and a legend.

    Parameters
    ----------
    records
        The records: those that share a task, scenario and score are a row.
    intervals
        Whether to show confidence intervals in place of changes.
    width
        Width of the terminal in characters; None for no limit.
    """
    from harness.results import formats
    from harness.results.tables import sections

    tables = sections(records)
    dropped = [column for section in tables for column in _print(section, intervals, width)]
    if dropped:
        click.echo(f"not shown on this narrow terminal: {dropped[0]} (see --json)")
    for line in formats.legend(tables, intervals=intervals):
        click.echo(line)
    if tables:
        click.echo()


def text(records: Iterable[Record], *, intervals: bool) -> str:
    """Return what `show` prints, without a limit of the width."""
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        show(records, intervals=intervals, width=None)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def show_other_scenarios(records: Sequence[Record], *, intervals: bool, width: int | None) -> None:
    """Print the scores of the scenarios that do not stand for their task in rankings."""
    primary = {
        (record.task.name, record.metric, record.score) for record in records if record.primary
    }
    others = [
        record
        for record in records
        if not record.primary and (record.task.name, record.metric, record.score) in primary
    ]
    if others:
        click.echo("other scenarios\n")
        show(others, intervals=intervals, width=width)


def show_seconds(records: Iterable[Record], *, width: int | None) -> None:
    """Print how long the metrics of each task took under each mitigator."""
    times: dict[str, dict[str, dict[tuple[str, str, str], float]]] = {}
    for record in records:
        of_task = times.setdefault(record.model.name, {}).setdefault(record.task.name, {})
        # The scores of one metric share its time.
        of_task[record.mitigator.label, record.scenario, record.metric] = record.seconds
    for model, tasks in times.items():
        mitigators = list(dict.fromkeys(key[0] for of_task in tasks.values() for key in of_task))
        rows = [
            [
                task,
                *(
                    sum(value for key, value in of_task.items() if key[0] == mitigator)
                    for mitigator in mitigators
                ),
            ]
            for task, of_task in tasks.items()
        ]
        columns = ["task", *mitigators]
        title = f"{model}: seconds of the metrics"
        output.print_table(columns, rows, title=title, repeat=1, width=width)


def _print(section: Section, intervals: bool, width: int | None) -> list[str]:
    """Print a section, and return the columns that are dropped.

    If it is too wide, mitigators become rows, or else the table is split.
    """
    rows = [*section.rows, *([section.mean] if section.mean else [])]
    columns = [_aligned(cells, intervals) for cells in _by_column(section, rows)]
    names = ["task", "score", "ideal", *section.columns]
    lines = [
        [row.task, row.score, row.ideal, *(column[i] for column in columns)]
        for i, row in enumerate(rows)
    ]
    if not output.fits(names, lines, width):
        tasks = [f"{row.task}\n{row.score or 'lower is better'}\nideal {row.ideal}" for row in rows]
        by_task = [_aligned(row.cells, intervals) for row in rows]
        turned = [[name, *(task[i] for task in by_task)] for i, name in enumerate(section.columns)]
        if output.fits(["mitigator", *tasks], turned, width):
            names, lines = ["mitigator", *tasks], turned
    return output.print_table(
        names, lines, title=section.title, drop=("score",), repeat=1, width=width
    )


def _by_column(section: Section, rows: Sequence[Row]) -> list[list[Cell | None]]:
    return [[row.cells[i] for row in rows] for i in range(len(section.columns))]


def _aligned(cells: Sequence[Cell | None], intervals: bool) -> list[Text]:
    """Return the texts of a column, with the decimal points, stars and changes below each other."""
    from rich.text import Text

    from harness.results import formats

    numbers = [formats.number(cell) for cell in cells]
    marks = [formats.marks(cell) for cell in cells]
    extras = [formats.beside(cell, intervals=intervals) for cell in cells]
    best = [formats.BEST if cell and cell.is_best else "" for cell in cells]
    widths = [max(map(len, texts), default=0) for texts in (best, numbers, marks, extras)]
    texts = []
    for i, mark in enumerate(best):
        value = f"{mark:>{widths[0]}}{numbers[i]:>{widths[1]}}{marks[i]:<{widths[2]}}"
        text = Text(value, style="bold" if mark else "")
        if widths[3]:
            text.append(f" {extras[i]:>{widths[3]}}", style="not bold dim")
        texts.append(text)
    return texts
