"""What a metric is, a plain function from arrays to scores, and what a score is.

Knows no models, files or tasks. Metrics are plugins; the built-in ones are in
`harness.plugins.metrics`. This module cannot be called `metric.py`, because `harness.metric` is
the decorator, and a submodule of that name would replace it.

A metric is declared with its name and the scales of its scores::

    @metric("weat", scores={"association": Scale(ideal=0, bounds=(-4, 4))})
    def weat(targets_1, targets_2, attributes_1, attributes_2, *, permutations=10_000, rng): ...

Positional parameters are the task's inputs by name; a task may omit an input whose parameter has a
default. Keyword-only parameters are options, except three that the harness supplies to a function
that declares them:

- `rng`: a seeded `numpy.random.Generator`;
- `clusters`: by input name, the (n,) integer codes of the items' clusters; items that share a word,
  template or text are in one cluster;
- `texts`: by input name, the n texts of its rows.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from harness.errors import PLUGIN_ERRORS, HarnessError

if TYPE_CHECKING:
    import numpy as np

    from harness.arrays import Floats

# What a metric returns: scores with their scale, interval and samples. Plain values.


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
    in_cosines
        Whether `bounds` are those of cosines. Models that compare texts by another similarity have
        values without bounds.

    Raises
    ------
    HarnessError
        If `ideal` is neither a number within the bounds nor `higher` or `lower`.
    """

    ideal: Ideal
    bounds: Bounds = (None, None)
    help: str = ""
    may_widen: bool = False
    in_cosines: bool = False

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
    """The contribution of each item to a score; `harness eval --samples` writes a row an item.

    The harness adds the text of each item, and its cluster.

    Parameters
    ----------
    inputs
        The input whose rows are the items. Several inputs if an item is a row of each, such as a
        pair. An empty tuple if the items are in no input; their texts are then in `columns`.
    contribution
        (n,) contribution of each item; their mean is the score. NaN for an item that does not
        count. None if the score is not a mean of items.
    columns
        Further values of the items by name, (n,) each: the parts of the contribution.
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
        ideal is the floor of the score: its distance when there is no bias.
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
        whether the value is significantly different from the ideal, but on the unexpected side; the
        table marks it.
    tables
        Tables by name, each a sequence of rows, such as a list of pairs. Each is written to a file
        beside the records; the record has its path.
    samples
        The contributions of the items, in one or several parts, such as one for each set of words.
        Or a function without arguments that returns them; it is called only if they are needed.
    bounds
        Replaces the bounds of the scale, if they depend on the number of items; `Scale.may_widen`
        says that they may be wider.
    null
        Values of the score with its sides shuffled; None if they have no meaning for it.
    unit
        The unit of a board: the distance above the floor is divided by it. By default the greatest
        distance within the bounds. A score in cosines needs a unit, because the spread of cosines
        differs between models.
    """

    value: float
    p_value: float | None = None
    interval: Interval | None = None
    n: int | None = None
    reason: str | None = None
    without_difference: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    samples: Sequence[Samples] | Callable[[], Sequence[Samples]] = field(default=(), compare=False)
    bounds: Bounds | None = None
    null: Null | None = field(default=None, compare=False)
    unit: float | None = None


@dataclass(frozen=True, eq=False)
class Gap:
    """A mean difference of cosines, signed towards the stereotype, with its sampling error.

    Over the gap of a yardstick, which has the same form and nothing to do with the concept, it is
    what ranks: noise, scale, offset and common components change both alike.

    Parameters
    ----------
    value
        The gap, in cosines; in squared cosines if `power` is 2. Fair is 0.
    deviations
        By unit (a word, an item, a frame): what leaving the unit out changes, centred in its set of
        n units and times √((n − 1)/n), so that the sum of squares is the jackknife's variance.
    df
        Welch's degrees of freedom of that variance.
    doubled
        Variance that several sets of units count, such as the interaction of target words and
        attribute words; it is subtracted once.
    power
        2 if the value is a square, such as a variance between groups.

    References
    ----------
    Arvesen (1969), Jackknifing U-statistics.
    """

    value: float
    deviations: Mapping[str, float]
    df: float
    doubled: float = 0.0
    power: int = 1

    @property
    def variance(self) -> float:
        """Variance of the value over draws of the units, at least what is counted twice."""
        total = math.fsum(deviation**2 for deviation in self.deviations.values())
        return max(total - self.doubled, self.doubled)

    @classmethod
    def mean(cls, gaps: Sequence[Gap]) -> Gap:
        """Return the mean of several gaps; units of one name are the same unit."""
        deviations: dict[str, float] = {}
        for gap in gaps:
            for unit, deviation in gap.deviations.items():
                deviations[unit] = deviations.get(unit, 0.0) + deviation / len(gaps)
        variances = [gap.variance for gap in gaps]
        parts = math.fsum(v * v / gap.df for v, gap in zip(variances, gaps, strict=True))
        return cls(
            value=math.fsum(gap.value for gap in gaps) / len(gaps),
            deviations=deviations,
            df=math.fsum(variances) ** 2 / parts if parts else gaps[0].df,
            doubled=math.fsum(gap.doubled for gap in gaps) / len(gaps) ** 2,
            power=gaps[0].power,
        )


@dataclass(frozen=True, eq=False)
class Gaps:
    """What the gap function of a metric returns.

    Parameters
    ----------
    gap
        The gap of its inputs.
    yardstick
        The gap that any usable model shows between the same items, such as related and unrelated
        answers. None if the inputs have none; a task then names a yardstick.
    is_evidence
        Whether only a usable model shows the yardstick. That different texts differ is none:
        random vectors differ, too.
    """

    gap: Gap
    yardstick: Gap | None = None
    is_evidence: bool = True


def as_number(value: Any) -> float | None:
    """Return a value as a number; None if it is not a number."""
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


# Student's t, and confidence intervals from what a statistic is when each unit in turn is left out.
#
# From arrays to an interval. Knows no metrics, files or records.


FEWEST = 5
"""Fewest units of a set for an interval: the spread of fewer cannot be estimated."""
NEGLIGIBLE_SPREAD = 1e-12
"""A spread below this, relative to the values, is rounding."""


def t_p_value(t: float | Floats, df: float | Floats) -> Floats:
    """Return the two-sided p-value of Student's t."""
    import numpy as np
    from scipy.special import stdtr  # scipy.stats takes a second to import

    return np.asarray(2 * stdtr(df, -np.abs(t)))


FOUR_FIFTHS = 0.8
"""Least ratio of two rates of selection that is not adverse impact (29 CFR 1607.4 D, EEOC 1978)."""


def t_quantile(confidence: float | Floats, df: float | Floats) -> Floats:
    """Return t such that `confidence` of Student's distribution lies between −t and t."""
    import numpy as np
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, (1 + confidence) / 2))


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
    estimate, too, and widens the interval. θ is always inside.

    With `bounds` this is done on Fisher's z = artanh(u), where u is θ scaled to [−1, 1]; the spread
    there is √(v + b²)/(1 − u²). For a correlation this is Fisher's interval. For a proportion it is
    the interval of its log odds.

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
        them, or if leaving out a unit never changes it: its spread is then unknown, not 0.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 11. Arvesen (1969),
    Jackknifing U-statistics, for several sets and for transformations.
    """
    import numpy as np

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
    spread = float(t_quantile(confidence, df)) * float(np.sqrt(variance + bias**2))
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


# The metric.


SUPPLIED = ("rng", "clusters", "texts")
"""Keyword-only parameters of a metric that the harness supplies."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Contrast:
    """Which inputs a bias moves apart, and in which direction: `harness validate-metric` plants it.

    Parameters
    ----------
    sides
        The input whose items a stereotype moves to the first of `towards`, and the input whose
        items it moves to the second. A single input is moved as a whole, or by `labels`.
    towards
        The two inputs of the groups. Or one input, aligned with a single side: item i is moved
        towards its row i, by its label, and away from the others.
    labels
        The input of numbers that says how far each item of a side is moved: low values to the first
        group, high values to the second. Several sides are forms of the same items, and all are
        moved. If the items are moved towards rows of their own, high values move.
    categorical
        Whether the labels are codes of unordered groups: any difference between the groups is a
        bias. The planted shifts of the groups are spread evenly, in the order of the codes.
    paired
        Whether row i of the only side and row i of both groups belong together, such as a query and
        two versions of its answer. Each item then has its own direction, between its versions, and
        the unit of a bias is the spread of the items along their directions.
    parts
        For each of `sides`, and then of `towards`, an input of numbers: the part that each item
        belongs to, such as one of several tests. Bias is planted in each part separately.
    within
        The input of numbers, such as classes, that a bias does not change. Labels are exchanged
        among items of the same number, since a classifier may use labels in many directions.
    units
        The input of numbers of the units, such as names, whose items are shuffled, halved and left
        out together. By default the texts of a word are a unit.
    any_direction
        Whether the metric finds labels along whatever direction they lie, as clusters do. A model
        without bias then has its labels exchanged, too.
    rankings
        The input of numbers of the items' rankings. An item is moved towards its own row of
        `towards`, and the unit of a bias is the spread in a ranking.
    """

    sides: tuple[str, ...]
    towards: tuple[str, ...]
    labels: str | None = None
    categorical: bool = False
    paired: bool = False
    parts: tuple[str, ...] = ()
    within: str | None = None
    units: str | None = None
    any_direction: bool = False
    rankings: str | None = None


@dataclass(frozen=True)
class Compares:
    """The inputs whose similarities are all that a metric computes with.

    Such a metric works on models that compare texts by their own similarity, too. It gets arrays
    that are no vectors: the product of a row of `queries` and a row of `documents`, as
    `harness.arrays.unit_rows` returns them, is the similarity of the two texts. So its function may
    compute anything that is linear in such rows and then their products.

    Parameters
    ----------
    queries, documents
        The names of inputs of texts, each in one of both. A text of `queries` is only compared with
        texts of `documents`; an asymmetric model gets them in this order. An input that is alone
        in both is compared with itself: its rows are those of `harness.arrays.own_coordinates`.
    paired
        Whether only rows at one position are compared. There is one input of queries then.
    within
        Two inputs of numbers, of the only input of queries and of the only one of documents: rows
        are only compared where the numbers are equal. The other products are 0.
    ranks
        Whether documents are ranked for queries: by the similarity that a text encoder states.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    paired: bool = False
    within: tuple[str, str] | None = None
    ranks: bool = False


@dataclass(frozen=True)
class Metric:
    """A metric function with its declaration.

    Parameters
    ----------
    name
        Registered name.
    function
        The function. It takes arrays and returns a `Score`, a number, or a mapping from score name
        to one of these.
    scores
        Scale of each score, by name.
    disjoint
        Pairs of inputs that must have no text in common.
    contrast
        Which inputs a bias moves; None if bias cannot be planted in the inputs of this metric.
    later_options
        Options that were added after records of the metric existed. At their defaults they
        identify nothing, so that those records stay valid.
    gap
        Returns the gap of the inputs; None for a metric without one, whose scores do not rank. Its
        parameters are inputs and options of the metric, and `units`: by input, the name of the unit
        of each row, unless the metric has an input of this name. Rows of one name belong together,
        also in several inputs.
    compares
        The inputs whose similarities are all that it computes with; None if it needs vectors.
    plugin
        The plugin that registers it, for error messages; empty for a metric from no registry.
    source
        Identifies the code of a function that a user passed to `evaluate`; else empty.
    """

    name: str
    function: Callable[..., Any]
    scores: Mapping[str, Scale]
    disjoint: tuple[tuple[str, str], ...] = ()
    contrast: Contrast | None = None
    later_options: tuple[str, ...] = ()
    gap: Callable[..., Gaps] | None = None
    compares: Compares | None = None
    plugin: str = ""
    source: str = ""

    def __str__(self) -> str:
        return f"metric '{self.name}'" + (f" of the plugin {self.plugin}" if self.plugin else "")

    @property
    def inputs(self) -> dict[str, bool]:
        """Name of each input, and whether it is required."""
        return {
            name: parameter.default is inspect.Parameter.empty
            for name, parameter in self._parameters.items()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        }

    @property
    def options(self) -> dict[str, Any]:
        """Default of each option that has one, by name."""
        return {
            name: default
            for name, default in self._options.items()
            if default is not inspect.Parameter.empty
        }

    @cached_property
    def without_cosines(self) -> Metric:
        """The metric for similarities that are no cosines: whose bounds do not hold."""
        scores = {
            name: dataclasses.replace(scale, bounds=(None, None)) if scale.in_cosines else scale
            for name, scale in self.scores.items()
        }
        return dataclasses.replace(self, scores=scores)

    @property
    def required_options(self) -> tuple[str, ...]:
        """Names of the options without a default, which a task must set."""
        return tuple(name for name in self._options if name not in self.options)

    def identifying(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options that identify a score, with defaults for those not in `options`."""
        values = self.options | dict(options)
        for name in self.later_options:
            if values[name] == self.options[name]:
                del values[name]
        return values

    @cached_property
    def supplied(self) -> set[str]:
        """The keyword-only parameters of the function that are in `SUPPLIED`.

        A positional parameter of such a name is an input.
        """
        only = inspect.Parameter.KEYWORD_ONLY
        named = {name for name, parameter in self._parameters.items() if parameter.kind is only}
        return named.intersection(SUPPLIED)

    @property
    def _options(self) -> dict[str, Any]:
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in SUPPLIED
        }

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Score]:
        """Call the function and return its scores by name.

        Raises
        ------
        HarnessError
            If the returned scores are not the declared ones, are not numbers, or are outside their
            bounds; or if a score is NaN or infinite without a reason.
        """
        result = self.function(*args, **kwargs)
        if not isinstance(result, Mapping):
            result = {next(iter(self.scores)): result}
        if set(result) != set(self.scores):
            raise HarnessError(
                f"{self} declares the scores {sorted(self.scores)} "
                f"but returned {sorted(map(str, result))}"
            )
        return {name: self._checked(name, result[name]) for name in self.scores}

    def _checked(self, name: str, result: Any) -> Score:
        """Return a result as a score with a valid value."""
        score = result if isinstance(result, Score) else Score(result)
        value = as_number(score.value)
        what = f"{self}: the score '{name}' is"
        if value is None:
            kind = type(score.value).__name__
            raise HarnessError(f"{what} no number, but of the type {kind}")
        if not math.isfinite(value) and not score.reason:
            raise HarnessError(
                f"{what} {value} without a reason; return an undefined value as "
                'Score(float("nan"), reason="…")'
            )
        bounds = score.bounds or self.scores[name].bounds
        if math.isfinite(value) and not is_within(value, bounds):
            raise HarnessError(f"{what} {value}, outside {in_words(bounds)}")
        _check_interval(score.interval, f"{self}: the score '{name}'")
        return dataclasses.replace(score, value=value, p_value=self._p_value(name, score.p_value))

    def _p_value(self, name: str, p_value: float | None) -> float | None:
        if p_value is None or not math.isfinite(p_value):
            return p_value
        if not is_within(p_value, (0, 1)):
            raise HarnessError(f"{self}: the p-value of the score '{name}' is {p_value}")
        return min(max(float(p_value), 0.0), 1.0)

    def measure(
        self,
        arrays: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        rng: np.random.Generator,
        clusters: Mapping[str, Any],
        texts: Mapping[str, Sequence[str]],
    ) -> dict[str, Score]:
        """Return the scores of a task's inputs, by name.

        Parameters
        ----------
        arrays
            The array of each input, by name.
        options
            Values of options, by name; the others have their defaults.
        rng, clusters, texts
            Passed to the function if it declares a keyword-only parameter of that name: a seeded
            generator, the (n,) cluster codes of each input, and the texts of each input.
        """
        supplied = {"rng": rng, "clusters": clusters, "texts": texts}
        try:
            return self(**arrays, **options, **{name: supplied[name] for name in self.supplied})
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            error.add_note(f"in {self}")
            raise

    def gaps(
        self,
        arrays: Mapping[str, Any],
        units: Mapping[str, Sequence[str]],
        options: Mapping[str, Any] | None = None,
    ) -> Gaps | None:
        """Return the gap of a task's inputs; None if the metric has none, or if it is undefined.

        Parameters
        ----------
        arrays
            The array of each input, by name.
        units
            The name of the unit of each row, by input.
        options
            Options of the metric.
        """
        if self.gap is None:
            return None
        values = {"units": units, **(options or {}), **arrays}
        wanted = inspect.signature(self.gap).parameters
        try:
            gaps = self.gap(**{name: value for name, value in values.items() if name in wanted})
        except PLUGIN_ERRORS as error:
            error.add_note(f"in the gap of {self}")
            raise
        return gaps if math.isfinite(gaps.gap.value) else None


def _check_interval(interval: Interval | None, who: str) -> None:
    if interval is None:
        return
    if interval.low > interval.high:
        raise HarnessError(f"{who} has an interval from {interval.low} to {interval.high}")
    if not 0 < interval.level < 1:
        raise HarnessError(f"{who} has an interval of the level {interval.level}, not in (0, 1)")


def metric(
    name: str,
    *,
    scores: Mapping[str, Scale],
    disjoint: Iterable[tuple[str, str]] = (),
    contrast: Contrast | None = None,
    later_options: Iterable[str] = (),
    gap: Callable[..., Gaps] | None = None,
    compares: Compares | None = None,
) -> Callable[[F], F]:
    """Declare a function as a metric; the function itself is not changed.

    Parameters
    ----------
    name
        Name that tasks use.
    scores
        Scale of each score, by name; a metric with one score may return a plain number.
    disjoint
        Pairs of inputs that must have no text in common; task files are checked for this.
    contrast
        Which inputs a bias moves apart.
    later_options
        Options that were added after records of the metric existed.
    gap
        Returns the gap of the inputs, which ranks over that of a yardstick.
    compares
        The inputs whose similarities are all that it computes with.
    """

    def declare(function: F) -> F:
        function.metric = Metric(  # type: ignore[attr-defined]  # a function takes any attribute
            *(name, function, dict(scores), tuple(disjoint), contrast, tuple(later_options), gap),
            compares,
        )
        return function

    return declare
