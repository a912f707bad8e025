"""Lines that begin with a label, as classification data often come: `1 a stirring , funny film`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def labelled_lines(
    rows: Sequence[Mapping[str, Any]], *, column: str = "line"
) -> list[dict[str, str]]:
    """Return the columns `label`, up to the first space of a line, and `text`, the rest.

    Blanks around a text are taken off. A line that has a label and nothing else is left out: there
    is no text to embed.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        The column that has the lines.

    Raises
    ------
    InvalidOption
        If there is no such column.
    """
    if any(column not in row for row in rows):
        raise InvalidOption(f"labelled-lines: the table has no column '{column}'")
    parts = (str(row[column]).strip().partition(" ") for row in rows)
    return [{"label": label, "text": text.strip()} for label, _, text in parts if text.strip()]
