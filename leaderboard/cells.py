"""Cells of a leaderboard: one line for each primary record, with its distance to the ideal.

Chooses the version, seed and fit that count for each task and kind of embedder. Ranks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from harness.errors import UnknownName
from harness.results import scale
from harness.results.record import Record

BASELINES = ("none", "normalize")
"""Mitigators that all others are compared with."""

_SCHEMA: dict[str, Any] = {
    "kind": pl.String,
    "row": pl.String,
    "model": pl.String,
    "fingerprint": pl.String,
    "url": pl.String,
    "dimensions": pl.Int64,
    "parameters": pl.Int64,
    "mitigator": pl.String,
    "label": pl.String,
    "params": pl.String,
    "fitted_on": pl.String,
    "task": pl.String,
    "version": pl.Int64,
    "digest": pl.String,
    "title": pl.String,
    "measures": pl.String,
    "category": pl.String,
    "language": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "score": pl.String,
    "value": pl.Float64,
    "reason": pl.String,
    "ideal": pl.String,
    "low_bound": pl.Float64,
    "high_bound": pl.Float64,
    "p_value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "n": pl.Int64,
    "asked": pl.Int64,
    "found": pl.Int64,
    "truncated": pl.Int64,
    "missing": pl.List(pl.String),
    "overlap": pl.List(pl.String),
    "seed": pl.Int64,
    "created": pl.String,
    "id": pl.String,
}

_BY_AGE = ("created", "id")
_TASK = ("kind", "task")


@dataclass(frozen=True)
class Cells:
    """The cells of a leaderboard.

    Parameters
    ----------
    ranked
        Cells of the chosen version of each task, one for each row and task. `loss` orders the
        rows of a task (lower is better); `distance` is the distance to the ideal in [0, 1], null
        for a score without bounds.
    others
        Cells of another version, seed or fit; `why` says which.
    """

    ranked: pl.DataFrame
    others: pl.DataFrame


def of_tasks(records: Sequence[Record], patterns: Iterable[str]) -> list[Record]:
    """Return the records of the tasks that `patterns`, names or globs, match.

    Raises
    ------
    UnknownName
        If a pattern matches no task of a primary record.
    """
    known = {record.task.name for record in records if record.primary}
    chosen = set()
    for pattern in patterns:
        matching = {name for name in known if fnmatchcase(name, pattern)}
        if not matching:
            raise UnknownName("task in these records", pattern, known)
        chosen |= matching
    return [record for record in records if record.task.name in chosen]


def cells(records: Iterable[Record]) -> Cells:
    """Return the cells of the primary records.

    The highest version of a task counts. If records of this version have different content, the
    content with most rows counts; of several seeds, the seed with most rows. Ties go to the older
    content, then to the smaller digest or seed, so the order of the records does not matter.
    """
    lines = [_line(record) for record in records if record.primary]
    every = pl.DataFrame(lines, schema=_SCHEMA).sort(_BY_AGE)
    rows = pl.col("row").n_unique()
    digests = _first(
        every.group_by(*_TASK, "digest").agg(
            pl.col("version").max(), rows.alias("rows"), pl.col("created").min()
        ),
        by=("version", "rows", "created", "digest"),
        descending=(True, True, False, False),
    )
    every = _mark(every, digests, "digest")
    seeds = _first(
        every.filter("is_digest").group_by(*_TASK, "seed").agg(rows.alias("rows")),
        by=("rows", "seed"),
        descending=(True, False),
    )
    every = _mark(every, seeds, "seed")
    fits = (
        every.filter("is_digest", "is_seed")
        .group_by("row", *_TASK)
        .agg(pl.col("id").sort_by(_BY_AGE).last().alias("last_id"))
    )
    every = every.join(fits, on=["row", *_TASK], how="left").with_columns(
        pl.when(~pl.col("is_digest"))
        .then(pl.lit("another version or content of the task"))
        .when(~pl.col("is_seed"))
        .then(pl.lit("another seed"))
        .when(pl.col("id") != pl.col("last_id"))
        .then(pl.lit("replaced by a later fit of the mitigator"))
        .alias("why")
    )
    helpers = ["is_digest", "is_seed", "last_id"]
    ranked = every.filter(pl.col("why").is_null()).drop(*helpers, "why")
    # A join may change the order of the lines.
    others = every.filter(pl.col("why").is_not_null()).drop(helpers).sort(_BY_AGE)
    return Cells(_measured(ranked), others)


def row_name(record: Record) -> str:
    """Return the key of a record's row: its model, mitigator and settings."""
    model, mitigator = record.model, record.mitigator
    return json.dumps([model.name, model.fingerprint, mitigator.label, _params(record)])


def _params(record: Record) -> str:
    return json.dumps(record.mitigator.params, sort_keys=True, default=str)


def _line(record: Record) -> dict[str, Any]:
    model, mitigator, task = record.model, record.mitigator, record.task
    interval = record.interval
    return {
        "kind": model.kind,
        "row": row_name(record),
        **model.model_dump(include={"fingerprint", "url", "dimensions", "parameters"}),
        "model": model.name,
        "mitigator": mitigator.name,
        "label": mitigator.label,
        "params": _params(record),
        "fitted_on": mitigator.concept,
        "task": task.name,
        **task.model_dump(include={"version", "digest", "title", "measures"}),
        "ideal": str(record.ideal),
        "low_bound": record.bounds[0],
        "high_bound": record.bounds[1],
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "asked": record.coverage.asked,
        "found": record.coverage.found,
        "truncated": record.coverage.truncated,
        "missing": list(record.coverage.missing),
        "overlap": list(record.overlap),
        **{name: getattr(record, name) for name in _PLAIN},
    }


_PLAIN = (
    *("category", "language", "scenario", "metric", "score", "value", "reason", "p_value", "n"),
    *("seed", "created", "id"),
)


def _first(
    frame: pl.DataFrame, *, by: tuple[str, ...], descending: tuple[bool, ...]
) -> pl.DataFrame:
    """Return the first line of each task after sorting by `by`."""
    return frame.sort(by, descending=descending).unique(
        subset=_TASK, keep="first", maintain_order=True
    )


def _mark(frame: pl.DataFrame, chosen: pl.DataFrame, column: str) -> pl.DataFrame:
    """Add `is_<column>`: whether the cell has the value of `column` chosen for its task."""
    pick = chosen.select(*_TASK, pl.col(column).alias("chosen"))
    return (
        frame.join(pick, on=list(_TASK), how="left")
        .with_columns((pl.col(column) == pl.col("chosen")).alias(f"is_{column}"))
        .drop("chosen")
    )


def _measured(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `loss` and `distance`, on the scale of the task's latest record."""
    latest = {
        name: pl.col(name).last().over(*_TASK) for name in ("ideal", "low_bound", "high_bound")
    }
    frame = frame.sort(_BY_AGE).with_columns(**latest)
    losses: list[float | None] = []
    distances: list[float | None] = []
    columns = ("value", "ideal", "low_bound", "high_bound")
    for value, text, low, high in frame.select(columns).iter_rows():
        ideal = text if text in ("higher", "lower") else float(text)
        losses.append(None if value is None else scale.loss(value, ideal, (low, high)))
        distances.append(None if value is None else scale.distance(value, ideal, (low, high)))
    return frame.with_columns(
        loss=pl.Series(losses, dtype=pl.Float64), distance=pl.Series(distances, dtype=pl.Float64)
    ).with_columns(
        # Scores depend on the batches by up to 1e-5, so smaller differences are ties.
        loss=pl.coalesce(pl.col("distance").round(5), pl.col("loss").round_sig_figs(5))
    )
