"""Boards: the ranked and the incomplete rows of one kind of embedder, as data frames.

A row is a model under a mitigator. Word and text embedders have separate boards. The page, the
CSV and the JSON only format these frames: every number is computed here.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import polars as pl

from harness.leaderboard.boards.benchmarks import Benchmark, Ranked, benchmarks_of
from harness.leaderboard.boards.cells import cells
from harness.leaderboard.boards.effects import differences, effects, mitigators
from harness.leaderboard.boards.grid import (
    PREFIXES,
    aggregated,
    grid_of,
    lacking,
    ranks_of,
    tasks_of,
)
from harness.leaderboard.boards.models import environments_of, mixed_versions, models_of
from harness.leaderboard.boards.notices import notices
from harness.leaderboard.boards.published import published
from harness.leaderboard.boards.row_labels import rows_of
from harness.leaderboard.boards.usable import unusable

if TYPE_CHECKING:
    from harness.task.benchmark import BenchmarkFile


@dataclass(frozen=True)
class Board:
    """The leaderboard of one kind of embedder.

    Parameters
    ----------
    kind
        `word` or `text`.
    tasks
        One line a task: its facts, its chosen version and the scale of its score; `family`
        (category/family: one vote), `required` (a control that every usable model passes),
        `not_ranked`, why its score is shown and not ranked, null if it is ranked.
    rows
        One line a row: ranked models, best first, then the rest. Identity: `row`, `model`,
        `mitigator`, `fingerprint`, `params`, `url`, `dimensions`, `parameters`. `role`: `model`
        (mitigator `none`; only these are ranked), `mitigated` (reported in `effects`) or
        `reference` (random and constant vectors: never ranked, lines to compare with). `complete`:
        whether it has a value on every ranked bias task. `unusable`: why it is not usable, such as
        a control that it fails; null if it is usable. Bias: `bias`, the mean distance above the
        floor (0: what chance shows, 1: a unit or the greatest distance), over `bias_families`
        families of `bias_tasks` tasks, leaks left out; `bias_low` and `bias_high`, its interval.
        `rank` by `bias`; `rank_low` and `rank_high`, the set of ranks that holds the true one, for
        all rows at once. Intervals and sets are null with fewer than
        `ranking.ENOUGH_FAMILIES` families, ranks if only one row can be ranked. Usefulness: the
        same with `usefulness` for `bias` and `usefulness_rank` for `rank`; it is 1 - the mean
        distance to the ideal. Then `bias:CATEGORY` and `usefulness:CATEGORY`, means of a
        category; `task:NAME`, the value. `superseded_by`: the model that the authors of this one
        recommend instead; such a row is ranked all the same.
    effects
        One line for each mitigated row and `baseline` (`none`, `normalize`): `row`, `model`,
        `mitigator`, `unusable`. Change in bias against the same model under the baseline, over the
        tasks without a leak that both have: `bias` (negative is better), `bias_low`, `bias_high`,
        `bias_p`, `bias_holm` (p-value, and after Holm's correction over all effects of the same
        baseline), `bias_evidence` (`bias_holm` below .05: only such a change gets an arrow),
        `bias_tasks`, `bias_families`, `bias_leaks` (tasks left out as leaks). Usefulness: the
        same names with `usefulness` (positive is better).
    mitigators
        One line a mitigator, best first: `mitigator`; `models`, the number of models it ran on;
        `bias` and `usefulness`, the mean paired effects against `none` over the usable models and
        the tasks that all ranked mitigators share without a leak, with `bias_low`, `bias_high`,
        `bias_holm` (p-value after Holm's correction over all of them), `bias_tasks`,
        `bias_families` and the same for usefulness; `rank`, `rank_low`, `rank_high` by the effect
        on bias; `unranked`, why it has no rank, else null.
    cells
        One line for each row and task with a record. `measure` is what ranks: for bias the
        distance above the floor (lower is better), for usefulness 1 - distance; null if it does
        not count, as `aside` says. `leak`: whether the mitigator was fitted on the task's texts;
        such a cell has a measure, which enters no mean, effect or rank. `floor`, `floor_sd` and
        `unit` are those of the record. `seeds`: how many seeds of the same content are averaged,
        and `spread`, the standard deviation of their values, null for one seed; `seeds.py` says
        what the other columns hold then.
    lacks
        One line for each row and task without a measure that counts, with the `reason`: not run,
        no value, a value outside its bounds, or a `leak`.
    others
        Records of other versions or fits, with `why`.
    environments
        Environments in which the records were computed, with the number of records of each.
    published
        Bias and published quality, one line a model, metric, score and scenario.
    notices
        Warnings about the ranks, such as a task that keeps rows from being ranked.
    benchmarks
        What is ranked on each benchmark that has tasks here. The first is the default: the one
        with most ranked models.
    models
        One line a model of `rows`: `model` and `fingerprint` as there; `name`, without what tells
        weights of one name apart; `revision`, `url`, `dimensions`, `parameters`, `max_tokens`,
        `licence`, `open_weights`, `released`, `superseded_by`, `languages` (a list), `published`
        (JSON: scores by name) and `environments` (a list of `environment` and `records`, their
        number).
    """

    kind: str
    tasks: pl.DataFrame
    rows: pl.DataFrame
    effects: pl.DataFrame
    mitigators: pl.DataFrame
    cells: pl.DataFrame
    lacks: pl.DataFrame
    others: pl.DataFrame
    environments: tuple[tuple[str, int], ...]
    published: pl.DataFrame
    notices: tuple[str, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    models: pl.DataFrame = field(default_factory=pl.DataFrame)

    def names(self, measures: str) -> list[str]:
        """Return the names of the ranked tasks that measure `bias` or `usefulness`."""
        return self._ranked(measures)["task"].to_list()

    def categories(self, measures: str) -> list[str]:
        """Return the categories of these tasks, sorted."""
        return sorted(set(self._ranked(measures)["category"]))

    def families(self, measures: str) -> int:
        """Return the number of families of these tasks."""
        return self._ranked(measures)["family"].n_unique()

    def _ranked(self, measures: str) -> pl.DataFrame:
        return self.tasks.filter(pl.col("not_ranked").is_null(), measures=measures)

    def summary(self) -> str:
        """Return one line on how many models are ranked, on how many tasks."""
        roles = self.rows.filter(pl.col("complete"), role="model")
        usable = int(roles["unusable"].is_null().sum())
        tasks = (
            f"{_count(len(self.names('bias')), 'bias task')} and "
            f"{_count(len(self.names('usefulness')), 'usefulness task')}"
        )
        if usable == 1:
            line = f"1 complete model on {tasks}; ranking needs two"
        else:
            line = f"{_count(usable, 'model')} ranked on {tasks}"
        parts = {
            "mitigated": self.rows.filter(role="mitigated").height,
            "not usable": self.rows.filter(
                pl.col("unusable").is_not_null(), pl.col("role") != "reference"
            ).height,
            "incomplete": self.rows.filter(
                ~pl.col("complete"), pl.col("role") != "reference"
            ).height,
        }
        return "; ".join([line, *(f"{n} {part}" for part, n in parts.items() if n)])


_OTHERS = ("row", "task", "version", "digest", "seed", "value", "created", "why")


def compile_boards(
    claims: pl.DataFrame,
    benchmarks: Iterable[BenchmarkFile] = (),
    kinds: Mapping[str, Container[str]] = MappingProxyType({}),
) -> list[Board]:
    """Return a board for each kind of embedder that has primary claims, word before text.

    Parameters
    ----------
    claims
        Claims that are trusted, with the columns of `claims.frame.SCHEMA`.
    benchmarks
        Named sets of tasks; a board has those that have tasks on it.
    kinds
        Kinds of embedder that a task runs on, by its name: a benchmark does not lack a task that
        does not run on the kind of the board. A task that is not here runs on all.
    """
    all_cells = cells(claims)
    present = all_cells.ranked["kind"].unique().cast(pl.String)
    files = list(benchmarks)
    return [
        _board(
            kind,
            _of_kind(all_cells.ranked, kind),
            _of_kind(all_cells.others, kind),
            _of_kind(claims, kind),
            [(file, [t for t in file.tasks if kind in kinds.get(t, (kind,))]) for file in files],
        )
        for kind in present.sort(descending=True)
    ]


def _board(
    kind: str,
    chosen: pl.DataFrame,
    others: pl.DataFrame,
    claims: pl.DataFrame,
    files: list[tuple[BenchmarkFile, list[str]]],
) -> Board:
    tasks = tasks_of(chosen)
    every_row = rows_of(kind, chosen, others)
    who = _plain(every_row.select("row", "model", mitigator="label"))
    rows = every_row.join(chosen.select("row").unique(), on="row", how="semi")
    grid = grid_of(chosen, others, tasks, rows)
    failing = unusable(grid, tasks, rows)
    ranked = grid.filter(pl.col("not_ranked").is_null())
    changes = differences(ranked)
    over_models = mitigators(changes, rows, failing)
    models = models_of(claims, rows)
    frame = _with_ranks(rows.join(aggregated(grid, tasks), on="row"), ranked, failing)
    facts = models.select(
        "model", "fingerprint", "url", "dimensions", "parameters", "superseded_by"
    )
    frame = frame.join(facts, on=["model", "fingerprint"], how="left", maintain_order="left")
    first = ["row", "model", "mitigator", "role", "complete", "unusable"]
    rest = [column for column in frame.columns if ":" not in column and column not in first]
    wide = [column for column in frame.columns if ":" in column]
    return Board(
        kind=kind,
        tasks=_plain(tasks),
        rows=_plain(frame.select(first + rest + wide)),
        effects=_plain(effects(ranked, failing)).join(who, on="row", how="left"),
        mitigators=over_models,
        cells=_plain(chosen.sort("row", "task")),
        lacks=_plain(lacking(grid)),
        others=_plain(others.select(_OTHERS)).join(
            who, on="row", how="left", maintain_order="left"
        ),
        environments=environments_of(models),
        published=published(claims, tasks),
        notices=(*notices(grid, others, tasks, rows, failing), *mixed_versions(claims)),
        benchmarks=benchmarks_of(
            Ranked(tasks, rows, ranked, changes, failing), files, frame, over_models
        ),
        models=models,
    )


def _with_ranks(rows: pl.DataFrame, ranked: pl.DataFrame, failing: pl.DataFrame) -> pl.DataFrame:
    """Add what keeps rows from being ranked, and the ranks of the others; the best first."""
    frame = rows.drop("mitigator", "name", "is_noise", "kind").rename({"label": "mitigator"})
    frame = frame.join(failing, on="row", how="left")
    for measures in PREFIXES:
        frame = frame.join(ranks_of(ranked, failing, measures), on="row", how="left")
    deciding = "" if (ranked["measures"] == "bias").any() else PREFIXES["usefulness"]
    return frame.with_columns(
        complete=pl.col(f"{deciding}complete").fill_null(value=False),
        usefulness_complete=pl.col("usefulness_complete").fill_null(value=False),
    ).sort(
        f"{deciding}rank", "complete", "bias", "usefulness", "model", "mitigator", "row",
        descending=[False, True, False, True, False, False, False], nulls_last=True,
    )  # fmt: skip


def _of_kind(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the lines of a kind, without a copy if they are all."""
    is_kind = frame["kind"] == kind
    return (frame if is_kind.all() else frame.filter(is_kind)).drop("kind")


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose rows and tasks are strings."""
    return frame.cast(
        {name: pl.String for name in ("row", "task", "family") if name in frame.columns}
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
