"""Correlation of two groups of tasks, such as intrinsic and downstream bias.

Do they order models and mitigators alike?

The mean of a group is that of a leaderboard: over families, of what is above the floor. The
correlation over models takes these means as they are. That over mitigators takes changes against
`none` of the same model, so that the level of a model does not count. Its size does: a model with
more bias has more to lose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

from harness.names import NONE
from harness.results.rank_correlation import Point, coefficient, interval_of
from harness.results.record import Record
from harness.results.record_parts import IntervalPart
from harness.results.tables import age

SIGNIFICANT = 0.05
"""A required control is passed by a value above its ideal with a p-value below this."""
Model: TypeAlias = tuple[str, str]
"""Name and fingerprint."""
OfTask: TypeAlias = dict[str, Record]
"""The primary record of each task, for one model and mitigator."""


@dataclass(frozen=True)
class Correlation:
    """How the means of two groups of tasks correlate.

    Parameters
    ----------
    over
        `models` as they are, or changes by `mitigators`.
    task
        The only task of the second group that counts; None if all do.
    points
        What is correlated.
    tasks
        Number of tasks of each group that count for every point.
    spearman, pearson
        The correlations; None with fewer than three points, or if a mean is the same in all.
    interval
        95 % interval of `spearman`; None with fewer than five models. Over models it is that of
        Bonett and Wright (2000), over mitigators a jackknife over models and, with at least five,
        over mitigators.
    """

    over: Literal["models", "mitigators"]
    task: str | None
    points: tuple[Point, ...]
    tasks: tuple[int, int]
    spearman: float | None
    pearson: float | None
    interval: IntervalPart | None


@dataclass(frozen=True)
class Correlations:
    """Correlations of two groups of tasks.

    Parameters
    ----------
    over
        Those of the means: over models, and over mitigators if there are any. Then those of each
        task of the second group with the mean of the first.
    left_out
        Models that do not count, each with the reason.
    """

    over: tuple[Correlation, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def by_task(self) -> dict[str, dict[str, Correlation]]:
        """The correlations of single tasks of the second group, by task and `over`."""
        of_task: dict[str, dict[str, Correlation]] = {}
        for part in self.over:
            if part.task is not None:
                of_task.setdefault(part.task, {})[part.over] = part
        return of_task


def correlate(
    records: Iterable[Record], a: Collection[str], b: Collection[str], required: Collection[str]
) -> Correlations:
    """Correlate the means of two groups of tasks over models and over mitigators.

    Only primary scores of bias count that a leaderboard ranks (`Record.counted`). Over models a
    task counts if it counts for each of them; over mitigators, if it does for each model with each
    mitigator and without. So all points are means over the same tasks.

    Parameters
    ----------
    records
        Any records; of several of one score the newest counts.
    a, b
        Names of the tasks of both groups. Tasks of both count in `a` alone.
    required
        Names of controls. A model that fails one is left out: random vectors have no bias of any
        kind, so that they make any two measures agree.

    Returns
    -------
    Correlations
        Over mitigators, intervals leave out each model in turn and each mitigator: points of one
        model are not independent, and those of one mitigator are not, either.

    References
    ----------
    Bonett and Wright, "Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations", Psychometrika 2000.
    """
    groups = (frozenset(a), frozenset(b) - frozenset(a))
    rows = _newest(records)
    models: dict[Model, OfTask] = {}
    left_out = []
    for model, of in rows.items():
        reason = _unusable(of.get(NONE, {}), groups, required)
        if reason is None:
            models[model] = of[NONE]
        else:
            left_out.append((model[0], reason))
    pairs = [
        (model, mitigator, models[model], of_task)
        for model in models
        for mitigator, of_task in rows[model].items()
        if mitigator != NONE and all(_shared((models[model], of_task), groups))
    ]
    over = []
    shared = _shared(models.values(), groups)
    for task in (None, *sorted(shared[1])):
        tasks = (shared[0], shared[1] if task is None else {task})
        over.append(_correlation("models", task, _as_they_are(models, tasks), tasks))
    shared = _shared([of_task for pair in pairs for of_task in pair[2:]], groups)
    for task in (None, *sorted(shared[1])) if pairs else ():
        tasks = (shared[0], shared[1] if task is None else {task})
        over.append(_correlation("mitigators", task, _changes(pairs, tasks), tasks))
    return Correlations(tuple(over), tuple(sorted(left_out)))


def of_other_metrics(records: Iterable[Record], a: Collection[str], b: Collection[str]) -> set[str]:
    """Return the tasks of `a` with records that are scored by another metric than those of `b`.

    A metric on both sides agrees with itself: two tasks of one metric are nearly one test.

    Parameters
    ----------
    records, a, b
        As for `correlate`. Of `b`, ranked tasks of bias count.
    """
    metrics: dict[str, set[str]] = {}
    of_b: set[str] = set()
    for record in records:
        if record.primary:
            metrics.setdefault(record.task.name, set()).add(record.metric)
            is_of_b = record.task.name in b and record.task.name not in a
            if is_of_b and record.task.measures == "bias" and record.counted is not None:
                of_b.add(record.metric)
    return {task for task in a if task in metrics and not metrics[task] & of_b}


def _newest(records: Iterable[Record]) -> dict[Model, dict[str, OfTask]]:
    """Return the newest primary record of each task by model and mitigator."""
    rows: defaultdict[Model, defaultdict[str, OfTask]] = defaultdict(lambda: defaultdict(dict))
    for record in records:
        if not record.primary:
            continue
        of_task = rows[record.model.name, record.model.fingerprint][record.mitigator.label]
        known = of_task.get(record.task.name)
        if known is None or age(known) <= age(record):
            of_task[record.task.name] = record
    return {model: dict(of) for model, of in rows.items()}


def _unusable(
    of_task: OfTask, groups: Sequence[Collection[str]], required: Collection[str]
) -> str | None:
    """Return why a model does not count; None if it does."""
    if not of_task:
        return f"no records without a mitigator ('{NONE}')"
    for group, name in zip(groups, "AB", strict=True):
        if not any(_counts(of_task, task) for task in group):
            return f"no score of a ranked task of {name}"
    for task in sorted(required):
        control = of_task.get(task)
        if control is None:
            continue
        p = control.p_value
        if control.value is None or control.value <= _ideal(control) or p is None:
            return f"fails the control '{task}'"
        if p >= SIGNIFICANT:
            return f"fails the control '{task}': p = {p:.3g}"
    return None


def _ideal(record: Record) -> float:
    return 0.0 if isinstance(record.ideal, str) else record.ideal


def _counts(of_task: OfTask, task: str) -> bool:
    record = of_task.get(task)
    return record is not None and record.task.measures == "bias" and record.counted is not None


def _shared(
    models: Collection[OfTask], groups: Sequence[Collection[str]]
) -> tuple[set[str], set[str]]:
    """Return the tasks of each group that count for every model."""
    a, b = (
        {task for task in group if models and all(_counts(of_task, task) for of_task in models)}
        for group in groups
    )
    return a, b


def _as_they_are(models: Mapping[Model, OfTask], tasks: Sequence[Collection[str]]) -> list[Point]:
    return [
        Point(name, NONE, *(_mean(of_task, group) for group in tasks))
        for (name, _), of_task in models.items()
        if all(tasks)
    ]


def _changes(
    pairs: Iterable[tuple[Model, str, OfTask, OfTask]], tasks: Sequence[Collection[str]]
) -> list[Point]:
    return [
        Point(name, mitigator, *(_mean(after, group) - _mean(before, group) for group in tasks))
        for (name, _), mitigator, before, after in pairs
        if all(tasks)
    ]


def _mean(of_task: OfTask, tasks: Iterable[str]) -> float:
    """Return the mean over families of what counts of these tasks, all of which count."""
    families: defaultdict[str, list[float]] = defaultdict(list)
    for task in sorted(tasks):
        counted = of_task[task].counted
        assert counted is not None  # noqa: S101  # by the choice of tasks
        families[of_task[task].family].append(counted)
    return fmean(map(fmean, families.values()))


def _correlation(
    over: Literal["models", "mitigators"],
    task: str | None,
    points: Sequence[Point],
    tasks: Sequence[Collection[str]],
) -> Correlation:
    spearman = coefficient(points)
    return Correlation(
        over=over,
        task=task,
        points=tuple(points),
        tasks=(len(tasks[0]), len(tasks[1])),
        spearman=spearman,
        pearson=coefficient(points, ranks=False),
        interval=None if spearman is None else interval_of(over, spearman, points),
    )
