"""Boards: the ranked and the incomplete rows of one kind of embedder, as data frames.

A row is a model under a mitigator. Word and text embedders have separate boards. The page, the
CSV and the JSON only format these frames: every number is computed here.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from harness.leaderboard.boards.benchmarks import ALL, Benchmark
from harness.leaderboard.boards.cells import cells, row_name
from harness.leaderboard.boards.effects import effects, mitigators
from harness.leaderboard.boards.grid import aggregated, grid_of, lacking, ranked_rows, tasks_of
from harness.leaderboard.boards.notices import notices
from harness.leaderboard.boards.published import published
from harness.leaderboard.boards.row_labels import labelled
from harness.leaderboard.boards.usable import unusable
from harness.results.record import Record


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
        category; `task:NAME`, the value.
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
        `bias_tasks`, `bias_families` and the same for usefulness; `rank`, `rank_low`,
        `rank_high` by the effect on bias; `unranked`, why it has no rank, else null.
    cells
        One line for each row and task with a record. `measure` is what ranks: for bias the
        distance above the floor (lower is better), for usefulness 1 - distance; null if it does
        not count, as `lacks` says. `leak`: whether the mitigator was fitted on the task's texts.
        `floor`, `floor_sd` and `unit` are those of the record.
    lacks
        One line for each row and task without a measure, with the `reason`: not run, no value, a
        value outside its bounds, or a `leak`.
    others
        Records of other versions, seeds or fits, with `why`.
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
    models: pl.DataFrame = dataclasses.field(default_factory=pl.DataFrame)

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


def compile_boards(records: Iterable[Record]) -> list[Board]:
    """Return a board for each kind of embedder that has primary records, word before text."""
    records = list(records)
    all_cells = cells(records)
    kinds = sorted(set(all_cells.ranked["kind"]), reverse=True)
    return [
        _board(
            kind,
            all_cells.ranked.filter(kind=kind),
            all_cells.others.filter(kind=kind),
            [record for record in records if record.model.kind == kind],
        )
        for kind in kinds
    ]


def _board(kind: str, chosen: pl.DataFrame, others: pl.DataFrame, records: list[Record]) -> Board:
    shown = labelled(pl.concat([others, chosen], how="diagonal"))
    tasks = tasks_of(chosen)
    grid = grid_of(chosen, tasks, shown)
    lacks = lacking(grid, others)
    rows = (
        grid.select("row", "role", "is_noise", "name", "fingerprint", "mitigator")
        .unique()
        .sort("row")
        .with_columns(kind=pl.lit(kind))
    )
    failing = unusable(
        grid.join(lacks.select("row", "task", why_null="reason"), on=["row", "task"], how="left"),
        tasks,
        rows,
    )
    ranked = grid.filter(pl.col("not_ranked").is_null())
    frame = aggregated(grid, tasks).join(rows.select("row", "role"), on="row")
    frame = frame.join(shown, on="row").join(failing, on="row", how="left")
    for measures, prefix in (("bias", ""), ("usefulness", "usefulness_")):
        frame = frame.join(ranked_rows(ranked, failing, measures, prefix), on="row", how="left")
    deciding = "" if "bias" in ranked["measures"] else "usefulness_"
    frame = frame.with_columns(
        complete=pl.col(f"{deciding}complete").fill_null(value=False),
        usefulness_complete=pl.col("usefulness_complete").fill_null(value=False),
    ).sort(
        f"{deciding}rank", "complete", "bias", "usefulness", "model", "mitigator",
        descending=[False, True, False, True, False, False], nulls_last=True,
    )  # fmt: skip
    first = ["row", "model", "mitigator", "role", "complete", "unusable"]
    rest = [column for column in frame.columns if ":" not in column and column not in first]
    wide = [column for column in frame.columns if ":" in column]
    who = shown.select("row", "model", "mitigator")
    board = Board(
        kind=kind,
        tasks=tasks,
        rows=frame.select(first + rest + wide),
        effects=effects(ranked, failing).join(who, on="row", how="left"),
        mitigators=mitigators(ranked, failing),
        cells=chosen.drop("kind").sort("row", "task"),
        lacks=lacks,
        others=others.select(
            "row", "task", "version", "digest", "seed", "value", "created", "why"
        ).join(who, on="row", how="left"),
        environments=_environments(records),
        published=published(records, tasks),
        notices=notices(grid, others, tasks, rows, failing),
        models=_models(records, frame),
    )
    return dataclasses.replace(board, benchmarks=(_all(board),))


def _all(board: Board) -> Benchmark:
    ranked = board.tasks.filter(pl.col("not_ranked").is_null())
    ends = [f"{p}{end}" for p in ("", "usefulness_") for end in ("rank", "rank_low", "rank_high")]
    return Benchmark(
        name=ALL,
        title="All tasks",
        description="",
        citation="",
        version=None,
        tasks=tuple(ranked["task"]),
        languages=tuple(sorted(set(ranked["language"]))),
        ranks=board.rows.filter(pl.any_horizontal(pl.col(ends).is_not_null())).select("row", *ends),
        mitigators=board.mitigators,
        findings=(board.summary(),),
    )


def _models(records: list[Record], rows: pl.DataFrame) -> pl.DataFrame:
    facts = (
        *("revision", "url", "dimensions", "parameters", "max_tokens", "licence", "open_weights"),
        *("released", "superseded_by"),
    )
    grouped = defaultdict(list)
    for record in records:
        grouped[row_name(record)].append(record)
    lines: dict[tuple[str, str], dict[str, object]] = {}
    for row, name, fingerprint in rows.select("row", "model", "fingerprint").iter_rows():
        model = grouped[row][-1].model
        lines[name, fingerprint] = {
            "model": name,
            "fingerprint": fingerprint,
            "name": model.name,
            **{fact: getattr(model, fact) for fact in facts},
            "languages": list(model.languages),
            "published": json.dumps(model.published),
            "environments": [
                {"environment": text, "records": n} for text, n in _environments(grouped[row])
            ],
        }
    return pl.DataFrame(list(lines.values()), infer_schema_length=None)


def _environments(records: list[Record]) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for record in records:
        e = record.environment
        packages = ", ".join(f"{name} {version}" for name, version in sorted(e.packages.items()))
        text = f"harness {e.harness}, Python {e.python}, {e.platform}, {e.device}"
        counts[text + (f"; {packages}" if packages else "")] += 1
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
