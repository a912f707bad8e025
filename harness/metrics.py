"""What a metric is: a plain function from arrays to scores, which are described in `scores`.

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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import PLUGIN_ERRORS, HarnessError
from harness.scores import Interval, Scale, Score, as_number, in_words, is_within

if TYPE_CHECKING:
    import numpy as np

SUPPLIED = ("rng", "clusters", "texts")
"""Keyword-only parameters of a metric that the harness supplies."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Contrast:
    """Which inputs a bias moves apart, and along what: there `harness validate-metric` plants it.

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
        moved. Towards a row of its own: high values.
    categorical
        Whether the labels are numbers of groups in no order: any difference between the groups
        is a bias. They are spread evenly, in the order of their numbers.
    paired
        Whether row i of the only side and row i of both groups belong together, such as a query and
        two versions of its answer. Then each item has a direction of its own, between its versions,
        and the unit of a bias is the spread of the items along them.
    parts
        For each of `sides`, and then of `towards`, an input of numbers: the part that each item
        belongs to, such as one of several tests. Bias is planted in each part by itself.
    within
        The input of numbers, such as classes, that a bias leaves as they are: the labels of items
        of one number are exchanged, since what a classifier makes of labels has many directions.
    units
        The input of numbers of the units, such as names, whose items are shuffled, halved and left
        out together. By default the texts of a word are a unit.
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
    rankings: str | None = None


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

    @property
    def required_options(self) -> tuple[str, ...]:
        """Names of the options without a default, which a task must set."""
        return tuple(name for name in self._options if name not in self.options)

    def identifying(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options that identify a score, defaults included; `options` are those set."""
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
            If the returned scores are not the declared ones, are no numbers, or are outside their
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
    """

    def declare(function: F) -> F:
        function.metric = Metric(  # type: ignore[attr-defined]  # a function takes any attribute
            name, function, dict(scores), tuple(disjoint), contrast, tuple(later_options)
        )
        return function

    return declare
