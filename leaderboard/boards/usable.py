"""Which rows of a board are usable: controls that they pass, and a minimum of usefulness.

Bias alone says nothing about vectors without meaning: Gaussian noise has little of any bias. Here
stands what keeps such a row from being ranked, and why. Ranks nothing itself.
"""

from __future__ import annotations

import polars as pl

from harness.leaderboard.boards.cells import BASELINES

LEVEL = 0.05
"""A required control is passed by a value on the expected side of its ideal with a p-value below
this: flowers are more pleasant than insects in the vectors of every usable model."""
ABOVE_NOISE = 0.05
"""Least usefulness above that of random vectors: a mean correlation of .1 with human judgements.
Random vectors stay within ±.03 of 0.5 on each of eight similarity tasks."""
KEPT = 0.75
"""Least share of the usefulness of the unmitigated model above random vectors that a mitigator
keeps. GloVe with 50 dimensions has .64 of what spaCy's 300 have: a mitigator that costs more than
this third has replaced the model by a poorer one, not mended it."""


def unusable(grid: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row that is not usable, with the reason.

    Parameters
    ----------
    grid
        A line for every row and task of the board: `row`, `task`, `value`, `ideal`, `p_value`,
        `measure`, `why_null`.
    tasks
        `task`, `measures`, `required` and `not_ranked`.
    rows
        `row`, `role`, `is_noise`, `name` (of the model), `fingerprint` and `mitigator`.

    Returns
    -------
    pl.DataFrame
        `row` and `unusable`; the reasons are joined by `; `.
    """
    failed = pl.concat([_controls(grid, tasks), *_usefulness(grid, tasks, rows)])
    return (
        failed.join(rows.filter(pl.col("role") != "reference"), on="row", how="semi")
        .group_by("row", maintain_order=True)
        .agg(pl.col("unusable").str.join("; "))
    )


def _controls(grid: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each required control that a row fails or lacks."""
    value, p = pl.col("value"), pl.col("p_value")
    ideal = pl.col("ideal").cast(pl.String).cast(pl.Float64, strict=False).fill_null(0.0)
    control = pl.concat_str(pl.lit("control '"), "task", pl.lit("'"))
    reason = (
        pl.when(value.is_null())
        .then(pl.concat_str(pl.lit("no value on the "), control, pl.lit(": "), "why_null"))
        .when(p.is_null())
        .then(pl.concat_str(pl.lit("no p-value on the "), control))
        .when(value <= ideal)
        .then(pl.concat_str(pl.lit("fails the "), control, pl.lit(": on the wrong side")))
        .when(p >= LEVEL)
        .then(pl.concat_str(pl.lit("fails the "), control, pl.lit(": p = "), p.round(3)))
    )
    return (
        grid.join(tasks.filter("required").select("task"), on="task", how="semi")
        .sort("row", "task")
        .select("row", unusable=reason)
        .drop_nulls("unusable")
    )


def _usefulness(grid: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return lines on rows that are no more useful than noise, or lost too much."""
    ranked = tasks.filter(pl.col("not_ranked").is_null(), measures="usefulness")
    useful = grid.join(ranked.select("task", "family"), on="task", how="semi").select(
        "row", "task", "family", "measure"
    )
    noise = (
        useful.join(rows.filter("is_noise"), on="row", how="semi")
        .drop_nulls("measure")
        .group_by("task")
        .agg(noise=pl.col("measure").mean())
    )
    if noise.is_empty():
        return []
    above = useful.join(noise, on="task").with_columns(above=pl.col("measure") - pl.col("noise"))
    family = ["row", "family"]
    mean = (
        above.drop_nulls("above")
        .group_by(family)
        .agg(pl.col("above").mean())
        .group_by("row")
        .agg(pl.col("above").mean())
    )
    every = rows.join(mean, on="row", how="left")
    models = every.filter(role="model")
    low = models.filter(pl.col("above").is_null() | (pl.col("above") < ABOVE_NOISE)).select(
        "row",
        unusable=pl.when(pl.col("above").is_null())
        .then(pl.lit("no usefulness task, so it cannot be told from random vectors"))
        .otherwise(
            pl.format(
                "usefulness {} above that of random vectors; at least {} is needed",
                pl.col("above").round(3),
                pl.lit(ABOVE_NOISE),
            )
        ),
    )
    return [low, _kept(above, rows)]


def _kept(above: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each mitigated row that lost too much of its model's usefulness."""
    model = ["name", "fingerprint"]
    with_row = above.join(rows, on="row").drop_nulls("above")
    base = with_row.filter(mitigator=BASELINES[0]).select(*model, "task", base="above")
    shares = (
        with_row.filter(role="mitigated")
        .join(base, on=[*model, "task"])
        .group_by("row", "family")
        .agg(pl.col("above", "base").mean())
        .group_by("row")
        .agg(pl.col("above", "base").mean())
        .filter(pl.col("base") > 0, pl.col("above") < KEPT * pl.col("base"))
    )
    return shares.select(
        "row",
        unusable=pl.format(
            "keeps {} % of the model's usefulness above random vectors; {} % are needed",
            (100 * pl.col("above") / pl.col("base")).round(0).cast(pl.Int64),
            pl.lit(round(100 * KEPT)),
        ),
    ).sort("row")
