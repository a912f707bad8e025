"""Paired comparison of two rows: of two models, two mitigators, or two runs of one.

Scores are paired by task, scenario, metric and score, and only if the task has the same content.
Over tasks it gives the mean difference of the distance to the ideal, with a bootstrap interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import UnknownName, UsageError
from harness.results import scale
from harness.results.record import Record
from harness.results.tables import DIGITS, age

if TYPE_CHECKING:
    import polars as pl

LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 6
"""Fewest tasks for an interval: a bootstrap over fewer is overconfident."""
RESAMPLES = 10_000

Key = tuple[str, str, str, str]
"""Task, scenario, metric and score."""


@dataclass(frozen=True)
class Pair:
    """A score of both rows.

    Parameters
    ----------
    a, b
        The records.
    value_a, value_b
        Their values.
    """

    a: Record
    b: Record
    value_a: float
    value_b: float

    @property
    def difference(self) -> float:
        """The value of `b` less that of `a`."""
        return self.value_b - self.value_a

    @property
    def distances(self) -> tuple[float, float] | None:
        """The distances of both to the ideal, on the scale of `a`; None without bounds."""
        a = scale.distance(self.value_a, self.a.ideal, self.a.bounds)
        b = scale.distance(self.value_b, self.a.ideal, self.a.bounds)
        return None if a is None or b is None else (a, b)

    @property
    def nearer(self) -> str:
        """Which of the two is nearer to the ideal: `a`, `b`, or empty if neither."""
        loss_a = round(scale.loss(self.value_a, self.a.ideal, self.a.bounds), DIGITS)
        loss_b = round(scale.loss(self.value_b, self.a.ideal, self.a.bounds), DIGITS)
        return "" if loss_a == loss_b else "a" if loss_a < loss_b else "b"


@dataclass(frozen=True)
class Mean:
    """Mean distances to the ideal, over tasks.

    Parameters
    ----------
    measures
        `bias` or `usefulness`.
    n
        Number of scores: those with bounds.
    a, b
        Mean distance of each row, 0 to 1.
    difference
        Mean of the paired differences, `b` less `a`: negative if `b` is nearer to the ideal.
    low, high
        Percentile bootstrap interval of the difference over tasks; None with too few tasks.
    """

    measures: str
    n: int
    a: float
    b: float
    difference: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Comparison:
    """Two rows, score by score.

    Parameters
    ----------
    pairs
        Scores that both have.
    means
        Means over the pairs, for bias and for usefulness.
    left_out
        Scores of one row only, void ones, and those of different versions of a task: the name of
        the task, and why.
    """

    pairs: tuple[Pair, ...]
    means: tuple[Mean, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per pair; its keys are the columns of the data frame."""
        return [
            {
                "model_a": pair.a.model.name,
                "mitigator_a": pair.a.mitigator.label,
                "model_b": pair.b.model.name,
                "mitigator_b": pair.b.mitigator.label,
                "task": pair.a.task.name,
                "measures": pair.a.task.measures,
                "scenario": pair.a.scenario,
                "metric": pair.a.metric,
                "score": pair.a.score,
                "ideal": str(pair.a.ideal),
                "a": pair.a.value,
                "b": pair.b.value,
                "difference": pair.difference,
                "distance_a": pair.distances[0] if pair.distances else None,
                "distance_b": pair.distances[1] if pair.distances else None,
                "nearer": pair.nearer,
            }
            for pair in self.pairs
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return a polars data frame with one row per pair."""
        import polars as pl

        return pl.DataFrame(self.rows())


def compare(a: Iterable[Record], b: Iterable[Record]) -> Comparison:
    """Compare two rows, score by score.

    Parameters
    ----------
    a, b
        Records of one model under one mitigator each, such as
        `records.select(mitigator="none")` of the records of one model.

    Raises
    ------
    UsageError
        If a side has records of several models or mitigators.
    """
    left, right = _by_key(a), _by_key(b)
    pairs: list[Pair] = []
    left_out: list[tuple[str, str]] = []
    for key in dict.fromkeys([*left, *right]):
        pair = _pair(left.get(key), right.get(key))
        if isinstance(pair, str):
            left_out.append((key[0], pair))
        else:
            pairs.append(pair)
    means = [_mean(measures, pairs) for measures in ("bias", "usefulness")]
    return Comparison(tuple(pairs), tuple(mean for mean in means if mean), tuple(left_out))


def between(records: Sequence[Record], a: str, b: str) -> dict[str, Comparison]:
    """Compare two mitigators on each model, or two models under each mitigator.

    Parameters
    ----------
    records
        Records of both.
    a, b
        Labels of two mitigators, or names of two models.

    Returns
    -------
    dict
        A comparison for each model, or for each mitigator, that both have records of.

    Raises
    ------
    UnknownName
        If a name is neither.
    UsageError
        If one is a mitigator and the other a model, or they have no score in common.
    """
    kinds: tuple[tuple[Column, Column], ...] = ((_mitigator, _model), (_model, _mitigator))
    for column, other in kinds:
        known = {column(record) for record in records}
        if a in known and b in known:
            sides = [[r for r in records if column(r) == name] for name in (a, b)]
            return _by_context(sides[0], sides[1], other)
    every = {_mitigator(record) for record in records} | {_model(record) for record in records}
    for name in (a, b):
        if name not in every:
            raise UnknownName("mitigator or model in these records", name, every)
    raise UsageError(f"'{a}' and '{b}' cannot be compared: one is a mitigator, the other a model")


def between_runs(a: Iterable[Record], b: Iterable[Record]) -> dict[str, Comparison]:
    """Compare two sets of records on each model and mitigator that both have.

    Raises
    ------
    UsageError
        If they have none in common.
    """
    return _by_context(list(a), list(b), lambda r: f"{_model(r)} under {_mitigator(r)}")


Column: TypeAlias = Callable[[Record], str]


def _model(record: Record) -> str:
    return record.model.name


def _mitigator(record: Record) -> str:
    return record.mitigator.label


def _by_context(a: list[Record], b: list[Record], context: Column) -> dict[str, Comparison]:
    comparisons = {}
    for name in dict.fromkeys(map(context, a)):
        left, right = ([r for r in side if context(r) == name] for side in (a, b))
        if right:
            comparisons[name] = compare(left, right)
    if not any(comparison.pairs for comparison in comparisons.values()):
        raise UsageError("the two have no score in common")
    return comparisons


def _by_key(records: Iterable[Record]) -> dict[Key, Record]:
    records = list(records)
    rows = {(record.model.name, record.mitigator.label) for record in records}
    if len(rows) > 1:
        raise UsageError(
            f"a side of a comparison is one model under one mitigator; here are {len(rows)} of "
            "them, and `select` chooses"
        )
    newest: dict[Key, Record] = {}
    for record in records:
        key = (record.task.name, record.scenario, record.metric, record.score)
        if key not in newest or age(newest[key]) <= age(record):
            newest[key] = record
    return newest


def _pair(a: Record | None, b: Record | None) -> Pair | str:
    """Return the pair of two records, or why they are none."""
    if a is None or b is None:
        return "only one of the two has it"
    if a.task.digest != b.task.digest:
        return "the versions or data of the task differ"
    if a.value is None or b.value is None:
        return "a value is void"
    return Pair(a, b, a.value, b.value)


def _mean(measures: str, pairs: Sequence[Pair]) -> Mean | None:
    chosen = [pair for pair in pairs if pair.a.task.measures == measures]
    distances = [pair.distances for pair in chosen if pair.distances]
    if not distances:
        return None
    import numpy as np

    a, b = np.array(distances).T
    low, high = _interval(b - a)
    return Mean(
        measures=measures,
        n=len(distances),
        a=float(a.mean()),
        b=float(b.mean()),
        difference=float((b - a).mean()),
        low=low,
        high=high,
    )


def _interval(differences: Any) -> tuple[float | None, float | None]:
    """Return the percentile bootstrap interval of a mean over tasks."""
    if len(differences) < FEWEST:
        return None, None
    import numpy as np

    rng = np.random.default_rng(0)  # fixed: the same records give the same interval
    n = len(differences)
    means = differences[rng.integers(n, size=(RESAMPLES, n))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
