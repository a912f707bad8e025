"""Texts with a word left out, such as a blank that is to be filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption

from .named_texts import column_of


def left_out(
    rows: Sequence[Mapping[str, Any]], *, column: str, word: str, into: str = "rest"
) -> list[dict[str, Any]]:
    """Return the rows with one more column: a text without each occurrence of a word.

    Spaces that are then doubled, or before punctuation, are left out, too.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the texts.
    word
        What is left out, such as `BLANK`, in this spelling.
    into
        Name of the new column.

    Raises
    ------
    InvalidOption
        If the column is missing, `word` is empty, or nothing else is in a text.
    """
    if not word:
        raise InvalidOption("left-out: word: must not be empty")
    rests = []
    for number, text in enumerate(column_of(rows, column, "left-out"), start=1):
        rest = " ".join(text.replace(word, " ").split())
        for mark in ".,!?:;":
            rest = rest.replace(f" {mark}", mark)
        if not any(map(str.isalnum, rest)):
            raise InvalidOption(f"left-out: row {number}: nothing is left of '{text}'")
        rests.append(rest)
    return [{**row, into: rest} for row, rest in zip(rows, rests, strict=True)]
