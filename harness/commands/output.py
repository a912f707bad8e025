"""The one place that prints tables and JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

WIDE = 200  # columns of a table that is not on a terminal: nothing in it is wrapped


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print a table; numbers to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    given = [list(row) for row in rows]
    grid = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for i, column in enumerate(columns):
        numbers = bool(given) and all(_is_number(row[i]) for row in given)
        grid.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in given:
        grid.add_row(*(Text(_cell(value)) for value in row))
    console = Console() if sys.stdout.isatty() else Console(width=_width(columns, given))
    console.print(grid)


def as_json(thing: Any) -> None:
    """Print a thing as JSON."""
    click.echo(json.dumps(thing, indent=2, ensure_ascii=False, default=str))


def _width(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    widths = [
        max([len(column), *(len(_cell(row[i])) for row in rows)]) + 3
        for i, column in enumerate(columns)
    ]
    return max(WIDE, sum(widths) + 4)


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
