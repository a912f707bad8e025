"""Boards: the ranked and the incomplete rows of one kind of embedder, as data frames.

A row is a model under a mitigator. Word and text embedders have separate boards. The page, the
CSV and the JSON only format these frames: every number is computed here.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from harness import errors
from harness.results import estimator
from harness.results.ratios import MEANING, OVERALL

from ..claims.reading import REFERENCE
from .cells import (
    NO_REFERENCE,
    NONE,
    REFERENCES,
    cells,
    latest,
    name_without_options,
    rows_of,
    under_prompts,
)
from .findings import LANGUAGES, count, listed, narrow, notices
from .prompts import under_several
from .views import PREFIXES, Estimated, View, cells_of, views_of

if TYPE_CHECKING:
    from harness.task.reference import Reference
    from harness.task.schema import BenchmarkFile

References: TypeAlias = "Mapping[str, Reference]"
"""What the reference encoder shows, by task."""


# The tasks of a board, and its grid: a line for every row and task.


def tasks_of(
    chosen: pl.DataFrame,
    references: References = MappingProxyType({}),
    known: Container[str] = (),
) -> pl.DataFrame:
    """Return one line a task; its facts are those of its latest record.

    What the reference encoder shows is that of `references`; for tasks that are not `known` it is
    that of their records.
    """
    reason = (
        pl.when(pl.col("measures") == "control")
        .then(pl.lit("a control"))
        .when(pl.col("unranked").fill_null("") != "")
        .then(pl.col("unranked"))
        .when(~pl.col("adds"))
        .then(pl.coalesce("aside", pl.lit("no row has a value")))
        .when((pl.col("measures") == "bias") & pl.col("reference_gap").is_null())
        .then(pl.lit(NO_REFERENCE))
    )
    texts = (
        *("digest", "title", "measures", "category", "family", "language", "metric", "score"),
        *("scenario", "ideal", "of"),
    )
    facts = ("version", *texts, "low_bound", "high_bound", "unranked")
    newest = latest(chosen, ("task",)).select("task", *facts, *REFERENCE)
    pinned = [
        (name, held.gap, held.error, held.yardstick, held.yardstick_error)
        if (held := references.get(name))
        else (name, *(None if name in known else number for number in own))
        for name, *own in newest.select("task", *REFERENCE).iter_rows()
    ]
    schema: dict[str, Any] = {"task": pl.String, **dict.fromkeys(REFERENCE, pl.Float64())}
    shown = pl.DataFrame(pinned, schema=schema, orient="row").cast({"task": chosen.schema["task"]})
    is_useful = pl.col("measures") == "usefulness"
    return (
        chosen.group_by("task")
        .agg(
            pl.col("power").max().fill_null(1),
            rows=pl.col("value").count(),
            scaled=pl.col("distance").count() > 0,
            adds=pl.col("gap").is_not_null().any(),
            aside=pl.col("aside").drop_nulls().max(),
        )
        .join(newest.drop(REFERENCE), on="task")
        .join(shown, on="task")
        .with_columns(pl.col(*texts, "unranked").cast(pl.String))
        .with_columns(
            pl.when(is_useful).then(usual).otherwise(name).alias(name)
            for name, usual in zip(REFERENCE, (1.0, 0.0, 1.0, 0.0), strict=True)
        )
        .with_columns(not_ranked=reason)
        .select("task", *facts[:-1], "power", *REFERENCE, "rows", "scaled", "not_ranked")
        .rename({"of": "yardstick_of"})
        .sort("measures", "category", "task")
    )


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
        `task` and its facts; `held`, whether there is a cell; `value`; `gap`, and `measure`, the
        gap over the yardstick; `of` and `contrasts`; `why_null`, why nothing counts, null if it
        does.
    """
    elsewhere = (
        others.filter(pl.col("row").is_in(rows["row"].implode()))
        .group_by("row", "task")
        .agg(pl.col("why").last())
    )
    held = chosen.select(
        *("row", "task", "value", "reason", "aside", "of", "contrasts", "gap", "measure"),
        held=pl.lit(value=True),
    )
    why_null = (
        pl.when(pl.col("aside").is_not_null())
        .then("aside")
        .when(pl.col("held") & pl.col("value").is_null())
        .then(pl.coalesce(pl.col("reason").cast(pl.String), pl.lit("no value")))
        .when("held")
        .then(None)
        .when(pl.col("why").is_not_null())
        .then(pl.lit("only a record of ") + pl.col("why"))
        .otherwise(pl.lit("not run"))
    )
    facts = tasks.select("task", "measures", "category", "family", "language", "not_ranked")
    names = ("name", "fingerprint", "mitigator", "params", "label", "role")
    return (
        _categorical(rows.sort("row").select("row", *names))
        .join(_categorical(facts.sort("task")), how="cross", maintain_order="left_right")
        .join(held, on=["row", "task"], how="left", maintain_order="left")
        .join(elsewhere, on=["row", "task"], how="left", maintain_order="left")
        .with_columns(
            pl.col("held").fill_null(value=False), why_null=why_null.cast(pl.Categorical())
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
        .select("row", "task", "measures", reason="why_null")
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


MOST_OF_ONE = 0.3
"""Share of the sum of a yardstick's contrasts that one of them may give."""
MOST_SPREAD = 2.0
"""Spread of the contrasts, their standard deviation over their mean, over that of the reference
encoder. Beyond either a row is marked: its yardstick may have been boosted."""


def uneven(grid: pl.DataFrame, references: References) -> pl.DataFrame:
    """Return the `row` of each row whose yardstick is uneven, with `uneven`, the reason."""
    lines = grid.filter(pl.col("contrasts").is_not_null(), measures="bias", mitigator=NONE).select(
        "row", *(pl.col(name).cast(pl.String) for name in ("of", "contrasts"))
    )
    lines = lines.unique(["row", "of"], keep="first", maintain_order=True)
    reasons: dict[str, str] = {}
    for row, of, text in lines.iter_rows():
        held = references.get(str(of))
        reason = uneven_of(of, json.loads(text), {} if held is None else held.contrasts)
        if reason and row not in reasons:
            reasons[row] = reason
    return pl.DataFrame(
        {"row": list(reasons), "uneven": list(reasons.values())},
        schema={"row": lines.schema["row"], "uneven": pl.String()},
    )


FEWEST_CONTRASTS = 8
"""Fewest contrasts of a yardstick that is judged by their shares."""


def uneven_of(of: str, own: Mapping[str, float], usual: Mapping[str, float]) -> str:
    """Return why a yardstick may have been boosted, by the gaps of its contrasts; empty if not.

    Parameters
    ----------
    of
        Its name.
    own, usual
        The gap of each contrast, and that of the reference encoder.
    """
    values = np.array(list(own.values()))
    if len(own) < FEWEST_CONTRASTS:
        return ""
    largest = max(own, key=own.__getitem__)
    if own[largest] > MOST_OF_ONE * values.sum():
        return f"'{largest}' gives {round(100 * own[largest] / values.sum())} % of {of}"
    if set(usual) != set(own):
        return ""
    others = np.array(list(usual.values()))
    spread = (values.std() / values.mean()) / (others.std() / others.mean())
    return (
        f"contrasts of {of} spread {spread:.1f} times as much as is usual"
        if spread > MOST_SPREAD
        else ""
    )


# Benchmarks of a board: named sets of its tasks.
#
# `all` holds every ranked task in the language of the board. Whether a row is usable was decided
# over all of these, and is the same on each benchmark.


ALL = "all"
"""Name of the benchmark that holds every ranked task in the language of the board."""
ENOUGH_FAMILIES = 6
"""Families of tasks from which a benchmark stands before others: a few ways to ask say little."""
SHARE = 0.25
"""Least share of a benchmark's tasks that run on the kind of embedder of a board. Below it, the
benchmark is made for the other kind: 2 of the 36 tasks of `social-bias-words` run on texts, too.
One for both kinds has about half of its tasks for each."""


@dataclass(frozen=True)
class Benchmark:
    """One named set of tasks of a board.

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
    notices
        Warnings about the ranks on these tasks.
    """

    name: str
    title: str
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    notices: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    description: str = ""
    citation: str = ""
    version: int | None = None


def _named(file: BenchmarkFile, names: list[str], tasks: pl.DataFrame) -> Benchmark | None:
    """Return a benchmark on a board of its kind that has some of its ranked tasks."""
    if len(names) < SHARE * len(file.tasks):
        return None
    listed_ = pl.DataFrame(
        {"task": names, "version": [file.tasks[name] for name in names]},
        schema={"task": pl.String, "version": pl.Int64},
    )
    held = tasks.join(listed_, on=["task", "version"], how="semi", maintain_order="left")
    own = held.filter(pl.col("not_ranked").is_null())
    if own.is_empty():
        return None
    lacking = tuple(name for name in names if name not in set(held["task"]))
    return Benchmark(
        name=file.name,
        title=file.title,
        description=file.description,
        citation=file.citation,
        version=file.version,
        tasks=tuple(own["task"]),
        languages=tuple(sorted(set(own["language"]))),
        lacking=lacking,
        notices=tuple(_lacking(lacking, len(names))),
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
        claims.filter(measures, pl.col("published").is_in(known), pl.col("mitigator") == NONE)
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


def unusable(
    grid: pl.DataFrame, tasks: pl.DataFrame, rows: pl.DataFrame, means: estimator.Means
) -> pl.DataFrame:
    """Return a line for each row that is not usable, with the reason.

    Parameters
    ----------
    grid
        A line for every row and task of the board.
    tasks
        `task`, `measures`, `family` and `not_ranked`.
    rows
        `row`, `role`, `is_noise`, `name` (of the model), `fingerprint` and `mitigator`.
    means
        Those of all rows on the tasks to rank by.

    Returns
    -------
    pl.DataFrame
        `row` and `unusable`; the reasons are joined by `; `.
    """
    nobody = pl.DataFrame(schema={"row": rows.schema["row"], "unusable": pl.String()})
    blurred = pl.DataFrame(list(means.unusable.items()), schema=nobody.schema, orient="row")
    reasons = [blurred, _meaningless(means), *_usefulness(grid, tasks, rows)]
    failed = pl.concat([frame.cast({"row": nobody.schema["row"]}) for frame in (nobody, *reasons)])
    return (
        failed.join(rows.filter(pl.col("role") != "reference"), on="row", how="semi")
        .group_by("row", maintain_order=True)
        .agg(pl.col("unusable").str.join("; "))
    )


def meanings(means: estimator.Means) -> pl.DataFrame:
    """Return the `row` and the `meaning` of each row: what it tells of definitions.

    That a mother is a woman and a father a man, over the yardstick; 1 for the reference encoder.
    """
    own = means.frame.filter(measures=MEANING, name=OVERALL)
    return own.select("row", meaning="value")


def recoverabilities(grid: pl.DataFrame) -> pl.DataFrame:
    """Return the `row` and the `recoverability` of each row, the mean over its tasks.

    How well a classifier finds the groups of words that a mitigator no longer tells apart by their
    gap: the bias that linear mitigators leave.
    """
    residual = grid.filter(
        pl.col("value").is_not_null(), pl.col("family").cast(pl.String) == RESIDUAL
    )
    return residual.group_by("row", maintain_order=True).agg(recoverability=pl.col("value").mean())


def _meaningless(means: estimator.Means) -> pl.DataFrame:
    """Return lines on rows that do not tell mother from father."""
    share = pl.col("meaning")
    return meanings(means).filter(share < RETAINED).select(
        "row",
        unusable=pl.format(
            "tells mother from father by {} % of what the reference encoder does; {} % are needed",
            (100 * share.clip(0.0)).round(0).cast(pl.Int64), pl.lit(round(100 * RETAINED)),
        ),
    )  # fmt: skip


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
    base = with_row.filter(mitigator=NONE).select(*model, "task", base="above")
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
        vote); `power`, `yardstick_of`, and what the reference encoder shows, `cells.REFERENCE`;
        `not_ranked`, why its score is shown and not ranked, null if it is ranked.
    rows
        One line a row: ranked models, best first, then the rest. Identity: `row`, `model`,
        `mitigator`, `fingerprint`, `params`, `url`, `dimensions`, `parameters`. `role`: `model`
        (mitigator `none`; only these are ranked), `mitigated` (reported in `effects`) or
        `reference` (random and constant vectors: never ranked, lines to compare with). `control`:
        whether the mitigator mitigates nothing, such as planted bias. `unusable`: why it is not
        usable, such as yardsticks that are not clear; null if it is usable. `uneven`: why its
        yardstick may have been boosted, else null. `meaning`: how far it tells words apart that are
        female and male by definition, 1 for the reference encoder. `recoverability`: the mean over
        the tasks that ask what a classifier recovers. Then the columns of `View.rows` of the first
        benchmark; `bias:CATEGORY`, that by each concept alone; `task:NAME`, the value.
        `superseded_by`: the model that the authors of this one recommend instead; such a row is
        ranked all the same.
    effects
        `View.effects` of the first benchmark, with `mitigator`, `unusable`, and the name of the
        model as `on`.
    cells
        One line for each row and task with a record. `gap`, `gap_error`, `yardstick`,
        `yardstick_error` and `power` are what counts: of usefulness 1 - distance, over 1; null if
        it does not count, as `aside` says. `measure` is the gap over the yardstick. `unseen`: how
        the value of bias is judged, of `harness.results.record.Judging`.
        `floor`, `floor_sd` and `unit` are those of the record. `seeds`: how many seeds of the same
        content are averaged, and `spread`, the standard deviation of their values, null for one
        seed; `cells.py` says what the other columns hold then.
    lacks
        One line for each row and task without a measure that counts, with the `reason`: not run,
        no value, or a value outside its bounds.
    others
        Records of other versions or fits, with `why`.
    environments
        Environments in which the records were computed, with the number of records of each.
    published
        Bias and published quality, one line a model, metric, score and scenario.
    notices
        Warnings about the ranks, such as a task that keeps rows from being ranked.
    benchmarks
        Each benchmark that has tasks here. The first is the default: the one with most ranked
        models.
    views
        What was computed on each benchmark: by all concepts and languages first.
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
    """

    kind: str
    tasks: pl.DataFrame
    rows: pl.DataFrame
    effects: pl.DataFrame
    cells: pl.DataFrame
    lacks: pl.DataFrame
    others: pl.DataFrame
    environments: tuple[tuple[str, int], ...]
    published: pl.DataFrame
    notices: tuple[str, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    views: tuple[View, ...] = ()
    models: pl.DataFrame = field(default_factory=pl.DataFrame)
    reference: str = ""
    language: str = ""

    def view(self, benchmark: str, concept: str = "") -> View:
        """Return what was computed on a benchmark, by a concept or by all, in all its languages."""
        return next(
            view
            for view in self.views
            if (view.benchmark, view.concept, view.language) == (benchmark, concept, "")
        )

    @property
    def judged(self) -> dict[str, dict[str, int]]:
        """How many bias tasks are judged in each way, by mitigator; for `tables.judged_lines`."""
        labels = self.rows.filter(role="mitigated").select("row", label="mitigator")
        lines = self.cells.filter(measures="bias").select("row", "task", "unseen").drop_nulls()
        counts = lines.join(labels, on="row").group_by("label", "unseen").agg(pl.n_unique("task"))
        ways: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for label, kind, n in counts.sort("label").iter_rows():
            ways[label][kind] = n
        return ways

    @property
    def first(self) -> View:
        """What was computed on the default benchmark."""
        return self.view(self.benchmarks[0].name)

    def summary(self) -> str:
        """Return one line on how many models are ranked, on how many tasks."""
        measured = self.tasks.filter(pl.col("task").is_in(self.first.tasks))["measures"].to_list()
        by = "bias" if "bias" in measured else "usefulness"
        tasks = (
            f"{count(measured.count('bias'), 'bias task')} and "
            f"{count(measured.count('usefulness'), 'usefulness task')}"
        )
        models = self.rows.filter(role="model")
        unusable = self.rows["unusable"].count()
        parts = {
            "mitigated": self.rows.filter(role="mitigated").height,
            "not usable": unusable,
            "not ranked": models.filter(
                pl.col("unusable").is_null(), pl.col(f"{PREFIXES[by]}rank").is_null()
            ).height,
        }
        line = f"{count(self.first.ranked(by), 'model')} ranked on {tasks}"
        return "; ".join([line, *(f"{n} {part}" for part, n in parts.items() if n)])


_OTHERS = ("row", "task", "version", "digest", "seed", "value", "created", "why")


def compile_boards(
    claims: pl.DataFrame,
    benchmarks: Iterable[BenchmarkFile] = (),
    kinds: Mapping[str, Container[str]] = MappingProxyType({}),
    references: Mapping[str, References] = MappingProxyType({}),
    variants: pl.DataFrame | None = None,
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
            kinds,
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
    known: Container[str],
) -> Board:
    found = cells(claims, kind)
    chosen, others = found.ranked.drop("kind"), found.others.drop("kind")
    its_claims = claims.lazy().filter(pl.col("kind") == kind)
    tasks = tasks_of(chosen, references, known)
    every_row = rows_of(kind, chosen, others)
    who = _plain(every_row.select("row", on="model", mitigator="label"))
    rows = every_row.join(chosen.select("row").unique(), on="row", how="semi")
    grid = grid_of(chosen, others, tasks, rows)
    every = grid.filter(pl.col("not_ranked").is_null())
    language = language_of(tasks, every)
    own, ranked = in_language(grid, language), in_language(every, language)
    counted = cells_of(chosen, tasks)
    in_it = tasks.filter(language=language)["task"].cast(pl.String)
    means = estimator.means(counted.filter(pl.col("task").is_in(in_it.implode())))
    failing = unusable(own, tasks, rows, means)
    lacks = lacking(grid)
    warnings = (*notices(grid, ranked, others, tasks, rows, failing), *mixed_versions(its_claims))
    rows, tasks = _plain(rows), _plain(tasks)
    for marks in (failing, uneven(own, references), meanings(means), recoverabilities(own)):
        rows = rows.join(_plain(marks), on="row", how="left", maintain_order="left")
    data = Estimated(counted, rows, tasks, under_prompts(variants, chosen, kind))
    benchmarks, views = _ranked(data, files, language, every, failing)
    models = models_of(its_claims, rows)
    first = next(view for view in views if view.benchmark == benchmarks[0].name)
    facts = models.select(
        "model", "fingerprint", "url", "dimensions", "parameters", "superseded_by"
    )
    frame = (
        rows.drop("mitigator", "name", "is_noise", "kind")
        .rename({"label": "mitigator"})
        .join(first.rows, on="row", how="left", maintain_order="left")
        .join(facts, on=["model", "fingerprint"], how="left", maintain_order="left")
    )
    for view in views:
        if (view.benchmark, view.language) == (first.benchmark, "") and view.concept:
            by_concept = view.rows.select("row", pl.col("bias").alias(f"bias:{view.concept}"))
            frame = frame.join(by_concept, on="row", how="left", maintain_order="left")
    by = PREFIXES["bias" if _has_bias(ranked) else "usefulness"]
    identity = ["row", "model", "mitigator", "role", "unusable"]
    return Board(
        kind=kind,
        tasks=tasks,
        rows=frame.select(*identity, pl.exclude(identity))
        .join(_values(chosen, tasks), on="row", how="left", maintain_order="left")
        .sort(
            f"{by}rank", "bias", "usefulness", "model", "mitigator", "row",
            descending=[False, False, True, False, False, False], nulls_last=True,
        ),
        effects=first.effects.join(who, on="row", how="left", maintain_order="left").join(
            _plain(failing), on="row", how="left", maintain_order="left"
        ),
        cells=_plain(chosen.drop("deviations")),
        lacks=_plain(lacks, "measures", "reason"),
        others=_plain(others.select(_OTHERS)).join(
            who.rename({"on": "model"}), on="row", how="left", maintain_order="left"
        ),
        environments=environments_of(models),
        published=published(its_claims, tasks),
        notices=warnings,
        benchmarks=benchmarks,
        views=views,
        models=models,
        reference=_reference(references),
        language=language,
    )  # fmt: skip


def _values(chosen: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return the value of each row on each task, in columns `task:NAME`."""
    own = chosen.select(
        pl.col("row").cast(pl.String), name=pl.lit("task:") + pl.col("task").cast(pl.String),
        value="value",
    )  # fmt: skip
    wide = own.pivot(on="name", index="row", values="value")
    return wide.select("row", *(f"task:{task}" for task in tasks["task"]))


def _has_bias(tasks: pl.DataFrame) -> bool:
    """Return whether one of some tasks measures bias; else models rank by usefulness."""
    return bool((tasks["measures"] == "bias").any())


def _ranked(
    data: Estimated,
    files: Iterable[tuple[BenchmarkFile, list[str]]],
    language: str,
    grid: pl.DataFrame,
    failing: pl.DataFrame,
) -> tuple[tuple[Benchmark, ...], tuple[View, ...]]:
    """Return the benchmarks that have ranked tasks, the default first, and what is computed.

    Benchmarks made for the other kind of embedder are left out, see `SHARE`. The default has most
    ranked models; of several, that with most tasks. Benchmarks that lack a task, or have few
    families, come after the others.

    Parameters
    ----------
    data
        What is known of the rows.
    files
        Each benchmark, with those of its tasks that run on the kind of embedder.
    language
        That of the board.
    grid
        The lines of the grid on ranked tasks, for notices.
    failing
        The rows that are not usable.
    """
    every = data.tasks.filter(pl.col("not_ranked").is_null())
    tasks = every.filter(language=language)
    in_words = LANGUAGES.get(language, language)
    everything = Benchmark(
        name=ALL,
        title="All tasks" if tasks.height == every.height else f"All tasks in {in_words}",
        tasks=tuple(tasks["task"]),
        languages=tuple(sorted(set(tasks["language"]))),
    )
    named = [found for file, names in files if (found := _named(file, names, data.tasks))]
    benchmarks, views = [], list[View]()
    for part in (everything, *named):
        on_it = pl.col("task").is_in(part.tasks)
        cells_on = data.cells.filter(on_it)
        lines = under_several(cells_on, data.draws, data.rows)
        if part.name != ALL:
            its_grid = grid.filter(pl.col("task").cast(pl.String).is_in(part.tasks))
            lines += [line for name in PREFIXES for line in narrow(its_grid, failing, name)]
        part = replace(part, notices=(*part.notices, *lines))
        benchmarks.append(part)
        views += views_of(data, part.name, every.filter(on_it), part.notices)
    other = every.filter(pl.col("language") != language)
    for code in sorted(set(other["language"])):
        views += views_of(data, ALL, other.filter(language=code), (), language=code)
    measures = "bias" if _has_bias(tasks) else "usefulness"
    by_name = {(view.benchmark, view.concept, view.language): view for view in views}

    def order(part: Benchmark) -> tuple[bool, bool, int, int, bool, str]:
        own = every.filter(pl.col("task").is_in(part.tasks), measures=measures)
        return (
            bool(part.lacking),
            own["family"].n_unique() < ENOUGH_FAMILIES,
            -by_name[part.name, "", ""].ranked(measures),
            -len(part.tasks),
            part.name != ALL,
            part.name,
        )

    return tuple(sorted(benchmarks, key=order)), tuple(views)


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
