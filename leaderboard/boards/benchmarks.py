"""Benchmarks of a board: what is ranked on each named set of its tasks.

`all` holds every ranked task of the board. Whether a row is usable was decided over all tasks of
the board, and is the same on each benchmark. Computes no effects of single rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from harness.leaderboard.boards.effects import mitigators
from harness.leaderboard.boards.findings import findings
from harness.leaderboard.boards.grid import ENDS, PREFIXES, ranks_of
from harness.leaderboard.boards.notices import listed, narrow
from harness.leaderboard.boards.ranking import ENOUGH_FAMILIES

if TYPE_CHECKING:
    from harness.task.benchmark import BenchmarkFile

ALL = "all"
"""Name of the benchmark that holds every ranked task."""
SHARE = 0.25
"""Least share of a benchmark's tasks that run on the kind of embedder of a board. Below it, the
benchmark is made for the other kind: 2 of the 36 tasks of `social-bias-words` run on texts, too.
One for both kinds has about half of its tasks for each."""


@dataclass(frozen=True)
class Benchmark:
    """What is ranked on one named set of tasks of a board.

    Parameters
    ----------
    name
        `all`, or the name of a benchmark file.
    title, description, citation
        Of the file.
    version
        Of the file; null for `all`.
    tasks
        Names of its ranked tasks, in the order of `Board.tasks`. Other tasks of the file are left
        out: those that are shown and not ranked, and those in `lacking`.
    lacking
        Names of the tasks of the file that have no record of the listed version here. `notices`
        says so.
    languages
        Of these tasks, sorted.
    ranks
        One line for each ranked model: `row`, `rank`, `rank_low`, `rank_high`, `usefulness_rank`,
        `usefulness_rank_low`, `usefulness_rank_high`, as in `Board.rows`, null where it is not
        ranked by this measure.
    mitigators
        Mitigators over models on these tasks, as `Board.mitigators`.
    findings
        One to three plain sentences for the first screen.
    notices
        What weakens the ranks on these tasks.
    """

    name: str
    title: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    ranks: pl.DataFrame
    mitigators: pl.DataFrame
    findings: tuple[str, ...]
    notices: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    description: str = ""
    citation: str = ""
    version: int | None = None


class Ranked(NamedTuple):
    """What benchmarks are ranked from.

    `tasks` and `rows` of the board, as of `grid.tasks_of` and `row_labels.rows_of`; `grid`, its
    lines on ranked tasks; `changes`, the `effects.differences` against `none`; `failing`, the rows
    that are not usable.
    """

    tasks: pl.DataFrame
    rows: pl.DataFrame
    grid: pl.DataFrame
    changes: pl.DataFrame
    failing: pl.DataFrame


def benchmarks_of(
    ranked: Ranked,
    files: Iterable[tuple[BenchmarkFile, list[str]]],
    ranks: pl.DataFrame,
    over_models: pl.DataFrame,
) -> tuple[Benchmark, ...]:
    """Return the benchmarks that have ranked tasks on a board, the default first.

    Benchmarks made for the other kind of embedder are left out, see `SHARE`.
    The default has most ranked models; of several, that with most tasks. Benchmarks that lack a
    task or have too few families for sets of ranks come after the others.

    Parameters
    ----------
    ranked
        What they are ranked from.
    files
        Each benchmark, with those of its tasks that run on the kind of embedder.
    ranks, over_models
        `Benchmark.ranks` and `Benchmark.mitigators` on all ranked tasks.
    """
    tasks = ranked.tasks.filter(pl.col("not_ranked").is_null())
    everything = _benchmark(ranked, tasks, ranks, over_models, name=ALL, title="All tasks")
    named = [
        benchmark for file, names in files if (benchmark := _named(file, names, ranked)) is not None
    ]
    measures = "bias" if (tasks["measures"] == "bias").any() else "usefulness"

    def order(benchmark: Benchmark) -> tuple[bool, bool, int, int, bool, str]:
        own = tasks.filter(pl.col("task").is_in(benchmark.tasks), measures=measures)
        return (
            bool(benchmark.lacking),
            own["family"].n_unique() < ENOUGH_FAMILIES,
            -benchmark.ranks[f"{PREFIXES[measures]}rank"].count(),
            -len(benchmark.tasks),
            benchmark.name != ALL,
            benchmark.name,
        )

    return tuple(sorted((everything, *named), key=order))


def _named(file: BenchmarkFile, names: list[str], ranked: Ranked) -> Benchmark | None:
    """Return a benchmark on a board of its kind that has some of its ranked tasks."""
    if len(names) < SHARE * len(file.tasks):
        return None
    listed = pl.DataFrame(
        {"task": names, "version": [file.tasks[name] for name in names]},
        schema={"task": pl.String, "version": pl.Int64},
    )
    tasks = ranked.tasks.with_columns(pl.col("task").cast(pl.String))
    held = tasks.join(listed, on=["task", "version"], how="semi", maintain_order="left")
    tasks = held.filter(pl.col("not_ranked").is_null())
    if tasks.is_empty():
        return None
    lacking = tuple(name for name in names if name not in set(held["task"]))
    is_own = pl.col("task").cast(pl.String).is_in(tasks["task"].implode())
    grid = ranked.grid.filter(is_own)
    bias, usefulness = (ranks_of(grid, ranked.failing, measures) for measures in PREFIXES)
    return _benchmark(
        ranked,
        tasks,
        bias.join(usefulness, on="row", how="full", coalesce=True),
        mitigators(ranked.changes.filter(is_own), ranked.rows, ranked.failing),
        name=file.name,
        title=file.title,
        description=file.description,
        citation=file.citation,
        version=file.version,
        lacking=lacking,
        notices=(
            *_lacking(lacking, len(names)),
            *(line for name in PREFIXES for line in narrow(grid, ranked.failing, name)),
        ),
    )


def _benchmark(
    ranked: Ranked,
    tasks: pl.DataFrame,
    ranks: pl.DataFrame,
    over_models: pl.DataFrame,
    **facts: Any,
) -> Benchmark:
    ends = [prefix + end for prefix in PREFIXES.values() for end in ENDS]
    ranks = (
        ranks.select("row", *ends)
        .filter(pl.any_horizontal(pl.col(ends).is_not_null()))
        .sort(*ends, "row", nulls_last=True)
    )
    shown = ranked.rows.select("row", "model")
    return Benchmark(
        tasks=tuple(tasks["task"]),
        languages=tuple(sorted(set(tasks["language"]))),
        ranks=ranks.with_columns(pl.col("row").cast(pl.String)),
        mitigators=over_models,
        findings=findings(ranks.join(shown, on="row"), over_models, tasks),
        **facts,
    )


def _lacking(names: tuple[str, ...], n: int) -> list[str]:
    """Return a line on the tasks of a benchmark that nobody has results of."""
    if not names:
        return []
    return [f"no results in the listed version of {len(names)} of its {n} tasks: {listed(names)}"]
