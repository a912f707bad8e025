"""What a reader of a board should know before reading its ranks. Ranks nothing itself."""

from __future__ import annotations

import polars as pl


def notices(grid: pl.DataFrame, others: pl.DataFrame, tasks: pl.DataFrame) -> tuple[str, ...]:
    """Return lines on tasks that keep rows from being ranked.

    Parameters
    ----------
    grid
        A line for every row and task of the board, with `measures` and `loss`, null where there
        is no value.
    others
        The records that do not count, with `version` and `digest`.
    tasks
        The chosen `version` and `digest` of each task.
    """
    return (*_narrow(grid, "bias"), *_narrow(grid, "usefulness"), *_contents(grid, others, tasks))


def _narrow(grid: pl.DataFrame, measures: str) -> list[str]:
    """Return a line on each task that few rows have, if without these more would be ranked.

    Left out are as many of the tasks with fewest rows as make the ranking hold most values: rows
    complete on the rest, times tasks.
    """
    has = grid.filter(measures=measures).with_columns(has=pl.col("loss").is_not_null())
    if has.is_empty():
        return []
    counts = has.group_by("task").agg(pl.col("has").sum()).sort("has", "task")
    names, n_rows = counts["task"].to_list(), has["row"].n_unique()
    complete = [_complete(has.filter(~pl.col("task").is_in(names[:k]))) for k in range(len(names))]
    values = [n * (len(names) - k) if n > 1 else 0 for k, n in enumerate(complete)]
    left_out = values.index(max(values))
    if complete[left_out] <= complete[0]:
        return []
    on = " on usefulness" if measures == "usefulness" else ""
    rest = f"; without {'it' if left_out == 1 else f'these {left_out} tasks'} {complete[left_out]}"
    return [
        f"task '{name}' has values of {n} of {n_rows} rows{rest} rows would be ranked{on}"
        for name, n in counts.head(left_out).iter_rows()
    ]


def _complete(has: pl.DataFrame) -> int:
    """Return how many rows have a value on every task."""
    return int(has.group_by("row").agg(pl.col("has").all())["has"].sum())


def _contents(grid: pl.DataFrame, others: pl.DataFrame, tasks: pl.DataFrame) -> list[str]:
    """Return a line on each task that changed, or differs between people, under one version."""
    chosen = tasks.select("task", "version", chosen="digest")
    apart = others.join(chosen, on=["task", "version"]).filter(pl.col("digest") != pl.col("chosen"))
    counted = grid.filter(pl.col("id").is_not_null()).select("row", "task")
    only = apart.join(counted, on=["row", "task"], how="anti")
    lines = []
    for (name,), found in apart.sort("task").group_by("task", maintain_order=True):
        n, rows = found["digest"].n_unique() + 1, only.filter(task=name)["row"].n_unique()
        contents, rest = ("two contents", "the other") if n == 2 else (f"{n} contents", "others")
        told = f"{rows} row{'' if rows == 1 else 's'} of {rest} {'is' if rows == 1 else 'are'}"
        told = f"{told} not ranked" if rows else f"every row of {rest} has the ranked one too"
        lines.append(
            f"task '{name}' version {found['version'][0]} has records of {contents}; {told}"
        )
    return lines
