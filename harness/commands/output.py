"""Prints tables and JSON, for all commands."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

MIN_WIDTH = 20
"""Smallest width to which a column of free text is shortened."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    shorten: str = "",
    drop: Sequence[str] = (),
) -> None:
    """Print a table, fitted to the terminal by `laid_out`."""
    from rich.console import Console

    terminal = Console().width if sys.stdout.isatty() else None
    grid, dropped, width = laid_out(
        columns, list(rows), title=title, shorten=shorten, drop=drop, width=terminal
    )
    Console(width=width).print(grid)  # if it is too wide, the terminal wraps it
    if dropped:
        columns_dropped = ", ".join(dropped)
        click.echo(f"columns not shown on this narrow terminal: {columns_dropped} (see --json)\n")


def laid_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str = "",
    shorten: str = "",
    drop: Sequence[str] = (),
    width: int | None = None,
) -> tuple[Table, list[str], int]:
    """Return a table fitted to a width, the columns that it drops, and the width that it needs.

    Numbers are aligned to the right. The table may stay wider than `width`.

    Parameters
    ----------
    columns, rows
        Names of the columns, and the values of the cells.
    title
        Line above the table.
    shorten
        Column of free text, which may be cut and end in `…`; no other column is cut.
    drop
        Columns that may be dropped, the least important first.
    width
        Width of the terminal in characters; None for no limit.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    cells = [[_cell(value) for value in row] for row in rows]
    widths = _widths(columns, columns, cells)
    headers = list(columns)
    if width is not None and _total(widths.values()) > width:
        headers = [_broken(column) for column in columns]
        widths = _widths(columns, headers, cells)
    if width is not None:
        widths = _fitted(widths, width, shorten=shorten, drop=drop)
    grid = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    kept = [i for i, column in enumerate(columns) if column in widths]
    for i in kept:
        numbers = bool(rows) and all(_is_number(row[i]) for row in rows)
        grid.add_column(
            headers[i],
            justify="right" if numbers else "left",
            no_wrap=True,
            overflow="ellipsis",
            max_width=widths[columns[i]],
        )
    for row in cells:
        grid.add_row(*(Text(row[i]) for i in kept))
    dropped = [column for column in drop if column in columns and column not in widths]
    return grid, dropped, _total(widths.values())


def counted(n: int, noun: str) -> str:
    """Return a number and its noun: `1 file`, `2 files`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def as_json(content: Any) -> None:
    """Print `content` as JSON."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))


def _broken(name: str) -> str:
    """Return a mitigator's name with a line break before each `+`, `?` and `&`."""
    return re.sub(r"(?<=.)(?=[+?&])", "\n", name)


def _widths(
    columns: Sequence[str], headers: Sequence[str], cells: Sequence[Sequence[str]]
) -> dict[str, int]:
    return {
        column: max(len(text) for text in (*headers[i].split("\n"), *(row[i] for row in cells)))
        for i, column in enumerate(columns)
    }


def _fitted(
    widths: Mapping[str, int], width: int, *, shorten: str, drop: Sequence[str]
) -> dict[str, int]:
    """Return the widths of the columns that are kept; see `laid_out`."""
    kept = dict(widths)
    shortest = max(MIN_WIDTH, len(shorten))

    def narrowest() -> int:
        return _total([min(w, shortest) if c == shorten else w for c, w in kept.items()])

    for column in drop:
        if narrowest() > width:
            kept.pop(column, None)
    if shorten in kept:
        excess = _total(kept.values()) - width
        kept[shorten] = max(min(kept[shorten], shortest), kept[shorten] - max(0, excess))
    return kept


def _total(widths: Iterable[int]) -> int:
    """Return the width of a table with these columns, paddings and borders included."""
    return sum(width + 3 for width in widths) + 1


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, tuple, set)):
        return ", ".join(map(str, value))
    return str(value)


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)
