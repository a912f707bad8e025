"""A gap over its yardstick: the ratio that ranks, its interval, and its mean over tasks.

The mean gap of cosines of a task, divided by the mean gap of contrasts of the same form that have
nothing to do with the concept, on the same vectors. Noise, scale, offset and common components
change both alike, so the ratio keeps its value, and its interval grows.

Numbers in, numbers out. Knows gaps, not metrics, tasks or models. The scripts of a leaderboard's
pages compute the same from a reader's choice of tasks (`scripts/pooling.js`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from harness.metrics import Gap
from harness.results.record import Counted, RatioPart

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.95
"""Confidence level of the intervals."""
MEANING = "meaning"
"""Family of controls that ask what words mean by definition."""
ITEMS = "items"
"""Name of a yardstick that is made of the task's own items."""
UNITS = 64
"""Most units of a gap that a record keeps. More are dealt into as many groups by their names, whose
sums have the same expected squares."""
YARDSTICK_UNITS = 32
"""As `UNITS`, of a yardstick with units of its own: all tasks of a row have it in common."""
DIGITS = 6
"""Significant digits of a deviation in a record."""


class Ends(NamedTuple):
    """Both ends of an interval; infinite where it has none."""

    low: float
    high: float


def fieller(
    gap: float,
    yardstick: float,
    variances: tuple[float, float],
    covariance: float,
    df: float,
    *,
    level: float = LEVEL,
) -> Ends:
    """Return Fieller's interval of the ratio of two means.

    With N and D of variances v_N and v_D and covariance c, it holds each r with
    (N − r D)² ≤ t² (v_N − 2 r c + r² v_D), where t is a quantile of Student's distribution. Where
    D is not told from 0, no end is finite: the ratio may be anything.

    Parameters
    ----------
    gap, yardstick
        N and D, finite.
    variances, covariance
        v_N and v_D, and c.
    df
        Degrees of freedom.
    level
        Confidence level.

    References
    ----------
    Fieller (1954), Some problems in interval estimation. Journal of the Royal Statistical Society
    B 16.
    """
    from scipy.special import stdtrit

    t2 = float(stdtrit(df, (1 + level) / 2)) ** 2
    a = yardstick**2 - t2 * variances[1]
    b = gap * yardstick - t2 * covariance
    c = gap**2 - t2 * variances[0]
    if a <= 0 or yardstick <= 0:
        return Ends(-math.inf, math.inf)
    root = math.sqrt(max(b * b - a * c, 0.0))
    return Ends((b - root) / a, (b + root) / a)


def ratio_of(
    gap: Gap,
    yardstick: Gap,
    of: str,
    *,
    is_evidence: bool = True,
    reference: tuple[float, float, float, float | None] | None = None,
) -> RatioPart:
    """Return a gap over its yardstick, as records name it.

    Parameters
    ----------
    gap, yardstick
        The gaps; units of one name are the same unit, such as an item that both are made of.
    of
        Name of the yardstick.
    is_evidence
        Whether only a usable model shows the yardstick.
    reference
        The gap, the yardstick and the gap's error of the reference encoder, and the scale of the
        family; None if they are not known.
    """
    shared = gap.deviations.keys() & yardstick.deviations.keys()
    covariance = math.fsum(gap.deviations[unit] * yardstick.deviations[unit] for unit in shared)
    variances = gap.variance, yardstick.variance
    n, d = gap.value, yardstick.value
    df = _df(gap, yardstick)
    ends = fieller(n, d, variances, covariance, df)
    error = math.sqrt(variances[1])
    return RatioPart(
        value=root(n / d, gap.power) if d > 0 else None,
        low=_finite(root(ends.low, gap.power)),
        high=_finite(root(ends.high, gap.power)),
        gap=n,
        gap_error=math.sqrt(variances[0]),
        yardstick=d,
        yardstick_error=error,
        t=d / error if error > 0 and is_evidence else None,
        df=df,
        power=gap.power,
        of=of,
        reference_gap=None if reference is None else reference[0],
        reference_yardstick=None if reference is None else reference[1],
        reference_error=None if reference is None else reference[2],
        reference_scale=None if reference is None else reference[3],
    )


def with_value(part: RatioPart) -> RatioPart:
    """Return a ratio of means over runs, with the value and the t of these means."""
    is_above = part.yardstick > 0
    value = root(part.gap / part.yardstick, part.power) if is_above else None
    has_t = part.t is not None and part.yardstick_error > 0
    t = part.yardstick / part.yardstick_error if has_t else None
    return part.model_copy(update={"value": value, "t": t})


def deviations_of(gap: Gap, yardstick: Gap, *, own: bool) -> dict[str, tuple[float, float]]:
    """Return the deviations of a gap and of its yardstick by unit, in few groups.

    A group has the sum of its units' deviations, whose square has the expected value of the sum of
    their squares. Which units are a group depends on their names alone, so that two models, or two
    tasks, are compared by the same groups.

    Parameters
    ----------
    gap, yardstick
        The gaps.
    own
        Whether the yardstick is made of the same items, so that both have the same units.
    """
    units = gap.deviations.keys() | (yardstick.deviations.keys() if own else set())
    pairs: dict[str, list[float]] = {}
    _add(pairs, {unit: gap.deviations.get(unit, 0.0) for unit in units}, 0, UNITS, "")
    others = yardstick.deviations
    if own:
        _add(pairs, {unit: others.get(unit, 0.0) for unit in units}, 1, UNITS, "")
    else:
        _add(pairs, others, 1, YARDSTICK_UNITS, "yardstick ", always=True)
    return {
        unit: (float(f"{n:.{DIGITS}g}"), float(f"{d:.{DIGITS}g}"))
        for unit, (n, d) in sorted(pairs.items())
    }


def _add(
    pairs: dict[str, list[float]],
    deviations: Mapping[str, float],
    place: int,
    most: int,
    prefix: str,
    *,
    always: bool = False,
) -> None:
    """Add deviations at a place of the pairs, in groups where they are many, or always."""
    in_groups = always or len(deviations) > most
    for unit, deviation in deviations.items():
        number = int.from_bytes(blake2b(unit.encode(), digest_size=8).digest())
        name = f"{prefix}group {number % most}" if in_groups else f"{number:016x}"[:8]
        pairs.setdefault(name, [0.0, 0.0])[place] += deviation


def _df(gap: Gap, yardstick: Gap) -> float:
    """Return Welch's degrees of freedom of N − R D."""
    ratio = gap.value / yardstick.value if yardstick.value > 0 else 1.0
    parts = ((gap.variance, gap.df), (ratio**2 * yardstick.variance, yardstick.df))
    total = math.fsum(variance for variance, _ in parts)
    squares = math.fsum(variance**2 / df for variance, df in parts)
    return max(1.0, total**2 / squares) if squares else gap.df


def root(value: float, power: int) -> float:
    """Return the signed root of a ratio of squares; of others the ratio itself."""
    if power == 1 or not math.isfinite(value):
        return value
    return math.copysign(abs(value) ** (1 / power), value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# Means over tasks.
#
# Tasks of one method are pooled: the sum of their gaps over the sum of their yardsticks, divided by
# that of the reference encoder on the same tasks. A mean of single ratios would be ruled by tasks
# with a small yardstick.
#
# Then methods are averaged. In units of one encoder, a method in which that encoder shows little
# would outweigh all others: here one had 22 times the spread of another. So each is divided by its
# scale first, the root mean square of what a fixed pool of models shows in it, and the mean of the
# quotients is divided by that of the reference encoder, which is 1 again. Fair is 0 before and
# after. Models are not centred, and the divisor is no standard deviation: in a method in which all
# models agree within their errors, that would be the errors'.


SHARED = 1.2
"""Standard error of the sum of the gaps of a method, over that of independent tasks: tasks share
words. Measured with the units of all tasks: 1.01 (context injection) to 1.19 (SEAT)."""
NORMAL = 1.959963984540054
"""Quantile of the normal distribution for `LEVEL`, for means of many units."""


def pool(parts: Sequence[Counted]) -> float | None:
    """Return the pooled ratio of some tasks of one method, as `pooled` does for many rows.

    None if the sum of the yardsticks, or a sum of the reference encoder, is not above 0.
    """
    gap = math.fsum(part.gap for part in parts)
    yardstick = math.fsum(part.yardstick for part in parts)
    reference_gap = math.fsum(part.reference_gap for part in parts)
    reference_yardstick = math.fsum(part.reference_yardstick for part in parts)
    if min(yardstick, reference_gap, reference_yardstick) <= 0:
        return None
    power = parts[0].power
    return root(gap / yardstick, power) / root(reference_gap / reference_yardstick, power)


def standardised(measures: Sequence[float], scales: Sequence[float]) -> list[float]:
    """Return the measures of families whose mean is that of standardised ones.

    Parameters
    ----------
    measures
        Of each family, in units of the reference encoder.
    scales
        Of each family, what a fixed pool of models shows in these units.
    """
    weights = [1 / scale for scale in scales]
    mean = math.fsum(weights) / len(weights) if weights else 1.0
    return [measure * weight / mean for measure, weight in zip(measures, weights, strict=True)]


CLEAR = 3.0
"""Least t of a yardstick, its gap over its standard error."""
CLEAR_SHARE = 0.5
"""Least share of the yardsticks of a usable model that are clear. Of 13, random and shuffled
vectors have none, hashed words 1; MiniLM with noise of length 4 has 3 to 4, of length 3 5 to 6, of
length 1 11 to 13."""
CLEAR_GAP = 2.0
"""Least sum of the gaps of the reference encoder in a method, over its standard error."""
UNCLEAR = "in a method without a clear gap of the reference encoder, so without a scale"


def unclear(ts: Collection[float]) -> str | None:
    """Return why the means of a row say nothing: too few of its yardsticks are clear; else None.

    Parameters
    ----------
    ts
        The t of each yardstick.
    """
    clear = sum(t >= CLEAR for t in ts)
    if clear >= CLEAR_SHARE * len(ts):
        return None
    return f"{clear} of {len(ts)} yardsticks are clear; half of them are needed"


def has_scale(parts: Sequence[Counted]) -> bool:
    """Return whether the reference encoder has a clear gap on some tasks of one method.

    Asked of the tasks that count: without those on which a mitigator leaks, a method may have none.
    """
    gap = math.fsum(part.reference_gap for part in parts)
    error = math.hypot(*(part.reference_error for part in parts))
    return gap > 0 and gap >= CLEAR_GAP * error


POOLED = ("gap", "gap_error", "yardstick", "yardstick_error", "power", "of")
"""Columns of a cell that are pooled."""
REFERENCE = ("reference_gap", "reference_yardstick", "reference_error")
"""The gap and the yardstick of the reference encoder on the task of a cell, and the gap's error."""


SCALE = "reference_scale"
"""What a fixed pool of models shows in the family of a cell, the reference encoder being 1."""


def is_scaled() -> pl.Expr:
    """Return what `has_scale` does, of groups: of the sums of the reference's gaps and squares."""
    import polars as pl

    gap, error = pl.col("reference_gap"), pl.col("reference_variance").sqrt()
    return (gap > 0) & (gap >= CLEAR_GAP * error)


def ratio(gap: str = "gap", yardstick: str = "yardstick") -> pl.Expr:
    """Return the gap over the yardstick, of squares the root; null if the yardstick is not above 0.

    Parameters
    ----------
    gap, yardstick
        Names of the columns; `power` is a third one.
    """
    import polars as pl

    quotient = pl.col(gap) / pl.col(yardstick)
    return pl.when(pl.col(yardstick) > 0).then(
        pl.when(pl.col("power") == 1)
        .then(quotient)
        .otherwise(quotient.sign() * quotient.abs().sqrt())
    )


def pooled(cells: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Return the pooled ratio of each group of tasks, over that of the reference encoder.

    With the gaps N_t and the yardsticks D_t of the tasks of a group, and N'_t and D'_t of the
    reference encoder, it is R = (ΣN_t/ΣD_t) / (ΣN'_t/ΣD'_t); of squares the root. Its error is that
    of Fieller's upper end.

    Parameters
    ----------
    cells
        `by`, `task`, and the columns `POOLED` and `REFERENCE`; `SCALE`, by default 1. For tasks
        that have no yardstick, such as those of usefulness, all yardsticks are 1 and the reference
        gap is 1, without an error: then it is the mean.
    by
        Columns that name a group, such as row and method.

    Returns
    -------
    pl.DataFrame
        `by`; `measure`, R, and `error`, null if ΣD_t is not above 0 or the reference has no
        clear gap; `t`, ΣD_t over its standard error; `yardstick`, ΣD_t; `tasks`, their number;
        `reference_scale`, that of the group.
    """
    import polars as pl

    if SCALE not in cells.columns:
        cells = cells.with_columns(pl.lit(1.0).alias(SCALE))
    # Several tasks have one and the same yardstick: its errors add up as they are.
    own = pl.when(pl.col("of") == ITEMS).then(pl.col("task").cast(pl.String)).otherwise("of")
    yardsticks = (
        cells.group_by(*by, _measured_once=own, maintain_order=True)
        .agg(pl.col("yardstick_error").sum())
        .group_by(by, maintain_order=True)
        .agg(v_d=(pl.col("yardstick_error") ** 2).sum())
    )
    n, d, v_n, v_d = (pl.col(name) for name in ("gap", "yardstick", "v_n", "v_d"))
    a, c = d**2 - NORMAL**2 * v_d, n**2 - NORMAL**2 * v_n
    high = n * d + ((n * d) ** 2 - a * c).clip(0.0).sqrt()  # over a
    reference = ratio(*REFERENCE[:2])
    return (
        cells.group_by(by, maintain_order=True)
        .agg(
            pl.col("gap", "yardstick", *REFERENCE[:2]).sum(),
            reference_variance=(pl.col("reference_error") ** 2).sum(),
            v_n=(pl.col("gap_error") ** 2).sum() * SHARED**2,
            power=pl.col("power").first(),
            tasks=pl.len(),
            **{SCALE: pl.col(SCALE).first()},
        )
        .join(yardsticks, on=by, how="left", maintain_order="left")
        .with_columns(a=a, high=high)
        .select(
            *by,
            measure=pl.when(is_scaled()).then(ratio() / reference),
            error=pl.when(is_scaled() & (d > 0)).then(
                (ratio("high", "a") - ratio()) / NORMAL / reference
            ),
            t=pl.when(v_d > 0).then(d / v_d.sqrt()),
            yardstick=d,
            tasks="tasks",
            **{SCALE: SCALE},
        )
    )
