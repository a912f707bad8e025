"""What a metric is: a plain function from arrays to scores, and how its numbers are to be read.

Knows no models, files or tasks. Metrics live in plugins (`harness.plugins.metrics`).

A metric is declared with its name and the meaning of its scores::

    @metric("weat", scores={"effect_size": Scale(ideal=0, bounds=(-2, 2))})
    def weat(targets_1, targets_2, attributes_1, attributes_2, *, permutations=10_000, rng): ...

Positional parameters are the task's inputs by name (one with a default may be left out by a
task); keyword-only parameters are options, except three that the harness supplies where they are
declared: `rng`, a seeded `numpy.random.Generator`; `clusters`, a mapping from input name to the
(n,) integer codes of the items that share a word, template or text; and `texts`, a mapping from
input name to the n texts of its rows.
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
"""Keyword-only parameters of a metric that the harness fills in."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Scale:
    """How the number of a score is read.

    Parameters
    ----------
    ideal
        Where fair (or, for usefulness, best) lies: a number, or `higher` or `lower` is better.
    bounds
        Lowest and highest possible value; None where there is none.
    help
        One line on what the number says.
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
        Ends, in the score's unit.
    level
        Confidence, between 0 and 1.
    method
        How it was found, such as `percentile bootstrap of clusters`.
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
        The number; NaN or infinite where it is undefined, with `reason`.
    p_value
        Probability under the null hypothesis of a value at least as extreme.
    interval
        Confidence interval of `value`.
    n
        Number of items that it rests on.
    reason
        Why there is no value.
    without_difference
        What is to stand for a value that is undefined because no difference is left to measure:
        taken where the mitigator undid it, that is, where the model's own vectors have a value.
    details
        Further plain values worth keeping (counts, variants), JSON-like.
    tables
        Rows worth keeping beside the record, such as a list of pairs, by the table's name: each
        becomes a file, which the record names.
    figures
        Figures worth keeping beside the record, by name: Plotly's `data` and `layout` as plain
        values; each becomes a page, which the record names.
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
    """A metric function with what was declared of it.

    Parameters
    ----------
    name
        Registered name.
    function
        The function: arrays in; a `Score`, a number, or a mapping from score name to either out.
    scores
        Scale of each score by name.
    disjoint
        Pairs of inputs that must have no text in common.
    """

    name: str
    function: Callable[..., Any]
    scores: Mapping[str, Scale]
    disjoint: tuple[tuple[str, str], ...] = ()

    @property
    def inputs(self) -> dict[str, bool]:
        """Each array parameter by name, and whether a task must give it."""
        return {
            name: parameter.default is inspect.Parameter.empty
            for name, parameter in self._parameters.items()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        }

    @property
    def options(self) -> dict[str, Any]:
        """Each option by name with its default."""
        return {
            name: parameter.default
            for name, parameter in self._parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in SUPPLIED
        }

    @cached_property
    def supplied(self) -> set[str]:
        """Those of `SUPPLIED` that the function asks for by keyword; an input may be called so."""
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
            If it returns scores other than those declared.
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
        """Return the scores of a task's inputs; the one place that puts a call together.

        Parameters
        ----------
        arrays
            The array of each input by name.
        options
            Options that differ from their defaults.
        rng, clusters, texts
            What the function gets if it declares a keyword-only parameter of that name: a seeded
            generator, the (n,) codes of the clusters of each input, and the texts of its rows.
        """
        supplied = {"rng": rng, "clusters": clusters, "texts": texts}
        return self(**arrays, **options, **{name: supplied[name] for name in self.supplied})


def metric(
    name: str,
    *,
    scores: Mapping[str, Scale],
    disjoint: Iterable[tuple[str, str]] = (),
) -> Callable[[F], F]:
    """Declare a function a metric; the function itself stays as it is, callable from Python.

    Parameters
    ----------
    name
        Name that tasks use.
    scores
        Scale of each score; a metric of one score may return just the number.
    disjoint
        Pairs of inputs that must have no text in common; tasks are checked for it.
    """

    def declare(function: F) -> F:
        function.metric = Metric(name, function, dict(scores), tuple(disjoint))  # type: ignore[attr-defined]  # a function takes any attribute
        return function

    return declare
