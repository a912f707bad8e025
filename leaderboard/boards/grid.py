"""The grid of a board, a line for every row and task, and the frames that follow from it.

Which tasks are ranked, which cells count, the means of each row, and what a row lacks.
"""

from __future__ import annotations

import polars as pl

from harness.leaderboard.boards.measures import LEAK, latest
from harness.leaderboard.boards.ranking import by_family, means, rank

ENDS = ("rank", "rank_low", "rank_high")
"""Columns of a rank with its set, after the prefix of what is ranked."""
PREFIXES = {"bias": "", "usefulness": "usefulness_"}
"""Prefix of these columns, by what a task measures."""


def tasks_of(chosen: pl.DataFrame) -> pl.DataFrame:
    """Return one line a task; its facts are those of its latest record."""
    reason = (
        pl.when(pl.col("measures") == "control")
        .then(pl.lit("a control"))
        .when(pl.col("unranked").fill_null("") != "")
        .then(pl.col("unranked"))
        .when(~pl.col("adds"))
        .then(pl.coalesce("aside", pl.lit("no row has a value")))
    )
    texts = (
        *("digest", "title", "measures", "category", "family", "language", "metric", "score"),
        *("scenario", "ideal"),
    )
    facts = ("version", *texts, "low_bound", "high_bound", "required", "unranked")
    return (
        chosen.group_by("task")
        .agg(
            rows=pl.col("value").count(),
            scaled=pl.col("distance").count() > 0,
            adds=(pl.col("measure").is_not_null() | pl.col("leak")).any(),
            aside=pl.col("aside").drop_nulls().max(),
        )
        .join(latest(chosen, ("task",)).select("task", *facts), on="task")
        .with_columns(pl.col(*texts, "unranked").cast(pl.String))
        .with_columns(not_ranked=reason)
        .select("task", *facts[:-1], "rows", "scaled", "not_ranked")
        .sort("measures", "category", "task")
    )


def grid_of(
    chosen: pl.DataFrame, others: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame
) -> pl.DataFrame:
    """Return a line for every row and task, sorted by both.

    Parameters
    ----------
    chosen, others
        The cells of the board.
    tasks
        As of `tasks_of`.
    rows
        One line a row, with its facts.

    Returns
    -------
    pl.DataFrame
        `row`, and the `name`, `fingerprint`, `mitigator`, `params`, `label` and `role` of `rows`;
        `task` and its facts that ranking needs; `id`, `value`, `p_value`,
        `leak`; `measure`, what ranks, null for a leak; `why_null`, why there is none, null
        if there is one.
    """
    elsewhere = (
        others.filter(pl.col("row").is_in(rows["row"].implode()))
        .group_by("row", "task")
        .agg(pl.col("why").last())
    )
    held = chosen.select("row", "task", "id", "value", "p_value", "reason", "aside", "leak",
                         measure=pl.when(~pl.col("leak")).then("measure"))  # fmt: skip
    why_null = (
        pl.when(pl.col("aside").is_not_null())
        .then("aside")
        .when(pl.col("leak") & pl.col("value").is_not_null())
        .then(pl.lit(LEAK))
        .when(pl.col("id").is_not_null() & pl.col("value").is_null())
        .then(pl.coalesce(pl.col("reason").cast(pl.String), pl.lit("no value")))
        .when(pl.col("id").is_not_null())
        .then(None)
        .when(pl.col("why").is_not_null())
        .then(pl.lit("only a record of ") + pl.col("why"))
        .otherwise(pl.lit("not run"))
    )
    facts = tasks.select("task", "measures", "category", "family", "ideal", "not_ranked")
    names = ("name", "fingerprint", "mitigator", "params", "label", "role")
    return (
        _categorical(rows.sort("row").select("row", *names))
        .join(_categorical(facts.sort("task")), how="cross", maintain_order="left_right")
        .join(held, on=["row", "task"], how="left", maintain_order="left")
        .join(elsewhere, on=["row", "task"], how="left", maintain_order="left")
        .with_columns(pl.col("leak").fill_null(value=False), why_null=why_null)
        .drop("reason", "aside", "why")
    )


def _categorical(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose texts are categorical: they are repeated in each line of the grid."""
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical()))


def lacking(grid: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row and task without a measure that ranks, with the reason."""
    return (
        grid.filter(pl.col("why_null").is_not_null())
        .select("row", "task", pl.col("measures").cast(pl.String), "leak", reason="why_null")
        .sort("row", "measures", "task")
    )


def aggregated(grid: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row: its means over families, those of categories, and its values."""
    ranked = grid.filter(pl.col("not_ranked").is_null(), pl.col("measure").is_not_null()).select(
        "row", "measures", "category", "family", "task", "measure"
    )
    frame = grid.select("row").unique().sort("row")
    for name in PREFIXES:
        mean = means(ranked.filter(measures=name), ["row"]).rename({"mean": name}).drop("p")
        ends = {end: f"{name}_{end}" for end in ("low", "high", "families", "tasks")}
        frame = frame.join(mean.rename(ends), on="row", how="left", maintain_order="left")
    families = by_family(ranked, ["row", "measures", "category"])
    categories = tasks.filter(pl.col("measures") != "control").select("measures", "category")
    for name, category in categories.unique().sort(pl.all()).rows():
        own = families.filter(measures=name, category=category)
        mean = own.group_by("row", maintain_order=True).agg(
            pl.col("measure").mean().alias(f"{name}:{category}")
        )
        frame = frame.join(mean, on="row", how="left", maintain_order="left")
    values = grid["value"].to_numpy().reshape(frame.height, -1)  # the grid has every cell
    columns = [f"task:{task}" for task in tasks["task"].sort()]
    return pl.concat(
        [
            frame,
            pl.DataFrame(values, schema=columns, orient="row", nan_to_null=True).select(
                f"task:{task}" for task in tasks["task"]
            ),
        ],
        how="horizontal",
    )


def ranks_of(ranked: pl.DataFrame, failing: pl.DataFrame, measures: str) -> pl.DataFrame:
    """Return the rows with a value on every task of `measures`, and the ranks of the models.

    Only models that are usable and complete are ranked; ranks are null for a single row.

    Parameters
    ----------
    ranked
        The lines of the grid on the tasks to rank by.
    failing
        The `row` of each row that is not usable.
    measures
        `bias` or `usefulness`, which prefixes the columns of its ranks.
    """
    has = pl.col("measure").is_not_null() | pl.col("leak")
    complete = ranked.filter(measures=measures).filter(has.all().over("row"))
    models = complete.filter(role="model").join(failing, on="row", how="anti")
    best = "lowest" if measures == "bias" else "highest"
    ranks = rank(models.select("row", "family", "task", "measure"), best=best)
    if ranks.height == 1:  # a rank needs two rows
        ranks = ranks.head(0)
    prefix = PREFIXES[measures]
    return (
        complete.select("row")
        .unique()
        .with_columns(pl.lit(value=True).alias(f"{prefix}complete"))
        .join(ranks, on="row", how="left")
        .rename({end: prefix + end for end in ENDS})
    )
