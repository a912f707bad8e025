"""One line of a file of records, looked at closely: what is wrong with it, or its frame."""

from __future__ import annotations

from typing import Any

import polars as pl
from pydantic import ValidationError

from harness.leaderboard.claims import strict_json
from harness.leaderboard.claims.frame import frame_of
from harness.results import lines
from harness.results.record import Record


def frame_of_line(line: bytes) -> pl.DataFrame | str:
    """Return the frame of a line that is a record; else what is wrong, and what would be right."""
    try:
        content = strict_json.parsed(line)
    except ValueError as error:
        return strict_json.in_one_line(str(error))
    return _frame_of(content)


def _frame_of(content: Any) -> pl.DataFrame | str:
    try:
        return frame_of([_validated(content)])
    except ValidationError as error:
        return strict_json.in_one_line(f"not a record: {lines.first_mistake(error, Record)}")
    except (ValueError, RecursionError, pl.exceptions.PolarsError):
        return "not a record: a text or a number in it cannot be stored"


def _validated(content: Any) -> Record:
    """Return the record, without keys that no record has: a later harness may write them."""
    try:
        return Record.model_validate(content)
    except ValidationError as error:
        unknown = [e["loc"] for e in error.errors() if e["type"] == "extra_forbidden"]
        if not unknown:
            raise
    for *path, key in unknown:
        part = content
        for step in path:
            part = part[step]
        del part[key]
    return Record.model_validate(content)
