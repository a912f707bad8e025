"""Cells of a leaderboard: one line for each row and task, chosen from the primary claims.

Chooses the version and fit that count for each task and kind of embedder. Ranks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import polars as pl

from harness.errors import UnknownName
from harness.leaderboard.boards.measures import measured
from harness.leaderboard.boards.seeds import averaged

BASELINES = ("none", "normalize")
"""Mitigators that all others are compared with."""
REFERENCES = ("random-words", "random-texts", "constant-words", "constant-texts")
"""Names of the reference models, without options: random and constant vectors. Never ranked."""
NOISE = REFERENCES[:2]
"""Those whose vectors are random."""
IDENTITY = ("model", "fingerprint", "mitigator", "label", "params")
"""Columns of a claim that name its row."""

_COLUMNS = (
    *("kind", *IDENTITY, "mitigator_fingerprint", "fitted_on", "task", "version", "digest"),
    *("title", "measures", "category", "family", "language", "scenario", "metric", "score"),
    *("unranked", "required", "ideal", "low_bound", "high_bound", "value", "reason", "p_value"),
    *("alternative", "reversed", "undone", "low", "high", "level", "floor", "floor_sd", "unit"),
    *("n", "asked", "found", "truncated", "missing", "overlap", "seed", "created", "id"),
)
OTHER_CONTENT = "another version or content of the task"
OTHER_FIT = "replaced by a later fit of the mitigator"
_BY_AGE = ("created", "id")
_TASK = ("kind", "task")


@dataclass(frozen=True)
class Cells:
    """The cells of a leaderboard.

    Parameters
    ----------
    ranked
        Cells of the chosen version of each task, one for each row and task, seeds averaged.
        `measure`, `aside`, `leak` and `distance` as of `measures.measured`; `seeds`, the number of
        seeds, and `spread`, the standard deviation of the value over them.
    others
        Claims of another version or fit; `why` says which.
    """

    ranked: pl.DataFrame
    others: pl.DataFrame


def of_tasks(claims: pl.DataFrame, patterns: Iterable[str]) -> pl.DataFrame:
    """Return the claims on the tasks that `patterns`, names or globs, match.

    Required controls are always kept: a choice of tasks makes no row usable.

    Raises
    ------
    UnknownName
        If a pattern matches no task of a primary claim.
    """
    known = set(claims.filter("primary")["task"].unique())
    chosen = set()
    for pattern in patterns:
        matching = {name for name in known if fnmatchcase(name, pattern)}
        if not matching:
            raise UnknownName("task or benchmark in these records", pattern, known)
        chosen |= matching
    return claims.filter(pl.col("required") | pl.col("task").is_in(sorted(chosen)))


def cells(claims: pl.DataFrame) -> Cells:
    """Return the cells of the primary claims.

    The highest version of a task counts. If claims of this version have different content, the
    content with most rows counts. Ties go to the older content, then to the smaller digest, so the
    order of the claims does not matter. Of several fits of a mitigator on one concept, the latest
    counts. Other seeds of the same content and fit are averaged.
    """
    every = with_rows(claims.select("primary", *_COLUMNS).filter("primary").drop("primary"))
    every = every.cast({name: _in_order(every[name]) for name in ("task", "family")})
    every = every.join(_contents(every), on=_TASK, how="left", maintain_order="left")
    is_content = pl.col("digest") == pl.col("chosen")
    every = every.join(
        _fits(every.filter(is_content)), on=["row", *_TASK], how="left", maintain_order="left"
    )
    is_fit = (pl.col("mitigator_fingerprint") == pl.col("fit")).fill_null(value=True)
    is_ranked = every.select(is_content & is_fit).to_series()
    why = pl.when(~is_content).then(pl.lit(OTHER_CONTENT)).otherwise(pl.lit(OTHER_FIT))
    others = every.filter(~is_ranked).with_columns(why=why).sort(_BY_AGE)
    ranked = every.filter(is_ranked) if others.height else every
    helpers = ("chosen", "fit", "mitigator_fingerprint")
    return Cells(averaged(measured(ranked.drop(helpers))), others.drop(helpers))


def contents(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the `chosen` digest of each `kind` and `task` of the primary claims."""
    needed = (*_TASK, *IDENTITY, "digest", "version", "created")
    return _contents(with_rows(claims.select("primary", *needed).filter("primary")))


def _contents(every: pl.DataFrame) -> pl.DataFrame:
    by = ("version", "rows", "created", "digest")
    return (
        every.group_by(*_TASK, "digest")
        .agg(pl.col("version").max(), pl.col("created").min(), rows=pl.col("row").n_unique())
        .sort(by, descending=[True, True, False, False])
        .unique(subset=_TASK, keep="first", maintain_order=True)
        .select(*_TASK, chosen="digest")
    )


def _fits(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the latest `fit` of each row and task that has several, as its fingerprint."""
    key = ("row", *_TASK)
    fit = pl.col("mitigator_fingerprint")
    return (
        claims.select(*key, "mitigator_fingerprint", *_BY_AGE)
        .filter(pl.len().over(key) > 1)
        .sort(_BY_AGE)
        .group_by(key)
        .agg(fit=fit.last())
    )


def with_rows(claims: pl.DataFrame) -> pl.DataFrame:
    """Add `row`, the key of the row of each claim: its model, mitigator and settings."""
    key = ("model", "fingerprint", "label", "params")
    rows = claims.select(key).unique(maintain_order=True)
    names = pl.Series("row", [json.dumps(row) for row in rows.iter_rows()], dtype=pl.String)
    return claims.join(
        rows.with_columns(names.cast(_in_order(names))), on=key, how="left", maintain_order="left"
    )


def _in_order(texts: pl.Series) -> pl.Enum:
    """Return the type of texts that are sorted, grouped and joined as quickly as numbers."""
    return pl.Enum(texts.unique().cast(pl.String).sort())


def name_without_options() -> pl.Expr:
    """Return the name of the model without the options after it, as `REFERENCES` has names."""
    return pl.col("model").cast(pl.String).str.split("?").list.first()
