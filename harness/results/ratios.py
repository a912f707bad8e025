"""A gap over its yardstick: the ratio that ranks, and its interval.

The mean gap of cosines of a task, divided by the mean gap of contrasts of the same form that have
nothing to do with the concept, on the same vectors. Noise, scale, offset and common components
change both alike, so the ratio keeps its value, and its interval grows.

Numbers in, numbers out. Knows gaps, not metrics, tasks or models. `estimator` has means over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import blake2b

from harness.metrics import Ends, Gap
from harness.results.record import RatioPart

LEVEL = 0.95
"""Confidence level of the intervals."""
NORMAL = 1.959963984540054
"""Quantile of the normal distribution for `LEVEL`, for errors of many units."""
CLEAR = 3.0
"""Least t of a clear yardstick, its gap over its standard error."""
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
OVERALL = "overall"
"""Name of the mean over all concepts."""
MORE, LESS, UNCLEAR, SAME = "more", "less", "not clear", "equal"
"""Verdicts on a difference."""
SMALLEST = 0.05
"""Smallest difference of bias that counts as more or less, unless another one is asked for."""
POWER = 0.8
"""Probability with which the smallest detectable difference is found."""
FEWEST_SEEDS = 3
"""Fewest seeds of a training whose spread enters an interval."""


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
    reference: tuple[float, float, float, float] | None = None,
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
        The gap and the yardstick of the reference encoder, and their errors; None if they are not
        known.
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
        reference_yardstick_error=None if reference is None else reference[3],
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
