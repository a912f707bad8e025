"""A row for each element of a list: what a file keeps as one document and its many summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption, suggestion


def explode(rows: Sequence[Mapping[str, Any]], *, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return a row for each element of the lists in some columns, with the other cells as they are.

    The column `row` is added: which row each was taken from, from 0. Rows whose lists are empty
    vanish.

    Parameters
    ----------
    rows
        Rows of a table.
    columns
        Columns that have lists; those of a row are of one length, and go together.

    Raises
    ------
    InvalidOption
        If there is no such column, or the lists of a row differ in length or are none.
    """
    exploded = []
    for i, row in enumerate(rows):
        for column in columns:
            if column not in row:
                near = suggestion(column, row)
                raise InvalidOption(f"explode: the table has no column '{column}'{near}")
            if not isinstance(row[column], list | tuple):
                raise InvalidOption(f"explode: row {i} has no list in column '{column}'")
        lengths = {column: len(row[column]) for column in columns}
        if len(set(lengths.values())) > 1:
            raise InvalidOption(f"explode: row {i} has lists of different lengths ({lengths})")
        for elements in zip(*(row[column] for column in columns), strict=True):
            exploded.append({**row, **dict(zip(columns, elements, strict=True)), "row": i})
    return exploded
