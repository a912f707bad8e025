"""Means over several tasks, a line a model, mitigator and score; and how scores agree over rows.

A mean of signed scores hides biases of opposite signs, so it stands beside the mean of absolute
values. A row without a value on every task has no mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from harness.results.record import Record
from harness.results.tables import age

LEAST_ROWS = 3
"""Rows for a correlation."""

Score = tuple[str, str, str]
"""Metric, score and scenario."""
Row = tuple[str, str, str]
"""Model, its fingerprint, and mitigator."""


@dataclass(frozen=True)
class Average:
    """The mean of a score over tasks, for one model and mitigator.

    Parameters
    ----------
    model, mitigator
        Labels.
    metric, score, scenario
        What is averaged.
    tasks
        Number of tasks that have this score.
    missing
        Those without a value here.
    mean, mean_absolute
        Means of the values and of the absolute values; None if a task is missing.
    """

    model: str
    mitigator: str
    metric: str
    score: str
    scenario: str
    tasks: int
    missing: tuple[str, ...]
    mean: float | None
    mean_absolute: float | None

    def row(self) -> dict[str, Any]:
        """Return it as a flat mapping."""
        return asdict(self) | {"missing": list(self.missing)}


@dataclass(frozen=True)
class Agreement:
    """How two averaged scores agree: over models and mitigators, by the mean absolute values.

    Parameters
    ----------
    a, b
        Metric, score and scenario of each.
    rows
        Number of models and mitigators with both means.
    pearson, spearman
        The correlations; None with fewer than three rows, or if all values of one are equal.
    """

    a: Score
    b: Score
    rows: int
    pearson: float | None
    spearman: float | None


def averages(records: Iterable[Record]) -> list[Average]:
    """Return the averages of records, those of one score together.

    Of several versions, seeds or dates of a score the newest counts.
    """
    values: dict[Score, dict[Row, dict[str, Record]]] = {}
    for record in records:
        of_row = values.setdefault((record.metric, record.score, record.scenario), {})
        row = (record.model.name, record.model.fingerprint, record.mitigator.label)
        of_task = of_row.setdefault(row, {})
        known = of_task.get(record.task.name)
        if known is None or age(known) <= age(record):
            of_task[record.task.name] = record
    return [
        _average(score, row, of_task, tasks)
        for score, of_row in values.items()
        for tasks in [sorted({task for of_task in of_row.values() for task in of_task})]
        for row, of_task in of_row.items()
    ]


def agreements(rows: Iterable[Average]) -> list[Agreement]:
    """Return the agreement of each two scores."""
    by_score: dict[Score, dict[tuple[str, str], float]] = {}
    for row in rows:
        of_score = by_score.setdefault((row.metric, row.score, row.scenario), {})
        if row.mean_absolute is not None:
            of_score[row.model, row.mitigator] = row.mean_absolute
    return [_agreement(a, b, by_score[a], by_score[b]) for a, b in combinations(by_score, 2)]


def _average(score: Score, row: Row, of_task: dict[str, Record], tasks: list[str]) -> Average:
    values = {task: record.value for task, record in of_task.items() if record.value is not None}
    missing = tuple(task for task in tasks if task not in values)
    metric, name, scenario = score
    return Average(
        model=row[0],
        mitigator=row[2],
        metric=metric,
        score=name,
        scenario=scenario,
        tasks=len(tasks),
        missing=missing,
        mean=None if missing else fmean(values.values()),
        mean_absolute=None if missing else fmean(map(abs, values.values())),
    )


def _agreement(
    a: Score, b: Score, of_a: dict[tuple[str, str], float], of_b: dict[tuple[str, str], float]
) -> Agreement:
    both = [row for row in of_a if row in of_b]
    x, y = [of_a[row] for row in both], [of_b[row] for row in both]
    if len(both) < LEAST_ROWS or len(set(x)) == 1 or len(set(y)) == 1:
        return Agreement(a, b, len(both), None, None)
    from scipy.stats import pearsonr, spearmanr

    return Agreement(
        a, b, len(both), float(pearsonr(x, y).statistic), float(spearmanr(x, y).statistic)
    )
