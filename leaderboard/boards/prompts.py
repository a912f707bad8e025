"""Models under several neutral prompts (`harness eval --prompts`): what a prompt changes.

The value of a row is that under the model's own prompt: what its users get, what other tables
show, and what mitigators and usefulness are measured under. What another prompt would change is
an error of it: the root mean square of the changes, which covers an own prompt that was chosen
for its low bias, too. It enters the interval, and so the ranges of ranks.
"""

from __future__ import annotations

import polars as pl

from harness.results import estimator
from harness.results.estimator import Cells

from .cells import ratio
from .findings import count, listed


def prompt_errors(cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame) -> dict[str, float]:
    """Return by row what another prompt changes in its mean bias, where others were tried.

    Parameters
    ----------
    cells
        The cells of the board.
    draws
        As of `cells.under_prompts`.
    rows
        `row`, `name`, `fingerprint` and `role`. Mitigated rows have the error of their model.
    """
    errors = estimator.prompt_errors(cells, draws)
    model = ["name", "fingerprint"]
    of_model = rows.filter(pl.col("row").is_in(list(errors)), role="model")
    mitigated = rows.filter(role="mitigated").join(of_model.select(*model, base="row"), on=model)
    return errors | {row: errors[of] for row, of in mitigated.select("row", "base").iter_rows()}


def prompts_decide(cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    """Return lines on tasks whose order of models a prompt decides, and on rows without prompts.

    Parameters are those of `prompt_errors`, with the cells of a benchmark.
    """
    models = rows.filter(role="model")["row"]
    own = cells.counting.filter(pl.col("row").is_in(models.implode()), measures="bias")
    decided = decided_of(own, draws)
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
    every, several = set(own["row"]), set(draws["row"])
    if every - several:
        lines.append(
            f"what prompts change is part of the intervals of {len(every & several)} of "
            f"{count(len(every), 'model')}: the others ran under their own prompt alone"
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
