"""Rows of a JSON list of objects that was written over several lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InvalidOption


def json_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each object of a JSON list, with its keys as columns.

    Parameters
    ----------
    rows
        Lines of the JSON file, in the column `line`.

    Raises
    ------
    InvalidOption
        If the lines are no list of objects, or the column `line` is missing.
    """
    try:
        return [dict(item.items()) for item in json.loads("\n".join(row["line"] for row in rows))]
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise InvalidOption(
            "json-rows: the column 'line' must hold a JSON list of objects "
            f"({type(error).__name__}: {error})"
        ) from None
