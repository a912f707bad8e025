"""Two records of one thing: equal ones are one record, others contradict each other.

What contradicts each other counts for nothing until a maintainer decides (`withdrawn.yaml`):
whoever sends a second value for a cell must not decide what the board shows.
"""

from __future__ import annotations

import functools

import polars as pl

from harness.leaderboard.boards import references
from harness.leaderboard.boards.cells import REFERENCES
from harness.leaderboard.claims.identities import SCORE
from harness.leaderboard.claims.reading import Aside, asides

TOLERANCE = 1e-4
"""Largest difference of two equal values, as a share of the unit or the range of the score."""
_P_TOLERANCE = 0.005
_NUMBERS = ("value", "floor", "unit")
"""Numbers that rank. Intervals do not, and a later harness computes some in another way."""
_FILLED = ("floor", "p_value", "low", "high")
"""What an older harness did not compute: a record that has it replaces an equal one without."""
_EXACT = ("asked", "found", "reversed", "undone", "is_leak")
_ROUNDED = (*_NUMBERS, "p_value", "reversed")
_ROUNDING = pl.col("is_leak") & ~pl.col("primary")
"""Where these are not compared. After a mitigator on the texts that it was fitted on only rounding
may be left, and a correlation of it is another on each machine. No board shows these scores."""
_CELL = (
    *("fingerprint", "label", "params", "task", "digest", "scenario", "metric", "score", "seed"),
)
_FIT = ("label", "params", "mitigator_fingerprint")

_Decided = tuple[pl.DataFrame, list[Aside]]


def of_equal_ids(frame: pl.DataFrame) -> _Decided:
    """Return one record of each id, the fullest, then the oldest; all that differ are set aside."""
    several = frame.filter(pl.col("id").is_duplicated())
    if not several.height:
        return frame, []
    span = (pl.col("high_bound") - pl.col("low_bound")).abs()
    differing = (
        several.with_columns(
            is_leak=pl.col("overlap").list.len() > 0,
            scale=pl.coalesce(pl.col("unit").first().over("id"), span, 1.0),
        )
        .with_columns(pl.when(~_ROUNDING).then(pl.col(name)).alias(name) for name in _ROUNDED)
        .group_by("id")
        .agg(
            pl.coalesce(
                *(
                    pl.when(_differ(name, TOLERANCE * pl.col("scale").max())).then(pl.lit(name))
                    for name in _NUMBERS
                ),
                pl.when(_differ("p_value", pl.lit(_P_TOLERANCE))).then(pl.lit("p_value")),
                *(pl.when(pl.col(c).n_unique() > 1).then(pl.lit(c)) for c in _EXACT),
            ).alias("differing"),
            least=_shown(pl.col("value").min()),
            most=_shown(pl.col("value").max()),
        )
        .drop_nulls("differing")
    )
    values = pl.format(" ({} to {})", "least", "most")
    reason = pl.format(
        "conflict: records with this id differ in '{}'{}; none counts until withdrawn.yaml decides",
        "differing",
        pl.when(pl.col("differing") == "value").then(values).otherwise(pl.lit("")),
    )
    aside = asides(several.join(differing, on="id", maintain_order="left"), reason)
    place = (pl.col(name).cast(pl.String) for name in ("created", "file"))
    empty = pl.sum_horizontal(pl.col(name).is_null() for name in (*_FILLED, "unit"))
    fullest = frame.join(differing, on="id", how="anti", maintain_order="left").sort(
        empty, *place, "line"
    )
    return fullest.unique("id", keep="first", maintain_order=True), aside


def of_references(frame: pl.DataFrame) -> _Decided:
    """Set aside what differs from the shipped records of the reference models.

    All rows are compared with them. So nobody else has their names or fingerprints, and no other
    seed is averaged with what is shipped. Further tasks may have records of them.
    """
    shipped = _references()
    prints = shipped.select("fingerprint", reference=pl.col("model").cast(pl.String)).unique()
    is_own = pl.col("model").is_in(REFERENCES) | pl.col("fingerprint").is_in(
        prints["fingerprint"].implode()
    )
    own = frame.filter(is_own)
    if not own.height:
        return frame, []
    numbers = shipped.select(
        *SCORE, shipped_id="id", **{f"shipped_{name}": pl.col(name) for name in _NUMBERS}
    )
    compared = own.join(prints, on="fingerprint", how="left").join(numbers, on=SCORE, how="left")
    name = pl.col("model").cast(pl.String)
    is_another_seed = pl.col("shipped_id") != pl.col("id")
    differing = pl.coalesce(pl.when(_differs_from_shipped(n)).then(pl.lit(n)) for n in _NUMBERS)
    reason = (
        pl.when(pl.col("reference").is_null())
        .then(pl.format("'{}' is the name of a reference model", name))
        .when(pl.col("reference") != name)
        .then(pl.format("the fingerprint is that of the reference model '{}'", "reference"))
        .when(is_another_seed)
        .then(pl.lit("a reference model has one seed on a task, which is shipped"))
        .when(pl.col("shipped_id").is_not_null() & differing.is_not_null())
        .then(pl.format("the shipped {} of this reference model is another", differing))
    )
    wrong = compared.with_columns(why=reason).drop_nulls("why")
    kept = frame.join(wrong.select("id", "model"), on=["id", "model"], how="anti",
                      maintain_order="left")  # fmt: skip
    return kept, asides(wrong, pl.col("why"))


def _differs_from_shipped(name: str) -> pl.Expr:
    own, shipped = pl.col(name), pl.col(f"shipped_{name}")
    span = (pl.col("high_bound") - pl.col("low_bound")).abs()
    room = TOLERANCE * pl.coalesce("shipped_unit", span, 1.0)
    return (own.is_null() != shipped.is_null()) | ((own - shipped).abs() > room).fill_null(
        value=False
    )


def of_fits(frame: pl.DataFrame) -> _Decided:
    """Set aside fits of a mitigator that fewer models have than another fit of the same cell.

    Of several fits that as many models have, a board shows the latest: a concept was changed.
    """
    fits = pl.col("mitigator_fingerprint").n_unique()
    cells = frame.group_by(_CELL).agg(fits.alias("fits")).filter(pl.col("fits") > 1)
    if not cells.height:
        return frame, []
    models = frame.group_by(_FIT).agg(models=pl.col("fingerprint").n_unique())
    compared = (
        frame.join(cells.drop("fits"), on=_CELL, how="semi", nulls_equal=True)
        .join(models, on=_FIT)
        .with_columns(most=pl.col("models").max().over(_CELL))
    )
    wrong = compared.filter(pl.col("models") < pl.col("most"))
    reason = pl.format(
        "another fit of '{}' than most models have: its concept was changed; evaluate again",
        pl.col("label").cast(pl.String),
    )
    kept = frame.join(wrong.select("id"), on="id", how="anti", maintain_order="left")
    return kept, asides(wrong, reason)


def _differ(name: str, tolerance: pl.Expr) -> pl.Expr:
    """Return whether numbers of a group differ, or some are null that may not be.

    The unit came with the floor: a record that has a floor and no unit means to have none.
    """
    column = pl.col(name)
    differ = (column.max() - column.min() > tolerance).fill_null(value=False)
    if name in _FILLED:
        return differ
    is_mixed = column.is_null().any() & column.is_not_null().any()
    if name == "unit":
        is_mixed &= (column.is_null() & pl.col("floor").is_not_null()).any()
    return differ | is_mixed


def _shown(number: pl.Expr) -> pl.Expr:
    return number.cast(pl.String).fill_null("none")


@functools.cache
def _references() -> pl.DataFrame:
    return references.shipped_claims()
