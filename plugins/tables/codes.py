"""Words of a column as numbers, for metrics that take groups or classes as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption, suggestion


def codes(
    rows: Sequence[Mapping[str, Any]], *, column: str, values: tuple[str, ...], into: str = "code"
) -> list[dict[str, Any]]:
    """Return the rows with one more column: each cell's place in a list, from 0.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column that has the words.
    values
        The words in the order of their codes.
    into
        Name of the new column.

    Raises
    ------
    InvalidOption
        If there is no such column, a word stands twice among the values, or a cell is none of
        them.
    """
    places = {value: place for place, value in enumerate(values)}
    if len(places) < len(values):
        raise InvalidOption(f"codes: a word stands twice among the values {list(values)}")
    coded = []
    for i, row in enumerate(rows, start=1):
        if column not in row:
            raise InvalidOption(f"codes: row {i} has no column '{column}'{suggestion(column, row)}")
        word = str(row[column])
        if word not in places:
            raise InvalidOption(
                f"codes: row {i} has '{word}' in column '{column}', which is none of the values"
                f"{suggestion(word, places)}"
            )
        coded.append({**row, into: places[word]})
    return coded
