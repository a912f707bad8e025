"""Correlation of two groups of tasks, such as intrinsic and downstream bias.

Do they order models and mitigators alike, and do rows with more bias in one have more in the other?

The mean of a group is that of a leaderboard: over families, of what is above the floor. The
correlation over models uses these means. The correlation over mitigators uses changes from `none`
of the same model, which removes the level of a model. A model with more bias still has larger
changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from harness.names import NONE
from harness.results import ratios
from harness.results.record import IntervalPart, Record
from harness.results.resampling import (
    Point,
    coefficient,
    interval_of,
    newest_versions,
    task_means,
)
from harness.results.tables import age

if TYPE_CHECKING:
    from harness.results.mixed_model import Fit

LEVEL = 0.05
"""Level of the findings of mixed models."""

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
class Link:
    """Whether rows with more bias in one group of tasks have more in another one.

    The rows are models as they are and their variants: under mitigators, with planted bias (a
    control among the mitigators, or a model of its own), and under other prompts. Variants of one
    model are not independent, and a mitigator does the same to all models. So both are random
    intercepts of a mixed model (`harness.results.mixed_model`).

    Parameters
    ----------
    a, b
        Families of tasks; empty for all tasks of the group.
    tasks
        Number of tasks of each.
    models, rows
        Number of base models, and of rows.
    slope
        By how many standard deviations the rank of a row in `b` is higher where its rank in `a` is
        higher by one. None if it was not found.
    interval
        95 % interval of `slope`.
    p_value
        Two-sided p-value of no slope.
    reason
        Why there is no slope, or why it does not count: it is not found without one of the models,
        or without one of the mitigators, whatever its options; or only one of as many pairs as were
        asked would be found by chance.
    is_known
        Whether the slope differs from 0 among all pairs of families that were asked: the share of
        false findings is held at 5 % (Benjamini and Hochberg).
    """

    a: str
    b: str
    tasks: tuple[int, int]
    models: int
    rows: int
    slope: float | None = None
    interval: IntervalPart | None = None
    p_value: float | None = None
    reason: str = ""
    is_known: bool = False

    @property
    def finding(self) -> str:
        """What it says, in words."""
        if self.slope is None or not self.is_known:
            return "not known" + f": {self.reason}" * bool(self.reason)
        return "more with more" if self.slope > 0 else "less with more"


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
    links: tuple[Link, ...] = ()
    """That of all tasks of both groups, without tasks of the first by a metric of the second; then
    those of each family of the first group with each of the second, if they were asked for."""

    @property
    def controls(self) -> tuple[str, ...]:
        """The mitigators that mitigate nothing, such as planted bias."""
        labels = {p.mitigator for part in self.over for p in part.points if p.control}
        return tuple(sorted(labels))

    @property
    def by_task(self) -> dict[str, dict[str, Correlation]]:
        """The correlations of single tasks of the second group, by task and `over`."""
        of_task: dict[str, dict[str, Correlation]] = {}
        for part in self.over:
            if part.task is not None:
                of_task.setdefault(part.task, {})[part.over] = part
        return of_task


def correlate(
    records: Iterable[Record],
    a: Collection[str],
    b: Collection[str],
    *,
    by_family: bool = False,
    bases: Mapping[str, str] = MappingProxyType({}),
) -> Correlations:
    """Correlate the means of two groups of tasks over models and over mitigators.

    Variants of a model, such as those under other prompts, are no models of their own: they count
    in links alone.

    Only primary scores of bias count that a leaderboard ranks (`Record.counted`). Over models a
    task counts if it counts for each of them; over mitigators, if it does for each model with each
    mitigator and without. So all points are means over the same tasks.

    Parameters
    ----------
    records
        Any records; of several of one score the newest counts.
    a, b
        Names of the tasks of both groups. Tasks of both count in `a` alone. A model whose
        yardsticks are not clear is left out: random vectors would make any two measures agree.
    by_family
        Whether each family of one group is linked with each of the other, too.
    bases
        The model that another one is a variant of, by name, such as one that was trained further
        on biased texts. Models under other prompts (`--prompts`) state theirs.

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
        reason = _unusable(of.get(NONE, {}), groups)
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
    base_of = _bases(models, bases)
    of_their_own = {model: of for model, of in models.items() if base_of[model[0]] == model[0]}
    shared = _shared(of_their_own.values(), groups)
    for task in (None, *sorted(shared[1])):
        tasks = (shared[0], shared[1] if task is None else {task})
        over.append(_correlation("models", task, _as_they_are(of_their_own, tasks), tasks))
    shared = _shared([of_task for pair in pairs for of_task in pair[2:]], groups)
    for task in (None, *sorted(shared[1])) if pairs else ():
        tasks = (shared[0], shared[1] if task is None else {task})
        over.append(_correlation("mitigators", task, _changes(pairs, tasks), tasks))
    links = _links(models, pairs, groups, base_of, by_family=by_family)
    return Correlations(tuple(over), tuple(sorted(left_out)), links)


def _bases(models: Mapping[Model, OfTask], bases: Mapping[str, str]) -> dict[str, str]:
    """Return the model that each one is a variant of, by name: itself if it is none."""
    return {
        name: bases.get(name) or next(iter(of_task.values())).model.base or name
        for (name, _), of_task in models.items()
    }


def _links(
    models: Mapping[Model, OfTask],
    pairs: Sequence[tuple[Model, str, OfTask, OfTask]],
    groups: Sequence[frozenset[str]],
    bases: Mapping[str, str],
    *,
    by_family: bool,
) -> tuple[Link, ...]:
    """Return the link of two groups of tasks, and of each two families of them.

    The groups are compared on the tasks that count for all rows. A family has the tasks that count
    for most models, and each two families are compared over the models that have all of theirs: a
    model that was not run on one family takes nothing from the others.
    """
    rows = {
        model: [of_task, *(pair[3] for pair in pairs if pair[0] == model)]
        for model, of_task in models.items()
    }
    shared = _shared(
        [row for of in rows.values() if len(of) > 1 or not pairs for row in of], groups
    )
    if not all(shared):
        return ()
    first = {task: record for of_task in models.values() for task, record in of_task.items()}
    counted = {
        model: {task for task in of[0] if all(_counts(row, task) for row in of)}
        for model, of in rows.items()
    }
    of_their_own = [model for model in models if bases[model[0]] == model[0]]
    families: list[dict[str, set[str]]] = []
    for group in groups:
        of: defaultdict[str, set[str]] = defaultdict(set)
        for task in sorted(group & first.keys()):
            if 2 * sum(task in counted[model] for model in of_their_own) > len(of_their_own):
                of[first[task].family].add(task)
        with_scale = _with_scale(first, {task for tasks in of.values() for task in tasks})
        families.append({name: left for name, tasks in of.items() if (left := tasks & with_scale)})

    def link(a: str, b: str, tasks: Sequence[set[str]]) -> Link:
        points = []
        for model, of_task in models.items():
            if tasks[0] | tasks[1] <= counted[model]:
                points += _variants(model, of_task, pairs, tasks)
        counts = (len(tasks[0]), len(tasks[1]))
        if {first[task].metric for task in tasks[0]} & {first[task].metric for task in tasks[1]}:
            n = len({bases[point.model] for point in points})
            return Link(a, b, counts, n, len(points), reason="both are scored by one metric")
        return _fitted(a, b, counts, points, bases)

    used = {first[task].metric for task in shared[1]}
    others = {task for task in shared[0] if first[task].metric not in used}
    whole = link("", "", (others or shared[0], shared[1]))
    asked = [
        link(a, b, (of_a, of_b))
        for a, of_a in (families[0] if by_family else {}).items()
        for b, of_b in families[1].items()
    ]
    return (*_with_findings([whole]), *_with_findings(asked))


def _variants(
    model: Model,
    of_task: OfTask,
    pairs: Iterable[tuple[Model, str, OfTask, OfTask]],
    tasks: Sequence[Collection[str]],
) -> list[Point]:
    """Return a model as it is and under each mitigator: its means, not their changes."""
    points = _as_they_are({model: of_task}, tasks)
    for base in points[:1]:
        own = [pair for pair in pairs if pair[0] == model]
        points += [
            replace(change, a=base.a + change.a, b=base.b + change.b)
            for change in _changes(own, tasks)
        ]
    return points


def _fitted(
    a: str, b: str, tasks: tuple[int, int], points: Sequence[Point], bases: Mapping[str, str]
) -> Link:
    """Return the link that a mixed model finds."""
    import numpy as np
    from scipy.stats import rankdata

    from harness.metrics import FEWEST
    from harness.results.mixed_model import fit_mixed_model

    of_base = [bases[point.model] for point in points]
    n = len(set(of_base))
    found = Link(a, b, tasks, n, len(points))
    if n < FEWEST:
        return replace(found, reason=f"{n} models, {FEWEST} are needed")
    mitigators = [point.mitigator for point in points]
    methods = [point.method for point in points]
    # Means are ratios with long tails: whitening multiplies some by ten. Ranks keep one such row
    # from deciding the slope (Conover and Iman 1981, "Rank transformations").
    values = rankdata([[point.a, point.b] for point in points], axis=0)
    spread = values.std(axis=0, ddof=1)
    if not spread.all():
        return replace(found, reason="all rows are alike")
    x, y = ((values - values.mean(axis=0)) / spread).T

    def fitted(rows: Sequence[int]) -> Fit:
        groupings = [[groups[row] for row in rows] for groups in (of_base, mitigators)]
        # Without variants, rows are independent: no group has two.
        several = [groups for groups in groupings if 1 < len(set(groups)) < len(rows)]
        design = np.stack([np.ones(len(rows)), x[rows]], axis=1)
        return fit_mixed_model(y[rows], design, several or groupings[:1])

    fit = fitted(range(len(points)))
    low, high = fit.interval(1)
    without = {
        f"without {group}": fitted([row for row, of in enumerate(groups) if of != group])
        for groups in (of_base, methods)
        for group in dict.fromkeys(groups)
        if len(set(groups)) > 2 and fit.p_value(1) < LEVEL
    }
    needed = [label for label, of in without.items() if not _is_found(of, fit)]
    return replace(
        found,
        slope=float(fit.coefficients[1]),
        interval=IntervalPart(low=low, high=high, level=0.95, method="mixed model"),
        p_value=fit.p_value(1),
        reason=f"not {needed[0]}" if needed else "",
    )


def _is_found(without: Fit, fit: Fit) -> bool:
    """Return whether a fit without some rows finds the slope of all rows, with its sign."""
    is_same_sign = without.coefficients[1] * fit.coefficients[1] > 0
    return bool(is_same_sign) and without.p_value(1) < LEVEL


def _with_findings(links: Sequence[Link]) -> list[Link]:
    """Return links with what is known: few of the findings are false, however many were asked."""
    from scipy.stats import false_discovery_control

    fitted = [link for link in links if link.p_value is not None]
    p_values = false_discovery_control([link.p_value for link in fitted]) if fitted else []
    adjusted = {(link.a, link.b): p for link, p in zip(fitted, p_values, strict=True)}
    found = []
    for link in links:
        reason, p = link.reason, adjusted.get((link.a, link.b), 1.0)
        if not reason and link.p_value is not None and link.p_value < LEVEL <= p:
            reason = f"one of {len(fitted)} that were asked"
        found.append(replace(link, reason=reason, is_known=p < LEVEL and not reason))
    return found


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
    """Return the newest primary record of each task's newest version, by model and mitigator."""
    rows: defaultdict[Model, defaultdict[str, OfTask]] = defaultdict(lambda: defaultdict(dict))
    primary = [record for record in records if record.primary]
    versions = newest_versions(primary)
    for record in primary:
        if record.task.version < versions[record.task.name]:
            continue
        of_task = rows[record.model.name, record.model.fingerprint][record.mitigator.label]
        known = of_task.get(record.task.name)
        if known is None or age(known) <= age(record):
            of_task[record.task.name] = record
    return {model: dict(of) for model, of in rows.items()}


def _unusable(of_task: OfTask, groups: Sequence[Collection[str]]) -> str | None:
    """Return why a model is left out; None if it is used."""
    if not of_task:
        return f"no records without a mitigator ('{NONE}')"
    for group, name in zip(groups, "AB", strict=True):
        if not any(_counts(of_task, task) for task in group):
            return f"no score of a ranked task of {name}"
    return ratios.unclear(
        [record.ratio.t for record in of_task.values() if record.ratio and record.ratio.t]
    )


def _counts(of_task: OfTask, task: str) -> bool:
    record = of_task.get(task)
    return record is not None and record.task.measures == "bias" and record.counted is not None


def _shared(
    models: Collection[OfTask], groups: Sequence[Collection[str]]
) -> tuple[set[str], set[str]]:
    """Return the tasks of each group that count for every model, in families with a scale."""
    a, b = (
        {task for task in group if models and all(_counts(of_task, task) for of_task in models)}
        for group in groups
    )
    first = next(iter(models), {})
    return _with_scale(first, a), _with_scale(first, b)


def _with_scale(of_task: OfTask, tasks: Collection[str]) -> set[str]:
    """Return the tasks whose family has a scale, which it has for all models alike."""
    left_out = task_means([{"": of_task[task]} for task in tasks], [""]).left_out
    return set(tasks).difference(*left_out.values())


def _as_they_are(models: Mapping[Model, OfTask], tasks: Sequence[Collection[str]]) -> list[Point]:
    points = []
    for (name, _), of_task in models.items():
        a, b = (_mean_of_group(of_task, group) for group in tasks)
        if a is not None and b is not None:
            points.append(Point(name, NONE, a, b, NONE))
    return points


def _changes(
    pairs: Iterable[tuple[Model, str, OfTask, OfTask]], tasks: Sequence[Collection[str]]
) -> list[Point]:
    points = []
    for (name, _), mitigator, before, after in pairs:
        a, b = (_change_of_group(before, after, group) for group in tasks)
        if a is not None and b is not None:
            part = next(iter(after.values())).mitigator
            points.append(Point(name, mitigator, a, b, part.name, part.control))
    return points


def _mean_of_group(of_task: OfTask, tasks: Iterable[str]) -> float | None:
    """Return the mean over families of what counts of these tasks; None if no family has one."""
    return task_means([{"": of_task[task]} for task in sorted(tasks)], [""]).mean("")


def _change_of_group(before: OfTask, after: OfTask, tasks: Iterable[str]) -> float | None:
    """Return the effect of a mitigator, as everywhere, on these tasks; None if it has none."""
    rows = {NONE: before, "": after}
    lines = [{row: of[task] for row, of in rows.items()} for task in sorted(tasks)]
    return task_means(lines, list(rows)).change(NONE, "")


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
