"""Records with one id: equal ones are one record, others are a conflict, whose value is not known.

The order of files and lines decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from harness.results.columns import Column
from harness.results.reading import SetAside

TOLERANCE = 1e-4
"""Largest difference of two equal values, as a share of the unit or the range of the score."""
_P_TOLERANCE = 0.005
NUMBERS = ("value", "floor", "unit", "gap", "yardstick")
"""Numbers that rank; intervals do not."""
_EXACT = ("asked", "found", "reversed", "undone")
_ROUNDED = (*NUMBERS, "p_value", "reversed")
_ROUNDING = pl.col("unseen").is_in(("held-out fit", "void")) & ~pl.col("primary")
"""Scores whose numbers on all texts are not compared. On the texts that a mitigator was fitted on,
only rounding errors may remain, and their correlation differs between machines."""
COLUMNS: Mapping[str, Column] = {
    **{name: name for name in ("id", "created", "primary", "value", "unit", "p_value")},
    "floor": "floor.mean",
    **{name: f"ratio.{name}" for name in ("gap", "yardstick")},
    "low_bound": ("bounds", lambda bounds: bounds[0], pl.Float64()),
    "high_bound": ("bounds", lambda bounds: bounds[1], pl.Float64()),
    **{name: f"coverage.{name}" for name in ("asked", "found")},
    "reversed": ("details", lambda details: details.get("reversed") is True, pl.Boolean()),
    "undone": ("details", lambda details: details.get("undone") is not None, pl.Boolean()),
    "unseen": "unseen.kind",
}
"""The columns that are compared, as of `Columns.flat`."""


def one_of_each_id(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[SetAside]]:
    """Return the oldest record of each id in the place of the first, and all in conflict.

    Parameters
    ----------
    frame
        Records with the columns `COLUMNS`, and `file` and `line`, which may be null. If it has the
        column `source`, the newest records of an id from a source replace the others.

    Returns
    -------
    tuple
        The records with a further column `conflict`, which says what differs, or is null; and an
        entry for each record in conflict.
    """
    rows = frame.with_row_index("row").with_columns(first="row")
    is_repeated = pl.col("id").is_duplicated()
    several = rows.filter(is_repeated)
    if not several.height:
        return frame.with_columns(conflict=pl.lit(None, pl.String)), []
    span = (pl.col("high_bound") - pl.col("low_bound")).abs()
    several = several.with_columns(first=pl.col("row").min().over("id"))
    if "source" in several.columns:
        age = pl.concat_str(pl.col("created", "file").cast(pl.String))  # a run's file has its time
        several = several.filter(age == age.max().over("id", "source"))
    scale = TOLERANCE * pl.col("scale").max()
    differing = (
        several.with_columns(scale=pl.coalesce(pl.col("unit").first().over("id"), span, 1.0))
        .with_columns(pl.when(~_ROUNDING).then(pl.col(name)).alias(name) for name in _ROUNDED)
        .group_by("id")
        .agg(
            pl.coalesce(
                *(pl.when(_differ(name, scale)).then(pl.lit(name)) for name in NUMBERS),
                pl.when(_differ("p_value", pl.lit(_P_TOLERANCE))).then(pl.lit("p_value")),
                *(pl.when(pl.col(c).n_unique() > 1).then(pl.lit(c)) for c in _EXACT),
            ).alias("name"),
            least=_shown(pl.col("value").min()),
            most=_shown(pl.col("value").max()),
        )
        .drop_nulls("name")
    )
    values = pl.format(" ({} to {})", "least", "most")
    reason = pl.format(
        "conflict: records with this id differ in '{}'{}",
        "name",
        pl.when(pl.col("name") == "value").then(values).otherwise(pl.lit("")),
    )
    several = several.join(
        differing.select("id", conflict=reason), on="id", how="left", maintain_order="left"
    )
    oldest = several.sort(
        *(pl.col(name).cast(pl.String) for name in ("created", "file")), "line"
    ).unique("id", keep="first", maintain_order=True)
    others = rows.filter(~is_repeated)
    kept = pl.concat([others, oldest], how="diagonal").sort("first").drop("row", "first")
    return kept, asides(several.drop_nulls("conflict"), pl.col("conflict"))


def asides(frame: pl.DataFrame, reason: pl.Expr) -> list[SetAside]:
    """Return an entry for each line of a frame of records, with its reason."""
    return [
        SetAside(file or "", line or 0, text, id_)
        for file, line, text, id_ in frame.select(
            pl.col("file").cast(pl.String),
            "line",
            reason.alias("reason"),
            pl.col("id").str.head(64),
        ).iter_rows()
    ]


def _differ(name: str, tolerance: pl.Expr) -> pl.Expr:
    """Return whether numbers of a group differ, or some are null and others are not."""
    column = pl.col(name)
    differ = (column.max() - column.min() > tolerance).fill_null(value=False)
    return differ | (column.is_null().any() & column.is_not_null().any())


def _shown(number: pl.Expr) -> pl.Expr:
    return number.cast(pl.String).fill_null("none")
