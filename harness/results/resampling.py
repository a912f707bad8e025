"""Means over tasks and over seeds, and intervals of paired differences by the jackknife."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from harness import metrics, names
from harness.results import ratios
from harness.results.record import LEAKS, Counted, IntervalPart, Record, finite

if TYPE_CHECKING:
    import polars as pl

    from harness.arrays import Floats, Reals


LEVEL = 0.95
"""Confidence level of the intervals."""
FEWEST = 6
"""Fewest families or clusters for an interval."""
Pair: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The rows of one item."""


def over_families(differences: Reals | Sequence[float]) -> IntervalPart | None:
    """Return Student's interval of the mean of (n,) differences; None for few families."""
    import numpy as np

    d = np.asarray(differences, dtype=np.float64)
    n = len(d)
    if n < FEWEST:
        return None
    return _interval(float(d.mean()), [(d.sum() - d) / (n - 1)], "jackknife t of families of tasks")


def over_items(
    a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> IntervalPart | None:
    """Return the interval of the difference of two scores, over their items.

    Items are paired, and their clusters are left out in turn, within each input. If targets and
    attributes are two ways to divide the score, both are resampled. Values that all items share,
    such as the standard deviation in an effect size, are not recomputed.

    Parameters
    ----------
    a, b
        The samples of both scores: a row for each item, with its `contribution`.

    Returns
    -------
    IntervalPart or None
        None if the scores are not means of the same items, or there are too few clusters.
    """
    if not _are_same_items([item(row) for row in a], [item(row) for row in b]):
        return None
    if [_is_counted(row) for row in a] != [_is_counted(row) for row in b]:
        return None
    pairs = [pair for pair in zip(a, b, strict=True) if _is_counted(pair[0])]
    if not pairs:
        return None
    difference = fmean(_difference(pair) for pair in pairs)
    left_out: list[Floats] = []
    for part in _parts(pairs):
        strata: dict[Any, dict[Any, list[float]]] = {}
        for i, pair in enumerate(part):
            clusters = strata.setdefault(pair[0].get("input"), {})
            cluster = pair[0].get("cluster", f"item {i}")
            clusters.setdefault(cluster, []).append(_difference(pair))
        if sum(map(len, strata.values())) < FEWEST:
            return None
        left_out += [difference + _changes(clusters, len(part)) for clusters in strata.values()]
    return _interval(difference, left_out, "jackknife t of clusters of paired items")


def of_independent(a: Record, b: Record) -> IntervalPart | None:
    """Return the interval of the difference of two scores, from that of each.

    The half widths add up as those of independent scores do. Scores of the same items are seldom
    less than independent, so it is seldom too narrow. None if one has no interval, and for equal
    vectors, which are no two scores.
    """
    same = a.model.fingerprint == b.model.fingerprint and a.mitigator.label == b.mitigator.label
    if a.interval is None or b.interval is None or a.value is None or b.value is None or same:
        return None
    below = math.hypot(b.value - b.interval.low, a.interval.high - a.value)
    above = math.hypot(b.interval.high - b.value, a.value - a.interval.low)
    difference = b.value - a.value
    return IntervalPart(
        low=difference - below,
        high=difference + above,
        level=LEVEL,
        method="intervals of both scores, as if they were independent",
    )


def _parts(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return the items by role, if each role alone has both scores as its means; else all.

    The role of an input is its name without the number: `targets` and `attributes`.
    """
    roles: dict[str, list[Pair]] = {}
    for pair in pairs:
        roles.setdefault(str(pair[0].get("input")).rstrip("_0123456789"), []).append(pair)
    for side in (0, 1):
        mean = fmean(pair[side]["contribution"] for pair in pairs)
        for part in roles.values():
            own = fmean(pair[side]["contribution"] for pair in part)
            if not math.isclose(own, mean, rel_tol=1e-6, abs_tol=1e-9):
                return [list(pairs)]
    return list(roles.values())


def _changes(clusters: Mapping[Any, Sequence[float]], items: int) -> Floats:
    """Return the change of the mean of all items without each cluster of an input.

    The input keeps its share of the items.
    """
    import numpy as np

    sums = np.array([sum(values) for values in clusters.values()])
    sizes = np.array([len(values) for values in clusters.values()])
    total, n = sums.sum(), sizes.sum()
    rest = n - sizes
    without = np.divide(total - sums, rest, out=np.full(len(sums), np.nan), where=rest > 0)
    changes: Floats = (without - total / n) * n / items
    return changes


def _are_same_items(a: Sequence[Mapping[str, str]], b: Sequence[Mapping[str, str]]) -> bool:
    """Return whether two lists name the same items in the same order.

    Texts that differ, such as a model's answers, are ignored if the other texts still identify all
    items.
    """
    if len(a) != len(b):
        return False
    answers = {
        key
        for x, y in zip(a, b, strict=True)
        for key in x.keys() | y.keys()
        if x.get(key) != y.get(key)
    }
    if not answers:
        return True
    names = [tuple(text for key, text in x.items() if key not in answers) for x in a]
    return all(names) and len(set(names)) == len({tuple(x.values()) for x in a})


def _difference(pair: Pair) -> float:
    return float(pair[1]["contribution"] - pair[0]["contribution"])


def _is_counted(row: Mapping[str, Any]) -> bool:
    return row.get("contribution") is not None


def item(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the key of an item: its text and input or, for a pair, the text of each input."""
    of_pair = [key for key in row if not key.endswith("_embedded")]
    keys = ("input", "text") if "text" in row else of_pair
    return {key: row[key] for key in keys if isinstance(row.get(key), str)}


def _interval(value: float, left_out: Sequence[Floats], method: str) -> IntervalPart | None:
    import numpy as np

    if np.allclose(np.concatenate(left_out), value, rtol=1e-12, atol=1e-12):
        ends = metrics.Ends(value, value)  # all differences are equal
    else:
        interval = metrics.t_interval(value, left_out, confidence=LEVEL)
        if interval is None:
            return None
        ends = interval
    return IntervalPart(low=ends.low, high=ends.high, level=LEVEL, method=method)


# Means over tasks, as on a leaderboard: each method of bias, and each family of usefulness, has one
# vote.
#
# There is one mean of a row, wherever it is printed: over its own tasks that count. Two rows are
# compared over the tasks that count in both. So another row changes neither.


NAMES = {"bias": "mean bias", "usefulness": "mean usefulness"}
"""Name of the mean of each kind of task."""
HELP = {
    "mean bias": "gaps over yardsticks; 0 is fair, 1 as biased as the reference encoder",
    "mean usefulness": "1 is the ideal; higher is better",
}
"""What each mean is."""
OTHER_VERSION = "of another version of the task"
NOT_IN_BOTH = "not in both rows"
"""Why a score does not count, beside `Record.left_out`."""


Values = dict[str, Counted]
"""What counts, by column."""
Line = Mapping[str, Record]
"""The record of each column: of one task, scenario, metric and score."""


@dataclass(frozen=True)
class TaskMeans:
    """What counts of the tasks that count in all of some rows, and its means.

    Parameters
    ----------
    families
        By family, what counts of each of its tasks in each row.
    of
        Number of scores that any of the rows has.
    left_out
        Names of the tasks that do not count, by the reason.
    is_primary
        Whether all of these scores are the primary ones of their tasks.
    is_effect
        Whether the rows are one model, and the scores measure bias: then a difference is the
        effect of a mitigator.
    yardsticks
        The t of the yardstick of each score that counts, by row.
    """

    families: Mapping[str, Sequence[Values]]
    of: int
    left_out: Mapping[str, tuple[str, ...]]
    is_primary: bool = True
    is_effect: bool = False
    yardsticks: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def name(self, measures: str) -> str:
        """Return the name of the mean of what tasks measure."""
        return NAMES[measures] + ("" if self.is_primary else " of these scores")

    @property
    def n(self) -> int:
        """Number of scores that count."""
        return sum(map(len, self.families.values()))

    @property
    def counts(self) -> str:
        """How many scores count, of how many."""
        return f"{self.n} of {self.of}"

    def unclear(self, row: str) -> str | None:
        """Return why the mean of a row says nothing: too few yardsticks are clear; else None."""
        return ratios.unclear(self.yardsticks.get(row, ()))

    def mean(self, row: str) -> float | None:
        """Return the mean of a row over its families; None if no task counts."""
        means, scales = [], []
        for family in self.families.values():
            mean = ratios.pool([values[row] for values in family])
            if mean is not None:
                means.append(mean)
                scales.append(family[0][row].reference_scale)
        return fmean(ratios.standardised(means, scales)) if means else None

    def differences(self, a: str, b: str) -> list[float]:
        """Return the difference of each family, `b` less `a`, standardised as in the mean.

        The effect of a mitigator is the larger of two: over its own yardstick, and over that of
        `a`. So neither noise nor a larger yardstick looks like less bias.
        """
        differences, scales = [], []
        for family in self.families.values():
            before, after = (ratios.pool([values[row] for values in family]) for row in (a, b))
            if before is None or after is None:
                continue
            scales.append(family[0][a].reference_scale)
            if not self.is_effect:
                differences.append(after - before)
                continue
            mixed = [values[b]._replace(yardstick=values[a].yardstick) for values in family]
            on_base = ratios.pool(mixed) or 0.0
            differences.append(max(abs(after), abs(on_base)) - abs(before))
        return ratios.standardised(differences, scales)

    def change(self, a: str, b: str) -> float | None:
        """Return the mean of the differences; None if no task counts."""
        differences = self.differences(a, b)
        return fmean(differences) if differences else None


def task_means(
    lines: Iterable[Line], rows: Sequence[str], *, is_old: Callable[[Record], bool] | None = None
) -> TaskMeans:
    """Return what counts of the tasks that count in all of some rows.

    Parameters
    ----------
    lines
        A line for each score, with its record of each row that has one.
    rows
        The rows: one for its mean, or two for their comparison.
    is_old
        Whether a record is of another version of its task than the one that counts. By default any
        version does, and in two rows the same one.

    Notes
    -----
    A task counts by its primary score, or by the scores that are there if that one is not. It
    counts if `Record.left_out` has no reason against it in any row, and the rows have the same
    content of the task.
    """
    families: defaultdict[str, list[Values]] = defaultdict(list)
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    members: defaultdict[str, list[str]] = defaultdict(list)
    yardsticks: defaultdict[str, list[float]] = defaultdict(list)
    models: set[str] = set()
    of = 0
    is_primary = is_bias = True
    for line in of_primary_scores(lines):
        records = {row: line[row] for row in rows if row in line}
        if not records:
            continue
        of += 1
        is_primary = is_primary and all(record.primary for record in records.values())
        first = next(iter(records.values()))
        is_bias = is_bias and first.task.measures == "bias"
        models |= {record.model.fingerprint for record in records.values()}
        reason = _left_out(list(records.values()), len(rows), is_old)
        values = {
            row: counted
            for row, record in records.items()
            if (counted := record.counted) is not None
        }
        if reason is None:
            family = first.vote
            families[family].append(values)
            for row, record in records.items():
                if record.ratio is not None and record.ratio.t is not None:
                    yardsticks[row].append(record.ratio.t)
            members[family].append(first.task.name)
        else:
            left_out[reason].append(first.task.name)
    for family in [name for name, of in families.items() if not _has_scale(of)]:
        del families[family]
        left_out[ratios.UNCLEAR] += members[family]
    tasks = {reason: tuple(dict.fromkeys(names)) for reason, names in left_out.items()}
    is_effect = is_bias and len(models) == 1
    return TaskMeans(dict(families), of, tasks, is_primary, is_effect, dict(yardsticks))


def _has_scale(family: Sequence[Values]) -> bool:
    """Return whether the tasks of a family have a scale; a task has one for all rows."""
    return ratios.has_scale([next(iter(values.values())) for values in family])


def mean_of_mitigated(base: TaskMeans, pair: TaskMeans, rows: tuple[str, str]) -> float | None:
    """Return the mean of a mitigated row: that of its model, plus its change; None if unknown.

    A mean over its own tasks would be one over other tasks than its model's: leaks are left out.

    Parameters
    ----------
    base, pair
        What counts in the row without a mitigator, and in both rows.
    rows
        The row without a mitigator and the mitigated one.
    """
    value, change = base.mean(rows[0]), pair.change(*rows)
    return value + change if pair.is_effect and value is not None and change is not None else None


def newest_versions(records: Iterable[Record]) -> dict[str, int]:
    """Return the newest version of each task of some records."""
    newest: dict[str, int] = {}
    for part in (record.task for record in records):
        newest[part.name] = max(part.version, newest.get(part.name, 0))
    return newest


def of_primary_scores(lines: Iterable[Line]) -> list[Line]:
    """Return the lines of primary scores, and those of tasks that have none."""
    firsts = [(next(iter(line.values())), line) for line in lines if line]
    has_primary = {first.task.name for first, _ in firsts if first.primary}
    return [line for first, line in firsts if first.primary or first.task.name not in has_primary]


def _left_out(
    records: Sequence[Record], n_rows: int, is_old: Callable[[Record], bool] | None
) -> str | None:
    """Return why the records of a line do not count; None if they do."""
    reasons = [reason for record in records if (reason := record.left_out)]
    if reasons:
        return LEAKS if LEAKS in reasons else reasons[0]
    if is_old and any(map(is_old, records)):
        return OTHER_VERSION
    if len(records) < n_rows:
        return NOT_IN_BOTH
    return OTHER_VERSION if len({record.task.digest for record in records}) > 1 else None


# Several seeds of one score become one: their mean.
#
# The seed is that of the run, or the option `seed` of a mitigator. Random draws in a score
# (permutations, splits) differ between seeds; the texts and vectors are the same. So:
#
# - The value, its floor, its unit and what follows from them are means over seeds.
# - The ends of the interval are means of the ends. The error of a mean is at most the mean of the
#   errors, and seeds share the items, which the interval is about. So the mean interval holds the
#   mean value at least as often as each interval its own value. The spread over seeds is another
#   thing: it is that of the draws, not of the words.
# - The p-value is the largest: evidence has to hold with every seed. The smallest would be a choice
#   of the best of several tests, and a mean of p-values is no p-value.
# - `reversed` and `undone` hold if they hold with every seed.
# - Counts, words, dates and the id are those of the smallest seed.
#
# A seed without a value that counts is left out if another seed has one.


SEED = "seed"
RUNS = "runs"
"""Key of the details of a mean: the values of its runs."""
_OF_RATIO = ("gap", "gap_error", "yardstick", "yardstick_error")
_MEANS = (
    *("value", "measure", "distance", "low", "high", "unit"),
    *("floor", "floor_sd", "floor_centre", "floor_spread"),
    *(*_OF_RATIO, "ratio_low", "ratio_high"),
)
_EVERY = ("reversed", "undone")


def mean_of_seeds(
    runs: pl.DataFrame, by: Sequence[str], counts: pl.Expr | None = None
) -> pl.DataFrame:
    """Return one line for each group of runs that differ only in their seed, by the rule above.

    Parameters
    ----------
    runs
        A line a run: its `seed`, `value` and `p_value`, and any further columns.
    by
        Columns of the groups.
    counts
        Whether the value of a run counts; by default whether there is one.

    Returns
    -------
    pl.DataFrame
        The columns of `runs`, with `seeds`, the number of values, and `spread`, their standard
        deviation, which is null with one.
    """
    import polars as pl

    counts = pl.col("value").is_not_null() if counts is None else counts
    means = [name for name in _MEANS if name in runs.columns]
    every = [name for name in _EVERY if name in runs.columns]
    return (
        runs.filter(counts | ~counts.any().over(by))
        .sort(*by, SEED)
        .group_by(by, maintain_order=True)
        .agg(
            pl.exclude(*by, *means, *every, "p_value").first(),
            pl.col(means).mean(),
            pl.col(every).all(),
            pl.col("p_value").max(),
            seeds=pl.col("value").count().cast(pl.Int64),
            spread=pl.col("value").std(),
        )
    )


def over_seeds(records: Iterable[Record]) -> list[Record]:
    """Return records in which runs that differ only in a seed are one record: `mean_of_seeds`.

    The mean has the values of its runs in the details (`runs`), with their `standard_error`, the
    sample standard deviation over √n. A score with a single value stays as it is.
    """
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for record in records:
        part = record.model
        mitigator = (_without_seed(record.mitigator.label), record.mitigator.concept)
        task = (record.task.name, record.task.version, record.task.digest)
        score = (record.scenario, record.metric, record.score, record.limit)
        groups[part.name, part.fingerprint, *mitigator, *task, *score].append(record)
    runs = {
        group: sorted((r for r in of_group if r.value is not None), key=lambda r: r.seed)
        for group, of_group in enumerate(groups.values())
    }
    means = _means({group: of_group for group, of_group in runs.items() if len(of_group) > 1})
    return [
        _mean(runs[group], means[group])
        if group in means
        else _with_any_seed((runs[group] or of_group)[0])
        for group, of_group in enumerate(groups.values())
    ]


def _means(runs: Mapping[int, Sequence[Record]]) -> dict[int, dict[str, Any]]:
    """Return the line of `mean_of_seeds` for each group of runs."""
    import polars as pl

    lines = [
        {
            "group": group,
            SEED: record.seed,
            "value": record.value,
            "p_value": record.p_value,
            "unit": record.unit,
            "low": None if record.interval is None else record.interval.low,
            "high": None if record.interval is None else record.interval.high,
            "floor": None if record.floor is None else record.floor.mean,
            "floor_sd": None if record.floor is None else record.floor.sd,
            "floor_centre": None if record.floor is None else record.floor.centre,
            "floor_spread": None if record.floor is None else record.floor.spread,
            **{name: record.ratio and getattr(record.ratio, name) for name in _OF_RATIO},
            "ratio_low": record.ratio and record.ratio.low,
            "ratio_high": record.ratio and record.ratio.high,
            "reversed": bool(record.details.get("reversed")),
            "undone": record.undone,
        }
        for group, of_group in runs.items()
        for record in of_group
    ]
    if not lines:
        return {}
    kinds = {"group": pl.Int64(), SEED: pl.Int64(), **dict.fromkeys(_EVERY, pl.Boolean())}
    schema = {name: kinds.get(name, pl.Float64()) for name in lines[0]}
    means = mean_of_seeds(pl.DataFrame(lines, schema=schema), ("group",))
    return {line["group"]: line for line in means.iter_rows(named=True)}


def _mean(runs: Sequence[Record], mean: Mapping[str, Any]) -> Record:
    """Return the record of several runs, of which the first has the smallest seed."""
    first = runs[0]
    details: dict[str, Any] = {
        RUNS: [record.value for record in runs],
        "standard_error": mean["spread"] / math.sqrt(mean["seeds"]),
    }
    details |= {key: first.details[key] for key in ("alternative",) if key in first.details}
    if "reversed" in first.details:
        details["reversed"] = mean["reversed"]
    if mean["undone"]:
        details["undone"] = first.details["undone"]
    interval = next((record.interval for record in runs if record.interval is not None), None)
    if interval is not None:
        ends = {"low": mean["low"], "high": mean["high"]}
        method = f"mean over {len(runs)} seeds of: {interval.method}"
        interval = interval.model_copy(update={**ends, "method": method})
    floor = next((record.floor for record in runs if record.floor is not None), None)
    if floor is not None:
        update = {"mean": "floor", **{key: f"floor_{key}" for key in ("sd", "centre", "spread")}}
        floor = floor.model_copy(update={key: mean[name] for key, name in update.items()})
    ratio = next((record.ratio for record in runs if record.ratio is not None), None)
    if ratio is not None:
        update = {name: mean[name] for name in _OF_RATIO}
        update |= {"low": mean["ratio_low"], "high": mean["ratio_high"]}
        ratio = ratios.with_value(ratio.model_copy(update=update))
    return _with_any_seed(first).model_copy(
        update={
            **{name: mean[name] for name in ("value", "p_value", "unit")},
            "details": details,
            "interval": interval,
            "floor": floor,
            "ratio": ratio,
            "tables": {},
            "samples": None,
        }
    )


def standard_error(record: Record) -> float | None:
    """Return the standard error of a mean over runs; None if the record is of one run."""
    return finite(record.details["standard_error"]) if RUNS in record.details else None


def _with_any_seed(record: Record) -> Record:
    """Return a record without the seed of its mitigator."""
    part = record.mitigator
    params = {
        key: {k: v for k, v in value.items() if k != SEED} if isinstance(value, dict) else value
        for key, value in part.params.items()
        if key != SEED
    }
    part = part.model_copy(update={"label": _without_seed(part.label), "params": params})
    return record.model_copy(update={"mitigator": part})


def _without_seed(label: str) -> str:
    """Return the label of a mitigator without the option `seed` of any stage."""
    stages = names.chain_stages(label)
    if not any(SEED in stage.options for stage in stages):
        return label
    return "+".join(
        names.with_options(
            stage.name, {key: value for key, value in stage.options.items() if key != SEED}
        )
        for stage in stages
    )
