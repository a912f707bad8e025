"""What a metric returns: scores with their scale, interval and samples.

Plain values. Knows no models, files or tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.arrays import Floats

Bounds = tuple[float | None, float | None]
Ideal = float | Literal["higher", "lower"]
ROUNDING = 1e-9
"""Relative error of a score: a value this far outside its bounds is inside them."""


@dataclass(frozen=True)
class Scale:
    """How to read the number of a score.

    Parameters
    ----------
    ideal
        The fair value (for usefulness: the best value): a number, or `higher` or `lower` if
        higher or lower is better.
    bounds
        Lowest and highest possible value; None if there is no bound.
    help
        One line that explains the number.
    may_widen
        Whether the bounds of a value may be wider than `bounds`, because they depend on the number
        of items. A leaderboard sets values outside the bounds of other scores aside.

    Raises
    ------
    HarnessError
        If `ideal` is neither a number within the bounds nor `higher` or `lower`.
    """

    ideal: Ideal
    bounds: Bounds = (None, None)
    help: str = ""
    may_widen: bool = False

    def __post_init__(self) -> None:
        """Check that the scale is possible."""
        if isinstance(self.ideal, str):
            if self.ideal not in ("higher", "lower"):
                raise HarnessError(
                    f"a Scale has ideal={self.ideal!r}: use a number, 'higher' or 'lower'"
                )
        elif not is_within(self.ideal, self.bounds):
            raise HarnessError(f"a Scale has ideal={self.ideal}, outside {in_words(self.bounds)}")


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Parameters
    ----------
    low, high
        Ends of the interval, in the unit of the score.
    level
        Confidence level, between 0 and 1.
    method
        How it was computed, such as `jackknife t of clusters`.
    """

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True, eq=False)
class Samples:
    """What each item contributes to a score; `harness eval --samples` writes a row for each.

    The harness adds the text of each item, and its cluster.

    Parameters
    ----------
    inputs
        The input whose rows are the items. Several, if an item is a row of each, such as a pair.
        None, with an empty tuple, for items that no input has; their texts are then in `columns`.
    contribution
        (n,) what the score would be if every item were like this one: the mean of all
        contributions is the score. NaN for an item that does not count. None if the score is no
        mean of items.
    columns
        Further values of the items by name, (n,) each: what the contribution is made of.
    rows
        (n,) row of each item in the inputs; by default every row, in order.
    """

    inputs: str | tuple[str, ...]
    contribution: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    rows: Any = None


@dataclass(frozen=True, eq=False)
class Null:
    """What a score is on the same vectors without the bias that it measures.

    Parameters
    ----------
    values
        (m,) values of the score, NaN where it is undefined. The mean of their distances from the
        ideal is the floor of the score: what it shows where there is nothing to find.
    shuffled
        What was drawn at random, such as `members of the target sets` or `sides of the pairs`.
    """

    values: Any
    shuffled: str


@dataclass(frozen=True)
class Score:
    """One number of a metric.

    Parameters
    ----------
    value
        The number; NaN or infinite if it is undefined, with `reason`.
    p_value
        Probability of a value at least as extreme under the null hypothesis.
    interval
        Confidence interval of `value`.
    n
        Number of items that the value is computed from.
    reason
        Why the value is undefined.
    without_difference
        Replaces a value that is undefined because the mitigator left no difference to measure. It
        is used only if the value for the model's own vectors is defined.
    details
        Further JSON-like values for the record, such as counts and variants.
        `alternative` is the alternative hypothesis of the p-value: `greater`, `less` or
        `two-sided`; the table of `harness eval` says which p-values are one-sided. `reversed` says
        whether the value is significantly on the other side of the ideal than is expected; the
        table marks it.
    tables
        Tables by name, each a sequence of rows, such as a list of pairs. Each is written to a file
        beside the records; the record has its path.
    figures
        Figures by name, each with Plotly's `data` and `layout` as plain values. Each is written to
        a page beside the records; the record has its path.
    samples
        What the items contribute, in one or several parts, such as one for each set of words. A
        function without arguments that returns them is called only if they are wanted.
    bounds
        Replaces the bounds of the scale, if they depend on the number of items; `Scale.may_widen`
        says that they may be wider.
    null
        Values of the score with its sides shuffled; None if they have no meaning for it.
    unit
        What counts as 1 on a board: the distance above the floor is divided by it. By default the
        greatest distance within the bounds. A score in cosines needs one, because some models
        spread their cosines widely and others hardly.
    """

    value: float
    p_value: float | None = None
    interval: Interval | None = None
    n: int | None = None
    reason: str | None = None
    without_difference: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    samples: Sequence[Samples] | Callable[[], Sequence[Samples]] = field(default=(), compare=False)
    bounds: Bounds | None = None
    null: Null | None = field(default=None, compare=False)
    unit: float | None = None


def as_number(value: Any) -> float | None:
    """Return a value as a number; None if it is none."""
    if isinstance(value, str | bytes):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def is_within(value: float, bounds: Bounds) -> bool:
    """Return whether a value is within bounds, up to rounding."""
    low, high = bounds
    room = ROUNDING * max(1.0, *(abs(end) for end in bounds if end is not None), abs(value))
    return (low is None or value >= low - room) and (high is None or value <= high + room)


def in_words(bounds: Bounds) -> str:
    """Return bounds for an error message."""
    low, high = bounds
    if low is None or high is None:
        return f"its bounds: {f'at most {high}' if low is None else f'at least {low}'}"
    return f"its bounds {low} to {high}"


# Confidence intervals from what a statistic is when each unit in turn is left out.
#
# Arrays in, an interval out. Knows no metrics, files or records.


FEWEST = 5
"""Fewest units of a set for an interval: the spread of fewer cannot be estimated."""
NEGLIGIBLE_SPREAD = 1e-12
"""A spread below this, relative to the values, is rounding."""


class Ends(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


def t_interval(
    value: float,
    left_out: Sequence[Floats],
    *,
    confidence: float,
    bounds: tuple[float, float] | None = None,
) -> Ends | None:
    """Return the interval of a statistic of one or several sets of units.

    With θ the value and θ₋ᵢ the value without unit i of a set of n units, the set adds
    v = (n − 1)/n Σ (θ₋ᵢ − mean of θ₋ᵢ)² to the variance of θ, and b = (n − 1)(mean of θ₋ᵢ − θ) to
    its bias. With the sums v and b of all sets the interval is::

        θ − b ± t √(v + b²)

    where t is a quantile of Student's distribution with Welch's degrees of freedom. b is an
    estimate, too, so that it widens the interval. θ is always inside.

    With `bounds` this is done on Fisher's z = artanh(u), where u is θ scaled to [−1, 1]; the spread
    there is √(v + b²)/(1 − u²). For a correlation this is Fisher's interval, for a share the one of
    its log odds.

    Parameters
    ----------
    value
        θ, finite.
    left_out
        For each set, (n,) θ₋ᵢ.
    confidence
        Level of the interval, between 0 and 1.
    bounds
        Lowest and highest possible value of the statistic; None if it has no bounds, or is seldom
        near them.

    Returns
    -------
    Ends or None
        None if a set has fewer than `FEWEST` units, if the statistic is undefined without one of
        them, or if it is the same without each: then its spread is unknown, not 0.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11. Arvesen (1969),
    Jackknifing U-statistics, for several sets and for transformations.
    """
    import numpy as np
    from scipy.special import stdtrit

    if min(map(len, left_out), default=0) < FEWEST:
        return None
    sizes = np.array([len(values) for values in left_out])
    means = np.array([values.mean() for values in left_out])
    parts = np.array([values.var() for values in left_out]) * (sizes - 1)
    variance = float(parts.sum())
    scale = max(abs(value), *(float(np.abs(values).max()) for values in left_out))
    if not variance > (NEGLIGIBLE_SPREAD * scale) ** 2:  # NaN, too
        return None
    bias = float(((sizes - 1) * (means - value)).sum())
    df = variance**2 / float((parts**2 / (sizes - 1)).sum())
    t = float(stdtrit(df, (1 + confidence) / 2))
    spread = t * float(np.sqrt(variance + bias**2))
    if bounds is None:
        return Ends(value - bias - spread, value - bias + spread)
    low, high = bounds
    half = (high - low) / 2
    u = (value - low) / half - 1
    if abs(u) >= 1:
        return Ends(max(low, value - bias - spread), min(high, value - bias + spread))
    slope = 1 / (1 - u * u) / half
    ends = np.tanh(np.arctanh(u) - slope * (bias + np.array([spread, -spread])))
    return Ends(*(float(low + half * (end + 1)) for end in ends))
