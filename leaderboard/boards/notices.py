"""Warnings about the ranks of a board. Ranks nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

NOISY = 0.5
"""Distance above the floor that random vectors should not reach."""
LISTED = 3
"""Most tasks or models that a line names."""


def notices(
    grid: pl.DataFrame,
    others: pl.DataFrame,
    tasks: pl.DataFrame,
    rows: pl.DataFrame,
    failing: pl.DataFrame,
) -> tuple[str, ...]:
    """Return a line on each thing that weakens the ranks, or keeps rows from being ranked.

    Parameters
    ----------
    grid
        A line for every row and task of the board, with `measures`, `not_ranked`, `measure`,
        which is null where there is no value, and `leak`.
    others
        The cells that were not chosen, with `version` and `digest`.
    tasks
        The chosen `version` and `digest` of each task, and whether it is `required`.
    rows
        The `role` and `is_noise` of each row, with the `name` and `fingerprint` of its model.
    failing
        The `row` of each row that is not usable.
    """
    ranked = grid.filter(pl.col("not_ranked").is_null())
    return (
        *_unguarded(tasks, rows),
        *_noisy(ranked, rows),
        *narrow(ranked, failing, "bias"),
        *narrow(ranked, failing, "usefulness"),
        *_contents(grid, others, tasks),
    )


def _unguarded(tasks: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    """Return lines on what the board lacks to tell a model from noise, and to rank models."""
    lines = []
    ranked = tasks.filter(pl.col("not_ranked").is_null())["measures"].to_list()
    if "bias" in ranked and not tasks["required"].any():
        lines.append(
            "no required control task, so nothing here tells a model from noise: "
            "evaluate the controls, too (--tasks weat-1 for words, seat-c1 for texts)"
        )
    if "bias" in ranked and not rows["is_noise"].any():
        kind = "words" if "word" in rows["kind"] else "texts"
        lines.append(
            "no reference rows: evaluate "
            f"--model random-{kind} --model constant-{kind} on the same tasks, too"
        )
    model = ["name", "fingerprint"]
    mitigated = rows.filter(role="mitigated")
    alone = mitigated.join(rows.filter(role="model"), on=model, how="anti")
    if "model" not in rows["role"]:
        lines.append("models are ranked without a mitigator: evaluate --mitigator none, too")
    elif not alone.is_empty():
        names = listed(alone["name"].unique().sort().to_list())
        lines.append(
            f"no row without a mitigator, so no changes of {names}: evaluate --mitigator none, too"
        )
    return lines


def _noisy(ranked: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    """Return a line on the bias tasks on which random vectors are far above the floor."""
    high = (
        ranked.filter(measures="bias")
        .join(rows.filter("is_noise"), on="row", how="semi")
        .group_by("task")
        .agg(pl.col("measure").mean())
        .filter(pl.col("measure") >= NOISY)
        .sort("measure", "task", descending=[True, False])
    )
    if high.is_empty():
        return []
    tasks = _listed(high["task"].to_list())
    return [f"{tasks} at least {NOISY} for random vectors: this is not bias"]


def narrow(grid: pl.DataFrame, failing: pl.DataFrame, measures: str) -> list[str]:
    """Return lines on tasks with few models whose removal would let more models be ranked.

    The tasks with fewest models are removed one after another; the number of removed tasks that is
    reported maximises complete models × remaining tasks.

    Parameters
    ----------
    grid
        Lines of the grid on the tasks to rank by.
    failing
        The `row` of each row that is not usable.
    measures
        `bias` or `usefulness`.
    """
    has = grid.filter(measures=measures, role="model").join(failing, on="row", how="anti")
    if has.is_empty():
        return []
    n_rows, has = has["row"].n_unique(), has.drop_nulls("measure")
    tasks = grid.filter(measures=measures).select("task").unique()
    counts = (
        tasks.join(has.group_by("task").agg(has=pl.len()), on="task", how="left")
        .with_columns(pl.col("has").fill_null(0), pl.col("task").cast(pl.String))
        .sort("has", "task")
    )
    names = counts["task"].to_list()
    complete = _complete(has, names)
    values = [n * (len(names) - k) if n > 1 else 0 for k, n in enumerate(complete)]
    removed = values.index(max(values))
    if complete[removed] <= complete[0]:
        return []
    them = "it" if removed == 1 else f"these {removed} tasks"
    ranked = f"{complete[removed]} models would be ranked"
    ranked += " on usefulness" if measures == "usefulness" else ""
    few = counts.head(removed).group_by("has", maintain_order=True).agg("task")
    return [
        f"{_listed(names)} values for {n} of {n_rows} models; without {them} {ranked}"
        for n, names in few.iter_rows()
    ]


def _listed(tasks: Sequence[str]) -> str:
    """Return tasks as the subject of a sentence."""
    return f"task {listed(tasks)} has" if len(tasks) == 1 else f"tasks {listed(tasks)} have"


def listed(names: Sequence[str]) -> str:
    """Return names in quotation marks; long lists are cut."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(f"'{name}'" for name in names[:LISTED]) + more


def _complete(has: pl.DataFrame, names: Sequence[str]) -> list[int]:
    """Return for each k the number of rows with a value on every task but the first k names."""
    rows, row = np.unique(has["row"].to_physical().to_numpy(), return_inverse=True)
    task = has["task"].cast(pl.String).cast(pl.Enum(names)).to_physical().to_numpy()
    present = np.zeros((len(rows), len(names)), dtype=bool)
    present[row, task] = True
    missing = np.where(present, 0, np.arange(1, len(names) + 1)).max(axis=1)  # the last, from 1
    return [int((missing <= k).sum()) for k in range(len(names))]


def _contents(grid: pl.DataFrame, others: pl.DataFrame, tasks: pl.DataFrame) -> list[str]:
    """Return a line on each task with records of different content under one version."""
    chosen = tasks.select("task", "version", chosen="digest")
    apart = others.join(chosen, on=["task", "version"]).filter(pl.col("digest") != pl.col("chosen"))
    if apart.is_empty():
        return []
    counted = grid.filter(pl.col("id").is_not_null()).select("row", "task")
    only = apart.join(counted, on=["row", "task"], how="anti")
    lines = []
    for (name,), cells in apart.sort("task").group_by("task", maintain_order=True):
        n_contents = cells["digest"].n_unique() + 1
        rows = only.filter(task=name)["row"].n_unique()
        if rows == 0:
            who = "every row has a record"
        else:
            who = "1 row has no record" if rows == 1 else f"{rows} rows have no record"
        lines.append(
            f"task '{name}' version {cells['version'][0]} has {n_contents} different contents; "
            f"{who} of the ranked one"
        )
    return lines
