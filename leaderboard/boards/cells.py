"""Cells of a leaderboard: one line for each primary record, with its distance to the ideal.

Chooses the version, seed and fit that count for each task and kind of embedder. Ranks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from harness.errors import UnknownName
from harness.results import scale
from harness.results.record import Record
from harness.scores import Bounds, Ideal, in_words, is_within

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
    "family": pl.String,
    "unranked": pl.String,
    "required": pl.Boolean,
    "value": pl.Float64,
    "reason": pl.String,
    "ideal": pl.String,
    "low_bound": pl.Float64,
    "high_bound": pl.Float64,
    "floor": pl.Float64,
    "floor_sd": pl.Float64,
    "unit": pl.Float64,
    "p_value": pl.Float64,
    "alternative": pl.String,
    "reversed": pl.Boolean,
    "undone": pl.Boolean,
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

REFERENCES = ("random-words", "random-texts", "constant-words", "constant-texts")
"""Names of the reference models, without options: random and constant vectors. Never ranked."""
NOISE = REFERENCES[:2]
"""Those whose vectors are random."""

ROOM = 0.1
"""Share of the range of a score by which its bounds in two records may differ."""
NO_FLOOR = "no floor, unlike other records of the task: evaluate again with --overwrite"
"""Why a value does not count: without its floor it would look more biased than the others."""

_BY_AGE = ("created", "id")
_TASK = ("kind", "task")


@dataclass(frozen=True)
class Cells:
    """The cells of a leaderboard.

    Parameters
    ----------
    ranked
        Cells of the chosen version of each task, one for each row and task. `distance` is the
        distance to the ideal in [0, 1], null for a score without bounds. `measure` is what ranks:
        for bias the distance above the floor (lower is better), for usefulness 1 - `distance`. It
        is null if there is no value, or for the reason in `aside`. `leak`: whether the mitigator
        was fitted on texts of a bias task.
    others
        Cells of another version, seed or fit; `why` says which.
    """

    ranked: pl.DataFrame
    others: pl.DataFrame


def of_tasks(records: Sequence[Record], patterns: Iterable[str]) -> list[Record]:
    """Return the records of the tasks that `patterns`, names or globs, match.

    Required controls are always kept: a choice of tasks makes no row usable.

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
            raise UnknownName("task or benchmark in these records", pattern, known)
        chosen |= matching
    return [record for record in records if record.task.required or record.task.name in chosen]


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
        **task.model_dump(
            include={"version", "digest", "title", "measures", "unranked", "required"}
        ),
        "family": record.family,
        "ideal": str(record.ideal),
        "low_bound": record.bounds[0],
        "high_bound": record.bounds[1],
        "floor": record.floor.mean if record.floor else None,
        "floor_sd": record.floor.sd if record.floor else None,
        "alternative": record.details.get("alternative"),
        "reversed": bool(record.details.get("reversed", False)),
        "undone": record.undone,
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
    *("unit", "seed", "created", "id"),
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
    """Add `distance`, `measure`, `aside` and `leak`, on the scale of the task's latest record."""
    own = ("low_bound", "high_bound")
    is_bias = pl.col("measures") == "bias"
    latest = {name: pl.col(name).last().over(*_TASK) for name in ("ideal", *own)}
    frame = (
        frame.sort(_BY_AGE)
        .with_columns(pl.concat_list(own).alias("own_bounds"))
        .with_columns(
            **latest,
            leak=is_bias & (pl.col("overlap").list.len() > 0),
            lacks_floor=is_bias
            & pl.col("floor").is_null()
            & ~pl.col("undone")
            & pl.col("floor").is_not_null().any().over(*_TASK),
        )
    )
    columns = ("value", "ideal", *own, "own_bounds", "measures", "floor", "unit", "leak")
    held = frame.select(*columns, "lacks_floor")
    lines = [_measure(cell) for cell in held.iter_rows(named=True)]
    schema = {"distance": pl.Float64, "measure": pl.Float64, "aside": pl.String}
    return frame.drop("own_bounds", "lacks_floor").hstack(
        pl.DataFrame(lines, schema=schema, orient="row")
    )


def _widened(low: float | None, high: float | None) -> Bounds:
    """Return bounds with room for those of another record: some depend on the number of items."""
    room = 0.0 if low is None or high is None else ROOM * (high - low)
    return (None if low is None else low - room, None if high is None else high + room)


def _measure(cell: Mapping[str, Any]) -> tuple[float | None, float | None, str | None]:
    """Return the distance and the measure of a value, and why it does not count."""
    value, measures = cell["value"], cell["measures"]
    if value is None:
        return None, None, None
    own, bounds = tuple(cell["own_bounds"]), (cell["low_bound"], cell["high_bound"])
    for limits, shown in ((own, own), (_widened(*bounds), bounds)):
        if not is_within(value, limits):
            return None, None, f"the value {value:g} is outside {in_words(shown)}"
    ideal: Ideal = cell["ideal"] if cell["ideal"] in ("higher", "lower") else float(cell["ideal"])
    distance = scale.distance(value, ideal, bounds)
    if measures == "control":
        return distance, None, None
    measure = scale.counted(value, measures, ideal, bounds, floor=cell["floor"], unit=cell["unit"])
    if measure is None:
        return distance, None, "a score with neither bounds nor a unit cannot be added to others"
    if cell["leak"]:
        return distance, None, "leak: the mitigator was fitted on texts of the task"
    if cell["lacks_floor"]:
        return distance, None, NO_FLOOR
    return distance, 1 - measure if measures == "usefulness" else measure, None
