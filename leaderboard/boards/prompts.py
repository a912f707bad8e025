"""Models under several neutral prompts (`harness eval --prompts`): what a prompt changes.

The value of a row is that under the model's own prompt: what its users get, what other tables
show, and what mitigators and usefulness are measured under. What another prompt would change is
an error of it: the root mean square of the changes, which covers an own prompt that was chosen
for its low bias, too. It enters the interval, and so the ranges of ranks. A row without other
prompts gets the median error of those that have some: to leave them out is no advantage.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection

import polars as pl

from harness.results import estimator
from harness.results.estimator import Cells

from .cells import ratio
from .findings import count, listed

FEW_PROMPTS = 2
"""Number of prompts up to which the error of a row is at least the median of all rows: of one
change alone it is not known."""


def prompt_errors(
    cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame, without: Collection[str] = ()
) -> dict[str, float]:
    """Return by row what another prompt changes in its mean bias; nothing if none was tried.

    Parameters
    ----------
    cells
        The cells that the mean is made of, as the estimator has them.
    draws
        As of `cells.under_prompts`; of other tasks than those of `cells`, too.
    rows
        `row`, `name`, `fingerprint` and `role`. Mitigated rows have the error of their model.
    without
        Names of models that take no prompt.
    """
    model = ["name", "fingerprint"]
    models = rows.filter(role="model")
    bias = of_bias(cells, models)
    own = draws.join(bias.every, on=["row", "task"], how="semi")
    if own.is_empty():
        return {}
    known, n_prompts = estimator.prompt_errors(bias, own)
    median = statistics.median(known.values()) if known else 0.0
    errors = {}
    for row, name in models.select("row", "name").iter_rows():
        error = known.get(row, 0.0)
        if 1 + n_prompts.get(row, 0) <= FEW_PROMPTS:
            error = max(error, median)
        errors[row] = 0.0 if name in without else float(error)
    of_model = models.select(*model, base="row")
    mitigated = rows.filter(role="mitigated").join(of_model, on=model)
    of_mitigated = {row: errors[base] for row, base in mitigated.select("row", "base").iter_rows()}
    return errors | of_mitigated


def of_bias(cells: Cells, models: pl.DataFrame) -> Cells:
    """Return the cells of models that count in their bias."""
    is_own = pl.col("row").is_in(models["row"].implode())
    return cells.filter(is_own, pl.col("left_out").is_null(), pl.col("measures") == "bias")


def prompts_decide(
    cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame, without: Collection[str] = ()
) -> list[str]:
    """Return lines on tasks whose order of models a prompt decides, and on rows without prompts.

    Parameters are those of `prompt_errors`.
    """
    models = of_bias(cells, rows.filter(role="model")).every
    decided = decided_of(models, draws)
    if decided.is_empty():
        return []
    lines = []
    tasks = decided.filter("decides")["task"].to_list()
    if tasks:
        share = float(decided["turned"].to_numpy().mean())
        lines.append(
            f"a prompt changes more than another model does on {len(tasks)} of "
            f"{count(decided.height, 'task')} of bias: {listed(tasks)}; over all of them it turns "
            f"the order of {share:.0%} of the pairs of models"
        )
    several = draws["row"].unique().to_list()
    alone = rows.filter(
        ~pl.col("row").is_in(several), ~pl.col("name").is_in(list(without)), role="model"
    )
    unknown = alone.join(models, on="row", how="semi").height
    if unknown:
        lines.append(
            f"{count(unknown, 'model')} ran under the own prompt alone: what prompts change there "
            "is taken to be the median of the others"
        )
    return lines


def decided_of(cells: pl.DataFrame, draws: pl.DataFrame) -> pl.DataFrame:
    """Return where prompts decide: a line for each task with two models of several prompts.

    Returns
    -------
    pl.DataFrame
        `task`; `turned`, the share of pairs of models whose order turns under a prompt that both
        have; `decides`, whether the root mean square of what a prompt changes in the gap over the
        yardstick is above the standard deviation over models.
    """
    values = (
        draws.join(cells.select("row", "task", own=ratio()), on=["row", "task"])
        .with_columns(value=ratio())
        .drop_nulls(["own", "value"])
        .select("row", "task", "prompt", "own", "value")
    )
    pairs = (
        values.join(values, on=["task", "prompt"], suffix="_other")
        .filter(pl.col("row") < pl.col("row_other"))
        .with_columns(
            turns=(pl.col("own") - pl.col("own_other")) * (pl.col("value") - pl.col("value_other"))
        )
        .group_by("task", "row", "row_other")
        .agg((pl.col("turns") < 0).any())
        .group_by("task")
        .agg(turned=pl.col("turns").mean())
    )
    within = values.group_by("task").agg(
        within=((pl.col("value") - pl.col("own")) ** 2).mean().sqrt()
    )
    between = values.unique(["row", "task"]).group_by("task").agg(between=pl.col("own").std())
    return (
        pairs.join(within, on="task")
        .join(between, on="task")
        .select("task", "turned", decides=pl.col("within") > pl.col("between"))
        .sort("task")
    )
