"""What each value counts: its distance to the ideal, and above the floor. Ranks nothing.

The formulas are those of `harness.results.scale`, for all claims at once.
"""

from __future__ import annotations

import polars as pl

from harness.scores import ROUNDING, in_words

ROOM = 0.1
"""Share of the range of a score by which its bounds in two records may differ."""
NO_FLOOR = "no floor, unlike other records of the task: evaluate again with --overwrite"
"""Why a value does not count: without its floor it would look more biased than the others."""
NO_SCALE = "a score with neither bounds nor a unit cannot be added to others"
LEAK = "leak: the mitigator was fitted on texts of the task"

_OUTSIDE = "outside its bounds"
_TASK = ("kind", "task")
_OWN = ("own_low", "own_high")
_BOUNDS = ("low_bound", "high_bound")


def measured(claims: pl.DataFrame) -> pl.DataFrame:
    """Add what each value counts, on the scale of the latest claim of its task.

    Parameters
    ----------
    claims
        Primary claims, with the columns of `claims.frame.SCHEMA`.

    Returns
    -------
    pl.DataFrame
        With the task's `ideal`, `low_bound` and `high_bound`; `distance`, to the ideal in [0, 1],
        null for a score without bounds; `measure`, what ranks: for bias the distance above the
        floor (lower is better), for usefulness 1 - `distance`, null if there is no value or for
        the reason in `aside`; `leak`: whether the mitigator was fitted on texts of a bias task.
        The measure of a leak enters no mean, effect or rank.
    """
    measures = pl.col("measures")
    is_bias = measures == "bias"
    has_floor = claims.group_by(_TASK).agg(has_floor=_have_floor())
    of_task = (
        latest(claims, _TASK)
        .select(*_TASK, "ideal", *_BOUNDS)
        .join(has_floor, on=_TASK)
        .with_columns(fair=pl.col("ideal").cast(pl.String).cast(pl.Float64, strict=False))
    )
    frame = (
        claims.rename(dict(zip(_BOUNDS, _OWN, strict=True)))
        .drop("ideal")
        .join(of_task, on=_TASK, how="left", maintain_order="left")
        .with_columns(
            leak=is_bias & (pl.col("overlap").list.len() > 0),
            lacks_floor=is_bias
            & pl.col("floor").is_null()
            & ~pl.col("undone")
            & pl.col("has_floor"),
        )
    )
    low, high = (pl.col(name) for name in _BOUNDS)
    room = pl.when(low.is_null() | high.is_null()).then(0.0).otherwise(ROOM * (high - low))
    frame = frame.with_columns(
        outside_own=~_is_within(*(pl.col(name) for name in _OWN)),
        outside_task=~_is_within(low - room, high + room),
        loss=_loss(),
        greatest=_greatest(),
    )
    has_value = pl.col("value").is_not_null()
    inside = has_value & ~pl.col("outside_own") & ~pl.col("outside_task")
    unit = pl.coalesce("unit", "greatest")
    above = pl.when(unit > 0).then((pl.col("loss") - pl.col("floor").fill_null(0.0)) / unit)
    distance = (pl.col("loss") / pl.col("greatest")).clip(0.0, 1.0)
    counted = pl.when(is_bias).then(above).when(measures == "usefulness").then(1 - distance)
    frame = frame.with_columns(
        distance=pl.when(inside).then(distance), counted=pl.when(inside).then(counted)
    ).with_columns(
        aside=pl.when(has_value & ~inside)
        .then(pl.lit(_OUTSIDE))
        .when(inside & (measures != "control") & pl.col("counted").is_null())
        .then(pl.lit(NO_SCALE))
        .when(inside & pl.col("lacks_floor"))
        .then(pl.lit(NO_FLOOR))
    )
    return (
        _outside(frame)
        .with_columns(measure=pl.when(pl.col("aside").is_null()).then("counted"))
        .drop(*_OWN, "has_floor", "fair", "lacks_floor", "outside_own", "outside_task", "loss",
              "greatest", "counted")
    )  # fmt: skip


def latest(claims: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Return the latest claim of each group."""
    ages = claims.select(*by, "created", "id").with_row_index("place").sort("created", "id")
    places = ages.group_by(by, maintain_order=True).agg(pl.col("place").last())["place"]
    return claims[places]


def _have_floor() -> pl.Expr:
    """Return whether as many models have a floor on a task as have a value without one.

    One record with a floor must not take the values of all others, where the score has none.
    """
    model, without = pl.col("fingerprint"), pl.col("floor").is_null()
    lacking = without & pl.col("value").is_not_null() & ~pl.col("undone")
    return model.filter(~without).n_unique() >= model.filter(lacking).n_unique()


def _is_within(low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """Return whether the value is within bounds, up to rounding; see `harness.scores.is_within`."""
    value = pl.col("value")
    room = ROUNDING * pl.max_horizontal(pl.lit(1.0), low.abs(), high.abs(), value.abs())
    return (low.is_null() | (value >= low - room)) & (high.is_null() | (value <= high + room))


def _loss() -> pl.Expr:
    """Return how far the value is from its ideal, in the unit of the score."""
    value, low, high = pl.col("value"), pl.col("low_bound"), pl.col("high_bound")
    return (
        pl.when(pl.col("ideal") == "higher")
        .then(high.fill_null(0.0) - value)
        .when(pl.col("ideal") == "lower")
        .then(value - low.fill_null(0.0))
        .otherwise((value - pl.col("fair")).abs())
    )


def _greatest() -> pl.Expr:
    """Return the greatest possible loss; null for a score that lacks a bound."""
    low, high, fair = pl.col("low_bound"), pl.col("high_bound"), pl.col("fair")
    greatest = (
        pl.when(fair.is_null())
        .then(high - low)
        .otherwise(pl.max_horizontal((fair - low).abs(), (fair - high).abs()))
    )
    return pl.when(low.is_not_null() & high.is_not_null() & (greatest > 0)).then(greatest)


def _outside(frame: pl.DataFrame) -> pl.DataFrame:
    """Say which bounds a value that is outside of them exceeds; few values are."""
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
