"""Ranks by Borda count with bootstrap intervals over tasks. Knows losses, not records.

On each task a row gets one point for every row that it beats and half a point for every tie; the
Borda count is the sum. Tasks are resampled with replacement (bootstrap) to show how much the
ranks depend on the choice of tasks.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from harness.arrays import Reals

RESAMPLES = 2000
"""Number of bootstrap samples of the tasks."""
LEVEL = 0.95
"""Confidence level of rank intervals and of differences."""
ENOUGH_TASKS = 6
"""Fewest tasks for intervals and groups. With 5 tasks, not even a row that is better on all of them
differs by a sign test at 5 % (2 · 2⁻⁵ = .0625), and a bootstrap would be overconfident."""
_SEED = 0  # fixed, so that the same records give the same page


def rank(losses: pl.DataFrame) -> pl.DataFrame:
    """Rank rows by Borda count.

    Parameters
    ----------
    losses
        Columns `row`, `task` and `loss` (lower is better, not null), one line for every pair of a
        row and a task.

    Returns
    -------
    pl.DataFrame
        One line a row, best first: `row`; `borda`, in [0, tasks · (rows − 1)]; `rank`, from 1,
        where rows with equal counts share the best rank; `rank_low` and `rank_high`, the
        percentile interval of the rank; `group`, letters, where rows that share no letter
        differ. The last three are null with fewer than `ENOUGH_TASKS` tasks.
    """
    points = (
        losses.with_columns(
            points=pl.len().over("task") - pl.col("loss").rank("average").over("task")
        )
        .sort("row", "task")
        .group_by("row", maintain_order=True)
        .agg(pl.col("points"), borda=pl.col("points").sum())
    )
    if points.is_empty():
        return _NO_RANKS
    matrix: Reals = np.array(points["points"].to_list(), dtype=np.float64)  # rows × tasks
    n_tasks = matrix.shape[1]
    ranks = _competition(matrix.sum(axis=1)[None])[0].astype(np.int64)
    low: pl.Expr | pl.Series = pl.lit(None)
    high, group = low, low
    if n_tasks >= ENOUGH_TASKS:
        rng = np.random.default_rng(_SEED)
        drawn = rng.multinomial(n_tasks, np.full(n_tasks, 1 / n_tasks), size=RESAMPLES)
        counts = drawn @ matrix.T  # resamples × rows
        tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        ends = np.quantile(_competition(counts), tails, axis=0, method="inverted_cdf")
        order = np.argsort(ranks, kind="stable")
        letters = np.array(_letters(_last_alike(counts[:, order])))
        low = pl.Series(np.minimum(ends[0], ranks))
        high = pl.Series(np.maximum(ends[1], ranks))
        group = pl.Series(letters[np.argsort(order)].tolist())
    return (
        points.select("row", "borda")
        .with_columns(rank=pl.Series(ranks), rank_low=low, rank_high=high, group=group)
        .cast(_NO_RANKS.schema)
        .select(_NO_RANKS.columns)
        .sort("rank", "row")
    )


_NO_RANKS = pl.DataFrame(
    schema={
        "row": pl.String,
        "borda": pl.Float64,
        "rank": pl.Int64,
        "rank_low": pl.Int64,
        "rank_high": pl.Int64,
        "group": pl.String,
    }
)


def _competition(counts: Reals) -> Reals:
    """Return the (m, n) ranks within each line: 1 + the number of larger counts."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(-counts, method="min", axis=1), dtype=np.float64)


def _last_alike(counts: Reals) -> Reals:
    """Return for each row the index of the last row that does not differ from it.

    `counts` (resamples, rows) are bootstrap Borda counts, best row first. Two rows differ if the
    percentile interval of the difference of their counts excludes zero. The indices never
    decrease: a row between two rows that do not differ, differs from neither.
    """
    n_rows = counts.shape[1]
    tail = (1 - LEVEL) / 2
    ends = np.zeros(n_rows, dtype=np.int64)
    for i in range(n_rows):
        low = np.quantile(counts[:, [i]] - counts[:, i:], tail, axis=0)
        ends[i] = i + np.flatnonzero(low <= 0)[-1]  # holds i itself
    return np.maximum.accumulate(ends)


def _letters(ends: Reals) -> list[str]:
    """Return letters such that two rows share one if the later is not past the earlier's end."""
    groups: list[list[str]] = [[] for _ in ends]
    named, furthest = 0, -1
    for first, end in enumerate(ends):
        if end <= furthest:
            continue  # part of an earlier group
        for member in groups[first : int(end) + 1]:
            member.append(_letter(named))
        named, furthest = named + 1, int(end)
    return [" ".join(group) for group in groups]


def _letter(number: int) -> str:
    """Return a, b, …, z, aa, ab, … for numbers from 0."""
    name = ""
    while number >= 0:
        number, place = divmod(number, 26)
        name, number = string.ascii_lowercase[place] + name, number - 1
    return name
