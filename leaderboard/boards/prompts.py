"""Models under several neutral prompts (`harness eval --prompts`): what a prompt changes.

The value of a row is that under the model's own prompt: what its users get, what other tables
show, and what mitigators and usefulness are measured under. What another prompt would change is
an error of it: the root mean square of the changes, which covers an own prompt that was chosen
for its low bias, too. It enters the interval, by whose upper end models are ordered. In a set of
ranks two models differ only if they do under each prompt that they share, and by more than these
errors: a rank that another prompt turns is none.
A row without other prompts gets the median error of those that have some: to leave them out is no
advantage.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import polars as pl

from harness.results import ratios

from .findings import count, listed
from .ranking import sampled_means

PROMPTS = ("prompts", "prompt_low", "prompt_high", "prompt_error")
"""Columns of the spread of the mean bias of a row over prompts; see `Board.rows`."""
FEW_PROMPTS = 2
"""Number of prompts up to which the error of a row is at least the median of all rows. Of one
change alone it is not known. In simulations of 6 equal rows that differ by prompts alone, all sets
of ranks hold in 86 % with 2 prompts, in 95 % with 3 and in 100 % with 5; in 78 % with 2 without
this."""
MOST_MISSING = 0.5
"""Largest share of a row's tasks of bias that may lack a record under a prompt that counts."""


def under(cells: pl.DataFrame, draws: pl.DataFrame, prompt: str) -> pl.DataFrame:
    """Return cells with the values under a prompt, where there are any.

    Parameters
    ----------
    cells
        Lines of the grid.
    draws
        As of `cells.under_prompts`, with the types of the grid.
    prompt
        The prompt.
    """
    own = draws.filter(prompt=prompt).select("row", "task", *_POOLED_UNDER)
    return (
        cells.join(own, on=["row", "task"], how="left", maintain_order="left", suffix="_under")
        .with_columns(pl.coalesce(f"{name}_under", name).alias(name) for name in _POOLED_UNDER)
        .drop(f"{name}_under" for name in _POOLED_UNDER)
    )


_POOLED_UNDER = ("gap", "gap_error", "yardstick", "yardstick_error")


def prompt_spreads(
    cells: pl.DataFrame, draws: pl.DataFrame, without: Collection[str] = ()
) -> pl.DataFrame:
    """Return what prompts change in the mean bias of each model.

    Parameters
    ----------
    cells
        The lines of the grid that the mean is made of.
    draws
        As of `cells.under_prompts`; of other tasks than those of `cells`, too.
    without
        Names of models that take no prompt.

    Returns
    -------
    pl.DataFrame
        One line a model: `row` and `PROMPTS`. `prompts` is 1 where no other prompt was run, and 0
        where the model takes none.
    """
    cells = cells.filter(role="model")
    own = draws.join(cells.select("row", "task"), on=["row", "task"], how="semi")
    counts = cells.group_by("row").agg(of=pl.len())
    enough = (
        own.group_by("row", "prompt")
        .len("has")
        .join(counts, on="row")
        .filter(pl.col("has") >= (1 - MOST_MISSING) * pl.col("of"))
        .select("row", "prompt")
    )
    frame = mean_bias(cells).select("row", own="mean")
    names = cells.select("row", pl.col("name").cast(pl.String)).unique("row")
    values = [
        mean_bias(under(with_draws, own, prompt)).select("row", value="mean")
        for prompt in enough["prompt"].unique().sort()
        for with_draws in [cells.join(enough.filter(prompt=prompt), on="row", how="semi")]
    ]
    schema = {"row": frame.schema["row"], "value": pl.Float64()}
    every = pl.concat([pl.DataFrame(schema=schema), *values]).join(frame, on="row")
    change = pl.col("value") - pl.col("own")
    spread = every.group_by("row").agg(
        prompts=1 + pl.len().cast(pl.Int64),
        prompt_low=pl.min_horizontal(pl.col("value").min(), pl.col("own").first()),
        prompt_high=pl.max_horizontal(pl.col("value").max(), pl.col("own").first()),
        prompt_error=(change**2).mean().sqrt(),
    )
    takes_none = pl.col("name").is_in(list(without)) if without else pl.lit(value=False)
    known = pl.col("prompt_error")
    return (
        frame.join(names, on="row", how="left", maintain_order="left")
        .join(spread, on="row", how="left", maintain_order="left")
        .with_columns(
            pl.when(takes_none).then(0).otherwise("prompts").fill_null(1).alias("prompts")
        )
        .with_columns(
            prompt_error=pl.when(pl.col("prompts") == 0)
            .then(0.0)
            .when(pl.col("prompts") <= FEW_PROMPTS)
            .then(pl.max_horizontal(known, known.median()))
            .otherwise(known)
        )
        .select("row", *PROMPTS)
    )


def decided_of(cells: pl.DataFrame, draws: pl.DataFrame) -> pl.DataFrame:
    """Return where prompts decide: a line for each task with two models of several prompts.

    Returns
    -------
    pl.DataFrame
        `task`; `turned`, the share of pairs of models whose order turns under a prompt that both
        have; `within` and `between`, the root mean square of what a prompt changes, and the
        standard deviation over models, of the gap over the yardstick; `decides`, whether the one is
        above the other.
    """
    models = cells.filter(role="model").select("row", "task", "power", own=ratios.ratio())
    values = (
        draws.join(models, on=["row", "task"])
        .with_columns(value=ratios.ratio())
        .drop_nulls(["own", "value"])
        .select("row", "task", "prompt", "own", "value")
    )
    pairs = (
        values.join(values, on=["task", "prompt"], suffix="_other")
        .filter(pl.col("row").cast(pl.String) < pl.col("row_other").cast(pl.String))
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
        .with_columns(pl.col("task").cast(pl.String), decides=pl.col("within") > pl.col("between"))
        .sort("task")
    )


def prompts_decide(spreads: pl.DataFrame, decided: pl.DataFrame) -> list[str]:
    """Return lines on tasks whose order of models a prompt decides, and on rows without prompts."""
    lines = []
    tasks = decided.filter("decides")["task"].to_list() if decided.height else []
    if tasks:
        share = float(decided["turned"].to_numpy().mean())
        lines.append(
            f"a prompt changes more than another model does on {len(tasks)} of "
            f"{count(decided.height, 'task')} of bias: {listed(tasks)}; over all of them it turns "
            f"the order of {share:.0%} of the pairs of models"
        )
    unknown = spreads.filter(prompts=1).height if decided.height else 0
    if unknown:
        lines.append(
            f"{count(unknown, 'model')} ran under the own prompt alone: what prompts change there "
            "is taken to be the median of the others"
        )
    return lines


def mean_bias(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the mean bias of each row over the families of its cells, as of `sampled_means`."""
    return sampled_means(ratios.pooled(cells, ["row", "family"]), ["row"])


class Prompts(NamedTuple):
    """What is known of models under other prompts, on some tasks.

    `draws`, their cells, as of `cells.under_prompts` with the types of the grid; `spreads`, as of
    `prompt_spreads`; `decided`, as of `decided_of`.
    """

    draws: pl.DataFrame
    spreads: pl.DataFrame
    decided: pl.DataFrame


def under_each(cells: pl.DataFrame, families: pl.DataFrame, prompts: Prompts) -> list[pl.DataFrame]:
    """Return the families of rows under each prompt.

    A row that lacks a prompt has its own value under it: of the shared prompts one may be its own.
    """
    own = prompts.draws.join(cells.select("row", "task"), on=["row", "task"], how="semi")
    key = ["row", "family"]
    frames = [
        families.join(
            ratios.pooled(under(cells, own, prompt), key).select(*key, value="measure"),
            on=key, how="left", maintain_order="left",
        ).with_columns(measure=pl.coalesce("value", "measure"))
        for prompt in own["prompt"].unique().sort()
    ]  # fmt: skip
    return [frame.select(families.columns) for frame in frames]
