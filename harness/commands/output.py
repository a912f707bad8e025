"""The one place that prints tables and JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

LEAST = 20
"""Width to which a column of free text may be shortened."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str = "",
    shorten: str = "",
    drop: Sequence[str] = (),
) -> None:
    """Print a table, numbers to the right; on a narrow terminal as `laid_out` fits it."""
    from rich.console import Console

    terminal = Console().width if sys.stdout.isatty() else None
    grid, left_out, width = laid_out(
        columns, list(rows), title=title, shorten=shorten, drop=drop, width=terminal
    )
    Console(width=width).print(grid)  # wider than the terminal at worst: the terminal wraps it
    if left_out:
        click.echo(f"left out on this narrow terminal: {', '.join(left_out)} (--json has all)\n")


def laid_out(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str = "",
    shorten: str = "",
    drop: Sequence[str] = (),
    width: int | None = None,
) -> tuple[Table, list[str], int]:
    """Return a table that fits a width if it can, the columns left out, and the width it needs.

    Parameters
    ----------
    columns, rows
        Names of the columns, and what is in their cells.
    title
        Stands above.
    shorten
        A column of free text, which may end in `…`; nothing else is cut.
    drop
        Columns that may be left out, the first before the others.
    width
        Characters that there are; None for no limit.
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
    shortest = max(LEAST, len(shorten))
    kept = dict(widths)
    left_out: list[str] = []

    def least() -> int:
        return _total([min(w, shortest) if c == shorten else w for c, w in kept.items()])

    for column in drop:
        if width is not None and least() > width and kept.pop(column, None) is not None:
            left_out.append(column)
    if width is not None and shorten in kept:
        excess = _total(kept.values()) - width
        kept[shorten] = max(min(kept[shorten], shortest), kept[shorten] - max(0, excess))
    grid = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for i, column in enumerate(columns):
        if column in kept:
            numbers = bool(rows) and all(_is_number(row[i]) for row in rows)
            grid.add_column(
                headers[i],
                justify="right" if numbers else "left",
                no_wrap=True,
                overflow="ellipsis",
                max_width=kept[column],
            )
    for row in cells:
        grid.add_row(*(Text(row[i]) for i, column in enumerate(columns) if column in kept))
    return grid, left_out, _total(kept.values())


def counted(n: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def as_json(thing: Any) -> None:
    """Print a thing as JSON."""
    click.echo(json.dumps(thing, indent=2, ensure_ascii=False, default=str))


def _broken(name: str) -> str:
    """Return a mitigator's name on several lines: it may break before `+`, `?` and `&`."""
    return re.sub(r"(?<=.)(?=[+?&])", "\n", name)


def _widths(
    columns: Sequence[str], headers: Sequence[str], cells: Sequence[Sequence[str]]
) -> dict[str, int]:
    return {
        column: max(len(text) for text in (*headers[i].split("\n"), *(row[i] for row in cells)))
        for i, column in enumerate(columns)
    }


def _total(widths: Iterable[int]) -> int:
    """Return the width of a table: each column has its padding and a border."""
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
