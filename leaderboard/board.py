"""Boards: the ranked and the incomplete rows of one kind of embedder, as data frames.

A row is a model under a mitigator. Word and text embedders have separate boards. The page, the
CSV and the JSON only format these frames: every number is computed here.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from harness import labels
from harness.leaderboard.attachments import attachments
from harness.leaderboard.cells import BASELINES, cells
from harness.leaderboard.notices import notices
from harness.leaderboard.published import published
from harness.leaderboard.ranking import rank
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
        One line a mitigator, best first: `mitigator`, `models` (number of models), `tasks` and
        `families` that all ranked mitigators have without a leak; `bias` and `usefulness`, the
        mean paired effects against `none`, `bias_low`, `bias_high`, `usefulness_low`,
        `usefulness_high`; `rank`, `rank_low`, `rank_high` by the effect on bias; `unranked`, why
        it has no rank.
    cells
        One line for each row and task with a record. `measure` is what ranks: for bias the
        distance above the floor (lower is better), for usefulness 1 - distance; null if it does
        not count, as `lacks` says. `leak`: whether the mitigator was fitted on the task's texts.
        `floor`, `floor_sd` and `unit` are those of the record.
    lacks
        One line for each row and task without a measure, with the `reason`: not run, no value, a
        value outside its bounds, or a leak.
    others
        Records of other versions, seeds or fits, with `why`.
    environments
        Environments in which the records were computed, with the number of records of each.
    published
        Bias and published quality, one line a model, metric, score and scenario.
    attachments
        One line a figure or table of a record of the board.
    notices
        Warnings about the ranks, such as a task that keeps rows from being ranked.
    """

    kind: str
    tasks: pl.DataFrame
    rows: pl.DataFrame
    cells: pl.DataFrame
    lacks: pl.DataFrame
    others: pl.DataFrame
    environments: tuple[tuple[str, int], ...]
    published: pl.DataFrame
    attachments: pl.DataFrame
    notices: tuple[str, ...] = ()

    def names(self, measures: str) -> list[str]:
        """Return the names of the tasks that measure `bias` or `usefulness`."""
        return self.tasks.filter(measures=measures)["task"].to_list()

    def categories(self, measures: str) -> list[str]:
        """Return the categories of the tasks that measure `bias` or `usefulness`, sorted."""
        return sorted(set(self.tasks.filter(measures=measures)["category"]))

    def summary(self) -> str:
        """Return one line on how many rows are ranked, on how many tasks."""
        complete = int(self.rows["complete"].sum())
        incomplete = self.rows.height - complete
        tasks = (
            f"{_count(len(self.names('bias')), 'bias task')} and "
            f"{_count(len(self.names('usefulness')), 'usefulness task')}"
        )
        if complete == 1:
            line = f"1 complete row on {tasks}; ranking needs two"
        else:
            line = f"{_count(complete, 'row')} ranked on {tasks}"
        return line + (f"; {incomplete} incomplete" if incomplete else "")


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
    shown = _labels(pl.concat([others, chosen], how="diagonal"))
    tasks = (
        chosen.group_by("task")
        .agg(
            pl.col(
                *("version", "digest", "title", "measures", "category", "language"),
                *("metric", "score", "scenario", "ideal", "low_bound", "high_bound", "seed"),
            ).last(),
            rows=pl.col("value").count(),
            scaled=pl.col("distance").count() > 0,
        )
        .sort("measures", "category", "task")
    )
    grid = (
        chosen.select("row")
        .unique()
        .join(tasks.select("task", "measures", "category"), how="cross")
        .join(chosen.drop("measures", "category"), on=["row", "task"], how="left")
        .sort("row", "task")
    )
    rows = _aggregated(grid, tasks).join(shown, on="row")
    for measures, prefix in (("bias", ""), ("usefulness", "usefulness_")):
        ranks = _ranked(grid, measures)
        renamed = {c: prefix + c for c in ranks.columns if c != "row"}
        rows = rows.join(ranks.rename(renamed), on="row", how="left")
    for baseline in BASELINES:
        rows = rows.join(_changes(grid, baseline), on="row", how="left")
    deciding = "" if "bias" in tasks["measures"] else "usefulness_"
    rows = rows.with_columns(
        complete=pl.col(f"{deciding}complete").fill_null(value=False),
        usefulness_complete=pl.col("usefulness_complete").fill_null(value=False),
    ).sort(
        "complete", f"{deciding}rank", "bias", "usefulness", "model", "mitigator",
        descending=[True, False, False, True, False, False], nulls_last=True,
    )  # fmt: skip
    first = ["row", "model", "mitigator", "complete"]
    rest = [column for column in rows.columns if ":" not in column and column not in first]
    wide = [column for column in rows.columns if ":" in column]
    return Board(
        kind=kind,
        tasks=tasks,
        rows=rows.select(first + rest + wide),
        cells=chosen.drop("kind").sort("row", "task"),
        lacks=_lacks(grid, others),
        others=others.select(
            "row", "task", "version", "digest", "seed", "value", "created", "why"
        ).join(shown.select("row", "model", "mitigator"), on="row", how="left"),
        environments=_environments(records),
        published=published(records, tasks),
        attachments=attachments(records, chosen).join(
            shown.select("row", "model", "mitigator"), on="row", how="left"
        ),
        notices=notices(grid, others, tasks),
    )


def _aggregated(grid: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row; each column is an expression over the row's cells."""
    distance, measured = pl.col("distance"), pl.col("measures")
    columns: dict[str, pl.Expr] = {
        "bias": distance.filter(measured == "bias").mean(),
        "usefulness": 1 - distance.filter(measured == "usefulness").mean(),
    }
    pairs = tasks.select("measures", "category").unique().sort("measures", "category").rows()
    for measures, category in pairs:
        mean = distance.filter((measured == measures) & (pl.col("category") == category)).mean()
        columns[f"{measures}:{category}"] = mean if measures == "bias" else 1 - mean
    for name in tasks["task"]:
        columns[f"task:{name}"] = pl.col("value").filter(pl.col("task") == name).first()
    return grid.group_by("row", maintain_order=True).agg(**columns)


def _ranked(grid: pl.DataFrame, measures: str) -> pl.DataFrame:
    """Return the rows with a value on every task of `measures`; ranks are null for a single row."""
    complete = grid.filter(measures=measures).filter(pl.col("loss").is_not_null().all().over("row"))
    ranks = rank(complete.select("row", "task", "loss"))
    if ranks.height == 1:  # a rank needs two rows
        ranks = ranks.select(
            "row", *(pl.lit(None, t).alias(c) for c, t in ranks.schema.items() if c != "row")
        )
    return ranks.with_columns(complete=pl.lit(value=True))


def _changes(grid: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Return the change of each mitigated row from the same model under `baseline`.

    The change is the mean difference over the tasks that both rows have.
    """
    model = ["model", "fingerprint"]
    base = (
        grid.filter(mitigator=baseline)
        .sort(pl.col("params").str.len_chars(), "params", "row")  # fewest settings first
        .unique([*model, "task"], keep="first", maintain_order=True)
        .select(*model, "task", base="distance", base_row="row")
    )
    difference, measured = pl.col("distance") - pl.col("base"), pl.col("measures")
    bias = difference.filter(measured == "bias").mean()
    usefulness = -difference.filter(measured == "usefulness").mean()
    return (
        grid.filter(pl.col("mitigator").is_not_null(), pl.col("mitigator") != BASELINES[0])
        .join(base, on=[*model, "task"])
        .filter(pl.col("row") != pl.col("base_row"))
        .group_by("row")
        .agg(
            bias.alias(f"bias_vs_{baseline}"),
            usefulness.alias(f"usefulness_vs_{baseline}"),
            difference.count().alias(f"tasks_vs_{baseline}"),
        )
    )


def _lacks(grid: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row and task without a value, with the reason."""
    elsewhere = others.group_by("row", "task").agg(why=pl.col("why").last())
    return (
        grid.filter(pl.col("value").is_null())
        .join(elsewhere, on=["row", "task"], how="left")
        .select(
            "row",
            "task",
            "measures",
            reason=pl.when(pl.col("id").is_not_null())
            .then(pl.coalesce("reason", pl.lit("no value")))
            .when(pl.col("why").is_not_null())
            .then(pl.lit("only a record of ") + pl.col("why"))
            .otherwise(pl.lit("not run")),
        )
        .sort("row", "measures", "task")
    )


def _labels(every: pl.DataFrame) -> pl.DataFrame:
    """Return the model and mitigator of each row as shown: their labels.

    Different weights under one label get the end of the fingerprint. Rows of records that were
    written without a label get the settings that differ.
    """
    identity = ["row", "model", "fingerprint", "mitigator", "params"]
    facts = ["url", "dimensions", "parameters"]  # some are null in older records
    unique = (
        every.group_by(identity)
        .agg(pl.col(facts).drop_nulls().last(), pl.col("label").max())
        .sort("row")
    )
    prints: defaultdict[str, set[str]] = defaultdict(set)
    settings: defaultdict[str, list[str]] = defaultdict(list)
    for row in unique.iter_rows(named=True):
        prints[row["model"]].add(row["fingerprint"])
        if row["label"] == row["mitigator"] and row["params"] not in settings[row["mitigator"]]:
            settings[row["mitigator"]].append(row["params"])
    models, mitigators = [], []
    for row in unique.iter_rows(named=True):
        several = len(prints[row["model"]]) > 1
        model, fingerprint = row["model"], row["fingerprint"]
        models.append(labels.with_fingerprint(model, fingerprint) if several else model)
        alike = [json.loads(params) for params in settings[row["label"]]]
        params = json.loads(row["params"]) if row["label"] == row["mitigator"] else {}
        differing = {
            key: value
            for key, value in params.items()
            if any(other.get(key) != value for other in alike)
        }
        mitigators.append(labels.with_options(row["label"], differing))
    return unique.select(
        "row",
        pl.Series("model", models, dtype=pl.String),
        pl.Series("mitigator", mitigators, dtype=pl.String),
        "fingerprint",
        "params",
        *facts,
    )


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
