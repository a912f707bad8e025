"""Cells of a leaderboard: one line for each row and task, chosen from the primary claims.

Chooses the version and fit that count for each task and kind of embedder. Ranks nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import polars as pl

from harness import names
from harness.errors import UnknownName
from harness.metrics import in_words
from harness.results.columns import greatest_loss, is_within, loss
from harness.results.ratios import MEANING, NORMAL
from harness.results.record import NOT_STATED
from harness.results.seeds import mean_of_seeds

from ..claims.reading import REFERENCE

# What each value counts: of bias its gap over the yardstick. Ranks nothing.
#
# The scale is that of `harness.results.record`, for all claims at once.


ROOM = 0.1
"""Share of the range of a score by which its bounds in two records may differ."""
NO_YARDSTICK = (
    "no gap over a yardstick: the task has none, or the record is older than its yardstick"
)
"""Why a value of bias is shown and does not rank: noise would lower it."""
NO_REFERENCE = "without a value of the reference encoder"
NO_SCALE = "a score without bounds cannot be added to others"

OF_MEANING = f"/{MEANING}"
"""End of the family of controls that ask what words mean by definition."""

_OUTSIDE = "outside its bounds"
_TASK = ("kind", "task")
_OWN = ("own_low", "own_high")
_BOUNDS = ("low_bound", "high_bound")


def measured(claims: pl.DataFrame) -> pl.DataFrame:
    """Add the measure of each value, on the scale of the latest claim of its task.

    Parameters
    ----------
    claims
        Primary claims, with the columns of `claims.reading.SCHEMA`.

    Returns
    -------
    pl.DataFrame
        With the task's `ideal`, `low_bound` and `high_bound`; `distance`, to the ideal in [0, 1],
        null for a score without bounds; `gap`, `gap_error`, `yardstick`, `yardstick_error`, `power`
        and `of`, what is pooled: for usefulness the gap is 1 - `distance` and the yardstick 1, and
        all are null where there is no value or for the reason in `aside`; `measure`, the gap over
        the yardstick.
    """
    measures = pl.col("measures")
    of_task = latest(claims, _TASK).select(*_TASK, "ideal", *_BOUNDS)
    frame = (
        claims.rename(dict(zip(_BOUNDS, _OWN, strict=True)))
        .drop("ideal")
        .join(of_task, on=_TASK, how="left", maintain_order="left")
    )
    low, high = (pl.col(name) for name in _BOUNDS)
    room = pl.when(low.is_null() | high.is_null()).then(0.0).otherwise(ROOM * (high - low))
    is_inside = is_within(*(pl.col(name) for name in _OWN)) & is_within(low - room, high + room)
    frame = frame.with_columns(outside_own=~is_within(*(pl.col(name) for name in _OWN)))
    distance = (loss() / greatest_loss()).clip(0.0, 1.0)
    has_value = pl.col("value").is_not_null()
    frame = frame.with_columns(
        inside=has_value & is_inside, distance=pl.when(has_value & is_inside).then(distance)
    )
    is_useful = measures == "usefulness"
    frame = frame.with_columns(
        aside=pl.when(has_value & ~pl.col("inside"))
        .then(pl.lit(_OUTSIDE))
        .when(pl.col("inside") & is_useful & pl.col("distance").is_null())
        .then(pl.lit(NO_SCALE))
        .when(pl.col("inside") & (pl.col("unseen") == "fit not stated"))
        .then(pl.lit(NOT_STATED))
        .when(pl.col("inside") & (measures == "bias") & pl.col("gap").is_null())
        .then(pl.lit(NO_YARDSTICK))
    )
    is_meaning = pl.col("family").cast(pl.String).str.ends_with(OF_MEANING)
    is_judged = (measures != "control") | is_meaning
    counts = pl.col("inside") & pl.col("aside").is_null() & is_judged
    useful: dict[str, pl.Expr] = {
        "gap": 1 - pl.col("distance"),
        "gap_error": (pl.col("high") - pl.col("low")) / 2 / NORMAL / greatest_loss(),
        "yardstick": pl.lit(1.0),
        "yardstick_error": pl.lit(0.0),
        "power": pl.lit(1, dtype=pl.Int64),
        "ratio_low": pl.lit(None, dtype=pl.Float64),
        "ratio_high": pl.lit(None, dtype=pl.Float64),
    }
    parts = {
        name: pl.when(counts).then(pl.when(is_useful).then(value).otherwise(name))
        for name, value in useful.items()
    }
    return (
        _outside(frame.with_columns(**parts))
        .with_columns(measure=ratio())
        .drop(*_OWN, "outside_own", "inside")
    )


def ratio() -> pl.Expr:
    """Return the gap over the yardstick, of squares the root; null if that is not above 0."""
    ratio = pl.col("gap") / pl.col("yardstick")
    root = ratio.sign() * ratio.abs().sqrt()
    return pl.when(pl.col("yardstick") > 0).then(
        pl.when(pl.col("power") == 1).then(ratio).otherwise(root)
    )


def latest(claims: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return the latest claim of each group."""
    is_latest = pl.col("created") == pl.col("created").max().over(by)
    ages = claims.select(*by, "created", "id").with_row_index("place").filter(is_latest)
    places = ages.sort("created", "id").group_by(by, maintain_order=True).agg(pl.last("place"))
    return claims[places["place"]]


def _outside(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the reason for values outside their bounds; there are few."""
    key = ("value", "outside_own", *_OWN, *_BOUNDS)
    outside = frame.filter(pl.col("aside") == _OUTSIDE).select(key).unique()
    if outside.is_empty():
        return frame
    reasons = []
    for value, outside_own, own_low, own_high, low, high in outside.iter_rows():
        bounds = (own_low, own_high) if outside_own else (low, high)
        reasons.append(f"the value {value:g} is outside {in_words(bounds)}")
    said = outside.with_columns(
        pl.Series("exceeded", reasons, dtype=pl.String), aside=pl.lit(_OUTSIDE)
    )
    return (
        frame.join(
            said, on=[*key, "aside"], how="left", nulls_equal=True, maintain_order="left"
        )
        .with_columns(aside=pl.coalesce("exceeded", "aside"))
        .drop("exceeded")
    )  # fmt: skip


# Several seeds of one row and task become one cell; `harness.results.seeds` has the rule.


_CELL = ("kind", "row", "task")


def averaged(measured: pl.DataFrame) -> pl.DataFrame:
    """Return one line for each row and task, with `seeds`, their number, and `spread`.

    `spread` is the standard deviation of the value over seeds; null with one seed, whose line
    stays as it is.
    """
    is_several = measured.select(_CELL).is_duplicated()
    single = measured.filter(~is_several) if is_several.any() else measured
    single = single.with_columns(
        seeds=pl.col("value").is_not_null().cast(pl.Int64), spread=pl.lit(None, dtype=pl.Float64)
    )
    if not is_several.any():
        return single
    more = measured.filter(is_several)
    counts = pl.col("value").is_not_null() & pl.col("aside").is_null()
    # Of several runs with one seed the last one with a counting value is used.
    runs = more.filter(counts | ~counts.any().over(_CELL)).unique(
        [*_CELL, "seed"], keep="last", maintain_order=True
    )
    joined = mean_of_seeds(runs, _CELL, counts)
    return pl.concat([single, joined.select(single.columns)])


POOLED = ("gap", "gap_error", "yardstick", "yardstick_error", "power", "of")
"""Columns of a cell that means are made of."""
NONE = "none"
"""The mitigator that all others are compared with."""
REFERENCES = ("random-words", "random-texts", "constant-words", "constant-texts")
"""Names of the reference models, without options: random and constant vectors. Never ranked."""
NOISE = REFERENCES[:2]
"""Those whose vectors are random."""
IDENTITY = ("model", "fingerprint", "mitigator", "label", "params")
"""Columns of a claim that name its row."""

_COLUMNS = (
    *(
        "kind",
        *IDENTITY,
        "mitigator_fingerprint",
        "fitted_on",
        "control",
        "task",
        "version",
        "digest",
    ),
    *("title", "measures", "category", "family", "language", "scenario", "metric", "score"),
    *("unranked", "ideal", "low_bound", "high_bound", "unseen", "value", "reason", "p_value"),
    *("alternative", "reversed", "undone", "low", "high", "level", "floor", "floor_sd", "unit"),
    *("gap", "gap_error", "yardstick", "yardstick_error", "power", "of", "t", "contrasts"),
    *("ratio_low", "ratio_high", *REFERENCE, "deviations"),
    *("n", "asked", "found", "truncated", "word_share", "seed", "created", "id"),
)
OTHER_CONTENT = "another version or content of the task"
OTHER_FIT = "replaced by a later fit of the mitigator"
_BY_AGE = ("created", "id")


@dataclass(frozen=True)
class Cells:
    """The cells of a leaderboard.

    Parameters
    ----------
    ranked
        Cells of the chosen version of each task, one for each row and task, seeds averaged. What
        counts is as of `measured`; `seeds`, the number of seeds, and `spread`, the standard
        deviation of the value over them.
    others
        Claims of another version or fit; `why` says which.
    """

    ranked: pl.DataFrame
    others: pl.DataFrame


def of_tasks(claims: pl.DataFrame, patterns: Iterable[str]) -> pl.DataFrame:
    """Return the claims on the tasks that `patterns`, names or globs, match.

    Raises
    ------
    UnknownName
        If a pattern matches no task of a primary claim.
    """
    known = set(claims.filter("primary")["task"].unique())
    chosen = set()
    for pattern in patterns:
        matching = {name for name in known if fnmatchcase(name, pattern)}
        if not matching:
            raise UnknownName("task or benchmark in these records", pattern, known)
        chosen |= matching
    return claims.filter(pl.col("task").is_in(sorted(chosen)))


def cells(claims: pl.DataFrame, kind: str) -> Cells:
    """Return the cells of the primary claims on a kind of embedder, by row and task.

    They share their columns with claims that are `in_order`.

    The highest version of a task counts. If claims of this version have different content, the
    content with most rows counts. Ties go to the older content, then to the smaller digest, so the
    order of the claims does not matter. Of several fits of a mitigator on one concept, the latest
    counts. Other seeds of the same content and fit are averaged.
    """
    every = with_rows(_of_kind(claims.select("primary", *_COLUMNS), kind).drop("primary"))
    every = every.cast({name: _in_order(every[name]) for name in ("task", "family")})
    every = every.join(_contents(every), on=_TASK, how="left", maintain_order="left")
    is_content = pl.col("digest") == pl.col("chosen")
    every = every.join(
        _fits(every.filter(is_content)), on=["row", *_TASK], how="left", maintain_order="left"
    )
    is_fit = (pl.col("mitigator_fingerprint") == pl.col("fit")).fill_null(value=True)
    is_ranked = every.select(is_content & is_fit).to_series()
    why = pl.when(~is_content).then(pl.lit(OTHER_CONTENT)).otherwise(pl.lit(OTHER_FIT))
    others = every.filter(~is_ranked).with_columns(why=why).sort(_BY_AGE)
    helpers = ("chosen", "fit", "mitigator_fingerprint")
    if others.height:
        every = every.filter(is_ranked)
    return Cells(_by_row(averaged(measured(every.drop(helpers)))), others.drop(helpers))


def under_prompts(variants: pl.DataFrame, chosen: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the cells of models under other neutral instructions, on tasks of bias.

    They count if the model was run without a mitigator, on the content of the task that counts for
    the model's own prompt, which `chosen`, the ranked cells of the kind, has.

    Returns
    -------
    pl.DataFrame
        `row`, that of the model under its own prompt, `prompt`, `task`, and `POOLED`. Texts are
        strings.
    """
    schema = dict.fromkeys(("row", "prompt", "task"), pl.String)
    own = chosen.filter(mitigator=NONE, measures="bias").select(
        pl.col("row", "fingerprint", "task", "digest").cast(pl.String)
    )
    texts = ("base_fingerprint", "fingerprint", "prompt", "task", "digest")
    key = {"base_fingerprint": "fingerprint", "task": "task", "digest": "digest"}
    found = (
        variants.filter(pl.col("kind") == kind, pl.col("mitigator") == NONE, "primary")
        .with_columns(pl.col(texts).cast(pl.String))
        .join(own, left_on=list(key), right_on=list(key.values()), how="semi")
    )
    if found.is_empty():
        return pl.DataFrame(schema={**schema, **chosen.select(POOLED).schema})
    bases = found.select("fingerprint", "base_fingerprint", "prompt").unique("fingerprint")
    every = cells(found.with_columns(pl.col("fingerprint").cast(variants.schema["fingerprint"])),
                  kind).ranked  # fmt: skip
    return (
        every.select(pl.col("fingerprint", "task", "digest").cast(pl.String), *POOLED)
        .drop_nulls("gap")
        .join(bases, on="fingerprint")
        .join(own, left_on=list(key), right_on=list(key.values()))
        .select(*schema, *POOLED)
        .unique(list(schema), keep="first", maintain_order=True)
        .sort(*schema)
    )


def in_order(claims: pl.DataFrame) -> pl.Series:
    """Return the places of claims in an order in which the cells of a kind are one slice.

    Primary claims come first, by kind, row and task, the oldest of a cell first.
    """
    rows = with_rows(claims.select("primary", "kind", "task", *IDENTITY, *_BY_AGE))
    order = (~pl.col("primary"), "kind", "row", "task", *_BY_AGE)
    return rows.select(pl.arg_sort_by(order)).to_series()


def _by_row(chosen: pl.DataFrame) -> pl.DataFrame:
    """Return cells by row and task, without a copy if they are."""
    row, task = (pl.col(name).to_physical().cast(pl.Int64) for name in ("row", "task"))
    places = chosen.select(row * (1 + task.max()) + task).to_series()
    return chosen if places.is_sorted() else chosen.sort("row", "task")


def _of_kind(claims: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Return the primary claims on a kind of embedder, without a copy if they stand together."""
    places = claims.select(pl.arg_where(pl.col("primary") & (pl.col("kind") == kind))).to_series()
    if not places.len():
        return claims.clear()
    first, last = places[0], places[-1]
    is_slice = last - first + 1 == places.len()
    return claims[first : last + 1] if is_slice else claims[places]


def contents(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the `chosen` digest of each `kind` and `task` of the primary claims."""
    needed = (*_TASK, *IDENTITY, "digest", "version", "created")
    return _contents(with_rows(claims.select("primary", *needed).filter("primary")))


def _contents(every: pl.DataFrame) -> pl.DataFrame:
    by = ("version", "rows", "created", "digest")
    return (
        every.group_by(*_TASK, "digest")
        .agg(pl.col("version").max(), pl.col("created").min(), rows=pl.col("row").n_unique())
        .sort(by, descending=[True, True, False, False])
        .unique(subset=_TASK, keep="first", maintain_order=True)
        .select(*_TASK, chosen="digest")
    )


def _fits(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the latest `fit` of each row and task that has several, as its fingerprint."""
    key = ("row", *_TASK)
    fit = pl.col("mitigator_fingerprint")
    return (
        claims.select(*key, "mitigator_fingerprint", *_BY_AGE)
        .filter(pl.len().over(key) > 1)
        .sort(_BY_AGE)
        .group_by(key)
        .agg(fit=fit.last())
    )


def with_rows(claims: pl.DataFrame) -> pl.DataFrame:
    """Add `row`, the key of the row of each claim: its model, mitigator and settings.

    The mitigator is known by its label, and also by its name where one label has several.
    """
    key = ("model", "fingerprint", "label", "params")
    rows = claims.select(*key, "mitigator").unique(maintain_order=True)
    is_shared = rows.select(pl.col("mitigator").n_unique().over(key) > 1).to_series()
    keys = (
        row if has_several else row[: len(key)]
        for row, has_several in zip(rows.iter_rows(), is_shared, strict=True)
    )
    names = pl.Series("row", map(json.dumps, keys), dtype=pl.String)
    return claims.join(
        rows.with_columns(names.cast(_in_order(names))),
        on=[*key, "mitigator"],
        how="left",
        maintain_order="left",
    )


def _in_order(texts: pl.Series) -> pl.Enum:
    """Return the type of texts that are sorted, grouped and joined as quickly as numbers."""
    return pl.Enum(texts.unique().cast(pl.String).sort())


def name_without_options() -> pl.Expr:
    """Return the name of the model without the options after it, as `REFERENCES` has names."""
    return pl.col("model").cast(pl.String).str.split("?").list.first()


# Rows of a board: their roles, and the model and the mitigator as shown.


def rows_of(kind: str, chosen: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row, sorted by `row`.

    Parameters
    ----------
    kind
        `word` or `text`.
    chosen, others
        The cells of a board.

    Returns
    -------
    pl.DataFrame
        `row`, `kind`, `name` (of the model), `fingerprint`, `mitigator` and `params`; `model` and
        `label`, the model and the mitigator as shown; `control`, whether the mitigator is a
        control that mitigates nothing; `role` (see `Board.rows`); `is_noise`, whether it is random
        vectors as they are shipped, without options or a mitigator: no other row may set the bar
        of usefulness.

    Notes
    -----
    Different weights under one name get the end of the fingerprint. Rows of records that were
    written without a label get the settings that differ.
    """
    rows = (
        pl.concat([frame.select("row", *IDENTITY, "control") for frame in (chosen, others)])
        .group_by("row", *IDENTITY)
        .agg(pl.col("control").any())
        .sort("row")
        .with_columns(pl.col(IDENTITY).cast(pl.String))
    )
    name = name_without_options()
    is_none = pl.col("mitigator") == NONE
    role = (
        pl.when(name.is_in(REFERENCES))
        .then(pl.lit("reference"))
        .when(is_none)
        .then(pl.lit("model"))
        .otherwise(pl.lit("mitigated"))
    )
    return rows.with_columns(
        *_labels(rows),
        name="model",
        kind=pl.lit(kind),
        role=role,
        is_noise=pl.col("model").is_in(NOISE) & is_none,
    )


def _labels(rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the models and the mitigators as shown."""
    prints: defaultdict[str, set[str]] = defaultdict(set)
    settings: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        prints[row["model"]].add(row["fingerprint"])
        if row["label"] == row["mitigator"] and row["params"] not in settings[row["mitigator"]]:
            settings[row["mitigator"]].append(row["params"])
    alike = {label: [json.loads(params) for params in texts] for label, texts in settings.items()}
    models, mitigators = [], []
    for row in rows.iter_rows(named=True):
        several = len(prints[row["model"]]) > 1
        model, fingerprint = row["model"], row["fingerprint"]
        models.append(names.with_fingerprint(model, fingerprint) if several else model)
        params = json.loads(row["params"]) if row["label"] == row["mitigator"] else {}
        differing = {
            key: value
            for key, value in params.items()
            if any(other.get(key) != value for other in alike[row["label"]])
        }
        mitigators.append(names.with_options(row["label"], differing))
    return (
        pl.Series("model", models, dtype=pl.String),
        pl.Series("label", mitigators, dtype=pl.String),
    )
