"""Sentences of a board: the answer of its first screen, and warnings about its ranks.

A sentence claims no more than the ranges of ranks and the intervals show. Computes no rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from harness import errors
from harness.results.estimator import DIGITS

from .cells import NO_YARDSTICK


def finding(rows: pl.DataFrame, tasks: pl.DataFrame) -> str:
    """Return which model has least bias at good usefulness, and how sure that is.

    Where no task measures bias, it is which model is most useful.

    Parameters
    ----------
    rows
        As of `views.View.rows`, with `model`, `role`, `is_noise` and `unusable`.
    tasks
        The tasks that count, with `measures`.
    """
    if not _has(tasks, "bias"):
        return _most_useful(rows)
    ranked = rows.drop_nulls("rank").sort("rank", "model")
    if ranked.is_empty():
        return _none_ranked(rows)
    n = ranked.height
    useful = ranked.filter(_is_useful(ranked, rows)) if _has(tasks, "usefulness") else ranked
    best = (useful if not useful.is_empty() else ranked).row(0, named=True)
    tests = f"on these {count(best['bias_tasks'], 'test')}"
    low, high = best["rank_low"], best["rank_high"]
    sure = _sure(low, high)
    lead = f"{best['model']} is the least biased of {n} ranked models {tests}"
    if useful.height == 1 < n:
        lead = f"{best['model']} is the only one of {n} ranked models with good usefulness"
        sure = f"by bias {tests} it is {ordinal(best['rank'])}: {sure}"
    elif 1 < useful.height < n:
        lead = f"{best['model']} is the least biased of {useful.height} models with good usefulness"
        sure = f"{tests} it is {ordinal(best['rank'])} of all {n} ranked ones: {sure}"
    return f"{lead}; {sure}."


def _sure(low: int | None, high: int | None) -> str:
    """Return how sure a rank is, by the range that holds the true one."""
    if low is None or high is None:
        return "too few words and items to tell how sure this is"
    if low == high:
        return "they tell it apart from all others"
    return f"it could be anywhere from {ordinal(low)} to {ordinal(high)}"


def _most_useful(rows: pl.DataFrame) -> str:
    """Return which model is most useful, where no task measures bias."""
    ranked = rows.drop_nulls("usefulness_rank").sort("usefulness_rank", "model")
    if ranked.is_empty():
        return _none_ranked(rows)
    best = ranked.row(0, named=True)
    sure = _sure(best["usefulness_rank_low"], best["usefulness_rank_high"])
    tests = f"on these {count(best['usefulness_tasks'], 'test')}"
    return f"{best['model']} is the most useful of {ranked.height} ranked models {tests}; {sure}."


def _none_ranked(rows: pl.DataFrame) -> str:
    models = rows.filter(role="model")
    usable = count(models["unusable"].null_count(), "usable model")
    return (
        f"No model is ranked: a rank needs two that can be ranked; of {usable} the table says what "
        "each lacks."
    )


def _has(tasks: pl.DataFrame, measures: str) -> bool:
    return measures in tasks["measures"]


ONE_ROW = "a rank needs two models"
"""Why the only model that could be ranked is not."""
MINIMUM = 0.1
"""How far below the best model's usefulness above random vectors a leading model may be, as a
share. The page asks the same of a reader's choice of tasks (`scripts/choice.js`)."""


def _is_useful(models: pl.DataFrame, rows: pl.DataFrame) -> pl.Series:
    """Return which models have every usefulness task and come near the best of them."""
    is_alone = (pl.col("usefulness_unranked") == ONE_ROW).fill_null(value=False)
    has_each = pl.col("usefulness_rank").is_not_null() | is_alone
    usefulness = models.select(pl.when(has_each).then("usefulness")).to_series()
    best = usefulness.max()
    if best is None:
        return usefulness.is_not_null()
    noise = rows.filter("is_noise")["usefulness"].mean() or 0.0
    least = float(best) - MINIMUM * (float(best) - float(noise))  # type: ignore[arg-type]
    return (usefulness.round(DIGITS) >= round(least, DIGITS)).fill_null(value=False)


def ordinal(n: int) -> str:
    """Return a number as an ordinal, such as 1st."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "pt": "Portuguese",
    "ru": "Russian",
    "zh": "Chinese",
}
"""Names of languages; another one is named by its code."""


def count(n: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{n} {noun}" if n == 1 else f"{n} {nouns or noun + 's'}"


LISTED = 3
"""Largest number of tasks or models that a line names."""


def notices(
    grid: pl.DataFrame,
    ranked: pl.DataFrame,
    others: pl.DataFrame,
    tasks: pl.DataFrame,
    rows: pl.DataFrame,
    failing: pl.DataFrame,
) -> tuple[str, ...]:
    """Return a line for each problem of the ranks, or reason why rows are not ranked.

    Parameters
    ----------
    grid
        A line for every row and task of the board, with `held`, whether there is a cell.
    ranked
        Its lines on the tasks that rows rank by, with `measures` and `gap`, which is null where
        nothing counts.
    others
        The cells that were not chosen, with `version` and `digest`.
    tasks
        The chosen `version` and `digest` of each task, and why it is `not_ranked`.
    rows
        The `role` and `is_noise` of each row, with the `name` and `fingerprint` of its model.
    failing
        The `row` of each row that is not usable.
    """
    return (
        *_unguarded(tasks, rows),
        *narrow(ranked, failing, "bias"),
        *narrow(ranked, failing, "usefulness"),
        *_contents(grid, others, tasks),
    )


def _unguarded(tasks: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    """Return lines on what the board lacks to rank models, and to compare them with noise."""
    lines = []
    ranked = tasks.filter(pl.col("not_ranked").is_null())["measures"].to_list()
    without = tasks.filter(measures="bias", not_ranked=NO_YARDSTICK)
    if not without.is_empty():
        has, are = ("has", "is") if without.height == 1 else ("have", "are")
        names = listed(without["task"].cast(pl.String).to_list())
        lines.append(f"{names} {has} no gap over a yardstick and {are} not ranked")
    if "bias" in ranked and not rows["is_noise"].any():
        kind = "words" if "word" in rows["kind"] else "texts"
        lines.append(
            f"no reference rows: add --model random-{kind} --model constant-{kind}, "
            "on the same tasks"
        )
    model = ["name", "fingerprint"]
    mitigated = rows.filter(role="mitigated")
    alone = mitigated.join(rows.filter(role="model"), on=model, how="anti")
    if "model" not in rows["role"]:
        lines.append("models are ranked without a mitigator: add --mitigator none")
    elif not alone.is_empty():
        names = listed(alone["name"].unique().sort().to_list())
        lines.append(f"no row without a mitigator, so no changes of {names}: add --mitigator none")
    return lines


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
    n_rows, has = has["row"].n_unique(), has.drop_nulls("gap")
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
    return errors.listed((f"'{name}'" for name in names), LISTED)


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
    counted = grid.filter("held").select("row", "task")
    only = apart.join(counted, on=["row", "task"], how="anti")
    lines = []
    for (name,), cells_of_task in apart.sort("task").group_by("task", maintain_order=True):
        n_contents = cells_of_task["digest"].n_unique() + 1
        rows = only.filter(task=name)["row"].n_unique()
        if rows == 0:
            who = "every row has a record"
        else:
            who = "1 row has no record" if rows == 1 else f"{rows} rows have no record"
        version = cells_of_task["version"][0]
        lines.append(
            f"task '{name}' version {version} has {n_contents} different contents; "
            f"{who} of the ranked one"
        )
    return lines
