"""What follows a mark in a text, such as the text after an instruction and a colon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

from .named_texts import column_of


def after_mark(
    rows: Sequence[Mapping[str, Any]], *, column: str, mark: str, into: str = "text"
) -> list[dict[str, Any]]:
    """Return the rows with one more column: what follows the first mark in a text.

    A text without the mark, or with nothing after it, stays whole.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the texts.
    mark
        The mark, such as a colon.
    into
        Name of the new column.

    Raises
    ------
    InvalidOption
        If the column is missing, or `mark` is empty.
    """
    if not mark:
        raise InvalidOption("after-mark: mark: must not be empty")
    texts = column_of(rows, column, "after-mark")
    return [
        {**row, into: text.partition(mark)[2].strip() or text}
        for row, text in zip(rows, texts, strict=True)
    ]
