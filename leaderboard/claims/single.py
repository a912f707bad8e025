"""One line of a file of records, looked at closely: what is wrong with it, or its frame."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from pydantic import ValidationError

from harness.leaderboard.claims.frame import frame_of
from harness.results import jsonl
from harness.results.record import Record

LONGEST_REASON = 300


class _Invalid(ValueError):
    """JSON as no record has it."""


def frame_of_line(line: bytes) -> pl.DataFrame | str:
    """Return the frame of a line that is a record; else what is wrong, and what would be right."""
    try:
        content = json.loads(
            line.decode(), object_pairs_hook=_without_repeats, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start + 1})"
    except json.JSONDecodeError as error:
        if line.startswith(b"\xef\xbb\xbf"):
            return "begins with a byte order mark: write UTF-8 without one"
        return f"not a line of JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        return "nested too deeply for a record"
    except ValueError as error:  # also an integer of thousands of digits
        return f"not a line of JSON ({error})" if type(error) is ValueError else str(error)
    return _frame_of(content)


def _frame_of(content: Any) -> pl.DataFrame | str:
    try:
        return frame_of([_validated(content)])
    except ValidationError as error:
        return _shown(f"not a record: {jsonl.first_mistake(error, Record)}")
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


def _shown(reason: str) -> str:
    """Return a reason that quotes a stranger, short and without control characters."""
    short = reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + "…"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in short)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise _Invalid(_shown(f"the key '{repeated}' stands twice in one object"))
    return content


def _no_constant(name: str) -> float:
    raise _Invalid(f"{name} is no JSON: write null, with a reason")
