"""Lines that begin with a label, as in classification data: `1 a stirring , funny film`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def labelled_lines(
    rows: Sequence[Mapping[str, Any]], *, column: str = "line"
) -> list[dict[str, str]]:
    """Return the columns `label`, a line up to its first space, and `text`, the rest.

    Spaces around the text are removed. A line with a label but no text is left out.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the lines.

    Raises
    ------
    InvalidOption
        If the column is missing.
    """
    if any(column not in row for row in rows):
        raise InvalidOption(f"labelled-lines: the table has no column '{column}'")
    parts = (str(row[column]).strip().partition(" ") for row in rows)
    return [{"label": label, "text": text.strip()} for label, _, text in parts if text.strip()]
