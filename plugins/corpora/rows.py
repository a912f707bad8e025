"""Rows of a corpus as its file has them: JSON lines, tables with tabs, plain lines.

A row is a line number and a mapping of names to values. What the names mean is in `entries`. Does
not read CSV, because a CSV field may span several lines.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.errors import InvalidFile
from harness.plugins.corpora.lines import Line
from harness.task.table_files import without_repeated_keys

STSB_COLUMNS = ("genre", "filename", "year", "id", "score", "sentence1", "sentence2")
"""Columns of the STS Benchmark's files, which have no header; further ones name licences."""


class Row(NamedTuple):
    """A line number from 1, and the values of the row by key or column."""

    line: int
    values: Mapping[str, Any]


def of_text(lines: Iterator[Line]) -> Iterator[Row]:
    """Yield plain lines: each is a `text`."""
    return (Row(i, {"text": line}) for i, line in lines)


def of_objects(name: str, lines: Iterator[Line]) -> Iterator[Row]:
    """Yield the objects of JSON lines; blank lines are skipped.

    Raises
    ------
    InvalidFile
        If a line is not a JSON object.
    """
    for i, line in lines:
        if not line.strip():
            continue
        try:
            item = json.loads(line, object_pairs_hook=without_repeated_keys)
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"invalid JSON ({error})", path=name, line=i) from None
        if not isinstance(item, Mapping):
            raise InvalidFile("expected a JSON object", path=name, line=i)
        yield Row(i, item)


def of_table(
    name: str, lines: Iterator[Line], header: Sequence[str] = (), *, may_have_more: bool = False
) -> Iterator[Row]:
    """Yield the rows of a table: cells between tabs, without quotes.

    Parameters
    ----------
    name
        Name of the file, for messages.
    lines
        Its lines.
    header
        Names of the columns if the first line is a row; else the first line names them. A row may
        have fewer cells.
    may_have_more
        Whether cells without a name are left out, as the STS Benchmark has them.

    Raises
    ------
    InvalidFile
        If two columns have one name, or a row has a cell without one: a text that has a tab in it
        would end there.
    """
    columns = list(header)
    for i, line in lines:
        cells = line.split("\t")
        if not columns:
            columns = cells
            if len(set(columns)) < len(columns):
                raise InvalidFile("two columns have one name", path=name, line=i)
        elif line.strip():
            if len(cells) > len(columns) and not may_have_more:
                problem = f"expected {len(columns)} cells ({', '.join(columns)}), but found"
                problem += f" {len(cells)}: {cells[len(columns)][:40]!r} has no column"
                raise InvalidFile(problem, path=name, line=i)
            yield Row(i, dict(zip(columns, cells, strict=False)))


def of_numbered_table(lines: Iterator[Line]) -> Iterator[Row]:
    """Yield the rows of a table without a header; each column is named by its number."""
    for i, line in lines:
        if line.strip():
            yield Row(i, {str(n): cell for n, cell in enumerate(line.split("\t"), start=1)})


def of_objects_or_table(
    name: str, lines: Iterator[Line], columns: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield the rows of JSON lines or of a table, whichever the first line is.

    Parameters
    ----------
    name, lines
        The file and its lines.
    columns
        Names of the columns of a table whose first line names none of them.
    """
    first = next(lines, None)
    if first is None:
        return iter(())
    every = itertools.chain([first], lines)
    if first.text.lstrip().startswith("{"):
        return of_objects(name, every)
    has_header = not set(columns).isdisjoint(first.text.split("\t"))
    header = () if has_header or not columns else columns
    return of_table(name, every, header, may_have_more=True)
