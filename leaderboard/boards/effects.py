"""Paired effects of mitigators on each model, and mitigators ranked over models.

An effect is a mean over families (of bias: the methods) of differences on the same tasks, less the
tasks on whose texts the mitigator was fitted. Knows cells, not records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from harness import errors
from harness.results import ratios

from .cells import BASELINES
from .ranking import DIGITS, means, rank

if TYPE_CHECKING:
    from .ranking import Places

EVIDENCE = 0.05
"""A change with a p-value below this after Holm's correction has evidence."""
MEASURES = ("bias", "usefulness")
_MODEL = ["name", "fingerprint"]


def effects(grid: pl.DataFrame, unusable: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each mitigated row and baseline; see `Board.effects`.

    Parameters
    ----------
    grid
        A line for every row and ranked task: `row`, `name` and `fingerprint` of the model,
        `mitigator`, `params`, `label` (the mitigator as shown), `role`, `task`, `family`,
        `measures`, `leak`, and what is pooled.
    unusable
        `row` and `unusable`, the reason, of the rows that are not usable.
    """
    frames = [_against(grid, baseline) for baseline in BASELINES]
    return pl.concat(frames).join(unusable, on="row", how="left").sort("row", "baseline")


def mitigators(
    changes: pl.DataFrame, rows: pl.DataFrame, unusable: pl.DataFrame, *, has_bias: bool
) -> pl.DataFrame:
    """Return a line a mitigator, best first; see `Board.mitigators`.

    Parameters
    ----------
    changes
        The `differences` against `none`, on the tasks to rank by.
    rows
        `row`, `role`, `control`, `model`, its `name` and `fingerprint`, and `label`, of every row.
    unusable
        As of `effects`.
    has_bias
        Whether a task to rank by measures bias.
    """
    # Effects on unusable models say nothing about the mitigator.
    rows = rows.with_columns(pl.col(_MODEL).cast(changes.schema["name"]))
    excluded = rows.filter(role="model").join(unusable, on="row", how="semi").select(_MODEL)
    labels = rows.select(*_MODEL, pl.col("model").cast(pl.String)).unique(_MODEL)
    rows = rows.filter(role="mitigated").select("row", *_MODEL, "control", mitigator="label")
    on_usable = rows.join(excluded.unique(), on=_MODEL, how="anti")
    judged = on_usable.join(unusable, on="row", how="anti").filter(~pl.col("control"))
    own = changes.filter("is_bounded").join(judged.select("row"), on="row", how="semi")
    over = {name: _over_models(own.filter(measures=name)) for name in MEASURES}
    models = pl.struct(_MODEL).n_unique().cast(pl.Int64)
    frame = (
        rows.group_by("mitigator")
        .agg(pl.col("control").all(), models=models)
        .join(
            on_usable.join(unusable, on="row", how="semi")
            .group_by("mitigator")
            .agg(not_usable=models),
            on="mitigator",
            how="left",
        )
        .with_columns(pl.col("not_usable").fill_null(0))
        .sort("mitigator")
    )
    reasons = _unranked(frame, judged, on_usable, over, has_bias=has_bias)
    ranked = [name for name, reason in reasons.items() if reason is None]
    of_bias = own.filter(pl.col("mitigator").is_in(ranked), measures="bias")
    shared, apart = _comparable(of_bias)
    reasons |= apart
    ranks = rank(_over_models(shared).rename({"mitigator": "row"})).rename({"row": "mitigator"})
    if ranks.height == 1:  # a rank needs two
        ranks = ranks.with_columns(pl.lit(None, pl.Int64).alias(name) for name in _RANK)
    frame = frame.with_columns(
        unranked=pl.Series([reasons[name] for name in frame["mitigator"]], dtype=pl.String)
    )
    for name in MEASURES:
        mean = means(over[name], ["mitigator"]).rename({"mean": name})
        ends = ("low", "high", "p", "families", "tasks")
        mean = mean.rename({end: f"{name}_{end}" for end in ends})
        frame = frame.join(mean, on="mitigator", how="left")
    return (
        _corrected(frame)
        .join(_models_of(own, labels), on="mitigator", how="left")
        .join(ranks, on="mitigator", how="left")
        .join(_models_of(shared, labels, "ranked_on"), on="mitigator", how="left")
        .with_columns(ranked_on=pl.when(pl.col("rank").is_not_null()).then("ranked_on"))
        .sort("rank", "mitigator", nulls_last=True)
        .select("mitigator", "models", "not_usable", "over", *_RANK, "ranked_on",
                *_columns("bias"), *_columns("usefulness"), "unranked")
    )  # fmt: skip


def _models_of(changes: pl.DataFrame, labels: pl.DataFrame, name: str = "over") -> pl.DataFrame:
    """Return the `mitigator`s of changes with their models, as text in a column `name`."""
    models = changes.join(labels, on=_MODEL).group_by("mitigator").agg(pl.col("model").unique())
    texts = [errors.listed(sorted(names), LISTED) for names in models["model"].to_list()]
    return models.select("mitigator", pl.Series(name, texts, dtype=pl.String))


_RANK = ("rank", "rank_low", "rank_high")
LISTED = 3
"""Most models that a line names."""
LEAST_COMMON = 0.5
"""Least share of the models in common that a mitigator must have to be ranked with the others: one
that was run on a single model does not shrink the comparison of all."""


def _over_models(changes: pl.DataFrame) -> pl.DataFrame:
    """Return the mean difference of each mitigator in each family, for `rank` and `means`."""
    return changes.group_by("mitigator", "family").agg(
        pl.col("difference").mean().alias("measure"),
        pl.col("tasks").max(),
        pl.col(ratios.SCALE).first(),
    )


def _comparable(changes: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the changes of bias by which mitigators are ranked, and why others are not ranked.

    Like is compared with like: on the models, and in the methods on them, that all of these have.
    Mitigators with most models come first; each further one needs a share of what they have in
    common.
    """
    models = {
        str(key[0]): set(frame.select(_MODEL).unique().iter_rows())
        for key, frame in changes.group_by("mitigator")
    }
    kept: list[str] = []
    common: set[tuple[Any, ...]] = set()
    for name in sorted(models, key=lambda name: (-len(models[name]), name)):
        both = common & models[name] if kept else models[name]
        if len(both) >= max(1, LEAST_COMMON * len(common)):
            kept.append(name)
            common = both
    few = "too few models in common with the other mitigators"
    reasons = dict.fromkeys(models.keys() - kept, few)
    if len(kept) == 1 < len(models):
        return changes.clear(), dict.fromkeys(models, "the mitigators have no model in common")
    held = changes.filter(pl.col("mitigator").is_in(kept))
    n = pl.col("mitigator").n_unique().over(*_MODEL, "family")
    shared = held.filter(n == len(kept))
    if kept and shared.is_empty():
        reasons |= dict.fromkeys(kept, "the mitigators have no method of bias in common")
    return shared, reasons


def _columns(name: str) -> list[str]:
    ends = ("low", "high", "holm", "tasks", "families")
    return [name, *(f"{name}_{end}" for end in ends)]


def _unranked(
    frame: pl.DataFrame,
    judged: pl.DataFrame,
    on_usable: pl.DataFrame,
    over: dict[str, pl.DataFrame],
    *,
    has_bias: bool,
) -> dict[str, str | None]:
    """Return why each mitigator has no rank; None if it has one.

    Parameters
    ----------
    frame
        All mitigators, each with `control`, whether it is a control that mitigates nothing.
    judged, on_usable
        The rows that are usable and no control, and all rows of usable models, with their
        `mitigator`.
    over
        The effects of each mitigator on bias and usefulness.
    has_bias
        Whether a task measures bias.
    """
    controls = set(frame.filter("control")["mitigator"])
    tried, usable = set(on_usable["mitigator"]), set(judged["mitigator"])
    has = {name: set(frame["mitigator"]) for name, frame in over.items()}
    reasons: dict[str, str | None] = {}
    for name in frame["mitigator"]:
        if name in controls:
            reasons[name] = "a control, no mitigation"
        elif name not in tried:
            reasons[name] = "run on no usable model"
        elif name not in usable:
            reasons[name] = "not usable on any model"
        elif not has_bias:
            reasons[name] = "no task measures bias"
        elif name not in has["bias"]:
            reasons[name] = "no bias task without a leak to compare on"
        elif has["usefulness"] and name not in has["usefulness"]:
            reasons[name] = "no result of usefulness"
        else:
            reasons[name] = None
    return reasons


def differences(grid: pl.DataFrame, baseline: str = BASELINES[0]) -> pl.DataFrame:
    """Return the difference of each mitigated row from its model, in each family.

    Both are pooled over the tasks that both have without a leak. Of bias, with the gaps N' and the
    yardsticks D' of the mitigated row, and N and D of its model, the difference is the larger of
    |N'/D'| − |N/D| and |N'/D| − |N/D|. So neither noise, which lowers N' and D' alike, nor a larger
    yardstick alone makes a mitigator look good.

    Parameters
    ----------
    grid
        As of `effects`.
    baseline
        Mitigator to compare with.

    Returns
    -------
    pl.DataFrame
        A line for each row and family: `row`, `name` and `fingerprint` of the model, `mitigator`,
        `measures`, `family`, `difference`, `tasks`, their number, `reference_scale`, and
        `is_bounded`: whether both ratios have an interval. If not, they may be anything, and so may
        their difference.
    """
    unbounded = (
        ratios.pooled(grid.drop_nulls("gap"), ["row", "family"])
        .filter(pl.col("error").is_null())
        .select("row", "family", is_unbounded=True)
    )
    base = (
        grid.filter(mitigator=baseline)
        .sort(pl.col("params").cast(pl.String).str.len_chars(), "params", "row")  # fewest settings
        .unique([*_MODEL, "task"], keep="first", maintain_order=True)
        .select(*_MODEL, "task", base_gap="gap", base_yardstick="yardstick", base_row="row")
    )
    own, on_base, before = (ratios.ratio(*pair) for pair in _PAIRS)
    reference = ratios.ratio(*ratios.REFERENCE[:2])
    of_bias = pl.max_horizontal(own.abs(), on_base.abs()) - before.abs()
    difference = pl.when(pl.col("measures") == "bias").then(of_bias).otherwise(own - before)
    difference = pl.when(ratios.is_scaled()).then(difference)
    return (
        grid.filter(role="mitigated")
        .join(base, on=[*_MODEL, "task"])
        .filter(pl.col("row") != pl.col("base_row"))
        .drop_nulls(["gap", "base_gap"])
        .group_by("row", *_MODEL, "measures", "family", mitigator="label")
        .agg(
            pl.col({name for pair in (*_PAIRS, ratios.REFERENCE[:2]) for name in pair}).sum(),
            pl.col("power", "base_row", ratios.SCALE).first(),
            reference_variance=(pl.col("reference_error") ** 2).sum(),
            tasks=pl.len(),
        )
        .join(unbounded, on=["row", "family"], how="left")
        .join(unbounded.rename({"row": "base_row"}), on=["base_row", "family"], how="left")
        .with_columns(
            is_bounded=pl.col("is_unbounded").is_null() & pl.col("is_unbounded_right").is_null()
        )
        .with_columns(difference=(difference / reference).round(DIGITS))
        .drop_nulls("difference")
        .select(
            *("row", *_MODEL, "mitigator", "measures", "family", "difference", "tasks"),
            *("is_bounded", ratios.SCALE),
        )
        .with_columns(pl.col("mitigator").cast(pl.String))
        .sort("row", "measures", "family")
    )


_PAIRS = (("gap", "yardstick"), ("gap", "base_yardstick"), ("base_gap", "base_yardstick"))


def _against(grid: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Return the effects of all mitigated rows against one baseline."""
    changes = differences(grid, baseline).with_columns(measure=pl.col("difference"))
    frame = grid.filter(role="mitigated").select("row", *_MODEL).unique().sort("row")
    leaks = grid.filter("leak").group_by("row").agg(bias_leaks=pl.len().cast(pl.Int64))
    for name in MEASURES:
        of_measure = changes.filter(measures=name)
        bounded = of_measure.group_by("row").agg(pl.col("is_bounded").all())
        mean = (
            means(of_measure, ["row"])
            .join(bounded, on="row")
            .with_columns(
                pl.when("is_bounded").then(end).alias(end) for end in ("low", "high", "p")
            )
            .drop("is_bounded")
            .rename({"mean": name})
        )
        ends = ("low", "high", "p", "tasks", "families")
        frame = frame.join(
            mean.rename({end: f"{name}_{end}" for end in ends}), on="row", how="left"
        )
    return (
        _corrected(frame, _MODEL)
        .join(leaks, on="row", how="left")
        .select(
            pl.lit(baseline).alias("baseline"),
            "row",
            *(
                f"{name}{end}"
                for name in MEASURES
                for end in ("", "_low", "_high", "_p", "_holm", "_evidence", "_tasks", "_families")
            ),
            pl.col("bias_leaks").fill_null(0),
        )
        .filter(pl.any_horizontal(pl.col(MEASURES).is_not_null()))
    )


def _corrected(frame: pl.DataFrame, within: list[str] | None = None) -> pl.DataFrame:
    """Add the p-values after Holm's correction, and whether there is evidence.

    The correction is over the table, or over the rows that agree in the columns `within`: what is
    known of one model does not depend on which other models there are.
    """
    from harness.study.significance import holm

    p_values = frame.select(pl.col(f"{name}_p") for name in MEASURES).fill_null(np.nan).to_numpy()
    adjusted = np.full(p_values.shape, np.nan)
    for places in _places(frame, within or []):
        adjusted[places] = holm(p_values[places])
    columns = (
        pl.Series(f"{name}_holm", adjusted[:, i], dtype=pl.Float64, nan_to_null=True)
        for i, name in enumerate(MEASURES)
    )
    return frame.with_columns(columns).with_columns(
        (pl.col(f"{name}_holm") < EVIDENCE).fill_null(value=False).alias(f"{name}_evidence")
        for name in MEASURES
    )


def _places(frame: pl.DataFrame, within: list[str]) -> list[Places]:
    """Return the places of the rows that agree in some columns; all rows without columns."""
    every = np.arange(frame.height)
    if not within or frame.is_empty():
        return [every]
    groups = frame.select(pl.struct(within).rank("dense")).to_series().to_numpy()
    order = np.argsort(groups, kind="stable")
    return np.split(every[order], np.flatnonzero(np.diff(groups[order])) + 1)
