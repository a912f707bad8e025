"""What a metric is: a plain function from arrays to scores, and the scale of each score.

Knows no models, files or tasks. Metrics are plugins; the built-in ones are in
`harness.plugins.metrics`. This module cannot be called `metric.py`, because `harness.metric` is
the decorator, and a submodule of that name would replace it.

A metric is declared with its name and the scales of its scores::

    @metric("weat", scores={"effect_size": Scale(ideal=0, bounds=(-2, 2))})
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

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import numpy as np

Ideal = float | Literal["higher", "lower"]
SUPPLIED = ("rng", "clusters", "texts")
"""Keyword-only parameters of a metric that the harness supplies."""

F = TypeVar("F", bound=Callable[..., Any])


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
    """

    ideal: Ideal
    bounds: tuple[float | None, float | None] = (None, None)
    help: str = ""


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
        How it was computed, such as `percentile bootstrap of clusters`.
    """

    low: float
    high: float
    level: float
    method: str


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
        `two-sided`; the table of `harness eval` says which p-values are one-sided.
    tables
        Tables by name, each a sequence of rows, such as a list of pairs. Each is written to a file
        beside the records; the record has its path.
    figures
        Figures by name, each with Plotly's `data` and `layout` as plain values. Each is written to
        a page beside the records; the record has its path.
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
    """

    name: str
    function: Callable[..., Any]
    scores: Mapping[str, Scale]
    disjoint: tuple[tuple[str, str], ...] = ()

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
        """Default of each option, by name."""
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in SUPPLIED
        }

    @cached_property
    def supplied(self) -> set[str]:
        """The keyword-only parameters of the function that are in `SUPPLIED`.

        A positional parameter of such a name is an input.
        """
        return {
            name
            for name in SUPPLIED
            if name in self._parameters
            and self._parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        }

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Score]:
        """Call the function and return its scores by name.

        Raises
        ------
        TypeError
            If the returned scores are not the declared ones.
        """
        result = self.function(*args, **kwargs)
        if not isinstance(result, Mapping):
            result = {next(iter(self.scores)): result}
        if set(result) != set(self.scores):
            raise TypeError(
                f"metric '{self.name}' declares the scores {sorted(self.scores)} "
                f"but returned {sorted(result)}"
            )
        return {
            name: result[name] if isinstance(result[name], Score) else Score(float(result[name]))
            for name in self.scores
        }

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
        return self(**arrays, **options, **{name: supplied[name] for name in self.supplied})


def metric(
    name: str,
    *,
    scores: Mapping[str, Scale],
    disjoint: Iterable[tuple[str, str]] = (),
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
    """

    def declare(function: F) -> F:
        function.metric = Metric(name, function, dict(scores), tuple(disjoint))  # type: ignore[attr-defined]  # a function takes any attribute
        return function

    return declare
