"""Words of a column as integer codes, for metrics that take groups or classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption, suggestion


def codes(
    rows: Sequence[Mapping[str, Any]],
    *,
    column: str,
    values: tuple[str, ...] | None = None,
    into: str = "code",
    start: int = 0,
    numbers: tuple[float, ...] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows with one more column: the index of a word in a list.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the words.
    values
        Words in the order of their codes; by default all words, as they come.
    into
        Name of the new column.
    start
        Code of the first word, so that the codes of several tables may differ.
    numbers
        Codes of the words of `values`, in place of their indices: words may share one.

    Raises
    ------
    InvalidOption
        If the column is missing, `values` repeats a word, a cell is not in `values`, or there are
        not as many `numbers`.
    """
    if values is None:
        values = tuple(dict.fromkeys(str(row[column]) for row in rows if column in row))
    chosen = tuple(range(start, start + len(values))) if numbers is None else numbers
    if len(chosen) != len(values):
        raise InvalidOption(f"codes: {len(chosen)} 'numbers' for {len(values)} 'values'")
    code_of = dict(zip(values, chosen, strict=True))
    if len(code_of) < len(values):
        raise InvalidOption(f"codes: values={list(values)}: every word must be different")
    coded = []
    for i, row in enumerate(rows, start=1):
        if column not in row:
            raise InvalidOption(f"codes: row {i} has no column '{column}'{suggestion(column, row)}")
        word = str(row[column])
        if word not in code_of:
            raise InvalidOption(
                f"codes: row {i}, column '{column}': '{word}' is not in 'values'"
                f"{suggestion(word, code_of)}"
            )
        coded.append({**row, into: code_of[word]})
    return coded
