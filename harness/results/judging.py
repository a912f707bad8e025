"""Judges a model beside its base, of the records of both.

For each concept and overall it gives the difference of the bias, as `TaskMeans` defines it, with an
interval over paired items. The intervals of one kind hold at once. It knows records, and runs no
model.

Each record has the deviations of its gap and of its yardstick by unit (`Record.deviations`). Both
models have the same units. What a unit changes in the difference of two ratios is a linear
function of these; units of one name add up over all tasks, so words that tasks share, and
yardsticks, are counted as what they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pstdev, variance
from typing import Any, NamedTuple, TypeAlias

from harness.metrics import t_quantile
from harness.results import ratios
from harness.results.record import LEAKS, Counted, IntervalPart, RatioPart, Record, greatest_loss
from harness.results.resampling import (
    Line,
    TaskMeans,
    item,
    of_primary_scores,
    task_means,
)
from harness.results.verdict import (
    FEWEST_SEEDS,
    LESS,
    LEVEL,
    MORE,
    OVERALL,
    POWER,
    SAME,
    UNCLEAR,
    WORDS,
    Difference,
    Measures,
    Moved,
    Side,
    Verdict,
)

EQUAL = 1e-5
"""Cosines and scores of usefulness that differ by less are equal."""
FEWEST = 5
"""Fewest units for an interval."""
MANY = 1000.0
"""Degrees of freedom of an error that many items stand behind."""
MOVED = 5
"""Number of items that are named because they moved most."""
ROWS = ("a", "b")
"""The base and the model."""

Units: TypeAlias = "dict[str, float]"
"""By unit, what it changes in an estimate; the sum of squares is the variance."""


class _Change(NamedTuple):
    """A difference, and what each unit changes in it.

    `growth` is what each unit changes besides, times the bias that is added to the model: the
    error of a ratio grows with the ratio.
    """

    difference: float
    units: Units
    growth: Units

    def less(self, other: _Change) -> _Change:
        """Return this one less another one."""
        both = self.units.keys() | other.units.keys()
        units = {unit: self.units.get(unit, 0.0) - other.units.get(unit, 0.0) for unit in both}
        return _Change(self.difference - other.difference, units, self.growth)


@dataclass(frozen=True)
class _Estimate:
    """A difference before its interval: its units, and why they say nothing.

    The units of usefulness are tasks, each with an error of many items, so that `df_of_units` is
    known. Those of bias are words and items.

    A mitigator's effect is the larger of its `parts`, method by method. Chance lifts the larger of
    two, so the lower end of its interval is the larger one of the lower ends of its parts.
    """

    name: str
    tasks: int
    base: float
    model: float
    difference: float
    units: Units = field(repr=False)
    growth: Units = field(repr=False)
    reason: str = ""
    is_equal: bool = False
    df_of_units: float | None = None
    parts: tuple[_Change, ...] = ()
    seeds: int = 1
    seed_variance: float = 0.0

    @property
    def variance_of_items(self) -> float:
        """Variance of the difference over draws of the units."""
        return math.fsum(d * d for d in self.units.values())

    @property
    def error(self) -> float:
        """Standard error of the difference."""
        return math.sqrt(self.variance_of_items + self.seed_variance)

    @property
    def df(self) -> float:
        """Welch's degrees of freedom of the error; those of units from their fourth moment.

        For n units of one variance they are about n: E[d⁴] = 3 σ⁴.
        """
        of_items = self.variance_of_items
        df = self.df_of_units
        if df is None:
            fourth = math.fsum(d**4 for d in self.units.values())
            df = max(1.0, 3 * of_items**2 / fourth - 2) if fourth > 0 else 1.0
        parts = of_items**2 / df
        if self.seeds > 1:
            parts += self.seed_variance**2 / (self.seeds - 1)
        return max(1.0, self.error**4 / parts) if parts > 0 else df

    def high(self, n_lines: int) -> float:
        """Return the upper end of the interval, one of several that hold at once."""
        quantile = t_quantile(LEVEL ** (1 / n_lines), self.df)
        return self.difference + float(quantile) * self.error

    def low(self, n_lines: int) -> float:
        """Return the lower end of the interval, one of several that hold at once."""
        if not self.parts:
            return 2 * self.difference - self.high(n_lines)
        parts = [replace(self, **part._asdict(), parts=()) for part in self.parts]
        return max(part.low(n_lines * len(parts)) for part in parts)

    def detectable(self, n_lines: int) -> float:
        """Return the smallest true difference whose interval is beyond 0 in 80 % of cases."""
        low, high = self.low(n_lines), self.high(n_lines)
        half = max(high - self.difference, self.difference - low)
        power = float(t_quantile(2 * POWER - 1, self.df)) * self.error
        found = half + power
        if not self.growth or not self.error:
            return found
        for _ in range(10):  # the interval is that of the larger bias
            squares = math.fsum(
                (self.units.get(unit, 0.0) + found * self.growth.get(unit, 0.0)) ** 2
                for unit in self.units.keys() | self.growth.keys()
            )
            found = half * math.sqrt(squares + self.seed_variance) / self.error + power
        return found


def judge(sides: Sequence[Side], names: tuple[str, str] = ("base", "model")) -> Verdict:
    """Return the verdict on a model beside its base.

    Parameters
    ----------
    sides
        The model, or each seed of its training, beside the base. With three seeds or more their
        spread is part of the intervals.
    names
        Names of the base and the model.
    """
    differences: list[Difference] = []
    leaks: list[str] = []
    left_out: dict[str, dict[str, tuple[str, ...]]] = {}
    without_line: list[str] = []
    for measures in WORDS:
        of_side = [side.means[measures] for side in sides if measures in side.means]
        estimates = _of_seeds([_estimates(side, measures) for side in sides])
        shown = {estimate.name for estimate in estimates}
        concepts = {
            line["a"].category
            for side, of in zip(sides, of_side, strict=False)
            for line in _counted(side.lines, measures, of)
        }
        if OVERALL in shown:
            without_line += sorted(concepts - shown)
        if measures == "bias":
            leaks = sorted({c for side in sides for c in _leaks(side)} - concepts)
        unclear = next((why for of in of_side for row in "ba" if (why := of.unclear(row))), "")
        name: Measures = "bias" if measures == "bias" else "usefulness"
        differences += [_difference(name, e, len(estimates), unclear) for e in estimates]
        reasons: dict[str, tuple[str, ...]] = {}
        for of in of_side:
            for reason, tasks in of.left_out.items():
                reasons[reason] = tuple(dict.fromkeys((*reasons.get(reason, ()), *tasks)))
        if reasons:
            left_out[measures] = reasons
    moved = {(m.task, m.text): m for side in sides for m in side.moved}
    return Verdict(
        differences=tuple(differences),
        left_out=left_out,
        moved=tuple(sorted(moved.values(), key=lambda m: -abs(m.spreads))[:MOVED]),
        without_line=tuple(without_line),
        leaks=tuple(leaks),
        is_effect=any(of.is_effect for side in sides for of in side.means.values()),
        names=names,
        seeds=len(sides),
        sides=tuple(sides),
        meaning=_meaning(sides),
    )


def _meaning(sides: Sequence[Side]) -> tuple[float, float] | None:
    """Return how well base and model tell definitions apart; None if no control asked both."""
    found = [
        tuple(_of_reference(line[row].ratio) for row in ROWS)
        for side in sides
        for line in side.lines
        if all(row in line for row in ROWS)
        and (line["a"].task.measures, line["a"].task.family) == ("control", ratios.MEANING)
    ]
    known = [(a, b) for a, b in found if a is not None and b is not None]
    return (fmean(a for a, _ in known), fmean(b for _, b in known)) if known else None


def _of_reference(ratio: RatioPart | None) -> float | None:
    """Return a ratio over that of the reference encoder; None if one of them is unknown."""
    is_known = ratio is not None and ratio.reference_gap is not None
    return ratios.pool([Counted.of(ratio)]) if ratio is not None and is_known else None


def _leaks(side: Side) -> set[str]:
    """Return the concepts of the tasks of bias that are leaks."""
    records = [record for line in side.lines for record in line.values()]
    return {r.category for r in records if r.task.measures == "bias" and r.left_out == LEAKS}


def _estimates(side: Side, measures: str) -> dict[str, _Estimate]:
    """Return the difference overall and of each concept, by name."""
    means = side.means.get(measures)
    if means is None:
        return {}
    counted = _counted(side.lines, measures, means)
    by_concept: defaultdict[str, list[Line]] = defaultdict(list)
    for line in counted:
        by_concept[line["a"].category].append(line)
    found = {
        name: _bias(name, part, means.is_effect)
        if measures == "bias"
        else _usefulness(name, part, side.intervals)
        for name, part in ((OVERALL, counted), *sorted(by_concept.items()))
    }
    return {name: estimate for name, estimate in found.items() if estimate is not None}


def _of_seeds(by_seed: Sequence[Mapping[str, _Estimate]]) -> list[_Estimate]:
    """Return the mean of each estimate over the seeds that all have it.

    Seeds share the items, so what a unit changes in the mean is the mean of what it changes. The
    variance of the mean over seeds is added.
    """
    names = [name for name in by_seed[0] if all(name in of for of in by_seed)] if by_seed else []
    means = []
    for name in names:
        of = [estimates[name] for estimates in by_seed]
        if len(of) == 1:
            means.append(of[0])
            continue
        spread = variance([e.difference for e in of]) / len(of) if len(of) >= FEWEST_SEEDS else 0.0
        means.append(
            _Estimate(
                name=name,
                tasks=min(e.tasks for e in of),
                base=fmean(e.base for e in of),
                model=fmean(e.model for e in of),
                **_mean([_Change(e.difference, e.units, e.growth) for e in of])._asdict(),
                reason=next((e.reason for e in of if e.reason), ""),
                is_equal=all(e.is_equal for e in of),
                df_of_units=of[0].df_of_units,
                parts=tuple(map(_mean, zip(*(e.parts for e in of), strict=True))),
                seeds=len(of),
                seed_variance=spread,
            )
        )
    return means


def _counted(lines: Sequence[Line], measures: str, means: TaskMeans) -> list[Line]:
    """Return the lines of both rows that count: of primary scores, as in the means."""
    out = {task for tasks in means.left_out.values() for task in tasks}
    of_kind = [line for line in lines if next(iter(line.values())).task.measures == measures]
    return [
        line
        for line in of_primary_scores(of_kind)
        if all(row in line for row in ROWS) and line["a"].task.name not in out
    ]


def _families(lines: Iterable[Line]) -> list[list[Line]]:
    """Return the lines of each family: of bias those of a method."""
    families: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        families[line["a"].vote].append(line)
    return list(families.values())


def _difference(measures: Measures, estimate: _Estimate, n_lines: int, unclear: str) -> Difference:
    """Return an estimate with its verdict.

    With K intervals of level .95^(1/K) all hold at once with a probability of .95 at least, however
    they depend on each other (Šidák 1967).
    """
    reason = unclear or estimate.reason
    if estimate.is_equal:
        reason = ""
    elif not reason and estimate.df_of_units is None and len(estimate.units) < FEWEST:
        reason = f"{len(estimate.units)} units, an interval needs {FEWEST}"
    interval = detectable = None
    verdict = SAME if estimate.is_equal else UNCLEAR
    if not reason and not estimate.is_equal:
        low, high = estimate.low(n_lines), estimate.high(n_lines)
        method = f"t of paired units, simultaneous for {n_lines} differences (Šidák)"
        interval = IntervalPart(low=low, high=high, level=LEVEL, method=method)
        detectable = estimate.detectable(n_lines)
        if estimate.error > 0:
            verdict = MORE if interval.low > 0 else LESS if interval.high < 0 else UNCLEAR
    return Difference(
        measures=measures,
        name=estimate.name,
        tasks=estimate.tasks,
        base=estimate.base,
        model=estimate.model,
        difference=estimate.difference,
        interval=interval,
        detectable=detectable,
        verdict=verdict,
        reason=reason,
    )


# Bias: pooled per method over the yardstick and the reference encoder, then the mean over methods.


@dataclass(frozen=True)
class _Pooled:
    """ΣN and ΣD of the tasks of one method, with what each unit changes in them.

    R = root(ΣN/ΣD) over that of the reference encoder.
    """

    gap: float
    yardstick: float
    gap_units: Units
    yardstick_units: Units
    power: int
    reference: float

    @property
    def value(self) -> float:
        return ratios.root(self.gap / self.yardstick, self.power) / self.reference

    @property
    def units(self) -> Units:
        """What each unit changes in R: δ(N/D) = δN/D − N δD/D²."""
        n, d = self.gap, self.yardstick
        changes = {
            unit: self.gap_units.get(unit, 0.0) / d - n * self.yardstick_units.get(unit, 0.0) / d**2
            for unit in self.gap_units.keys() | self.yardstick_units.keys()
        }
        slope = self._slope(math.sqrt(math.fsum(c * c for c in changes.values())))
        return {unit: slope * change for unit, change in changes.items()}

    @property
    def change(self) -> _Change:
        """R, with what each unit changes in it: δR = −δD/D, of squares half of it, for ΔR = 1."""
        growth = {
            unit: -deviation / self.yardstick / self.power
            for unit, deviation in self.yardstick_units.items()
        }
        return _Change(self.value, self.units, growth)

    def _slope(self, error: float) -> float:
        """Return the slope of R on N/D: of a root the secant over its error.

        The tangent of a root is infinite at 0, where gaps without a bias are.
        """
        if self.power == 1 or error == 0:
            return 1 / self.reference
        r = self.gap / self.yardstick
        above, below = (ratios.root(r + sign * error, self.power) for sign in (1, -1))
        return (above - below) / (2 * error) / self.reference


def _bias(name: str, lines: Sequence[Line], is_effect: bool) -> _Estimate | None:
    """Return the difference of the bias over some tasks; None if no method has a scale."""
    means = task_means(lines, ROWS)
    base, model = means.mean("a"), means.mean("b")
    lines = _counted(lines, "bias", means)
    changes = [of for family in _families(lines) if (of := _changes(family, is_effect))]
    if base is None or model is None or not changes:
        return None
    difference, *parts = (_mean(of) for of in zip(*changes, strict=True))
    has_units = all(line[row].deviations for line in lines for row in ROWS)
    return _Estimate(
        name,
        means.n,
        base,
        model,
        *difference,
        "" if has_units else "records without deviations by unit; --overwrite computes them",
        all(_are_equal(line) for line in lines),
        parts=tuple(parts),
    )


def _are_equal(line: Line) -> bool:
    a, b = line["a"].ratio, line["b"].ratio
    if a is None or b is None:
        return False
    least = EQUAL**a.power  # squared cosines
    return abs(a.gap - b.gap) < least and abs(a.yardstick - b.yardstick) < least


def _changes(lines: Sequence[Line], is_effect: bool) -> list[_Change]:
    """Return the difference of a method, as `TaskMeans.differences`; none without a yardstick.

    The effect of a mitigator is the larger of two. Both follow it: over its own yardstick, and over
    that of the base.
    """
    before, after = (_pooled(lines, row, row) for row in ROWS)
    if before is None or after is None:
        return []
    if not is_effect:
        return [after.change.less(before.change)]
    both = [after, _pooled(lines, "b", "a") or after]
    parts = [_absolute(part).less(_absolute(before)) for part in both]
    return [max(parts, key=lambda part: part.difference), *parts]


def _absolute(part: _Pooled) -> _Change:
    sign, change = math.copysign(1.0, part.value), part.change
    units = {unit: sign * deviation for unit, deviation in change.units.items()}
    return change._replace(difference=abs(part.value), units=units)


def _mean(changes: Sequence[_Change]) -> _Change:
    """Return the mean of several changes; units of one name are the same unit."""
    return _Change(
        fmean(change.difference for change in changes),
        _mean_units([change.units for change in changes]),
        _mean_units([change.growth for change in changes]),
    )


def _mean_units(parts: Sequence[Units]) -> Units:
    units: defaultdict[str, float] = defaultdict(float)
    for part in parts:
        for unit, deviation in part.items():
            units[unit] += deviation / len(parts)
    return dict(units)


def _pooled(lines: Sequence[Line], of_gap: str, of_yardstick: str) -> _Pooled | None:
    """Return the sums of a method, with the gaps of one row and the yardsticks of one."""
    gaps, yardsticks = [line[of_gap] for line in lines], [line[of_yardstick] for line in lines]
    counted = [record.counted for record in gaps]
    own = [record.counted for record in yardsticks]
    reference = ratios.pool(
        [Counted(c.reference_gap, c.reference_yardstick, c.power) for c in counted if c is not None]
    )
    yardstick = math.fsum(c.yardstick for c in own if c is not None)
    if not reference or yardstick <= 0:
        return None
    gap_units: defaultdict[str, float] = defaultdict(float)
    yardstick_units: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        _add_units(gap_units, line, of_gap, 0)
        _add_units(yardstick_units, line, of_yardstick, 1)
    return _Pooled(
        gap=math.fsum(c.gap for c in counted if c is not None),
        yardstick=yardstick,
        gap_units=dict(gap_units),
        yardstick_units=dict(yardstick_units),
        power=counted[0].power if counted[0] is not None else 1,
        reference=reference,
    )


def _add_units(units: defaultdict[str, float], line: Line, row: str, place: int) -> None:
    """Add the deviations of a row's gap, or of its yardstick, by unit.

    Deviations count the interaction of two sets of units twice, and groups of units have random
    signs; the errors in the records do not. So both rows are scaled by one factor to the errors.
    """
    known = both = 0.0
    for record in line.values():
        if record.ratio is not None:
            error = record.ratio.gap_error if place == 0 else record.ratio.yardstick_error
            both += error**2
        known += math.fsum(d[place] ** 2 for d in record.deviations.values())
    factor = math.sqrt(both / known) if known > 0 else 0.0
    record = line[row]
    of = record.ratio.of if record.ratio else ""
    for unit, deviations in record.deviations.items():
        if deviations[place]:
            units[unit_name(unit, record, of)] += factor * deviations[place]


def unit_name(unit: str, record: Record, of: str) -> str:
    """Return what a unit of a record is over all tasks: groups of different units differ."""
    if unit.startswith("yardstick "):
        return f"{of} {unit}"
    return f"{record.family} {unit}" if unit.startswith("group ") else unit


# Usefulness: the mean over tasks of a family, then over families; tasks share no items.


def _usefulness(
    name: str, lines: Sequence[Line], paired: Mapping[str, IntervalPart]
) -> _Estimate | None:
    means = task_means(lines, ROWS)
    base, model, difference = means.mean("a"), means.mean("b"), means.change(*ROWS)
    if base is None or model is None or difference is None:
        return None
    lines = _counted(lines, "usefulness", means)
    families = _families(lines)
    units: Units = {}
    without = []
    for family in families:
        for line in family:
            task, error = line["a"].task.name, _error(line, paired)
            if error is None:
                without.append(task)
            else:
                units[task] = error / len(families) / len(family)
    reason = f"no interval of {', '.join(without[:3])}" if without else ""
    is_equal = all(
        abs((line["a"].distance or 0.0) - (line["b"].distance or 0.0)) < EQUAL for line in lines
    )
    return _Estimate(
        name, means.n, base, model, difference, units, {}, reason, is_equal, df_of_units=MANY
    )


def _error(line: Line, paired: Mapping[str, IntervalPart]) -> float | None:
    """Return the standard error of the difference of a score, as a share of its range."""
    a, b = line["a"], line["b"]
    greatest = greatest_loss(a.ideal, a.bounds)
    intervals = [paired[a.task.name]] if a.task.name in paired else [a.interval, b.interval]
    if greatest is None:
        return None
    squares = 0.0
    for interval in intervals:
        if interval is None:
            return None
        squares += ((interval.high - interval.low) / 2 / ratios.NORMAL) ** 2
    return math.sqrt(squares) / greatest


# The items that moved most.


def moved_items(
    task: str, a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]
) -> list[Moved]:
    """Return the items of a score whose contribution moved most, in spreads of the score.

    Parameters
    ----------
    task
        Name of the task.
    a, b
        The samples of the base and of the model.
    """
    values = [
        {tuple(item(row).values()): float(row["contribution"]) for row in rows if _is_counted(row)}
        for rows in (a, b)
    ]
    spreads = [pstdev(of.values()) if len(of) > 1 else 0.0 for of in values]
    spread = math.hypot(*spreads) / math.sqrt(2)
    if spread <= 0:
        return []
    moved = [
        Moved(task, " : ".join(key), base, values[1][key], (values[1][key] - base) / spread)
        for key, base in values[0].items()
        if key in values[1]
    ]
    return sorted(moved, key=lambda m: -abs(m.spreads))[:MOVED]


def _is_counted(row: Mapping[str, Any]) -> bool:
    return row.get("contribution") is not None
