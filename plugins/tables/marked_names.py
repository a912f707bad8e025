"""Texts with names marked by hand: with the original names, other names, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from harness.errors import InvalidOption, suggestion

from ..texts import edits, marks

Names: TypeAlias = Literal["own", "shared", "removed", "replaced"]


def marked_names(
    rows: Sequence[Mapping[str, Any]],
    *,
    columns: Sequence[str] = ("query", "positive", "negative"),
    names: Names = "own",
    identifiers: edits.Identifiers = "letters",
) -> list[dict[str, Any]]:
    """Return the rows with the marks in some columns resolved.

    See `harness.plugins.texts.marks` for the marks.

    Parameters
    ----------
    rows
        Rows of a table.
    columns
        Columns with marked texts.
    names
        `own`: the original names. `shared`: all texts of a row get the names in the text of the
        first column, matched by kind and number. `removed`: no names and no possessive endings.
        `replaced`: placeholders, numbered separately in each text.
    identifiers
        Identifiers in placeholders: `letters` or `numbers`.

    Raises
    ------
    InvalidOption
        If a column is missing.
    HarnessError
        If a text has brackets that are no mark.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, tables 6 and 18.
    """
    for row in rows:
        for column in columns:
            if column not in row:
                near = suggestion(column, row)
                raise InvalidOption(f"marked-names: the table has no column '{column}'{near}")
    return [dict(row) | _texts(row, columns, names, identifiers) for row in rows]


def _texts(
    row: Mapping[str, Any], columns: Sequence[str], names: Names, identifiers: edits.Identifiers
) -> dict[str, str]:
    marked = {column: str(row[column]) for column in columns}
    parsed = {column: marks.read(text) for column, text in marked.items()}
    if names == "shared":
        first = parsed[columns[0]].names
        return {column: marks.renamed(text, first) for column, text in marked.items()}
    if names == "removed":
        return {column: edits.without(text.text, text.mentions) for column, text in parsed.items()}
    if names == "replaced":
        return {
            column: edits.replaced(text.text, text.mentions, identifiers)
            for column, text in parsed.items()
        }
    return {column: text.text for column, text in parsed.items()}
