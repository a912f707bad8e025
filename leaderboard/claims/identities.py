"""Ids of claims, computed again from what they say that they measured."""

from __future__ import annotations

import json

import polars as pl

from harness.digest import of_json
from harness.results.record import SCHEMA as SCHEMA_VERSION

OWN_ID = "own id"
"""Column of the id that a record should have."""
SCORE = ("fingerprint", "mitigator_fingerprint", "digest", "scenario", "metric", "score")
"""Columns that identify a score. Records of one score differ in their seeds."""


def identities(frame: pl.DataFrame) -> pl.Series:
    """Return the column `OWN_ID`: the id of what each record says that it measured.

    They are those of `record.identity`; each text is turned into JSON once.
    """
    parts = [_as_json(frame[name]) for name in (*SCORE, "seed")]
    form = f"[{SCHEMA_VERSION}{',{}' * len(parts)}]"
    contents = pl.select(pl.format(form, *parts)).to_series()
    return pl.Series(OWN_ID, [of_json(content) for content in contents], dtype=pl.String)


def _as_json(values: pl.Series) -> pl.Series:
    different = values.unique()
    texts = [json.dumps(value, ensure_ascii=False) for value in different]
    keys = pl.DataFrame({"key": different, "text": texts})
    found = (
        values.alias("key")
        .to_frame()
        .join(keys, on="key", how="left", nulls_equal=True, maintain_order="left")
    )
    return found["text"]
