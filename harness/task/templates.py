"""Fills templates: `{text}`, `{column}`, `{Column}` and `{context.name}` become text."""

from __future__ import annotations

import contextlib
import string
from collections.abc import Mapping, Sequence
from typing import Any

from harness import limits
from harness.errors import suggestion
from harness.task.yaml_files import Document, KeyPath


def fields(text: str, cells: Mapping[str, Any], contexts: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each field of a template.

    Parameters
    ----------
    text
        The item.
    cells
        The cells of its row, by column.
    contexts
        The contexts of the concept, by name.
    """
    known = {"text": text} | {name: str(cell) for name, cell in cells.items()}
    known |= {name.capitalize(): cell[:1].upper() + cell[1:] for name, cell in known.items()}
    return known | {f"context.{name}": sentence for name, sentence in contexts.items()}


def columns(template: str | Sequence[str], row: Mapping[str, Any], column: str) -> list[str]:
    """Return the columns of a row that a template, or one of a list, puts into its text.

    Parameters
    ----------
    template
        The template, or list of templates.
    row
        A row of the table.
    column
        The column that `{text}` stands for.
    """
    by_field = {"text": column} | {name: name for name in row}
    by_field |= {field.capitalize(): name for field, name in by_field.items()}
    found: dict[str, None] = {}
    for variant in [template] if isinstance(template, str) else template:
        with contextlib.suppress(ValueError):  # `fill` says what is wrong with it
            for _, field, _, _ in string.Formatter().parse(variant):
                if field in by_field:
                    found[by_field[field]] = None
    return list(found)


def fill(template: str, known: Mapping[str, str], document: Document, place: KeyPath) -> str:
    """Return a template with its fields filled; `place` is its key in the file.

    A field is a name, also with a dot in it. It has no format: `{text:>9}` could fill the memory.

    Raises
    ------
    InvalidFile
        If it has an unknown field, a field with a format, a brace that is not closed, or more
        characters than a text may have.
    """
    parts: list[str] = []
    try:
        for literal, field, format_, conversion in string.Formatter().parse(template):
            parts.append(literal)
            if field is None:
                continue
            if field not in known:
                problem = f"unknown field '{{{field}}}' in '{template}'{suggestion(field, known)}"
                raise document.error(problem, place)
            if format_ or conversion:
                problem = f"the field '{{{field}}}' has a format in '{template}'; leave it out"
                raise document.error(problem, place)
            parts.append(known[field])
    except ValueError as error:
        raise document.error(
            f"invalid template '{template}' ({error}); double a brace that is text", place
        ) from None
    size = sum(map(len, parts))
    if size > limits.TEXT_CHARACTERS:
        problem = limits.too_many(size, limits.TEXT_CHARACTERS, "characters")
        raise document.error(f"a text of {problem}", place)
    return "".join(parts)
