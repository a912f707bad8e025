"""Prints tables and JSON, for all commands."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.results import formats
from harness.results.formats import Report

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

MIN_WIDTH = 20
"""Smallest width to which a single column of free text is shortened; of several, half of it."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    shorten: Sequence[str] = (),
    drop: Sequence[str] = (),
    repeat: int = 0,
) -> None:
    """Print a table, fitted to the terminal by `laid_out`."""
    dropped = print_table(
        columns, list(rows), title=title, shorten=shorten, drop=drop, repeat=repeat, width=width()
    )
    if dropped:
        columns_dropped = ", ".join(dropped)
        click.echo(f"columns not shown on this narrow terminal: {columns_dropped} (see --json)\n")


def width() -> int | None:
    """Return the width of the terminal in characters; None if the output is not a terminal."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else None


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str = "",
    shorten: Sequence[str] = (),
    drop: Sequence[str] = (),
    repeat: int = 0,
    width: int | None = None,
) -> list[str]:
    """Print a table in as many parts as it needs, and return the columns that it drops.

    See `laid_out`. The parts are as wide as they need to be: a terminal wraps what is too wide.
    """
    from rich.console import Console
    from rich.text import Text

    shown: set[int] = set()
    for i, part in enumerate(_parts(columns, rows, repeat, shorten, drop, width)):
        heading = f"{title} (continued)" if title and i else title
        grid, without, needed = laid_out(
            [columns[j] for j in part],
            [[row[j] for j in part] for row in rows],
            shorten=shorten,
            drop=drop,
            width=width,
        )
        shown |= set(part) - {columns.index(column) for column in without}
        console = Console(width=max(needed, len(heading)))
        if heading:
            console.print(Text(heading, style="italic"))
        console.print(grid)
    return [column for column in drop if column in columns and columns.index(column) not in shown]


def fits(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None) -> bool:
    """Return whether a table fits a width; names of columns may break."""
    return width is None or _total(_least_widths(columns, rows)) <= width


def laid_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    shorten: Sequence[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
) -> tuple[Table, list[str], int]:
    """Return a table fitted to a width, the columns that it drops, and the width that it needs.

    Numbers are aligned to the right. The table may stay wider than `width`.

    Parameters
    ----------
    columns, rows
        Names of the columns, and the values of the cells; a `Text` of rich keeps its style.
    shorten
        Columns of free text, which may be cut and end in `…`, the widest first; no other column is
        cut.
    drop
        Columns that may be dropped, the least important first.
    width
        Width of the terminal in characters; None for no limit.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    cells = [[_cell(value) for value in row] for row in rows]
    headers = list(columns)
    widths = _widths(columns, headers, cells)
    if width is not None and _total(widths) > width:
        headers = [_broken(column) for column in columns]
        widths = _widths(columns, headers, cells)
    kept = dict(zip(columns, widths, strict=True))
    if width is not None:
        kept = _fitted(kept, width, shorten=shorten, drop=drop)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    shown = [i for i, column in enumerate(columns) if column in kept]
    for i in shown:
        numbers = bool(rows) and all(_is_number(row[i]) for row in rows)
        grid.add_column(
            headers[i],
            justify="right" if numbers else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=kept[columns[i]],
        )
    for row in cells:
        grid.add_row(*(row[i] for i in shown))
    dropped = [column for column in drop if column in columns and column not in kept]
    return grid, dropped, _total(kept.values())


def report(report: Report) -> None:
    """Print a report, fitted to the terminal."""
    formats.show(report, width())


def wrapped(line: str) -> str:
    """Return a line with breaks between words, so that it fits the terminal."""
    n = width()
    return textwrap.fill(line, n, subsequent_indent="  ") if n else line


def counted(n: int, noun: str) -> str:
    """Return a number and its noun: `1 file`, `2,000 files`."""
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def as_json(content: Any) -> None:
    """Print `content` as JSON."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))


def _parts(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    repeat: int,
    shorten: Sequence[str],
    drop: Sequence[str],
    width: int | None,
) -> Iterator[list[int]]:
    """Yield the columns of each part of a table, with the first `repeat` columns in each part."""
    every = list(range(len(columns)))
    least = _least_widths(columns, rows)
    widths = [_floor(columns[i], w, shorten) for i, w in enumerate(least)]
    if not repeat or width is None or _total(widths) <= width:
        yield every
        return
    rest = [i for i in every[repeat:] if columns[i] not in drop]
    while rest:
        part = every[:repeat]
        while rest and (
            len(part) == repeat or _total(widths[i] for i in (*part, rest[0])) <= width
        ):
            part.append(rest.pop(0))
        yield part


def _least_widths(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    """Return the widths of columns whose names are broken."""
    headers = [_broken(column) for column in columns]
    return _widths(columns, headers, [[_cell(value) for value in row] for row in rows])


def _broken(name: str) -> str:
    """Return a mitigator's name with a line break before each `+`, `?` and `&`."""
    return re.sub(r"(?<=.)(?=[+?&])", "\n", name)


def _widths(
    columns: Sequence[str], headers: Sequence[str], cells: Sequence[Sequence[Text]]
) -> list[int]:
    from rich.cells import cell_len

    return [
        max([*map(cell_len, headers[i].split("\n")), *(row[i].cell_len for row in cells)])
        for i in range(len(columns))
    ]


def _fitted(
    widths: Mapping[str, int], width: int, *, shorten: Sequence[str], drop: Sequence[str]
) -> dict[str, int]:
    """Return the widths of the columns that are kept; see `laid_out`."""
    kept = dict(widths)
    floors = {column: _floor(column, w, shorten) for column, w in widths.items()}
    for column in drop:
        if _total(floors[c] for c in kept) > width:
            kept.pop(column, None)
    while _total(kept.values()) > width:
        longer = [column for column in kept if kept[column] > floors[column]]
        if not longer:
            break
        kept[max(longer, key=lambda column: kept[column])] -= 1
    return kept


def _floor(column: str, width: int, shorten: Sequence[str]) -> int:
    """Return the smallest width of a column that is `width` wide."""
    if column not in shorten:
        return width
    return min(width, max(MIN_WIDTH // min(2, len(shorten)), len(column)))


def _total(widths: Iterable[int]) -> int:
    """Return the width of a table with these columns, paddings and borders included."""
    return sum(width + 2 for width in widths) + 1


def _cell(value: Any) -> Text:
    from rich.text import Text

    if isinstance(value, Text):
        return value
    if value is None:
        return Text("–")
    if isinstance(value, float):
        return Text(f"{value:z.3f}")
    if isinstance(value, (list, tuple, set)):
        return Text(", ".join(map(str, value)))
    return Text(str(value))


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)
