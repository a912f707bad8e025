"""Bias against published quality, as a data frame; Uriot 2024 (context injection), figure 1.

Do better models have more bias? For each model with a published MTEB score: the scores of the
paper's two methods without mitigation, averaged over concepts. Draws nothing.
"""

from __future__ import annotations

import json

import polars as pl

from harness.leaderboard.boards.cells import BASELINES

SCORE = "MTEB"
"""Name of the published score that orders the models."""
LEAST_MODELS = 3
MEASURES = (
    ("concept-direction", "auc"),
    ("concept-direction", "correlation"),
    ("association-test", "proportion"),
)
"""Metric and score; correlations are compared by absolute value, as in table 9."""


def published(claims: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each model, metric, score and scenario, best published model first.

    A model needs a value on every task of a metric, and a metric at least three such models. Of
    several fingerprints of a model, the last record counts.

    Parameters
    ----------
    claims
        Claims of one kind of embedder.
    tasks
        `task` and `digest` of the chosen versions.

    Returns
    -------
    pl.DataFrame
        `model`, `published`, `metric`, `score`, `scenario`; `value`, the mean over `tasks` tasks;
        `rho`, Spearman's correlation of `published` and `value` over the models, null if one of
        them is constant.
    """
    scores = {text: json.loads(text).get(SCORE) for text in claims["published"].unique()}
    known = [text for text, score in scores.items() if score is not None]
    measures = pl.any_horizontal(
        *((pl.col("metric") == metric) & (pl.col("score") == score) for metric, score in MEASURES)
    )
    lines = claims.filter(
        measures, pl.col("published").is_in(known), pl.col("mitigator") == BASELINES[0]
    ).with_columns(
        pl.col("published")
        .cast(pl.String)
        .replace_strict(known, [float(scores[text]) for text in known], return_dtype=pl.Float64)
    )
    group = ["metric", "score", "scenario"]
    by_task = (
        lines.with_columns(pl.col("model", "task", "digest", *group).cast(pl.String))
        .sort("created")
        .join(
            tasks.select(pl.col("task", "digest").cast(pl.String)),
            on=["task", "digest"],
            how="semi",
            maintain_order="left",
        )
        .unique([*group, "model", "task"], keep="last", maintain_order=True)
        .with_columns(all_tasks=pl.col("task").n_unique().over(group))
        .drop_nulls("value")
    )
    means = (
        by_task.group_by(*group, "model")
        .agg(
            pl.col("published").last(),
            pl.col("value").abs().mean(),
            tasks=pl.col("task").len(),
            all_tasks=pl.col("all_tasks").first(),
        )
        .filter(pl.col("tasks") == pl.col("all_tasks"))
        .filter(pl.len().over(group) >= LEAST_MODELS)
    )
    rho = pl.corr("published", "value", method="spearman").over(group)
    return (
        means.with_columns(rho=rho.fill_nan(None))
        .drop("all_tasks")
        .sort("published", "model", *group, descending=[True, False, False, False, False])
    )
