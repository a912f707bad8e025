"""The frame of claims: one line a record, in flat columns, whose names are documented here.

Texts that many records share are categorical: a record takes about 0.5 kB. Comparisons, filters,
joins and sorting work as with strings; cast to `pl.String` for the functions in `str`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from harness.results.record import Record

TEXT = pl.Categorical()

SCHEMA: dict[str, Any] = {
    # Where the record is: the file and the line, from 1; null for records that are in no file.
    "file": TEXT,
    "line": pl.Int64,
    "id": pl.String,
    "run": TEXT,
    "created": TEXT,
    # The embedder.
    "kind": TEXT,
    "model": TEXT,
    "aliases": TEXT,  # JSON
    "fingerprint": TEXT,
    "revision": TEXT,
    "url": TEXT,
    "dimensions": pl.Int64,
    "parameters": pl.Int64,
    "max_tokens": pl.Int64,
    "licence": TEXT,
    "open_weights": pl.Boolean,
    "released": TEXT,
    "superseded_by": TEXT,
    "languages": TEXT,  # JSON
    "published": TEXT,  # JSON: published scores by name
    # The mitigator.
    "mitigator": TEXT,
    "label": TEXT,
    "params": TEXT,  # JSON with sorted keys
    "fitted_on": TEXT,
    "mitigator_fingerprint": TEXT,
    "method": TEXT,
    # The task and the score.
    "task": TEXT,
    "version": pl.Int64,
    "digest": TEXT,
    "title": TEXT,
    "measures": TEXT,
    "concept": TEXT,
    "category": TEXT,
    "family": TEXT,  # category/family: one vote
    "language": TEXT,
    "scenario": TEXT,
    "metric": TEXT,
    "score": TEXT,
    "primary": pl.Boolean,
    "unranked": TEXT,  # why it is shown and not ranked, or empty
    "required": pl.Boolean,
    "ideal": TEXT,  # a number as text, `higher` or `lower`
    "low_bound": pl.Float64,
    "high_bound": pl.Float64,
    # The value.
    "value": pl.Float64,
    "reason": TEXT,
    "p_value": pl.Float64,
    "alternative": TEXT,
    "reversed": pl.Boolean,
    "undone": pl.Boolean,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "floor": pl.Float64,
    "floor_sd": pl.Float64,
    "unit": pl.Float64,
    "n": pl.Int64,
    "asked": pl.Int64,
    "found": pl.Int64,
    "truncated": pl.Int64,
    "missing": pl.List(TEXT),
    "overlap": pl.List(TEXT),
    "tables": pl.String,  # JSON: paths by name
    # The run.
    "seed": pl.Int64,
    "limit": pl.Int64,
    "harness": TEXT,
    "python": TEXT,
    "platform": TEXT,
    "device": TEXT,
    "packages": TEXT,  # JSON: versions by name
}
"""Columns of a frame of claims. What is JSON is a text, of which there are few different ones."""


def frame_of(records: Iterable[Record]) -> pl.DataFrame:
    """Return the lines of records that are in memory, in their order; nothing is set aside."""
    from harness.leaderboard.claims.lines import line_of, parsed

    return parsed("".join(line_of(record) for record in records).encode()).frame
