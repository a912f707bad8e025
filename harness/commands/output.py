"""Prints tables and JSON, for all commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.printing import echo, printable_json, stdout
from harness.results import formats
from harness.results.formats import Report, Table


def table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str = "", **layout: Any
) -> None:
    """Print a `Table`, made of these arguments."""
    report(Report("", [Table(title, columns, rows, **layout)]))


def lines(rows: Sequence[Mapping[str, Any]], *, title: str = "", **layout: Any) -> None:
    """Print a `Table` of mappings with equal keys, which name the columns."""
    report(Report("", [Table.of(title, rows, **layout)]))


def report(report: Report) -> None:
    """Print a report in the width of the terminal."""
    formats.show(report, formats.width())


def wrapped(line: str) -> str:
    """Return a line with breaks between words, so that it fits the terminal."""
    return formats.wrapped(line, formats.width())


def counted(n: int, noun: str) -> str:
    """Return a number and its noun: `1 file`, `2,000 files`."""
    return f"{n} {noun}" if n == 1 else f"{n:,} {noun}s"


def as_json(content: Any) -> None:
    """Print `content` as JSON."""
    is_unicode = "utf" in (getattr(stdout(), "encoding", None) or "utf").lower()
    text = json.dumps(content, indent=2, ensure_ascii=not is_unicode, default=str)
    echo(printable_json(text))
