"""Fills templates: `{text}`, `{column}`, `{Column}` and `{context.name}` become text."""

from __future__ import annotations

import string
from collections.abc import Mapping
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
