"""Bias against published quality, as a data frame; Uriot 2024 (context injection), figure 1.

Do better models have more bias? For each model with a published MTEB score: the scores of the
paper's two methods without mitigation, averaged over concepts. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from harness.leaderboard.boards.cells import BASELINES
from harness.results.record import Record

SCORE = "MTEB"
"""Name of the published score that orders the models."""
LEAST_MODELS = 3
MEASURES = (
    ("concept-direction", "auc"),
    ("concept-direction", "correlation"),
    ("association-test", "proportion"),
)
"""Metric and score; correlations are compared by absolute value, as in table 9."""

_SCHEMA = {
    "model": pl.String,
    "fingerprint": pl.String,
    "published": pl.Float64,
    "task": pl.String,
    "digest": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "score": pl.String,
    "value": pl.Float64,
    "created": pl.String,
}


def published(records: Iterable[Record], tasks: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each model, metric, score and scenario, best published model first.

    A model needs a value on every task of a metric, and a metric at least three such models. Of
    several fingerprints of a model, the last record counts.

    Parameters
    ----------
    records
        Records of one kind of embedder.
    tasks
        `task` and `digest` of the chosen versions.

    Returns
    -------
    pl.DataFrame
        `model`, `published`, `metric`, `score`, `scenario`; `value`, the mean over `tasks` tasks;
        `rho`, Spearman's correlation of `published` and `value` over the models, null if one of
        them is constant.
    """
    lines = [
        {
            "model": record.model.name,
            "fingerprint": record.model.fingerprint,
            "published": record.model.published[SCORE],
            "task": record.task.name,
            "digest": record.task.digest,
            **record.model_dump(include={"scenario", "metric", "score", "value", "created"}),
        }
        for record in records
        if SCORE in record.model.published
        and record.mitigator.name == BASELINES[0]
        and (record.metric, record.score) in MEASURES
    ]
    group = ["metric", "score", "scenario"]
    by_task = (
        pl.DataFrame(lines, schema=_SCHEMA)
        .join(tasks.select("task", "digest"), on=["task", "digest"], how="semi")
        .sort("created")
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
