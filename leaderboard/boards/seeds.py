"""Several seeds of one row and task become one cell: their mean, with its spread.

What is drawn at random in a score (permutations, splits) differs between seeds; the texts and
vectors are the same. So:

- `value`, `measure`, `distance`, `floor`, `floor_sd` and `unit` are means over seeds.
- `low` and `high` are means of the ends. The error of a mean is at most the mean of the errors, and
  seeds share the items, which the interval is about. So the mean interval holds the mean value at
  least as often as each interval its own value.
- `p_value` is the largest: evidence has to hold with every seed. The smallest would be a choice of
  the best of several tests, and a mean of p-values is no p-value.
- `reversed` and `undone` hold if they hold with every seed.
- Counts, words, dates and the id are those of the smallest seed.

A seed without a value that counts is left out where another has one.
"""

from __future__ import annotations

import polars as pl

_CELL = ("kind", "row", "task")
_MEANS = ("value", "measure", "distance", "floor", "floor_sd", "unit", "low", "high")
_EVERY = ("reversed", "undone")


def averaged(measured: pl.DataFrame) -> pl.DataFrame:
    """Return one line for each row and task, with `seeds`, their number, and `spread`.

    `spread` is the standard deviation of the value over seeds; null with one seed, whose line
    stays as it is.
    """
    several = pl.len().over(_CELL) > 1
    single = measured.filter(~several).with_columns(
        seeds=pl.col("value").is_not_null().cast(pl.Int64), spread=pl.lit(None, dtype=pl.Float64)
    )
    more = measured.filter(several)
    if more.is_empty():
        return single
    counts = pl.col("value").is_not_null() & pl.col("aside").is_null()
    special = (*_CELL, *_MEANS, *_EVERY, "p_value")
    joined = (
        more.filter(counts | ~counts.any().over(_CELL))
        .unique([*_CELL, "seed"], keep="last", maintain_order=True)
        .sort(*_CELL, "seed")
        .group_by(_CELL, maintain_order=True)
        .agg(
            pl.exclude(special).first(),
            pl.col(_MEANS).mean(),
            pl.col(_EVERY).all(),
            pl.col("p_value").max(),
            seeds=pl.col("value").count().cast(pl.Int64),
            spread=pl.col("value").std(),
        )
    )
    return pl.concat([single, joined.select(single.columns)])
