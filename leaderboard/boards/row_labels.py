"""Rows of a board: their roles, and the model and the mitigator as shown."""

from __future__ import annotations

import json
from collections import defaultdict

import polars as pl

from harness import labels
from harness.leaderboard.boards.cells import (
    BASELINES,
    IDENTITY,
    NOISE,
    REFERENCES,
    name_without_options,
)


def rows_of(kind: str, chosen: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row, sorted by `row`.

    Parameters
    ----------
    kind
        `word` or `text`.
    chosen, others
        The cells of a board.

    Returns
    -------
    pl.DataFrame
        `row`, `kind`, `name` (of the model), `fingerprint`, `mitigator` and `params`; `model` and
        `label`, the model and the mitigator as shown; `role` (see `Board.rows`); `is_noise`,
        whether it is random vectors as they are shipped, without options or a mitigator: no
        other row may set the bar of usefulness.

    Notes
    -----
    Different weights under one name get the end of the fingerprint. Rows of records that were
    written without a label get the settings that differ.
    """
    rows = (
        pl.concat([frame.select("row", *IDENTITY).unique() for frame in (chosen, others)])
        .unique()
        .sort("row")
        .with_columns(pl.col(IDENTITY).cast(pl.String))
    )
    name = name_without_options()
    is_none = pl.col("mitigator") == BASELINES[0]
    role = (
        pl.when(name.is_in(REFERENCES))
        .then(pl.lit("reference"))
        .when(is_none)
        .then(pl.lit("model"))
        .otherwise(pl.lit("mitigated"))
    )
    return rows.with_columns(
        *_labels(rows),
        name="model",
        kind=pl.lit(kind),
        role=role,
        is_noise=pl.col("model").is_in(NOISE) & is_none,
    )


def _labels(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the models and the mitigators as shown."""
    prints: defaultdict[str, set[str]] = defaultdict(set)
    settings: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        prints[row["model"]].add(row["fingerprint"])
        if row["label"] == row["mitigator"] and row["params"] not in settings[row["mitigator"]]:
            settings[row["mitigator"]].append(row["params"])
    alike = {label: [json.loads(params) for params in texts] for label, texts in settings.items()}
    models, mitigators = [], []
    for row in rows.iter_rows(named=True):
        several = len(prints[row["model"]]) > 1
        model, fingerprint = row["model"], row["fingerprint"]
        models.append(labels.with_fingerprint(model, fingerprint) if several else model)
        params = json.loads(row["params"]) if row["label"] == row["mitigator"] else {}
        differing = {
            key: value
            for key, value in params.items()
            if any(other.get(key) != value for other in alike[row["label"]])
        }
        mitigators.append(labels.with_options(row["label"], differing))
    return (
        pl.Series("model", models, dtype=pl.String),
        pl.Series("label", mitigators, dtype=pl.String),
    )
