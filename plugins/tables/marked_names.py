"""Texts in which a person has marked the names: as written, with other names, or with none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from harness.errors import InvalidOption, suggestion
from harness.plugins.texts import edits, marks

Names: TypeAlias = Literal["own", "shared", "removed", "replaced"]


def marked_names(
    rows: Sequence[Mapping[str, Any]],
    *,
    columns: Sequence[str] = ("query", "positive", "negative"),
    names: Names = "own",
    identifiers: edits.Identifiers = "letters",
) -> list[dict[str, Any]]:
    """Return the rows with unmarked texts in some columns; see `harness.plugins.texts.marks`.

    Parameters
    ----------
    rows
        Rows of a table.
    columns
        The columns that have marked texts.
    names
        What becomes of the names: their `own`; `shared`, each text of a row names whom the first
        column's text names, by kind and number; `removed`, with the possessive ending; `replaced`
        by placeholders, which begin anew in each text.
    identifiers
        Of placeholders: `letters` or `numbers`.

    Raises
    ------
    InvalidOption
        If there is no such column.
    HarnessError
        If a bracket in a text is no mark.

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
    written = {column: str(row[column]) for column in columns}
    read = {column: marks.read(text) for column, text in written.items()}
    if names == "shared":
        first = read[columns[0]].names
        return {column: marks.renamed(text, first) for column, text in written.items()}
    if names == "removed":
        return {column: edits.without(one.text, one.mentions) for column, one in read.items()}
    if names == "replaced":
        return {
            column: edits.replaced(one.text, one.mentions, identifiers)
            for column, one in read.items()
        }
    return {column: one.text for column, one in read.items()}
