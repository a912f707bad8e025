"""Lines that begin with a label, as in classification data: `1 a stirring , funny film`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def labelled_lines(
    rows: Sequence[Mapping[str, Any]], *, column: str = "line", mark: str = " "
) -> list[dict[str, Any]]:
    """Return the columns `label`, a line up to its first space, and `text`, the rest.

    Spaces around the text are removed. A line with a label but no text is left out. Other columns
    stay as they are.

    Parameters
    ----------
    rows
        Rows of a table.
    column
        Column with the lines.
    mark
        What separates label and text, if no space: a colon after an instruction.

    Raises
    ------
    InvalidOption
        If the column is missing, or `mark` is empty.
    """
    if any(column not in row for row in rows):
        raise InvalidOption(f"labelled-lines: the table has no column '{column}'")
    if not mark:
        raise InvalidOption("labelled-lines: mark: must not be empty")
    labelled = []
    for row in rows:
        label, _, text = str(row[column]).strip().partition(mark)
        others = {name: cell for name, cell in row.items() if name != column}
        if text.strip():
            labelled.append({**others, "label": label, "text": text.strip()})
    return labelled
