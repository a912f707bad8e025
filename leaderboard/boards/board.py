"""Boards: the ranked and the incomplete rows of one kind of embedder, as data frames.

A row is a model under a mitigator. Word and text embedders have separate boards. The page, the
CSV and the JSON only format these frames: every number is computed here.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from harness import errors
from harness.results import ratios
from harness.results.columns import votes

from .cells import (
    BASELINES,
    LEAK,
    MEANING,
    REFERENCES,
    cells,
    latest,
    name_without_options,
    rows_of,
    under_prompts,
)
from .effects import differences, effects, mitigators
from .findings import LANGUAGES, count, finding, listed, narrow, notices
from .prompts import (
    Prompts,
    decided_of,
    mean_bias,
    prompt_spreads,
    prompts_decide,
    under_each,
)
from .ranking import DIGITS, ENOUGH_FAMILIES, means, rank, sampled_means, widened

if TYPE_CHECKING:
    from harness.task.reference import Reference
    from harness.task.schema import BenchmarkFile

References: TypeAlias = "Mapping[str, Reference]"
"""What the reference encoder shows, by task."""


# The grid of a board, a line for every row and task, and the frames that follow from it.
#
# Which tasks are ranked, which cells count, the means of each row, and what a row lacks.


ENDS = ("rank", "rank_low", "rank_high")
"""Columns of a rank with its set, after the prefix of what is ranked."""
PREFIXES = {"bias": "", "usefulness": "usefulness_"}
"""Prefix of these columns, by what a task measures."""


def tasks_of(chosen: pl.DataFrame, references: References = MappingProxyType({})) -> pl.DataFrame:
    """Return one line a task; its facts are those of its latest record.

    The unit of a task that is not in `references` is its own yardstick.
    """
    reason = (
        pl.when(pl.col("measures") == "control")
        .then(pl.lit("a control"))
        .when(pl.col("unranked").fill_null("") != "")
        .then(pl.col("unranked"))
        .when(~pl.col("adds"))
        .then(pl.coalesce("aside", pl.lit("no row has a value")))
        .when(pl.col("unclear"))
        .then(pl.lit(ratios.UNCLEAR))
    )
    texts = (
        *("digest", "title", "measures", "category", "family", "language", "metric", "score"),
        *("scenario", "ideal", "of"),
    )
    facts = ("version", *texts, "low_bound", "high_bound", "unranked")
    pinned = pl.DataFrame(
        [(name, r.gap, r.yardstick, r.error, 1.0) for name, r in references.items()],
        schema={"task": pl.String, **dict.fromkeys(_REFERENCE, pl.Float64())},
        orient="row",
    ).cast({"task": chosen.schema["task"]}, strict=False)
    has_yardstick = pl.col("measures") != "usefulness"
    tasks = (
        chosen.group_by("task")
        .agg(
            pl.col("power").max().fill_null(1),
            gap=pl.col("gap").max(),
            rows=pl.col("value").count(),
            scaled=pl.col("distance").count() > 0,
            adds=pl.col("gap").is_not_null().any() | pl.col("leak").all(),
            aside=pl.col("aside").drop_nulls().max(),
        )
        .join(latest(chosen, ("task",)).select("task", *facts), on="task")
        .join(pinned.drop_nulls("task"), on="task", how="left")
        .with_columns(pl.col(*texts, "unranked").cast(pl.String))
    )
    return (
        tasks.with_columns(family=votes(tasks, "family"))
        .with_columns(unclear=_is_unclear())
        .with_columns(
            pl.when(has_yardstick).then(name).fill_null(default).alias(name)
            for name, default in zip(_REFERENCE, (1.0, 1.0, 0.0, 1.0), strict=True)
        )
        .with_columns(not_ranked=reason)
        .select("task", *facts[:-1], "power", *_REFERENCE, "rows", "scaled", "not_ranked")
        .rename({"of": "yardstick_of"})
        .sort("measures", "category", "task")
    )


_REFERENCE = (*ratios.REFERENCE, ratios.SCALE)


def _is_unclear() -> pl.Expr:
    """Return whether the reference encoder has no clear gap in the family of a task of bias."""
    known = pl.when(pl.col("reference_error").is_not_null() & (pl.col("unranked") == ""))
    own = ("measures", "family")
    gap = known.then(pl.col("reference_gap")).sum().over(own)
    error = (known.then(pl.col("reference_error")) ** 2).sum().over(own).sqrt()
    has = known.then(pl.lit(1)).sum().over(own) > 0
    return (pl.col("measures") == "bias") & has & (gap < ratios.CLEAR_GAP * error)


def grid_of(
    chosen: pl.DataFrame, others: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame
) -> pl.DataFrame:
    """Return a line for every row and task, sorted by both.

    Parameters
    ----------
    chosen, others
        The cells of the board.
    tasks
        As of `tasks_of`.
    rows
        One line a row, with its facts.

    Returns
    -------
    pl.DataFrame
        `row`, and the `name`, `fingerprint`, `mitigator`, `params`, `label` and `role` of `rows`;
        `task` and its facts that ranking needs; `held`, whether there is a cell; `value`,
        `p_value`, `leak`; what is pooled, `ratios.POOLED` and `ratios.REFERENCE`, null for a leak;
        `measure`, the gap over the yardstick; `t` and `contrasts`; `why_null`, why nothing counts,
        null if it does.
    """
    elsewhere = (
        others.filter(pl.col("row").is_in(rows["row"].implode()))
        .group_by("row", "task")
        .agg(pl.col("why").last())
    )
    counts = (*ratios.POOLED, "measure")
    held = chosen.select(
        *("row", "task", "value", "p_value", "reason", "aside", "leak", "t", "contrasts"),
        *(pl.when(~pl.col("leak")).then(name).alias(name) for name in counts),
        held=pl.lit(value=True),
    )
    why_null = (
        pl.when(pl.col("aside").is_not_null())
        .then("aside")
        .when(pl.col("leak") & pl.col("value").is_not_null())
        .then(pl.lit(LEAK))
        .when(pl.col("held") & pl.col("value").is_null())
        .then(pl.coalesce(pl.col("reason").cast(pl.String), pl.lit("no value")))
        .when("held")
        .then(None)
        .when(pl.col("why").is_not_null())
        .then(pl.lit("only a record of ") + pl.col("why"))
        .otherwise(pl.lit("not run"))
    )
    facts = tasks.select(
        *("task", "measures", "category", "family", "language", "ideal", "not_ranked"),
        *_REFERENCE,
    )
    names = ("name", "fingerprint", "mitigator", "params", "label", "role")
    return (
        _categorical(rows.sort("row").select("row", *names))
        .join(_categorical(facts.sort("task")), how="cross", maintain_order="left_right")
        .join(held, on=["row", "task"], how="left", maintain_order="left")
        .join(elsewhere, on=["row", "task"], how="left", maintain_order="left")
        .with_columns(
            pl.col("held", "leak").fill_null(value=False), why_null=why_null.cast(pl.Categorical())
        )
        .drop("reason", "aside", "why")
    )


def _categorical(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with categorical texts, since they repeat in each line of the grid."""
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical()))


def lacking(grid: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row and task without a measure that ranks, with the reason."""
    return (
        grid.filter(pl.col("why_null").is_not_null())
        .select("row", "task", "measures", "leak", reason="why_null")
        .sort("row", "measures", "task")
    )


# Languages stand apart: a score in one is on no scale of another, and a model of one language has
# no scores in the others. So a board ranks in one language, and nobody is left out since somebody
# else was run in another one. Tasks in other languages rank on benchmarks that name them, and where
# a reader chooses them.


def language_of(tasks: pl.DataFrame, ranked: pl.DataFrame) -> str:
    """Return the language of a board: that in which most models have a value that ranks.

    Of several, that with most ranked tasks, then the first code; empty if no task is ranked.

    Parameters
    ----------
    tasks
        As of `tasks_of`.
    ranked
        The lines of the grid on ranked tasks, in all languages.
    """
    counts = tasks.filter(pl.col("not_ranked").is_null()).group_by("language").agg(tasks=pl.len())
    if counts.height > 1:
        models = (
            ranked.filter(pl.col("gap").is_not_null(), role="model")
            .group_by(pl.col("language").cast(pl.String))
            .agg(models=pl.col("row").n_unique())
        )
        counts = counts.join(models, on="language", how="left").with_columns(
            pl.col("models").fill_null(0)
        )
        counts = counts.sort("models", "tasks", "language", descending=[True, True, False])
    return "" if counts.is_empty() else str(counts["language"][0])


def in_language(grid: pl.DataFrame, language: str) -> pl.DataFrame:
    """Return the lines of the grid on tasks in a language, without a copy if they all are."""
    is_other = grid.select(pl.col("language") != language).to_series()
    return grid.filter(~is_other) if is_other.any() else grid


def aggregated(grid: pl.DataFrame, own: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row: its means over families, those of categories, and its values.

    The mean of bias is over methods, each pooled, with the interval that its items leave open; that
    of usefulness over families, with Student's interval.

    Parameters
    ----------
    grid
        As of `grid_of`, for the values.
    own
        Its lines in the language of the board, for the means.
    tasks
        As of `tasks_of`.
    """
    ranked = counting(own)
    frame = grid.select("row").unique().sort("row")
    for name in PREFIXES:
        families = ratios.pooled(ranked.filter(measures=name), ["row", "family"])
        mean = (
            sampled_means(families, ["row"])
            if name == "bias"
            else means(families, ["row"]).drop("p")
        )
        ends = {"mean": name, **{end: f"{name}_{end}" for end in _ENDS_OF_MEAN}}
        frame = frame.join(mean.rename(ends), on="row", how="left", maintain_order="left")
    by = ["row", "measures", "category", "family"]
    parts = ratios.pooled(ranked, by).drop_nulls("measure")
    categories = tasks.filter(pl.col("measures") != "control").select("measures", "category")
    for name, category in categories.unique().sort(pl.all()).rows():
        own = parts.filter(measures=name, category=category)
        mean = own.group_by("row", maintain_order=True).agg(
            pl.col("measure").mean().alias(f"{name}:{category}")
        )
        frame = frame.join(mean, on="row", how="left", maintain_order="left")
    values = grid["value"].to_numpy().reshape(frame.height, -1)  # the grid has every cell
    columns = [f"task:{task}" for task in tasks["task"].sort()]
    return pl.concat(
        [
            frame,
            pl.DataFrame(values, schema=columns, orient="row", nan_to_null=True).select(
                f"task:{task}" for task in tasks["task"]
            ),
        ],
        how="horizontal",
    )


def concepts_of(grid: pl.DataFrame) -> pl.DataFrame:
    """Return the mean bias of each model in each category, with its interval; see `Board`."""
    own = counting(grid).filter(measures="bias", role="model")
    families = ratios.pooled(own, ["row", "category", "family"])
    mean = sampled_means(families, ["row", "category"])
    return mean.select("row", "category", bias="mean", bias_low="low", bias_high="high")


_ENDS_OF_MEAN = ("low", "high", "families", "tasks")


def counting(grid: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of the grid that means and ranks are made of."""
    return grid.filter(pl.col("not_ranked").is_null(), pl.col("gap").is_not_null())


def with_changes(rows: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose mitigated ones have the means of their models, plus the paired effects.

    The mean over a mitigated row's own tasks would be one over other tasks than its model's: leaks
    are left out. Its interval is moved with it; it has none where its model has none, since the
    model may be anything.

    Parameters
    ----------
    rows
        As of `aggregated`, with `role`, `name` and `fingerprint`.
    effects
        As of `Board.effects`.
    """
    model = ["name", "fingerprint"]
    own = rows.filter(role="model").unique(model, keep="first", maintain_order=True)
    frame = rows.join(
        own.select(
            *model,
            *(pl.col(name).alias(f"_{name}") for name in PREFIXES),
            *(pl.col(f"{name}_low").is_null().alias(f"_{name}_has_no_ends") for name in PREFIXES),
        ),
        on=model, how="left", maintain_order="left",
    ).join(
        effects.filter(baseline=BASELINES[0]).select(
            "row", *(pl.col(name).alias(f"_{name}_change") for name in PREFIXES)
        ),
        on="row", how="left", maintain_order="left",
    )  # fmt: skip
    for name in PREFIXES:
        paired = pl.col(f"_{name}") + pl.col(f"_{name}_change")
        is_mitigated = pl.col("role") == "mitigated"
        moved = pl.when(is_mitigated).then(paired - pl.col(name)).fill_null(0.0)
        is_moved = is_mitigated & (paired - pl.col(name)).is_not_null()
        has_no_ends = is_moved & pl.col(f"_{name}_has_no_ends")
        frame = frame.with_columns(
            pl.col(name) + moved,
            *(
                pl.when(~has_no_ends).then(pl.col(end) + moved).alias(end)
                for end in (f"{name}_low", f"{name}_high")
            ),
        )
    return frame.select(rows.columns)


MOST_OF_ONE = 0.3
"""Share of the sum of a yardstick's contrasts that one of them may give."""
MOST_SPREAD = 2.0
"""Spread of the contrasts, their standard deviation over their mean, over that of the reference
encoder. Beyond either a row is marked: its yardstick may have been boosted."""


def uneven(grid: pl.DataFrame, references: References) -> pl.DataFrame:
    """Return the `row` of each row whose yardstick is uneven, with `uneven`, the reason."""
    lines = grid.filter(
        pl.col("contrasts").is_not_null(), measures="bias", mitigator=BASELINES[0]
    ).select("row", *(pl.col(name).cast(pl.String) for name in ("of", "contrasts")))
    lines = lines.unique(["row", "of"], keep="first", maintain_order=True)
    reasons: dict[str, str] = {}
    for row, of, text in lines.iter_rows():
        own = json.loads(text)
        if len(own) < FEWEST_CONTRASTS or row in reasons:
            continue
        values = np.array(list(own.values()))
        largest = max(own, key=own.__getitem__)
        if own[largest] > MOST_OF_ONE * values.sum():
            share = round(100 * own[largest] / values.sum())
            reasons[row] = f"'{largest}' gives {share} % of {of}"
        held = references.get(str(of))
        if held is None or set(held.contrasts) != set(own):
            continue
        usual = np.array(list(held.contrasts.values()))
        spread = (values.std() / values.mean()) / (usual.std() / usual.mean())
        if spread > MOST_SPREAD:
            reasons[row] = f"contrasts of {of} spread {spread:.1f} times as much as is usual"
    return pl.DataFrame(
        {"row": list(reasons), "uneven": list(reasons.values())},
        schema={"row": lines.schema["row"], "uneven": pl.String()},
    )


FEWEST_CONTRASTS = 8
"""Fewest contrasts of a yardstick that is judged by their shares."""


LEFT_OUT = ("left_out_low", "left_out_high")
"""Columns of the lowest and the highest rank by bias with any one family left out."""


def _left_out(families: pl.DataFrame, spreads: pl.DataFrame) -> pl.DataFrame:
    """Return the lowest and the highest rank by bias of each row with any one family left out."""
    names = families["family"].unique(maintain_order=True)
    rest = [families.filter(pl.col("family") != name) for name in names] if len(names) > 1 else []
    ranks = [_ordered(part, spreads).select("row", rank=_place()) for part in rest]
    schema = {"row": families.schema["row"], "rank": pl.Int64()}
    every = pl.concat([pl.DataFrame(schema=schema), *ranks])
    return every.group_by("row").agg(left_out_low=pl.min("rank"), left_out_high=pl.max("rank"))


def _ordered(families: pl.DataFrame, spreads: pl.DataFrame) -> pl.DataFrame:
    """Return the `row` and the `order` of rows: the end of their interval that is far from 0."""
    mean = sampled_means(families, ["row"]).rename({"low": "mean_low", "high": "mean_high"})
    mean = mean.join(spreads, on="row", how="left", maintain_order="left")
    ends = pl.max_horizontal(pl.col("mean_low").abs(), pl.col("mean_high").abs())
    return widened(mean, "mean", "prompt_error").select("row", order=ends)


def _place() -> pl.Expr:
    """Return the rank by `order` as `ranking.rank` does: a row without one comes last."""
    order = pl.col("order").fill_null(float("inf")).round(DIGITS)
    return order.rank("min").cast(pl.Int64)


def ranks_of(
    ranked: pl.DataFrame,
    failing: pl.DataFrame,
    measures: str,
    prompts: Prompts | None = None,
) -> pl.DataFrame:
    """Return the rows with a value on every task of `measures`, and the ranks of the models.

    Only models that are usable and complete are ranked; ranks are null for a single row. Bias is
    ordered by the upper end of the interval: a blurred model cannot show that its bias is low.

    Parameters
    ----------
    ranked
        The lines of the grid on the tasks to rank by.
    failing
        The `row` of each row that is not usable.
    measures
        `bias` or `usefulness`, which prefixes the columns of its ranks.
    prompts
        What is known of other prompts, on these tasks; needed for bias.
    """
    has = pl.col("gap").is_not_null() | pl.col("leak")
    complete = ranked.filter(measures=measures).filter(has.all().over("row"))
    models = complete.filter(role="model").join(failing, on="row", how="anti")
    models = models.filter(pl.col("gap").is_not_null())
    families = ratios.pooled(models, ["row", "family"])
    if prompts is not None:
        others = under_each(models, families, prompts)
        ranks = rank(
            families,
            order=_ordered(families, prompts.spreads),
            others=others,
            errors=prompts.spreads,
        )
        ranks = ranks.join(_left_out(families, prompts.spreads), on="row", how="left")
    else:
        ranks = rank(families, best="highest")
    if ranks.height == 1:  # a rank needs two rows
        ranks = ranks.head(0)
    prefix = PREFIXES[measures]
    return (
        complete.select("row")
        .unique()
        .with_columns(pl.lit(value=True).alias(f"{prefix}complete"))
        .join(ranks, on="row", how="left")
        .rename({end: prefix + end for end in ENDS})
    )


# Benchmarks of a board: what is ranked on each named set of its tasks.
#
# `all` holds every ranked task in the language of the board. Whether a row is usable was decided
# over all of these, and is the same on each benchmark. Computes no effects of single rows.


ALL = "all"
"""Name of the benchmark that holds every ranked task in the language of the board."""
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
        ranked by this measure; `left_out_low` and `left_out_high`; `bias`, `bias_low` and
        `bias_high`, its mean on these tasks; and `usefulness`, null unless it has each task of it.
    prompts
        One line for each model with a bias: `row` and `PROMPTS`, as in `Board.rows`.
    decided
        Where prompts decide the order of models, by task, as of `decided_of`.
    mitigators
        Mitigators over models on these tasks, as `Board.mitigators`.
    finding
        The answer of the first screen: a sentence on the least biased model.
    notices
        Warnings about the ranks on these tasks.
    """

    name: str
    title: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    ranks: pl.DataFrame
    prompts: pl.DataFrame
    decided: pl.DataFrame
    mitigators: pl.DataFrame
    finding: str
    notices: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    description: str = ""
    citation: str = ""
    version: int | None = None


class Ranked(NamedTuple):
    """The data from which benchmarks are ranked.

    `tasks` and `rows` of the board, as of `tasks_of` and `rows_of`; `grid`, its lines on ranked
    tasks in all languages; `language`, that of the board; `failing`, the rows that are not usable;
    `draws`, the cells under other prompts; `without`, the names of models that take none.
    """

    tasks: pl.DataFrame
    rows: pl.DataFrame
    grid: pl.DataFrame
    language: str
    failing: pl.DataFrame
    draws: pl.DataFrame
    without: Collection[str] = ()

    def prompts(self, tasks: pl.DataFrame) -> Prompts:
        """Return what is known of other prompts, on some tasks."""
        own = self.grid.join(tasks.select(pl.col("task").cast(self.grid.schema["task"])), on="task")
        bias = counting(own).filter(measures="bias")
        spreads = prompt_spreads(bias, self.draws, self.without)
        return Prompts(self.draws, spreads, decided_of(bias, self.draws))


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
        `Benchmark.ranks` and `Benchmark.mitigators` on all ranked tasks in the board's language.
    """
    every = ranked.tasks.filter(pl.col("not_ranked").is_null())
    tasks = every.filter(language=ranked.language)
    prompts = ranked.prompts(tasks)
    language = LANGUAGES.get(ranked.language, ranked.language)
    everything = _benchmark(
        ranked,
        tasks,
        ranks,
        over_models,
        prompts,
        name=ALL,
        title="All tasks" if tasks.height == every.height else f"All tasks in {language}",
        notices=tuple(prompts_decide(prompts.spreads, prompts.decided)),
    )
    named = [
        benchmark for file, names in files if (benchmark := _named(file, names, ranked)) is not None
    ]
    measures = "bias" if _has_bias(tasks) else "usefulness"

    def order(benchmark: Benchmark) -> tuple[bool, bool, int, int, bool, str]:
        own = every.filter(pl.col("task").is_in(benchmark.tasks), measures=measures)
        return (
            bool(benchmark.lacking),
            own["family"].n_unique() < ENOUGH_FAMILIES,
            -benchmark.ranks[f"{PREFIXES[measures]}rank"].count(),
            -len(benchmark.tasks),
            benchmark.name != ALL,
            benchmark.name,
        )

    return tuple(sorted((everything, *named), key=order))


def _has_bias(tasks: pl.DataFrame) -> bool:
    """Return whether one of some tasks measures bias; else models rank by usefulness."""
    return bool((tasks["measures"] == "bias").any())


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
    prompts = ranked.prompts(tasks)
    bias = ranks_of(grid, ranked.failing, "bias", prompts)
    usefulness = ranks_of(grid, ranked.failing, "usefulness")
    return _benchmark(
        ranked,
        tasks,
        bias.join(usefulness, on="row", how="full", coalesce=True),
        mitigators(differences(grid), ranked.rows, ranked.failing, has_bias=_has_bias(tasks)),
        prompts,
        name=file.name,
        title=file.title,
        description=file.description,
        citation=file.citation,
        version=file.version,
        lacking=lacking,
        notices=(
            *_lacking(lacking, len(names)),
            *prompts_decide(prompts.spreads, prompts.decided),
            *(line for name in PREFIXES for line in narrow(grid, ranked.failing, name)),
        ),
    )


def _benchmark(
    ranked: Ranked,
    tasks: pl.DataFrame,
    ranks: pl.DataFrame,
    over_models: pl.DataFrame,
    prompts: Prompts,
    **facts: Any,
) -> Benchmark:
    ends = [prefix + end for prefix in PREFIXES.values() for end in ENDS]
    ranks = (
        ranks.select("row", *ends, *LEFT_OUT)
        .filter(pl.any_horizontal(pl.col(ends).is_not_null()))
        .sort(*ends, "row", nulls_last=True)
    )
    rows = _with_usefulness(ranked, tasks)
    return Benchmark(
        tasks=tuple(tasks["task"]),
        languages=tuple(sorted(set(tasks["language"]))),
        ranks=ranks.join(
            _bias_on(ranked, tasks, prompts.spreads), on="row", how="left", maintain_order="left"
        )
        .join(rows.select("row", "usefulness"), on="row", how="left", maintain_order="left")
        .with_columns(pl.col("row").cast(pl.String)),
        prompts=prompts.spreads.with_columns(pl.col("row").cast(pl.String)),
        decided=prompts.decided,
        mitigators=over_models,
        finding=finding(ranks, tasks, rows),
        **facts,
    )


def _bias_on(ranked: Ranked, tasks: pl.DataFrame, spreads: pl.DataFrame) -> pl.DataFrame:
    """Return the mean bias of each row on some tasks, with its interval."""
    names = tasks.filter(measures="bias")["task"]
    cells = ranked.grid.filter(
        pl.col("task").cast(pl.String).is_in(names.implode()), pl.col("gap").is_not_null()
    )
    mean = mean_bias(cells).select("row", bias="mean", bias_low="low", bias_high="high")
    every = mean.join(spreads, on="row", how="left", maintain_order="left")
    return widened(every, "bias", "prompt_error").select(mean.columns)


def _with_usefulness(ranked: Ranked, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with their mean usefulness on some tasks; null without each of them."""
    names = tasks.filter(measures="usefulness")["task"]
    cells = ranked.grid.filter(
        pl.col("task").cast(pl.String).is_in(names.implode()), pl.col("gap").is_not_null()
    )
    mean = means(ratios.pooled(cells, ["row", "family"]), ["row"]).select(
        "row", usefulness=pl.when(pl.col("tasks") == len(names)).then("mean")
    )
    rows = ranked.rows.join(ranked.failing, on="row", how="left")
    return rows.select("row", "model", "role", "is_noise", "unusable").join(
        mean, on="row", how="left"
    )


def _lacking(names: tuple[str, ...], n: int) -> list[str]:
    """Return a line on the tasks of a benchmark without results."""
    if not names:
        return []
    return [
        f"no result in the listed version for {len(names)} of its {n} tasks: {listed(names)}; "
        f"all numbers are on the other {n - len(names)}"
    ]


# The models of a board: their facts, and the environments that their records were computed in.


FACTS = (
    *("encoder", "revision", "url", "dimensions", "parameters", "max_tokens", "licence"),
    *("open_weights", "released", "superseded_by", "languages", "published"),
)
"""Columns of a claim that say what its model is."""
_TEXTS = ("encoder", "revision", "url", "licence", "released", "superseded_by")
_KEY = ("name", "fingerprint")
_LISTED, _LONGEST = 5, 40
"""Most versions of the harness that a line names, and most characters of each."""
_ENVIRONMENT = ("harness", "python", "platform", "device", "packages")


def models_of(claims: pl.LazyFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return one line a model; see `Board.models`.

    A fact is that of the latest claim that has it.

    Parameters
    ----------
    claims
        All claims of the kind of embedder.
    rows
        As of `row_labels.rows_of`.
    """
    claims = claims.rename({"model": "name"})
    facts = (
        claims.group_by(*_KEY, *FACTS)
        .agg(pl.col("created").max())
        .sort("created", *FACTS)
        .with_columns(
            pl.col("languages").cast(pl.String).replace("[]", None),
            pl.col("published").cast(pl.String).replace("{}", None),
        )
        .group_by(_KEY)
        .agg(pl.col(FACTS).drop_nulls().last())
        .with_columns(pl.col(*_KEY, *_TEXTS).cast(pl.String))
        .with_columns(
            languages=pl.col("languages").fill_null("[]").str.json_decode(pl.List(pl.String)),
            published=pl.col("published").fill_null("{}"),
        )
        .collect()
    )
    return (
        rows.select("model", *_KEY)
        .unique()
        .join(facts, on=_KEY, how="left")
        .join(_environments(claims), on=_KEY, how="left")
        .sort("model", "fingerprint")
    )


def environments_of(models: pl.DataFrame) -> tuple[tuple[str, int], ...]:
    """Return the environments of all models, with the number of records of each."""
    counts: Counter[str] = Counter()
    for environments in models["environments"].to_list():
        for line in environments:
            counts[line["environment"]] += line["records"]
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def mixed_versions(claims: pl.LazyFrame) -> list[str]:
    """Return a line if the primary claims on models are from several versions of the harness."""
    name = name_without_options()
    versions = (
        claims.filter("primary")
        .group_by("model", "harness")
        .len("records")
        .filter(~name.is_in(REFERENCES))
        .group_by(pl.col("harness").cast(pl.String))
        .agg(pl.col("records").sum())
        .sort("records", "harness", descending=[True, False])
        .collect()
    )
    if versions.height < 2:
        return []
    counts = (f"{version[:_LONGEST]} ({count(n, 'record')})" for version, n in versions.iter_rows())
    named = errors.listed(counts, _LISTED)
    return [f"values of {versions.height} versions of the harness: {named}"]


def _environments(claims: pl.LazyFrame) -> pl.DataFrame:
    """Return the environments of each model, the one with most records first."""
    by_model: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    counts = claims.group_by(*_KEY, *_ENVIRONMENT).len("records").collect()
    for name, fingerprint, harness, python, platform, device, packages, n in counts.sort(
        "records", *_ENVIRONMENT, descending=[True, *(False for _ in _ENVIRONMENT)]
    ).iter_rows():
        versions = sorted(json.loads(packages or "{}").items())  # a record may lack them
        text = f"harness {harness}, Python {python}, {platform}, {device}"
        text += "".join(
            f"{', ' if i else '; '}{package} {version}"
            for i, (package, version) in enumerate(versions)
        )
        by_model[name, fingerprint].append({"environment": text, "records": n})
    struct = pl.Struct({"environment": pl.String, "records": pl.Int64})
    return pl.DataFrame(
        {
            "name": [name for name, _ in by_model],
            "fingerprint": [fingerprint for _, fingerprint in by_model],
            "environments": list(by_model.values()),
        },
        schema={"name": pl.String, "fingerprint": pl.String, "environments": pl.List(struct)},
    )


# Bias against published quality, as a data frame; Uriot 2024 (context injection), figure 1.
#
# Do better models have more bias? For each model with a published MTEB score: the scores of the
# paper's two methods without mitigation, averaged over concepts. Draws nothing.


SCORE = "MTEB"
"""Name of the published score that orders the models."""
LEAST_MODELS = 3
PUBLISHED = (
    ("concept-direction", "auc"),
    ("concept-direction", "correlation"),
    ("association-test", "proportion"),
)
"""Metric and score; correlations are compared by absolute value, as in table 9."""


def published(claims: pl.LazyFrame, tasks: pl.DataFrame) -> pl.DataFrame:
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
    texts = claims.select(pl.col("published").unique()).collect()["published"]
    scores = {text: json.loads(text).get(SCORE) for text in texts}
    known = [text for text, score in scores.items() if score is not None]
    measures = pl.any_horizontal(
        *((pl.col("metric") == metric) & (pl.col("score") == score) for metric, score in PUBLISHED)
    )
    group = ["metric", "score", "scenario"]
    lines = (
        claims.filter(
            measures, pl.col("published").is_in(known), pl.col("mitigator") == BASELINES[0]
        )
        .select("model", "published", "task", "digest", *group, "value", "created")
        .collect()
        .with_columns(
            pl.col("published")
            .cast(pl.String)
            .replace_strict(known, [float(scores[text]) for text in known], return_dtype=pl.Float64)
        )
    )
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


# Which rows of a board are usable: yardsticks that are clear, and a minimum of usefulness.
#
# Bias alone says nothing about vectors without meaning: Gaussian noise has little of any bias. Here
# stands what keeps such a row from being ranked, and why. Ranks nothing itself.


RESIDUAL = "residual"
"""Family of the tasks that ask what a classifier recovers."""
RETAINED = 0.05
"""Least share of the meaning of definitional words. Hard debiasing keeps .34 of MiniLM's, LEACE
.17, INLP .09, SentDebias .08; gendered words that are collapsed to a point keep none."""
ABOVE_NOISE = 0.05
"""Least usefulness above that of random vectors: a mean correlation of .1 with human judgements.
Random vectors stay within ±.03 of 0.5 on each of eight similarity tasks."""
KEPT = 0.75
"""Least share of the usefulness of the unmitigated model above random vectors that a mitigator
keeps. GloVe with 50 dimensions has .64 of what spaCy's 300 have: a mitigator that costs more than
this third has replaced the model by a poorer one, not mended it."""


def unusable(grid: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each row that is not usable, with the reason.

    Parameters
    ----------
    grid
        A line for every row and task of the board.
    tasks
        `task`, `measures`, `family` and `not_ranked`.
    rows
        `row`, `role`, `is_noise`, `name` (of the model), `fingerprint` and `mitigator`.

    Returns
    -------
    pl.DataFrame
        `row` and `unusable`; the reasons are joined by `; `.
    """
    nobody = pl.DataFrame(schema={"row": rows.schema["row"], "unusable": pl.String()})
    reasons = [*_yardsticks(grid), _meaningless(grid), *_usefulness(grid, tasks, rows)]
    failed = pl.concat([frame.cast({"row": nobody.schema["row"]}) for frame in (nobody, *reasons)])
    return (
        failed.join(rows.filter(pl.col("role") != "reference"), on="row", how="semi")
        .group_by("row", maintain_order=True)
        .agg(pl.col("unusable").str.join("; "))
    )


def meanings(grid: pl.DataFrame) -> pl.DataFrame:
    """Return the `row` and the `meaning` of each row: what it tells of definitions.

    That a mother is a woman and a father a man, over the yardstick; 1 for the reference encoder.
    """
    controls = grid.filter(
        pl.col("gap").is_not_null(), pl.col("family").cast(pl.String).str.ends_with(MEANING)
    )
    return ratios.pooled(controls, ["row"]).select("row", meaning="measure")


def recoverabilities(grid: pl.DataFrame) -> pl.DataFrame:
    """Return the `row` and the `recoverability` of each row, the mean over its tasks.

    How well a classifier finds the groups of words that a mitigator no longer tells apart by their
    gap: the bias that linear mitigators leave.
    """
    residual = grid.filter(
        pl.col("value").is_not_null(), pl.col("family").cast(pl.String) == RESIDUAL
    )
    return residual.group_by("row", maintain_order=True).agg(recoverability=pl.col("value").mean())


def _meaningless(grid: pl.DataFrame) -> pl.DataFrame:
    """Return lines on rows that do not tell mother from father."""
    share = pl.col("meaning")
    return meanings(grid).filter(share < RETAINED).select(
        "row",
        unusable=pl.format(
            "tells mother from father by {} % of what the reference encoder does; {} % are needed",
            (100 * share.clip(0.0)).round(0).cast(pl.Int64), pl.lit(round(100 * RETAINED)),
        ),
    )  # fmt: skip


def _yardsticks(grid: pl.DataFrame) -> list[pl.DataFrame]:
    """Return lines on rows whose yardsticks are not clear, or not above 0 in a method."""
    bias = grid.filter(pl.col("not_ranked").is_null(), pl.col("gap").is_not_null(), measures="bias")
    if bias.is_empty():
        return []
    own = pl.when(pl.col("of") == ratios.ITEMS).then("family").otherwise("of").cast(pl.String)
    evidence = bias.filter(pl.col("t").is_not_null())
    yardsticks = ratios.pooled(evidence.with_columns(yardstick_of=own), ["row", "yardstick_of"])
    clear = yardsticks.group_by("row", maintain_order=True).agg(
        clear=((pl.col("t") >= ratios.CLEAR) & (pl.col("yardstick") > 0)).sum(), of=pl.len()
    )
    blurred = clear.filter(pl.col("clear") < ratios.CLEAR_SHARE * pl.col("of")).select(
        "row",
        unusable=pl.format(
            "{} of {} yardsticks are clear (t of at least {}); half of them are needed",
            "clear", "of", pl.lit(round(ratios.CLEAR)),
        ),
    )  # fmt: skip
    methods = ratios.pooled(bias, ["row", "family"])
    reversed_ = methods.filter(pl.col("yardstick") <= 0).select(
        "row",
        unusable=pl.format(
            "the yardstick of '{}' is not above 0", pl.col("family").cast(pl.String)
        ),
    )
    return [blurred.sort("row"), reversed_.sort("row", "unusable")]


def _usefulness(grid: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return a line for each row that is not more useful than noise, or has lost too much."""
    ranked = tasks.filter(pl.col("not_ranked").is_null(), measures="usefulness")
    useful = grid.join(ranked.select("task", "family"), on="task", how="semi").select(
        "row", "task", "family", "measure"
    )
    noise = (
        useful.join(rows.filter("is_noise"), on="row", how="semi")
        .drop_nulls("measure")
        .group_by("task")
        .agg(noise=pl.col("measure").mean())
    )
    if noise.is_empty():
        return []
    above = useful.join(noise, on="task").with_columns(above=pl.col("measure") - pl.col("noise"))
    family = ["row", "family"]
    mean = (
        above.drop_nulls("above")
        .group_by(family)
        .agg(pl.col("above").mean())
        .group_by("row")
        .agg(pl.col("above").mean())
    )
    every = rows.join(mean, on="row", how="left")
    models = every.filter(role="model")
    low = models.filter(pl.col("above").is_null() | (pl.col("above") < ABOVE_NOISE)).select(
        "row",
        unusable=pl.when(pl.col("above").is_null())
        .then(pl.lit("no usefulness task, so it cannot be told from random vectors"))
        .otherwise(
            pl.format(
                "usefulness {} above that of random vectors; at least {} is needed",
                pl.col("above").round(3),
                pl.lit(ABOVE_NOISE),
            )
        ),
    )
    return [low, _kept(above, rows)]


def _kept(above: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each mitigated row that lost too much of its model's usefulness."""
    model = ["name", "fingerprint"]
    with_row = above.join(rows, on="row").drop_nulls("above")
    base = with_row.filter(mitigator=BASELINES[0]).select(*model, "task", base="above")
    shares = (
        with_row.filter(role="mitigated")
        .join(base, on=[*model, "task"])
        .group_by("row", "family")
        .agg(pl.col("above", "base").mean())
        .group_by("row")
        .agg(pl.col("above", "base").mean())
        .filter(pl.col("base") > 0, pl.col("above") < KEPT * pl.col("base"))
    )
    return shares.select(
        "row",
        unusable=pl.format(
            "keeps {} % of the model's usefulness above random vectors; {} % are needed",
            (100 * pl.col("above") / pl.col("base")).round(0).cast(pl.Int64),
            pl.lit(round(100 * KEPT)),
        ),
    ).sort("row")


@dataclass(frozen=True)
class Board:
    """The leaderboard of one kind of embedder.

    Parameters
    ----------
    kind
        `word` or `text`.
    tasks
        One line a task: its facts, its chosen version and the scale of its score; `family` (one
        vote, as of `Record.vote`); `power`, `yardstick_of`,
        `reference_gap` and `reference_yardstick`, what the reference encoder shows, and
        `reference_scale`, 1; `not_ranked`,
        why its score is shown and not ranked, null if it is ranked.
    rows
        One line a row: ranked models, best first, then the rest. Identity: `row`, `model`,
        `mitigator`, `fingerprint`, `params`, `url`, `dimensions`, `parameters`. `role`: `model`
        (mitigator `none`; only these are ranked), `mitigated` (reported in `effects`) or
        `reference` (random and constant vectors: never ranked, lines to compare with). `control`:
        whether the mitigator mitigates nothing, such as planted bias. `complete`: whether it has a
        value on every ranked bias task in `language`. `unusable`: why it is not usable, such as
        yardsticks that are not clear; null if it is usable. `uneven`: why its yardstick
        may have been boosted, else null. `meaning`: how far it tells words apart that are female
        and male by definition, 1 for the reference encoder. `recoverability`: the mean over the
        tasks that ask what a classifier recovers. Bias: `bias`, the mean over `bias_families`
        methods of the pooled gap over the yardstick, 1 for the reference encoder (`ratios.pooled`),
        on `bias_tasks` tasks without leaks; `bias_low` and `bias_high`, what items leave open.
        `rank` by the upper end; `rank_low` and `rank_high`, the set of ranks that holds the true
        one, for all rows at once, null with fewer than `ranking.ENOUGH_FAMILIES` methods. A rank is
        null if only one row can be ranked. `left_out_low` and `left_out_high`: the ranks with any
        one method left out. `prompts`: under how many neutral prompts the model was run on these
        tasks, 1 for its own alone, 0 if it takes none; `prompt_low` and `prompt_high`, its lowest
        and highest bias over them; `prompt_error`, the root mean square of what they change, or the
        median of other rows if it is not known. It is part of the interval, and `rank_low` and
        `rank_high` hold under each prompt. Usefulness: the same with `usefulness` for
        `bias` and `usefulness_rank` for `rank`, by the mean; it is 1 - the mean distance to the
        ideal, over families, with Student's interval. A mitigated row has the means of its model
        plus the change in `effects`. Then `bias:CATEGORY` and `usefulness:CATEGORY`, means of a
        category; `task:NAME`, the value. `superseded_by`: the model that the authors of this one
        recommend instead; such a row is ranked all the same.
    effects
        One line for each mitigated row and `baseline` (`none`, `normalize`): `row`, `model`,
        `mitigator`, `unusable`. Change in bias against the same model under the baseline, over the
        tasks without a leak that both have (`effects.differences`): `bias` (negative is better),
        `bias_low`, `bias_high`, `bias_p`, `bias_holm` (p-value, and after Holm's correction over
        the effects on the same model), `bias_evidence` (`bias_holm` below .05: only such a change
        gets an arrow), `bias_tasks`, `bias_families`, `bias_leaks` (tasks left out as leaks).
        Usefulness: the same names with `usefulness` (positive is better).
    mitigators
        One line a mitigator, best first: `mitigator`; `models`, the number of models it ran on, and
        `not_usable`, on how many of them it is not usable; `bias` and `usefulness`, the mean paired
        effects against `none` over the models on which it is, with `bias_low`, `bias_high`,
        `bias_holm` (p-value after Holm's correction over all of them), `bias_tasks`,
        `bias_families` and the same for usefulness; `over`, these models by name; `rank`,
        `rank_low`, `rank_high` by the effect on bias on the models and in the methods that all
        have, and `ranked_on`, these models; `unranked`, why it has no rank, else null.
    cells
        One line for each row and task with a record. `gap`, `gap_error`, `yardstick`,
        `yardstick_error` and `power` are what counts: of usefulness 1 - distance, over 1; null if
        it does not count, as `aside` says. `measure` is the gap over the yardstick. `leak`: whether
        the mitigator was fitted on the task's texts; such a cell enters no mean, effect or rank.
        `floor`, `floor_sd` and `unit` are those of the record. `seeds`: how many seeds of the same
        content are averaged, and `spread`, the standard deviation of their values, null for one
        seed; `cells.py` says what the other columns hold then.
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
        weights of one name apart; `encoder`, its kind, such as `sparse`; `revision`, `url`,
        `dimensions`, `parameters`, `max_tokens`, `licence`, `open_weights`, `released`,
        `superseded_by`, `languages` (a list), `published` (JSON: scores by name) and
        `environments` (a list of `environment` and `records`, their number).
    reference
        Name of the model whose bias is 1; empty if it is not known.
    language
        Code of the language that its rows rank in (`language_of`): their means, ranks, effects and
        what makes them unusable are on the tasks in it.
    concepts
        One line for each model and category of bias: `row`, `category`, and the mean as in `rows`
        with its interval, `bias`, `bias_low` and `bias_high`.
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
    reference: str = ""
    language: str = ""
    concepts: pl.DataFrame = field(default_factory=pl.DataFrame)

    def names(self, measures: str) -> list[str]:
        """Return the names of the tasks of bias or usefulness that rank in its language."""
        return self._ranked(measures)["task"].to_list()

    def categories(self, measures: str) -> list[str]:
        """Return the categories of these tasks, sorted."""
        return sorted(set(self._ranked(measures)["category"]))

    def families(self, measures: str) -> int:
        """Return the number of families of these tasks."""
        return self._ranked(measures)["family"].n_unique()

    def _ranked(self, measures: str) -> pl.DataFrame:
        return self.tasks.filter(
            pl.col("not_ranked").is_null(), measures=measures, language=self.language
        )

    def summary(self) -> str:
        """Return one line on how many models are ranked, on how many tasks."""
        roles = self.rows.filter(pl.col("complete"), role="model")
        usable = int(roles["unusable"].is_null().sum())
        tasks = (
            f"{count(len(self.names('bias')), 'bias task')} and "
            f"{count(len(self.names('usefulness')), 'usefulness task')}"
        )
        if usable == 1:
            line = f"1 complete model on {tasks}; ranking needs two"
        else:
            line = f"{count(usable, 'model')} ranked on {tasks}"
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
    references: Mapping[str, References] = MappingProxyType({}),
    variants: pl.DataFrame | None = None,
    without_prompts: Collection[str] = (),
) -> list[Board]:
    """Return a board for each kind of embedder that has primary claims, word before text.

    Parameters
    ----------
    claims
        Claims that are trusted, with the columns of `claims.reading.SCHEMA`.
    benchmarks
        Named sets of tasks; a board has those that have tasks on it.
    kinds
        Kinds of embedder that a task runs on, by its name: a benchmark does not lack a task that
        does not run on the kind of the board. A task that is not here runs on all.
    references
        What the reference encoder of each kind shows.
    variants
        Trusted claims of these models under other neutral prompts.
    without_prompts
        Names of models that take no prompt.
    """
    kinds_there = claims.lazy().filter("primary").select(pl.col("kind").unique()).collect()
    files = list(benchmarks)
    return [
        _board(
            kind,
            claims,
            [(file, [t for t in file.tasks if kind in kinds.get(t, (kind,))]) for file in files],
            references.get(kind, {}),
            claims.clear() if variants is None else variants,
            without_prompts,
        )
        for kind in kinds_there["kind"].cast(pl.String).sort(descending=True)
    ]


def _reference(references: References) -> str:
    """Return the name of the reference model; empty if there is none, or several."""
    names = {held.model for held in references.values()}
    return names.pop() if len(names) == 1 else ""


def _board(
    kind: str,
    claims: pl.DataFrame,
    files: list[tuple[BenchmarkFile, list[str]]],
    references: References,
    variants: pl.DataFrame,
    without_prompts: Collection[str],
) -> Board:
    found = cells(claims, kind)
    chosen, others = found.ranked.drop("kind"), found.others.drop("kind")
    its_claims = claims.lazy().filter(pl.col("kind") == kind)
    tasks = tasks_of(chosen, references)
    every_row = rows_of(kind, chosen, others)
    who = _plain(every_row.select("row", "model", mitigator="label"))
    rows = every_row.join(chosen.select("row").unique(), on="row", how="semi")
    grid = grid_of(chosen, others, tasks, rows)
    every = grid.filter(pl.col("not_ranked").is_null())
    language = language_of(tasks, every)
    own, ranked = in_language(grid, language), in_language(every, language)
    failing = unusable(own, tasks, rows)
    lacks = lacking(grid)
    warnings = (*notices(grid, ranked, others, tasks, rows, failing), *mixed_versions(its_claims))
    frame = rows.join(aggregated(grid, own, tasks), on="row")
    for marks in (uneven(own, references), meanings(own), recoverabilities(own)):
        frame = frame.join(marks, on="row", how="left", maintain_order="left")
    concepts = concepts_of(own)
    draws = under_prompts(variants, chosen, kind)
    draws = draws.cast({name: grid.schema[name] for name in ("row", "task")})
    del grid, own  # they are as large as what is ranked
    over_models = mitigators(differences(ranked), rows, failing, has_bias=_has_bias(ranked))
    models = models_of(its_claims, rows)
    its_effects = effects(ranked, failing)
    data = Ranked(tasks, rows, every, language, failing, draws, without_prompts)
    prompts = data.prompts(tasks.filter(language=language))
    frame = with_changes(_with_spreads(frame, prompts.spreads), its_effects)
    frame = _with_ranks(frame, ranked, failing, prompts)
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
        effects=_plain(its_effects).join(who, on="row", how="left"),
        mitigators=over_models,
        cells=_plain(chosen),
        lacks=_plain(lacks, "measures", "reason"),
        others=_plain(others.select(_OTHERS)).join(
            who, on="row", how="left", maintain_order="left"
        ),
        environments=environments_of(models),
        published=published(its_claims, tasks),
        notices=warnings,
        benchmarks=benchmarks_of(data, files, frame, over_models),
        models=models,
        reference=_reference(references),
        language=language,
        concepts=_plain(concepts, "category"),
    )


def _with_spreads(rows: pl.DataFrame, spreads: pl.DataFrame) -> pl.DataFrame:
    """Add `PROMPTS` to rows, and widen their intervals; mitigated rows are as their models."""
    model = ["name", "fingerprint"]
    own = rows.select("row", *model).join(spreads, on="row").drop("row")
    frame = rows.join(own.unique(model, keep="first"), on=model, how="left", maintain_order="left")
    return widened(frame, "bias", "prompt_error")


def _with_ranks(
    rows: pl.DataFrame, ranked: pl.DataFrame, failing: pl.DataFrame, prompts: Prompts
) -> pl.DataFrame:
    """Add the reasons for rows that are not ranked, and ranks of the others; best rows first."""
    frame = rows.drop("mitigator", "name", "is_noise", "kind").rename({"label": "mitigator"})
    frame = frame.join(failing, on="row", how="left")
    for measures in PREFIXES:
        on_bias = prompts if measures == "bias" else None
        frame = frame.join(ranks_of(ranked, failing, measures, on_bias), on="row", how="left")
    deciding = "" if _has_bias(ranked) else PREFIXES["usefulness"]
    return frame.with_columns(
        complete=pl.col(f"{deciding}complete").fill_null(value=False),
        usefulness_complete=pl.col("usefulness_complete").fill_null(value=False),
    ).sort(
        f"{deciding}rank", "complete", "bias", "usefulness", "model", "mitigator", "row",
        descending=[False, True, False, True, False, False, False], nulls_last=True,
    )  # fmt: skip


def _plain(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return a frame whose rows, tasks and families are strings, and so are further columns."""
    texts = [name for name in ("row", "task", "family", *names) if name in frame.columns]
    return frame.with_columns(_strings(frame[name]) for name in texts)


def _strings(texts: pl.Series) -> pl.Series:
    """Return categories as strings that share their characters; a cast copies them."""
    if texts.dtype == pl.String:
        return texts
    different = texts.unique().drop_nulls().cast(pl.String)
    places = texts.cast(pl.Enum(different)).to_physical()
    return different.gather(places).alias(texts.name)
