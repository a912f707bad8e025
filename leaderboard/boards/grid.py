"""The grid of a board, a line for every row and task, and the frames that follow from it.

Which tasks are ranked, which cells count, the means of each row, and what a row lacks.
"""

from __future__ import annotations

import polars as pl

from harness.leaderboard.boards.cells import BASELINES, NOISE, REFERENCES
from harness.leaderboard.boards.ranking import means, rank


def tasks_of(chosen: pl.DataFrame) -> pl.DataFrame:
    """Return one line a task."""
    reason = (
        pl.when(pl.col("measures") == "control")
        .then(pl.lit("a control"))
        .when(pl.col("unranked") != "")
        .then(pl.col("unranked"))
        .when(~pl.col("adds"))
        .then(pl.coalesce("aside", pl.lit("no row has a value")))
    )
    return (
        chosen.sort("created", "id")
        .group_by("task")
        .agg(
            pl.col(
                *("version", "digest", "title", "measures", "category", "family", "language"),
                *("metric", "score", "scenario", "ideal", "low_bound", "high_bound", "seed"),
                *("required", "unranked"),
            ).last(),
            rows=pl.col("value").count(),
            scaled=pl.col("distance").count() > 0,
            adds=(pl.col("measure").is_not_null() | pl.col("leak")).any(),
            aside=pl.col("aside").drop_nulls().last(),
        )
        .with_columns(not_ranked=reason)
        .drop("unranked", "adds", "aside")
        .sort("measures", "category", "task")
    )


def grid_of(chosen: pl.DataFrame, tasks: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """Return a line for every row and task, with what its cell holds."""
    name = pl.col("name").str.split("?").list.first()  # without options
    role = (
        pl.when(name.is_in(REFERENCES))
        .then(pl.lit("reference"))
        .when(pl.col("mitigator") == BASELINES[0])
        .then(pl.lit("model"))
        .otherwise(pl.lit("mitigated"))
    )
    identity = ["row", pl.col("model").alias("name"), "fingerprint", "mitigator", "params"]
    held = ["id", "value", "p_value", "reason", "aside", "distance", "measure", "leak"]
    return (
        chosen.select(identity)
        .unique()
        .with_columns(role=role, is_noise=name.is_in(NOISE) & (pl.col("mitigator") == BASELINES[0]))
        .join(shown.select("row", pl.col("mitigator").alias("label")), on="row")
        .join(
            tasks.select("task", "measures", "category", "family", "ideal", "not_ranked"),
            how="cross",
        )
        .join(chosen.select("row", "task", *held), on=["row", "task"], how="left")
        .with_columns(pl.col("leak").fill_null(value=False))
        .sort("row", "task")
    )


def aggregated(grid: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row: its means over families, those of categories, and its values."""
    ranked = grid.filter(pl.col("not_ranked").is_null()).drop_nulls("measure")
    values = grid.pivot("task", index="row", values="value", maintain_order=True)
    frame = grid.select("row").unique().sort("row")
    for name in ("bias", "usefulness"):
        measured = ranked.filter(measures=name)
        mean = means(measured, ["row"]).rename({"mean": name}).drop("p")
        ends = {end: f"{name}_{end}" for end in ("low", "high", "families", "tasks")}
        frame = frame.join(mean.rename(ends), on="row", how="left")
    categories = tasks.filter(pl.col("measures") != "control").select("measures", "category")
    for name, category in categories.unique().sort(pl.all()).rows():
        measured = ranked.filter(measures=name, category=category)
        mean = means(measured, ["row"]).select("row", pl.col("mean").alias(f"{name}:{category}"))
        frame = frame.join(mean, on="row", how="left")
    wide = {task: f"task:{task}" for task in tasks["task"]}
    return frame.join(values.select("row", *wide).rename(wide), on="row", how="left")


def ranked_rows(
    ranked: pl.DataFrame, failing: pl.DataFrame, measures: str, prefix: str
) -> pl.DataFrame:
    """Return the rows with a value on every task of `measures`, and the ranks of the models.

    Only models that are usable and complete are ranked; ranks are null for a single row.
    """
    has = pl.col("measure").is_not_null() | pl.col("leak")
    complete = ranked.filter(measures=measures).filter(has.all().over("row"))
    models = complete.filter(role="model").join(failing, on="row", how="anti")
    best = "lowest" if measures == "bias" else "highest"
    ranks = rank(models.select("row", "family", "task", "measure"), best=best)
    if ranks.height == 1:  # a rank needs two rows
        ranks = ranks.head(0)
    named = {column: prefix + column for column in ("rank", "rank_low", "rank_high")}
    rows = (
        complete.select("row").unique().with_columns(pl.lit(value=True).alias(f"{prefix}complete"))
    )
    return rows.join(ranks.rename(named), on="row", how="left")


def lacking(grid: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row and task without a measure, with the reason."""
    elsewhere = others.group_by("row", "task").agg(why=pl.col("why").last())
    return (
        grid.filter(pl.col("value").is_null() | pl.col("aside").is_not_null())
        .join(elsewhere, on=["row", "task"], how="left")
        .select(
            "row",
            "task",
            "measures",
            "leak",
            reason=pl.when(pl.col("aside").is_not_null())
            .then("aside")
            .when(pl.col("id").is_not_null())
            .then(pl.coalesce("reason", pl.lit("no value")))
            .when(pl.col("why").is_not_null())
            .then(pl.lit("only a record of ") + pl.col("why"))
            .otherwise(pl.lit("not run")),
        )
        .sort("row", "measures", "task")
    )
