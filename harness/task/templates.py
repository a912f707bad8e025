"""Fills templates: `{text}`, `{column}`, `{Column}` and `{context.name}` become text."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

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

    Raises
    ------
    InvalidFile
        If it has an unknown field, or a brace that is not closed.
    """
    formatter = _Fields()
    try:
        for _, field, _, _ in formatter.parse(template):
            if field is not None and field not in known:
                raise document.error(
                    f"unknown field '{{{field}}}' in '{template}'{suggestion(field, known)}",
                    place,
                )
        return formatter.vformat(template, (), known)
    except (ValueError, KeyError) as error:
        raise document.error(
            f"invalid template '{template}' ({error}); double a brace that is text", place
        ) from None


class _Fields(string.Formatter):
    """Takes a dotted field as one name, so that a template cannot read attributes of values."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return kwargs[field_name], field_name
