"""Ranks of rows by means over methods or families of tasks, with simultaneous sets of ranks.

Knows measures, not records. A row's score is the mean over its families (of bias: the methods), so
no other row changes it. It has two kinds of error. Its interval says what the words and items of
these tasks leave open: a model whose vectors are blurred has a wide one, and models are ordered by
the upper end, since such a model cannot show that its bias is low. Whether two rows differ is a
question about methods, each a draw of a way to ask about bias, and is answered by the signs of the
differences of the rows in each: were the rows equal, each could as well have been the other way
round. The largest statistic over all pairs is compared with its distribution under all flips of
whole families, which keeps what rows share, and is exact for any number of families, sizes of
families and correlations within them. A normal or percentile bootstrap over few families is not:
with 6 families it calls equal rows different far too often.

References
----------
Mogstad, Romano, Shaikh and Wilhelm (2024). Inference for ranks with applications to mobility across
    neighbourhoods and academic achievement across countries. Review of Economic Studies 91.
Romano and Wolf (2005). Exact and approximate stepdown methods for multiple hypothesis testing.
    Journal of the American Statistical Association 100.
Ibragimov and Müller (2010). t-statistic based correlation and heterogeneity robust inference.
    Journal of Business & Economic Statistics 28: the intervals of means.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from harness import metrics
from harness.results import ratios

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    import numpy.typing as npt

    from harness.arrays import Floats, Mask, Reals

    Places: TypeAlias = npt.NDArray[np.intp]

LEVEL = 0.95
"""Confidence level of intervals and of sets of ranks."""
QUANTILE = 0.96
"""Quantile of the largest statistic under flips beyond which rows differ. A little above `LEVEL`,
since the test is exact only if differences are symmetric, and those of real tasks are not quite.
It was chosen after the coverage of simulated boards was seen; no theory gives .96. Where one of 8
equal rows has errors that are four times as large and as skewed as exponential (log-normal) ones,
the sets hold in 94 % (91 %) of simulated boards of 6 families, and in 92 % (87 %) of 11."""
ENOUGH_FAMILIES = 6
"""Fewest families for intervals and sets of ranks. With 5, not even rows that differ in the same
direction in each family differ by their signs at 5 % (2 · 2⁻⁵ = .0625)."""
FLIPS = 2048
"""Most flips of families; all different ones are counted up to 12 families."""
FEWEST_FLIPS = 256
"""Flips of a board of any size, if its families have as many."""
WORK = 100_000_000
"""Most statistics of a test, pairs × flips, beyond which a board gets fewer flips: from 313 rows.
A test by random flips that include the observed signs is exact for any number of them; fewer flips
only find the quantile less closely. With 1,000 rows, 256 flips take .1 to .4 s of CPU, which was
3 s with 2,048."""
DIGITS = 5
"""Digits of a mean that count: scores depend on the batches by up to 1e-5."""
_ROWS = 256
"""Rows whose pairs with all rows are in memory at once."""


class Tests(NamedTuple):
    """Student's intervals and p-values of means, one a row; NaN with few families."""

    low: Floats
    high: Floats
    p_value: Floats


def means(families: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return the mean over families of each group, with its interval and p-value.

    The interval and the test are those of Student's t over the families, which hold for few
    families of unequal sizes (Ibragimov and Müller 2010).

    Parameters
    ----------
    families
        Columns `by`, `family`, `measure` and `tasks`, and `reference_scale` if it is not 1, as of
        `ratios.pooled`.
    by
        Columns that name a group, such as the row.

    Returns
    -------
    pl.DataFrame
        `by`; `mean`, over the families; `low`, `high` and `p` (of the mean 0), null with fewer
        than `ENOUGH_FAMILIES` families; `families` and `tasks`, counts.
    """
    frame = _over_families(families, by, pl.col("measure").std().alias("sd"))
    mean, sd, n = (frame[name].cast(pl.Float64).to_numpy() for name in ("mean", "sd", "families"))
    columns = {
        name: pl.Series(name, values, dtype=pl.Float64, nan_to_null=True)
        for name, values in zip(("low", "high", "p"), _student(mean, sd, n), strict=True)
    }
    return frame.with_columns(**columns).select(
        *by, "mean", "low", "high", "p", "families", "tasks"
    )


def sampled_means(families: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return the mean over families of each group, with the interval that its items leave open.

    Parameters
    ----------
    families
        Columns `by`, `family`, `measure`, `error` and `tasks`, and `reference_scale` if it is not
        1, as of `ratios.pooled`.
    by
        Columns that name a group, such as the row.

    Returns
    -------
    pl.DataFrame
        As of `means`, without `p`. `low` and `high` are null if a family has no error.
    """
    error = (pl.col("error") ** 2).sum().sqrt() / pl.len()
    has = pl.col("error").is_not_null().all()
    spread = ratios.NORMAL * pl.when(has).then(error)
    frame = _over_families(families, by, spread.alias("spread"))
    return frame.select(
        *by,
        "mean",
        low=pl.col("mean") - pl.col("spread"),
        high=pl.col("mean") + pl.col("spread"),
        families="families",
        tasks="tasks",
    )


def _over_families(families: pl.DataFrame, by: list[str], *more: pl.Expr) -> pl.DataFrame:
    """Return the mean of each group over the families that have a measure, and their numbers."""
    return (
        _standardised(families.drop_nulls("measure"), by)
        .sort(*by, "family")
        .group_by(by, maintain_order=True)
        .agg(
            pl.col("measure").mean().alias("mean"),
            *more,
            pl.len().cast(pl.Int64).alias("families"),
            pl.col("tasks").sum().cast(pl.Int64),
        )
    )


def _standardised(families: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return families in units whose mean is that of `ratios.standardised`."""
    if ratios.SCALE not in families.columns:
        return families
    weight = 1 / pl.col(ratios.SCALE)
    share = weight / weight.mean().over(by)
    counted = [name for name in ("measure", "error") if name in families.columns]
    return families.with_columns(pl.col(name) * share for name in counted)


def widened(means: pl.DataFrame, by: str, error: str) -> pl.DataFrame:
    """Return means whose intervals hold a further error, which is independent of that of items.

    Parameters
    ----------
    means
        Columns `by`, `by_low` and `by_high`: the ends are equally far from the mean.
    by
        Name of the mean.
    error
        Column of the standard error; null for none.
    """
    mean, low = pl.col(by), pl.col(f"{by}_low")
    half = ((mean - low) ** 2 + (ratios.NORMAL * pl.col(error).fill_null(0.0)) ** 2).sqrt()
    return means.with_columns((mean - half).alias(f"{by}_low"), (mean + half).alias(f"{by}_high"))


def rank(
    families: pl.DataFrame,
    *,
    best: str = "lowest",
    order: pl.DataFrame | None = None,
    others: Sequence[pl.DataFrame] = (),
    errors: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Rank rows by their means over families.

    Parameters
    ----------
    families
        Columns `row`, `family` and `measure`, and `reference_scale` if it is not 1; one line for
        every pair of a row and a family.
    best
        `lowest` or `highest`: which mean has rank 1.
    order
        `row` and `order`, by which rows are ordered, lowest first, in place of their means; a row
        without a value comes last, and may have any rank: one of its means is not known.
    others
        The same lines as `families` under other prompts.
    errors
        `row` and `prompt_error`, what another prompt changes in its mean; null for nothing.

    Returns
    -------
    pl.DataFrame
        One line a row, best first: `row`; `rank`, from 1, where rows with equal means share the
        best rank; `rank_low` and `rank_high`, the set of ranks, null with fewer than
        `ENOUGH_FAMILIES` families.
    """
    families = families.sort("row", "family")
    places = dict.fromkeys(("rank", "rank_low", "rank_high"), pl.Int64())
    schema = pl.Schema({"row": families.schema["row"], **places})
    if families.is_empty():
        return pl.DataFrame(schema=schema)
    names = families["row"].unique(maintain_order=True)
    families = _standardised(families, ["row"])
    every = [families, *(_standardised(other.sort("row", "family"), ["row"]) for other in others)]
    values = [frame["measure"].to_numpy().reshape(len(names), -1) for frame in every]
    all_losses: list[Floats] = [part if best == "lowest" else -part for part in values]
    losses = all_losses[0]  # rows × families
    by = losses.mean(axis=1)

    def of_names(frame: pl.DataFrame, column: str, missing: float) -> Floats:
        own = pl.DataFrame({"row": names}).join(frame, on="row", how="left", maintain_order="left")
        return own[column].fill_null(missing).to_numpy()

    if order is not None:
        by = of_names(order, "order", math.inf)
    by = by.round(DIGITS)
    ranks = 1 + np.searchsorted(np.sort(by), by)
    low: pl.Expr | pl.Series = pl.lit(None)
    high = low
    if losses.shape[1] >= ENOUGH_FAMILIES:
        known = np.isfinite(by)
        ends = np.ones(len(by), dtype=int), np.full(len(by), len(by))
        error = None if errors is None else of_names(errors, "prompt_error", 0.0)[known]
        of_known = rank_sets(*(part[known] for part in all_losses), errors=error)
        ends[0][known], ends[1][known] = of_known[0], of_known[1] + np.sum(~known)
        low, high = pl.Series(np.minimum(ends[0], ranks)), pl.Series(np.maximum(ends[1], ranks))
    return (
        pl.DataFrame({"row": names})
        .with_columns(rank=pl.Series(ranks), rank_low=low, rank_high=high)
        .cast(schema)
        .sort("rank", "row")
    )


def rank_sets(losses: Reals, *others: Reals, errors: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the lowest and the highest rank of each row; all hold at once with `LEVEL`.

    Row j is better than row k if the mean of its families is lower by more than c standard errors;
    its rank is then at least 1 + the number of rows that are better, and at most p - the number of
    rows that it is better than. c is the `QUANTILE` quantile of the largest statistic of all pairs
    under flips of families; pairs that differ are left out, and c is found again, until no
    further pair differs (stepwise).

    Flips cannot see what moves a row in all families alike, as a prompt does. So rows that were run
    under several prompts differ only if they do so under each of them, in one direction, and if
    their means are further apart than `NORMAL` errors of prompts.

    Parameters
    ----------
    losses
        (p, families) mean loss of each row in each family; lower is better.
    others
        The same under other prompts.
    errors
        (p,) what another prompt changes in the mean of each row.

    Returns
    -------
    tuple of (p,) int64
    """
    better = _better(np.asarray(losses, dtype=np.float64))
    for other in others:
        better &= _better(np.asarray(other, dtype=np.float64))
    if errors is not None and errors.any():
        means = np.mean(losses, axis=1)
        for row in range(len(means)):  # a matrix of all pairs at once would be as large as `better`
            apart = np.abs(means - means[row]) > ratios.NORMAL * np.hypot(errors, errors[row])
            better[row] &= apart
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def _better(losses: Floats) -> Mask:
    """Return the (p, p) matrix of whether row j is better than row k.

    It is the only matrix of all pairs in memory: of ten thousand rows, one of scales has 0.8 GB.
    """
    n_rows = len(losses)
    sums = (_signs(losses.shape[1], n_rows) @ losses.T).astype(np.float32)  # flips × rows
    sums = np.ascontiguousarray(sums.T)
    observed = losses.sum(axis=1)
    scales = _Scales(losses)
    differ = np.zeros((n_rows, n_rows), dtype=bool)
    largest = np.zeros_like(sums)
    changed = np.arange(n_rows)
    while changed.size:
        for rows in _blocks(changed):
            of_rows = scales.of(rows).astype(np.float32)
            of_rows[differ[rows] | (np.arange(n_rows) <= rows[:, None])] = np.inf  # pairs once
            for row, scale in zip(rows, of_rows, strict=True):
                largest[row] = _largest(sums, row, scale)
        by_flip = np.sort(largest.max(axis=0))
        critical = by_flip[math.ceil(QUANTILE * len(by_flip)) - 1]
        differing = []
        for rows in _blocks(np.arange(n_rows)):
            size = np.abs(observed[rows, None] - observed) / scales.of(rows)
            more = ~differ[rows] & (size > critical * (1 + 1e-4))  # more than float32 rounds
            differ[rows] |= more
            differing.append(rows[more.any(axis=1)])
        changed = np.concatenate(differing)
    differ &= observed[:, None] < observed
    return differ


class _Scales:
    """The scales of the differences of sums of all pairs of rows, infinite where rows are equal.

    A scale is the root of the sum of squared differences plus its median over all pairs: with
    few families some pairs have small differences by chance. No flip of signs changes it, so the
    test is exact whatever the scale.
    """

    def __init__(self, losses: Floats) -> None:
        self._losses = losses
        self._norms = (losses**2).sum(axis=1)
        self._least = 1e-12 * max(self._norms.max(), 1e-300)
        self._median = self._median_of_pairs()

    def of(self, rows: Places) -> Floats:
        """Return the scales of some rows, each with all rows."""
        squares = self._squares(rows)
        return np.sqrt(np.where(squares > 0, squares + self._median, np.inf))

    def _squares(self, rows: Places) -> Floats:
        products = self._losses[rows] @ self._losses.T
        squares = self._norms[rows, None] + self._norms - 2 * products
        squares[squares < self._least] = 0.0  # equal rows
        return np.asarray(squares)

    def _median_of_pairs(self) -> float:
        n_rows = len(self._losses)
        positive = np.empty(n_rows * (n_rows - 1) // 2)
        n = 0
        for rows in _blocks(np.arange(n_rows)):
            squares = self._squares(rows)
            squares = squares[(squares > 0) & (np.arange(n_rows) > rows[:, None])]
            positive[n : n + squares.size] = squares
            n += squares.size
        return float(np.median(positive[:n], overwrite_input=True)) if n else 0.0


def _blocks(rows: Places) -> Iterator[Places]:
    """Yield rows in blocks whose pairs with all rows fit in memory."""
    for start in range(0, rows.size, _ROWS):
        yield rows[start : start + _ROWS]


def _largest(sums: Reals, row: int, scales: Reals) -> Reals:
    """Return the largest statistic of a row's pairs for each flip, (flips,).

    Pairs with an infinite scale are left out.
    """
    others = np.flatnonzero(np.isfinite(scales))
    statistics = np.abs(sums[row] - sums[others])  # pairs × flips: fits the processor's cache
    statistics /= scales[others, None]
    return np.asarray(statistics.max(axis=0, initial=0.0))


def _signs(families: int, rows: int) -> Floats:
    """Return signs for the families, (flips, families): all, or fixed ones; the first is +1.

    Flipping all families changes no statistic, so the last family keeps its sign.
    """
    pairs = max(1, rows * (rows - 1) // 2)
    flips = min(FLIPS, max(FEWEST_FLIPS, WORK // pairs))
    if 2 ** (families - 1) <= flips:
        flipped = np.arange(2 ** (families - 1))[:, None] >> np.arange(families) & 1
        return np.asarray(1.0 - 2.0 * flipped, dtype=np.float64)
    places = np.arange(flips * families, dtype=np.uint32).reshape(flips, families)
    signs = np.where(_bits(places), -1.0, 1.0)
    signs[0] = 1.0
    return signs


def _bits(n: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return bits that look random: the highest of a hash of each number (Wellons 2018, lowbias32).

    The page computes the same ones for an own choice of tasks (`scripts/rank_sets.js`).
    """
    n = np.multiply(n ^ (n >> 16), 0x7FEB352D, dtype=np.uint32)
    n = np.multiply(n ^ (n >> 15), 0x846CA68B, dtype=np.uint32)
    return np.asarray((n ^ (n >> 16)) >> 31, dtype=np.uint32)


def _student(mean: Floats, sd: Floats, n: Floats) -> Tests:
    """Return t-intervals and two-sided p-values of means of n values; NaN for few values."""
    enough = n >= ENOUGH_FAMILIES
    n = np.where(enough, n, 2.0)
    error = np.where(enough, sd, np.nan) / np.sqrt(n)
    different, places = np.unique(n, return_inverse=True)  # the quantile takes long
    margin = metrics.t_quantile(LEVEL, different - 1)[places] * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = metrics.t_p_value(mean / error, n - 1)
    p_value = np.where((error == 0) & (mean == 0), 1.0, p_value)  # no difference at all
    return Tests(mean - margin, mean + margin, p_value)
