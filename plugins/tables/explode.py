"""One row per element of a list, such as per summary of a document with many summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption, suggestion


def explode(rows: Sequence[Mapping[str, Any]], *, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return one row per element of the lists in `columns`; the other cells are copied.

    The column `row` is added: the index of the original row, from 0. Rows with empty lists are
    dropped.

    Parameters
    ----------
    rows
        Rows of a table.
    columns
        Columns with lists. The lists of a row have equal length; their i-th elements go together.

    Raises
    ------
    InvalidOption
        If a column is missing, a cell is no list, or the lists of a row differ in length.
    """
    exploded = []
    for i, row in enumerate(rows):
        for column in columns:
            if column not in row:
                near = suggestion(column, row)
                raise InvalidOption(f"explode: the table has no column '{column}'{near}")
            if not isinstance(row[column], list | tuple):
                raise InvalidOption(f"explode: row {i}, column '{column}': the cell must be a list")
        lengths = {column: len(row[column]) for column in columns}
        if len(set(lengths.values())) > 1:
            raise InvalidOption(f"explode: row {i}: the lists differ in length ({lengths})")
        for elements in zip(*(row[column] for column in columns), strict=True):
            exploded.append({**row, **dict(zip(columns, elements, strict=True)), "row": i})
    return exploded
