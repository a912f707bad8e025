"""The one estimator: means, differences and ranges of ranks, from a frame of cells.

A **cell** is what one task says of one row, a model under a mitigator. Tables, comparisons, exports
and boards print the numbers of this module, and compute none.

**Bias.** With the gaps N and the yardsticks D of the tasks of a method, its ratio is r = ΣN/ΣD,
over that of the reference encoder on the same tasks. What it says of r² is s = r² − v, with v the
sampling variance of r; where gaps are variances, r² is their ratio as it is. The mean of s over m
methods, over that of the reference encoder, is Q, and the bias is √Q: 0 is fair, 1 as biased as the
reference encoder. So a stereotype and its opposite do not cancel, and noise, which enters v,
neither raises nor lowers the mean of s. Q is cut at 0, no single s is. **Usefulness** is the mean
over families of the mean over tasks.

**How sure.** Each unit (word, item or frame) has a deviation of N and one of D, which add up over
all tasks that share it. They give what each unit changes in Q, and so the error of a mean and of
any difference of two. A range of ranks follows from the simultaneous intervals of all differences.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from harness.metrics import t_quantile
from harness.names import NONE
from harness.results.ratios import (
    CLEAR,
    FEWEST_SEEDS,
    ITEMS,
    LESS,
    LEVEL,
    MEANING,
    MORE,
    NORMAL,
    OVERALL,
    POWER,
    SAME,
    SMALLEST,
    UNCLEAR,
)
from harness.results.record import VOID, Record, greatest_loss

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from harness.arrays import Floats, Mask
    from harness.results.columns import Columns

CLEAR_SHARE = 0.5
"""Least share of the methods of a usable row whose yardsticks are clear. Random and shuffled
vectors have none."""
CLEAR_GAP = 2.0
"""Least sum of the gaps of the reference encoder in a method, over its standard error."""
FEWEST = 5
"""Fewest units for an interval."""
UNKNOWN = 8
"""Units of a cell that does not say how each changes it: only its error is known."""
WIDEST = 0.5
"""Largest half-width of the interval of a ranked row."""
LEAST_DRAWN = 0.5
"""Least share of a row's tasks of bias that a prompt that counts has."""
EQUAL = 1e-5
"""Cosines, and scores of usefulness, that differ by less are equal."""
_CELLS, _ROWS = 4096, 256
"""Cells whose units are read at once, and rows whose pairs with all rows are in memory at once."""
DIGITS = 5
"""Digits of a mean that count: scores depend on the batches by up to 1e-5."""
MANY = 1000.0
"""Degrees of freedom of the error of usefulness: many items stand behind each task."""

OTHER_VERSION = "of another version of the task"
NOT_IN_BOTH = "not in both rows"
NO_SCALE = "in a method without a clear gap of the reference encoder"
BLURRED = "in a method whose yardstick is not clear"
"""Why a cell does not count, beside `Record.left_out`."""
NO_INTERVAL = "a score without an interval"
"""Why a difference of usefulness has no interval."""

SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("row", "task", "digest", "measures", "concept", "method"), pl.String()),
    "left_out": pl.String(),
    **dict.fromkeys(("gap", "gap_error", "yardstick", "yardstick_error"), pl.Float64()),
    "power": pl.Int64(),
    "of": pl.String(),
    "is_evidence": pl.Boolean(),
    **dict.fromkeys(
        ("reference_gap", "reference_error", "reference_yardstick", "reference_yardstick_error"),
        pl.Float64(),
    ),
    "deviations": pl.String(),
}
"""Columns of a frame of cells: one line a row and task.

`method` is the family of the task, which has one vote. `left_out` is why the cell does not count,
null if it does. `of` names the yardstick. `is_evidence` is whether only a usable model shows it.
`deviations` is JSON: of each unit how the gap and the yardstick change without it. Of usefulness
the gap is 1 less the distance to the ideal, and the yardstick 1. `meaning` is measured by controls
that ask what words mean by definition; its mean is that of the ratios themselves."""


def cells_of(
    rows: Mapping[str, Iterable[Record]], *, is_old: Callable[[Record], bool] | None = None
) -> pl.DataFrame:
    """Return the cells of records, one a task and row, with the columns of `SCHEMA`.

    A task counts by its primary score, or by the scores that are there if that one is not: then
    `task` has the scenario and the score, too.

    Parameters
    ----------
    rows
        By its name, the records of each row: one a score.
    is_old
        Whether a record is of another version of its task than the one that counts.
    """
    records = {row: [r for r in of if _measures(r) != "control"] for row, of in rows.items()}
    primary = {r.task.name for of in records.values() for r in of if r.primary}
    lines = [
        _cell(row, record, is_old is not None and is_old(record))
        for row, of in records.items()
        for record in of
        if record.primary or record.task.name not in primary
    ]
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def _measures(record: Record) -> str:
    """Return what a record measures: `meaning` is a control that the estimator has a mean of."""
    is_meaning = record.task.measures == "control" and record.task.family == MEANING
    return MEANING if is_meaning else record.task.measures


def _cell(row: str, record: Record, is_old: bool) -> tuple[Any, ...]:
    task, measures = record.task.name, _measures(record)
    if not record.primary:
        task = f"{task} ({record.scenario}, {record.metric} {record.score})"
    left_out = record.left_out
    if measures == MEANING:
        left_out = None if record.value is not None and record.ratio is not None else VOID
    left_out = left_out or (OTHER_VERSION if is_old else None)
    facts = (row, task, record.task.digest, measures, record.category, record.family)
    ratio = record.ratio
    if measures == "usefulness":
        error, greatest = None, greatest_loss(record.ideal, record.bounds)
        if record.interval is not None and greatest:
            error = (record.interval.high - record.interval.low) / 2 / NORMAL / greatest
        gap = None if record.distance is None else 1 - record.distance
        return (*facts, left_out, gap, error, 1.0, 0.0, 1, task, False, 1.0, 0.0, 1.0, 0.0, None)
    if ratio is None:
        return (*facts, left_out, *(None,) * 12)
    return (
        *(*facts, left_out, ratio.gap, ratio.gap_error, ratio.yardstick, ratio.yardstick_error),
        *(ratio.power, ratio.of, ratio.t is not None, ratio.reference_gap, ratio.reference_error),
        *(ratio.reference_yardstick, ratio.reference_yardstick_error),
        json.dumps(record.deviations) if record.deviations else None,
    )


# From cells to methods, and from methods to means, for many keys at once. A key is a row and a line
# (a concept, or all of them); of a difference also the pair, and whose gaps are over whose
# yardsticks.


@dataclass(frozen=True)
class Cells:
    """Cells that count, with what each unit changes in them.

    Parameters
    ----------
    every
        All cells, with `place`: the line of `gaps` and `yardsticks`.
    gaps, yardsticks
        (cells, units) deviations of the gaps and the yardsticks, scaled to the errors of the cells.
    """

    every: pl.DataFrame
    gaps: csr_array
    yardsticks: csr_array

    @classmethod
    def of(cls, cells: pl.DataFrame | Cells) -> Cells:
        """Return cells with their units, which are read once."""
        if isinstance(cells, Cells):
            return cells
        every = cells.drop("deviations").with_row_index("place")
        entries = _entries(cells.with_row_index("place"))
        shape = cells.height, max(1, int(entries["unit"].max() or 0) + 1)  # type: ignore[arg-type]
        gaps, yardsticks = (
            _scaled(entries, name, cells[f"{name}_error"], shape) for name in ("gap", "yardstick")
        )
        return cls(every, gaps, yardsticks)

    def filter(self, *conditions: pl.Expr) -> Cells:
        """Return the cells on which some conditions hold."""
        return Cells(self.every.filter(*conditions), self.gaps, self.yardsticks)

    @property
    def counting(self) -> pl.DataFrame:
        """The cells that count."""
        return self.every.filter(pl.col("left_out").is_null(), pl.col("gap").is_not_null())


def _entries(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the deviations of cells, a line each: `place`, `unit`, `gap` and `yardstick`.

    Units of one name are the same unit in all tasks, but groups of units: those of a yardstick are
    its own, and others are of one method. A cell without deviations has `UNKNOWN` units of its own.
    A few cells are read at once: the names of their units are long beside what is kept.
    """
    is_known = pl.col("deviations").is_not_null()
    alone = cells.filter(~is_known, pl.col("of").is_not_null()).with_columns(of=_measured_once())
    entries = [_known_entries(part) for part in cells.filter(is_known).iter_slices(_CELLS)]
    for seed, own, gap, yardstick in ((1, "task", 1.0, 0.0), (2, "of", 0.0, 1.0)):
        units = alone.select(
            "place",
            name=pl.struct("row", own).hash(seed),
            k=pl.int_ranges(UNKNOWN, dtype=pl.UInt64),
        ).explode("k")
        names = pl.col("name") + pl.col("k")
        entries.append(units.select("place", names, gap=pl.lit(gap), yardstick=pl.lit(yardstick)))
    every = pl.concat(entries)
    return every.with_columns(unit=pl.col("name").rank("dense").cast(pl.Int64) - 1)


def _known_entries(cells: pl.DataFrame) -> pl.DataFrame:
    """Return those of cells with deviations, with a hash of the name of the unit."""
    text, name = pl.col("deviations"), pl.col("name")
    is_yardstick, is_group = (name.str.starts_with(f"{kind} ") for kind in ("yardstick", "group"))
    of = pl.when(is_yardstick).then("of").when(is_group).then("method")
    return (
        cells.select("place", "method", "of", text.str.extract_all(r'"[^"]*": ?\[[^\]]*\]'))
        .explode("deviations")
        .with_columns(
            name=text.str.extract(r'^"([^"]*)"'),
            gap=text.str.extract(r"\[([^,]*),").cast(pl.Float64, strict=False),
            yardstick=text.str.extract(r", ?([^\]]*)\]").cast(pl.Float64, strict=False),
        )
        .drop_nulls("name")
        .select("place", pl.struct("name", of=of).hash().alias("name"), "gap", "yardstick")
    )


def _measured_once() -> pl.Expr:
    """Return the yardstick: that of several tasks is one, and its errors add up as they are."""
    return pl.when(pl.col("of") == ITEMS).then("task").otherwise("of")


def _scaled(
    entries: pl.DataFrame, name: str, errors: pl.Series, shape: tuple[int, int]
) -> csr_array:
    """Return deviations as (cells, units), scaled to the errors of the cells.

    Records count the interaction of two sets of units twice, and groups of units have random signs,
    so that only the expected sum of squares is right.
    """
    from scipy.sparse import csr_array

    own, at = entries[name].fill_null(math.nan).to_numpy(), entries["place"].to_numpy()
    known = np.sqrt(np.bincount(at, own**2, minlength=shape[0]))
    error = errors.fill_null(math.nan).to_numpy()
    factor = np.divide(error, known, out=np.where(error > 0, np.nan, 0.0), where=known > 0)
    kept = (own != 0) | np.isnan(factor[at])
    places = at[kept], entries["unit"].to_numpy()[kept]
    return csr_array(((own * factor[at])[kept], places), shape=shape)


@dataclass(frozen=True)
class _Means:
    """The mean of each of k keys, with what each unit changes in it.

    Parameters
    ----------
    methods
        What each method says, one line a key and method: `key` with what it stands for; `method`,
        `tasks`, `is_bias`, `is_evidence`; `r`, the ratio over that of the reference encoder, of
        variances its root, and `error`, that of a difference; `s`, what it says of r², and
        `s_reference`, the same of the reference encoder; of usefulness these are the mean and 1;
        `has_scale`, `is_clear`; and `counts`, whether the means are over it.
    value
        (k,) √Q, or the mean of usefulness; NaN without a method.
    square
        (k,) Q, which may be below 0.
    units
        (k, units): what each unit changes in the value. Near 0, where the root is steep, it is the
        secant over the error of Q.
    growth
        The same, where the value is larger by 1.
    error
        (k,) the error of Q.
    number
        (k,) number of methods.
    is_bias
        (k,) whether the key measures bias.
    """

    methods: pl.DataFrame
    value: Floats
    square: Floats
    units: csr_array
    growth: csr_array
    error: Floats
    number: Floats
    is_bias: Mask

    def toward(self) -> pl.DataFrame:
        """Return of each `key` its `tasks`, and whether its differences are `toward`."""
        signed = pl.col("error").is_not_nan()
        r, error = pl.col("r").filter(signed), pl.col("error").filter(signed)
        sign = pl.when(r.sum().abs() > NORMAL * (error**2).sum().sqrt()).then(r.sum().sign())
        return (
            self.methods.filter("counts")
            .group_by("key")
            .agg(pl.col("tasks").sum(), toward=sign.fill_null(0.0).cast(pl.Int64))
        )

    def left_out(self, cells: pl.DataFrame, of: str) -> pl.DataFrame:
        """Return the cells whose method does not count: `of`, `task`, `measures`, `reason`."""
        key = [of, "measures", "method"]
        why = pl.when(~pl.col("has_scale")).then(pl.lit(NO_SCALE))
        without = (
            self.methods.filter(pl.col("name") == OVERALL)
            .select(*key, reason=why.when(~pl.col("is_clear")).then(pl.lit(BLURRED)))
            .drop_nulls("reason")
            .unique(key, keep="first", maintain_order=True)
        )
        found = cells.select(*key, "task").join(without, on=key, maintain_order="left")
        return found.select(of, "task", "measures", "reason")

    def unusable(self, of: Sequence[str]) -> pl.DataFrame:
        """Return `of` and `unusable`, why the means say nothing: too few yardsticks are clear."""
        return (
            self.methods.filter("has_scale", "is_evidence", pl.col("name") == OVERALL)
            .group_by(of, maintain_order=True)
            .agg(clear=pl.col("is_clear").sum(), of=pl.len())
            .filter(pl.col("clear") < CLEAR_SHARE * pl.col("of"))
            .select(
                *of,
                unusable=pl.format(
                    "the yardsticks of {} of {} methods are clear; half of them are needed",
                    *("clear", "of"),
                ),
            )
        )

    def ends(self, prompt: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the intervals: of bias from those of Q, and with that of prompts."""
        quantile = t_quantile(LEVEL, _df(self.units, self.is_bias))
        half = np.where(_enough(self.units, self.is_bias), quantile * self.error, np.nan)
        square = np.where(self.is_bias, np.maximum(self.square, 0.0), self.square)
        low, high = (
            np.where(self.is_bias, _root(end), end) for end in (square - half, square + half)
        )
        low = self.value - np.hypot(self.value - low, NORMAL * prompt)
        high = self.value + np.hypot(high - self.value, NORMAL * prompt)
        return np.where(self.is_bias, np.maximum(low, 0.0), low), high


_REFERENCE = (
    *("reference_gap", "reference_yardstick"),
    *("reference_error", "reference_yardstick_error"),
)


def _means(cells: pl.DataFrame, keys: pl.DataFrame, of: Cells, shared: Sequence[str]) -> _Means:
    """Return the means over the methods that count.

    Parameters
    ----------
    cells
        With `key`; `n` and `d`, the places of the cells of the gap and of the yardstick.
    keys
        What each `key` stands for, with `measures` and `name`, the line.
    of
        The cells with their units.
    shared
        Columns of keys that have the same methods. One that does not count in all of them overall
        counts on no line.
    """
    from scipy.sparse import csr_array, diags_array

    by = ["key", "method"]
    cells = cells.with_columns(
        group=pl.struct(by).rank("dense").cast(pl.Int64) - 1,
        measured_once=_measured_once(),
    )
    errors = (
        cells.group_by("group", "measured_once")
        .agg(pl.col("yardstick_error", "reference_yardstick_error").sum())
        .group_by("group")
        .agg(
            v_d=(pl.col("yardstick_error") ** 2).sum(),
            v_d_reference=(pl.col("reference_yardstick_error") ** 2).sum(),
        )
    )
    frame = (
        cells.group_by("group", *by)
        .agg(
            pl.col("gap", "yardstick", *_REFERENCE[:2]).sum(),
            pl.col("power", "is_evidence").first(),
            is_bias=(pl.col("measures") == "bias").first(),
            v_n=(pl.col("gap_error") ** 2).sum(),
            v_n_reference=(pl.col("reference_error") ** 2).sum(),
            tasks=pl.len().cast(pl.Int64),
        )
        .join(errors, on="group")
        .sort("group")
    )
    n, d, v_n, v_d = (frame[name].to_numpy() for name in ("gap", "yardstick", "v_n", "v_d"))
    n_ref, d_ref = (frame[name].to_numpy() for name in _REFERENCE[:2])
    v_n_ref, v_d_ref = (frame[f"{name}_reference"].to_numpy() for name in ("v_n", "v_d"))
    is_bias, is_square = frame["is_bias"].to_numpy(), frame["power"].to_numpy() == 2
    is_root = is_bias & ~is_square
    with np.errstate(divide="ignore", invalid="ignore"):
        of_reference = n_ref / d_ref
        ratio = n / d
        r = ratio / of_reference
        # Variances as if the units of all tasks were different ones.
        apart = (v_n + ratio**2 * v_d) / (d * of_reference) ** 2
        apart_reference = (v_n_ref + of_reference**2 * v_d_ref) / (d_ref * of_reference) ** 2
        scale, down, share = (
            diags_array(np.nan_to_num(part, posinf=0.0, neginf=0.0))
            for part in (1 / (d * of_reference), ratio, -1 / d)
        )
    group, one = cells["group"].to_numpy(), np.ones(cells.height)
    of_gap, of_yardstick = (
        csr_array((one, (group, cells[place])), shape=(frame.height, units.shape[0])) @ units
        for place, units in (("n", of.gaps), ("d", of.yardsticks))
    )
    changes = scale @ (of_gap - down @ of_yardstick)
    v = _power(changes, 2)
    # Of the reference encoder no units are known. What tasks share is the same for all models.
    with np.errstate(divide="ignore", invalid="ignore"):
        v_reference = np.where(apart > 0, apart_reference * v / apart, apart_reference)
    # The slope of r² is 2r. Where r is within its error of 0, the error of r² is that of e² · χ².
    slope = np.where(r < 0, -2.0, 2.0) * np.maximum(np.abs(r), np.sqrt(v / 2))
    methods = (
        frame.select("key", "method", "tasks", "is_bias", "is_evidence")
        .with_columns(
            r=np.where(is_square, np.sign(r) * np.sqrt(np.abs(r)), r),
            s=np.where(is_root, r**2 - v, r),
            s_reference=np.where(is_root, 1 - v_reference, 1.0),
            error=np.where(is_root, np.sqrt(v), np.nan),
            has_scale=~is_bias
            | ((n_ref > 0) & (d_ref > 0) & (n_ref >= CLEAR_GAP * np.sqrt(v_n_ref))),
            is_clear=(d > 0) & (~frame["is_evidence"].to_numpy() | (d >= CLEAR * np.sqrt(v_d))),
        )
        .join(keys, on="key", maintain_order="left")
        .with_columns(counts=_counts(shared))
    )
    units = diags_array(np.where(is_root, np.nan_to_num(slope), 1.0)) @ changes
    return _over_methods(methods, units, share @ of_yardstick, keys.height)


def _counts(shared: Sequence[str]) -> pl.Expr:
    """Return which methods count: on a line, and for all keys that share their methods."""
    own = pl.col("has_scale") & pl.col("is_clear")
    overall = own | (pl.col("name") != OVERALL)
    on_line = own.all().over(*shared, "measures", "name", "method")
    return on_line & overall.all().over(*shared, "measures", "method")


def _over_methods(
    methods: pl.DataFrame, units: csr_array, growth: csr_array, n_keys: int
) -> _Means:
    """Return the mean of each key over the methods that count.

    Parameters
    ----------
    methods
        As of `_Means`.
    units
        (methods, units): what each unit changes in s.
    growth
        The same in r, where the ratio is larger by 1.
    n_keys
        Number of keys.
    """
    from scipy.sparse import csr_array, diags_array

    counts = methods["counts"].to_numpy()
    frame, places = methods.filter("counts"), np.flatnonzero(counts)
    key = frame["key"].to_numpy()
    number = np.bincount(key, minlength=n_keys).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(key, frame["s"], minlength=n_keys) / number
        unit = np.bincount(key, frame["s_reference"], minlength=n_keys) / number
        square = mean / np.where(unit > 0, unit, np.nan)
        weight = 1 / (number * unit)
    is_bias = np.bincount(key, frame["is_bias"], minlength=n_keys) > 0
    shape = n_keys, methods.height
    of_square = csr_array((np.nan_to_num(weight)[key], (key, places)), shape=shape) @ units
    error = _norm(of_square)
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = (_root(np.maximum(square, 0.0) + sign * error) for sign in (1, -1))
        slope = np.where(error > 0, (above - below) / (2 * error), 0.5 / _root(square))
    slope = np.nan_to_num(np.where(is_bias, slope, 1.0), posinf=0.0)
    return _Means(
        methods=methods,
        value=np.where(is_bias, _root(square), square),
        square=square,
        units=diags_array(slope) @ of_square,
        growth=csr_array((1 / number[key], (key, places)), shape=shape) @ growth,
        error=error,
        number=number,
        is_bias=is_bias,
    )


def _root(square: Floats) -> Floats:
    """Return the root; of what is below 0, which noise is, it is 0."""
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _norm(units: csr_array) -> Floats:
    """Return the standard error of each line of (n, units)."""
    return np.asarray(np.sqrt(_power(units, 2)))


def _power(units: csr_array, power: int) -> Floats:
    """Return the sums of the squares (2) or the fourth powers (4) of each line."""
    from scipy.sparse import csr_array

    powers = units.data * units.data
    if power == 4:
        powers *= powers
    of_units = csr_array((powers, units.indices, units.indptr), shape=units.shape)
    return np.asarray(of_units @ np.ones(units.shape[1]))


def _df(units: csr_array, is_bias: Mask) -> Floats:
    """Return the degrees of freedom of errors, from the fourth moment of their units.

    For n units of one variance they are about n: E[d⁴] = 3 σ⁴.
    """
    fourth = _power(units, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 3 * _power(units, 2) ** 2 / fourth - 2
    return np.where(is_bias, np.maximum(1.0, np.where(fourth > 0, df, 1.0)), MANY)


def _enough(units: csr_array, is_bias: Mask) -> Mask:
    """Return which errors have enough units for an interval, all of them known."""
    number = np.diff(units.indptr)
    return np.asarray((~is_bias | (number >= FEWEST)) & np.isfinite(_power(units, 2)))


def _lines(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells twice: in the line of all concepts, and in that of their own."""
    of_all = cells.with_columns(name=pl.lit(OVERALL))
    return pl.concat([of_all, cells.with_columns(name=pl.col("concept"))])


def _keyed(cells: pl.DataFrame, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return cells with `key`, the place of their group, and the groups in this order."""
    keys = cells.select(by).unique(maintain_order=True).with_row_index("key")
    keys = keys.with_columns(pl.col("key").cast(pl.Int64))
    return cells.join(keys, on=by, maintain_order="left"), keys


# Means of rows.


_LINE = ("row", "measures", "name")


@dataclass(frozen=True)
class Means:
    """The means of rows; see `means`.

    Parameters
    ----------
    frame
        One line a row, what it measures and a line: `row`, `measures`, `name` (`overall`, or a
        concept), `value`, `low` and `high` (null without an interval), `error`, `methods` and
        `tasks`, their numbers, and `toward`: whether the differences are towards the stereotype
        (1), against it (-1), or neither clearly (0).
    left_out
        Cells that do not count: `row`, `task`, `measures`, `reason`.
    unusable
        Rows of whose methods fewer than half have a clear yardstick: by row, the reason. They have
        no mean of bias.
    cells, keys, means
        What `ranks` needs: the cells, the line of each mean with the error of its `prompt`, and the
        means.
    """

    frame: pl.DataFrame
    left_out: pl.DataFrame
    unusable: Mapping[str, str]
    cells: Cells = field(repr=False)
    keys: pl.DataFrame = field(repr=False)
    means: _Means = field(repr=False)

    def of(self, row: str, measures: str, name: str = OVERALL) -> dict[str, Any]:
        """Return the line of a row; an empty one if nothing counts."""
        return _line_of(self.frame, row=row, measures=measures, name=name)


def _line_of(frame: pl.DataFrame, **names: object) -> dict[str, Any]:
    found = frame.filter(**names)
    return found.row(0, named=True) if found.height else {}


def means(cells: pl.DataFrame | Cells, prompts: Mapping[str, float] | None = None) -> Means:
    """Return the mean of each row over its own tasks, overall and by concept.

    Parameters
    ----------
    cells
        The cells, with the columns of `SCHEMA`.
    prompts
        By row, the error of its prompt: what another one changes in its bias. It enters the
        interval.
    """
    cells = Cells.of(cells)
    counted = cells.counting.with_columns(n="place", d="place")
    keyed, keys = _keyed(_lines(counted), _LINE)
    found = _means(keyed, keys, cells, ["row"])
    unusable = dict(found.unusable(["row"]).iter_rows())
    keys = keys.with_columns(prompt=_prompts_of(keys["row"], prompts) * found.is_bias)
    prompt = keys["prompt"].to_numpy()
    low, high = found.ends(prompt)
    frame = (
        keys.drop("prompt")
        .with_columns(
            value=found.value,
            low=low,
            high=high,
            error=np.hypot(_norm(found.units), prompt),
            methods=found.number.astype(np.int64),
        )
        .with_columns(pl.col("value", "low", "high", "error").fill_nan(None))
        .drop_nulls("value")
        .filter((pl.col("measures") != "bias") | ~pl.col("row").is_in(list(unusable)))
        .join(found.toward(), on="key", how="left", maintain_order="left")
        .drop("key")
    )
    aside = cells.every.drop_nulls("left_out").select("row", "task", "measures", reason="left_out")
    left_out = pl.concat([aside, found.left_out(counted, "row")])
    return Means(frame, left_out, unusable, cells, keys, found)


def _prompts_of(rows: Iterable[str], prompts: Mapping[str, float] | None) -> Floats:
    """Return the error of the prompt of each row."""
    return np.array([(prompts or {}).get(row, 0.0) for row in rows], dtype=np.float64)


def prompt_error(records: Columns, fingerprint: str) -> float:
    """Return the error that its prompt gives the bias of a model; 0 if no other one was tried.

    Parameters
    ----------
    records
        Records, with those of the model and those under other prompts.
    fingerprint
        That of the model under its own prompt.
    """
    fields = {"own": "model.fingerprint", "base": "model.base_fingerprint"}
    frame = records.flat({**fields, "label": "mitigator.label"}).cast(pl.String)
    rows = dict(
        frame.with_row_index("place")
        .filter((pl.col("base") == fingerprint) | (pl.col("own") == fingerprint), label=NONE)
        .group_by("own", maintain_order=True)
        .agg("place")
        .iter_rows()
    )
    if not rows.keys() - {fingerprint}:
        return 0.0
    cells = cells_of({row: records.at(places) for row, places in rows.items()})
    counted = Cells.of(cells.unique(["row", "task"], keep="last", maintain_order=True))
    is_own = pl.col("row") == fingerprint
    draws = counted.counting.filter(~is_own).with_columns(row=pl.lit(fingerprint), prompt="row")
    return prompt_errors(counted.filter(is_own), draws).get(fingerprint, 0.0)


def prompt_errors(cells: Cells, draws: pl.DataFrame) -> dict[str, float]:
    """Return by row the error that its prompt gives its bias, where others were tried.

    It is the root mean square of what each other neutral instruction changes, which covers an own
    one that was chosen for its low bias, too.

    Parameters
    ----------
    cells
        The cells of rows under their own prompts.
    draws
        Those under other prompts: `row`, `prompt`, `task`, and what is pooled. A prompt with fewer
        than `LEAST_DRAWN` of the tasks of a row says nothing of it.
    """
    if draws.is_empty():
        return {}
    parts = [*_GAP, *_YARDSTICK]
    own = cells.counting.filter(measures="bias").join(draws, on="row", how="semi")
    drawn = draws.select("row", "prompt", "task", *parts, is_drawn=pl.lit(value=True))
    under = (
        own.join(draws.select("row", "prompt").unique(maintain_order=True), on="row")
        .join(drawn, on=["row", "prompt", "task"], how="left", suffix="_under")
        .filter(
            pl.col("is_drawn").count().over("row", "prompt")
            >= LEAST_DRAWN * pl.len().over("row", "prompt")
        )
        .with_columns(pl.coalesce(f"{name}_under", name).alias(name) for name in parts)
        .with_columns(own="row", row=pl.concat_str("row", "prompt", separator="\n"))
    )
    both = pl.concat([own, under.select(own.columns)])
    of = means(Cells(both, cells.gaps, cells.yardsticks)).frame.filter(name=OVERALL)
    of = of.select("row", "value")
    changes = (
        under.select("row", "own")
        .unique(maintain_order=True)
        .join(of, on="row")
        .join(of, left_on="own", right_on="row", suffix="_own")
        .group_by("own", maintain_order=True)
        .agg(error=((pl.col("value") - pl.col("value_own")) ** 2).mean().sqrt())
    )
    return dict(changes.iter_rows())


# Differences of two rows.


Pair: TypeAlias = "tuple[str, Sequence[str]]"
"""The base, and the model: of a training with several seeds, the row of each of them."""


@dataclass(frozen=True)
class Differences:
    """The differences of pairs of rows; see `differences`.

    Parameters
    ----------
    frame
        One line a pair, what it measures and a line: `pair`, its place; `measures`, `name`;
        `tasks`, `methods`; `base`, `model` and `difference`, the model less its base, over the same
        tasks; `base_toward` and `model_toward`, as of `Means`; `low` and `high`, null for a
        `reason`; `detectable`; `agree`, in how many methods the sign is that of the difference;
        `depends_on`, the method without which it turns, or null; `verdict`, `more`, `less`, `not
        clear` or `equal`; `lacks`, what a verdict lacks where the interval alone would give one.
    left_out
        What does not count in both rows: `pair`, `task`, `measures`, `reason`.
    """

    frame: pl.DataFrame
    left_out: pl.DataFrame

    def of(self, pair: int = 0, measures: str = "bias", name: str = OVERALL) -> dict[str, Any]:
        """Return a line; an empty one if nothing counts in both rows."""
        return _line_of(self.frame, pair=pair, measures=measures, name=name)


_SIDES = (("base", "base"), ("model", "model"), ("model", "base"), ("base", "model"))
"""Whose gaps are over whose yardsticks."""
_BASE, _MODEL, _MODEL_ON_BASE, _BASE_ON_MODEL = range(4)
_GAP, _YARDSTICK = ("gap", "gap_error"), ("yardstick", "yardstick_error")


def differences(
    cells: pl.DataFrame | Cells,
    pairs: Sequence[Pair],
    *,
    smallest: float = SMALLEST,
    prompts: Mapping[str, float] | None = None,
) -> Differences:
    """Return the difference of each pair of rows, overall and by concept.

    Both rows are over the tasks and the methods that count in both. The intervals of what is
    measured alike hold at once, for all lines of all pairs with one base: with K of them each has
    the level .95^(1/K) (Šidák 1967). A verdict needs more than an interval beyond 0: at least the
    smallest difference; the same over the yardsticks of either row, since a boosted yardstick is no
    less bias; and no single method without which the sign turns.

    Parameters
    ----------
    cells
        The cells of all rows, with the columns of `SCHEMA`.
    pairs
        What is compared.
    smallest
        Smallest difference of bias that counts as more or less.
    prompts
        As of `means`.
    """
    cells = Cells.of(cells)
    both, left_out = _in_both(cells.every, pairs)
    lined, keys = _keyed(_lines(both), ["pair", "seed", "measures", "name"])
    sides = [
        lined.select(
            *("measures", "method", "task", "of", "power", "is_evidence", *_REFERENCE),
            *(pl.col(f"{gap}_{name}").alias(name) for name in _GAP),
            *(pl.col(f"{yardstick}_{name}").alias(name) for name in _YARDSTICK),
            n=f"{gap}_place",
            d=f"{yardstick}_place",
            key=pl.col("key") + side * keys.height,
        )
        for side, (gap, yardstick) in enumerate(_SIDES)
    ]
    of_sides = pl.concat(
        keys.with_columns(pl.col("key") + side * keys.height, side=side, place="key")
        for side in range(len(_SIDES))
    )
    found = _means(pl.concat(sides), of_sides, cells, ["pair", "seed"])
    why = found.unusable(["pair", "side"]).filter(pl.col("side") <= _MODEL)
    prompt = [
        math.hypot(*_prompts_of([base], prompts), *_prompts_of(rows, prompts) / len(rows))
        for base, rows in pairs
    ]
    of_pairs = pl.DataFrame(
        {"pair": range(len(pairs)), "of": [base for base, _ in pairs], "prompt": prompt},
        schema={"pair": pl.Int64, "of": pl.String, "prompt": pl.Float64},
    ).join(why.group_by("pair").agg(pl.col("unusable").last()), on="pair", how="left")
    facts = lined.group_by("pair", "measures", "name").agg(is_equal=_is_equal())
    frame = _differences(keys, found, facts.join(of_pairs, on="pair"), smallest)
    apart = pl.concat([left_out, found.left_out(both, "pair")]).unique(maintain_order=True)
    return Differences(frame, apart)


def _is_equal() -> pl.Expr:
    """Return whether all gaps and yardsticks are equal in both rows."""
    least = pl.lit(EQUAL).pow(pl.col("power"))
    return pl.all_horizontal(
        (pl.col(f"model_{name}") - pl.col(f"base_{name}")).abs() < least
        for name in ("gap", "yardstick")
    ).all()


def _in_both(cells: pl.DataFrame, pairs: Sequence[Pair]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a line for each pair, seed and task that counts in both rows, and what does not."""
    rows = pl.DataFrame(
        [(i, k, base, row) for i, (base, of) in enumerate(pairs) for k, row in enumerate(of)],
        schema={"pair": pl.Int64, "seed": pl.Int64, "base": pl.String, "model": pl.String},
        orient="row",
    )
    own = [*_GAP, *_YARDSTICK, "place", "left_out", "digest"]
    key = ["pair", "seed", "task", "measures"]
    base, model = (
        rows.select("pair", "seed", row=name)
        .join(cells, on="row", maintain_order="left")
        .rename({column: f"{name}_{column}" for column in own})
        for name in ("base", "model")
    )
    model = model.select(*key, *(f"model_{name}" for name in own))
    digests, left_out = (
        [pl.col(f"{name}_{column}") for name in ("base", "model")]
        for column in ("digest", "left_out")
    )
    reason = (
        pl.when(pl.any_horizontal(why.is_not_null() for why in left_out))
        .then(pl.coalesce(left_out))
        .when(pl.any_horizontal(digest.is_null() for digest in digests))
        .then(pl.lit(NOT_IN_BOTH))
        .when(digests[0] != digests[1])
        .then(pl.lit(OTHER_VERSION))
    )
    joined = base.join(model, on=key, how="full", coalesce=True, maintain_order="left_right")
    joined = joined.with_columns(reason=reason)
    out = joined.drop_nulls("reason").select("pair", "task", "measures", "reason")
    return joined.filter(pl.col("reason").is_null()), out


def _differences(
    keys: pl.DataFrame, found: _Means, facts: pl.DataFrame, smallest: float
) -> pl.DataFrame:
    """Return the differences with their intervals and verdicts.

    Parameters
    ----------
    keys
        `key`, the place of a mean, of each pair, seed and line.
    found
        These means of all sides, one after the other.
    facts
        Of each line of a pair the row that it is `of`, the base; the error `prompt`; whether it
        `is_equal` in both rows; and `unusable`, why the means say nothing of the bias of the pair.
    smallest
        As of `differences`.
    """
    from scipy.sparse import csr_array

    line = ["pair", "measures", "name"]
    of_side = found.value.reshape(len(_SIDES), keys.height)
    seeds = keys.group_by("pair").agg(of=pl.col("seed").n_unique())
    known = (
        keys.rename({"key": "place"})
        .filter(pl.Series(np.isfinite(of_side).all(axis=0)))
        .join(seeds, on="pair", maintain_order="left")
        .filter(pl.len().over(line) == pl.col("of"))
    )
    known, lines = _keyed(known.drop("of"), line)
    place, of_line = known["place"].to_numpy(), known["key"].to_numpy()
    number = np.bincount(of_line, minlength=lines.height)
    mean = csr_array(
        (1 / number[of_line], (of_line, np.arange(known.height))),
        shape=(lines.height, known.height),
    )
    values = of_side[:, place]

    def change(model: int, base: int) -> csr_array:
        own, other = (found.units[place + side * keys.height] for side in (model, base))
        units = mean @ (own - other)
        units.eliminate_zeros()
        return units

    each = values[_MODEL] - values[_BASE]
    difference, units = mean @ each, change(_MODEL, _BASE)
    is_bias = lines["measures"].to_numpy() == "bias"
    enough_seeds = number >= FEWEST_SEEDS
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.maximum(mean @ (each**2) - difference**2, 0.0) / (number - 1)
        of_seeds = np.where(enough_seeds, spread, 0.0)
    lines = lines.join(facts, on=line, maintain_order="left")
    more = of_seeds + (lines["prompt"].to_numpy() * is_bias) ** 2
    at_once = lines.select(pl.len().over("of", "measures")).to_series().to_numpy()
    level = LEVEL ** (1 / at_once)

    def half_width(of_units: csr_array) -> Floats:
        squares, df = _power(of_units, 2), _df(of_units, is_bias)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = squares**2 / df + np.where(number > 1, of_seeds**2 / (number - 1), 0.0)
            df = np.where(parts > 0, np.maximum(1.0, (squares + more) ** 2 / parts), df)
        return np.asarray(t_quantile(level, df) * np.sqrt(squares + more))

    half = np.where(_enough(units, is_bias), half_width(units), np.nan)
    sign = np.sign(difference)

    def holds(model: int, base: int) -> Mask:
        own = sign * (mean @ (values[model] - values[base]))
        is_sure = own > half_width(change(model, base))
        return np.asarray(~is_bias | (is_sure & (own >= smallest)))

    growth = mean @ found.growth[place + _MODEL * keys.height]
    first = known.unique("key", keep="first", maintain_order=True).select("key", "place")
    columns = {
        "is_bias": is_bias,
        "half": half,
        "on_base": holds(_MODEL_ON_BASE, _BASE),
        "on_model": holds(_MODEL, _BASE_ON_MODEL),
        "units": np.diff(units.indptr),
        "methods": found.number[first["place"].to_numpy()].astype(np.int64),
        "base": mean @ values[_BASE],
        "model": mean @ values[_MODEL],
        "difference": difference,
        "detectable": _detectable(units, growth, half, more, is_bias),
    }
    frame = lines.with_columns(pl.Series(name, of) for name, of in columns.items())
    frame = frame.join(first, on="key").join(_other_ways(found, known, sign), on="key")
    toward = found.toward()
    for side, row in ((_BASE, "base"), (_MODEL, "model")):
        own = toward.with_columns(place=pl.col("key") - side * keys.height).drop("key")
        own = own.rename({"toward": f"{row}_toward", "tasks": f"{row}_tasks"})
        frame = frame.join(own, on="place")
    change_of, is_sure = pl.col("difference"), pl.col("difference").abs() > pl.col("half")
    is_other, unusable = ~pl.col("is_equal"), pl.when("is_bias").then("unusable")
    lacks = (
        pl.when(pl.col("is_bias"), ~(change_of.abs() >= smallest))
        .then(pl.lit(f"below the smallest effect, {smallest:g}"))
        .when(~pl.col("on_base"))
        .then(pl.lit("not over the yardsticks of the base"))
        .when(~pl.col("on_model"))
        .then(pl.lit("not over the yardsticks of the model"))
        .otherwise(pl.lit("depends on ") + pl.col("depends_on"))
    )
    few = pl.format(f"{{}} units, an interval needs {FEWEST}", "units")
    few = pl.when("is_bias").then(few).otherwise(pl.lit(NO_INTERVAL))
    few = pl.when(pl.col("half").is_null()).then(few)
    more_or_less = pl.when(change_of > 0).then(pl.lit(MORE)).otherwise(pl.lit(LESS))
    verdict = pl.when(is_sure, pl.col("lacks").is_null()).then(more_or_less)
    return (
        frame.with_columns(
            pl.when(is_other, unusable.is_null()).then(pl.col(name).fill_nan(None)).alias(name)
            for name in ("half", "detectable")
        )
        .with_columns(
            pl.when(is_other).then("depends_on"),
            tasks="base_tasks",
            low=change_of - pl.col("half"),
            high=change_of + pl.col("half"),
            lacks=pl.when(is_sure).then(lacks),
            reason=pl.when(is_other).then(pl.coalesce(unusable, few)),
        )
        .with_columns(
            verdict=pl.when("is_equal")
            .then(pl.lit(SAME))
            .otherwise(verdict.otherwise(pl.lit(UNCLEAR)))
        )
        .select(
            *("pair", "measures", "name", "tasks", "methods"),
            *("base", "model", "base_toward", "model_toward", "difference", "low", "high"),
            *("detectable", "agree", "depends_on", "verdict", "lacks", "reason"),
        )
        .sort("pair", "measures", pl.col("name") != OVERALL, "name")
    )


def _detectable(
    units: csr_array, growth: csr_array, half: Floats, more: Floats, is_bias: Mask
) -> Floats:
    """Return the smallest true difference whose interval is beyond 0 in 80 % of cases.

    The error of a ratio grows with the ratio, so the interval is that of the larger bias.
    """
    squares, both = _power(units, 2), np.asarray(units.multiply(growth).sum(axis=1)).ravel()
    grown = _power(growth, 2)
    error = np.sqrt(squares + more)
    power = t_quantile(2 * POWER - 1, _df(units, is_bias)) * error
    found = half + power
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(10):
            larger = np.sqrt(np.maximum(squares + 2 * found * both + found**2 * grown + more, 0.0))
            found = np.where(error > 0, half * larger / error + power, half)
    return np.asarray(found)


def _other_ways(found: _Means, known: pl.DataFrame, sign: Floats) -> pl.DataFrame:
    """Return by `key` how many methods `agree` with the sign, and on which one it `depends_on`.

    Parameters
    ----------
    found
        The means of all sides.
    known
        By `key`, the place of the difference, the `place` of the mean of each seed.
    sign
        (lines,) signs of the differences.
    """
    without = (pl.col("s").sum().over("key") - pl.col("s")) / (
        pl.col("s_reference").sum().over("key") - pl.col("s_reference")
    )
    change = {
        name: pl.col(name).filter(side=_MODEL).mean() - pl.col(name).filter(side=_BASE).mean()
        for name in ("s", "without")
    }
    return (
        found.methods.filter("counts", pl.col("side") <= _MODEL)
        .with_columns(
            without=pl.when("is_bias").then(without.clip(0.0).sqrt()).otherwise(without),
            n=pl.len().over("key"),
        )
        .drop("key")
        .join(known.select("key", "place"), on="place")
        .group_by("key", "method")
        .agg(pl.col("n").first(), **change)
        .with_columns(pl.col("s", "without") * pl.lit(pl.Series(sign)).gather(pl.col("key")))
        .sort("without", "method")
        .group_by("key")
        .agg(
            agree=(pl.col("s") > 0).sum().cast(pl.Int64),
            depends_on=pl.col("method").filter(pl.col("n") > 1, pl.col("without") <= 0).first(),
        )
    )


# Ranges of ranks.


RANK = ("rank", "rank_low", "rank_high")


def ranks(found: Means, rows: Iterable[str] | None = None) -> pl.DataFrame:
    """Rank rows by their means, overall and by concept.

    A row has a rank if all tasks count in it that any row has, the yardsticks of all methods are
    clear, and the half-width of its interval is at most `WIDEST`. The order is that of the means:
    the lowest bias, or the highest usefulness, is first. Row j is better than row k if the interval
    of their difference is below 0; all differences of all lines hold at once, with `LEVEL`. The
    range of a row goes from 1 plus the number of rows that are better to the number of rows less
    those that it is better than (Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks).

    Parameters
    ----------
    found
        The means, on the tasks to rank by.
    rows
        The rows to rank; by default all.

    Returns
    -------
    pl.DataFrame
        One line a row, what it measures and a line, best first: `row`, `measures`, `name`; `rank`,
        and `rank_low` and `rank_high`, the ends of the range that holds the true rank, null without
        intervals; or `unranked`, why it has no rank.
    """
    is_in = pl.lit(value=True) if rows is None else pl.col("row").is_in(list(rows))
    every = _lines(found.cells.every.filter(is_in))
    counts = pl.col("left_out").is_null() & pl.col("gap").is_not_null()
    blurred = (
        found.means.methods.filter("has_scale", ~pl.col("counts"))
        .group_by("key")
        .agg(blurred=pl.col("method").sort().str.join(", "))
    )
    line = ["measures", "name"]
    half = pl.max_horizontal(pl.col("value") - pl.col("low"), pl.col("high") - pl.col("value"))
    every = (
        every.with_columns(of=pl.col("task").n_unique().over(line))
        .group_by(_LINE, maintain_order=True)
        .agg(pl.col("of").first(), has=counts.sum())
        .join(found.keys, on=_LINE, how="left", maintain_order="left")
        .join(blurred, on="key", how="left", maintain_order="left")
        .join(found.frame.select(*_LINE, "value", half=half), on=_LINE, how="left")
        .with_columns(
            unranked=pl.when(pl.col("has") != pl.col("of"))
            .then(pl.format("{} of {} tasks count", "has", "of"))
            .when(pl.col("blurred").is_not_null())
            .then(pl.format("the yardstick of {} is not clear", "blurred"))
            .when(pl.col("value").is_null())
            .then(pl.lit("no method counts"))
            .when(pl.col("half") > WIDEST, measures="bias")
            .then(pl.lit(f"the interval is wider than ± {WIDEST:g}"))
        )
    )
    ranked = every.filter(pl.col("unranked").is_null())
    # As many differences hold at once as the ranked rows have pairs, on all lines.
    names = every.drop_nulls("value").group_by("measures").agg(pl.col("name").n_unique())
    most = ranked.group_by(line).len().group_by("measures").agg(n=pl.col("len").max())
    n = pl.col("n")
    most = most.join(names, on="measures")
    pairs = dict(most.select("measures", n * (n - 1) // 2 * pl.col("name")).iter_rows())
    schema = {**dict.fromkeys(_LINE, pl.String()), **dict.fromkeys(RANK, pl.Int64())}
    frames = [
        _ranked(of, found.means, pairs[of["measures"][0]]).select(*schema)
        for of in ranked.partition_by(line, maintain_order=True)
    ]
    of_all = every.filter(pl.col("unranked").is_not_null()).select(*_LINE, "unranked")
    return pl.concat([pl.DataFrame(schema=schema), *frames, of_all], how="diagonal")


def _ranked(rows: pl.DataFrame, means: _Means, n_pairs: int) -> pl.DataFrame:
    """Return the ranks of the rows of one line."""
    is_bias, places = rows["measures"][0] == "bias", rows["key"].to_numpy()
    loss = means.value[places] * (1 if is_bias else -1)
    rounded = loss.round(DIGITS)
    rank = 1 + np.searchsorted(np.sort(rounded), rounded)
    frame = rows.with_columns(rank=rank, rank_low=pl.lit(None), rank_high=pl.lit(None))
    units = means.units[places]
    if len(places) > 1 and _enough(units, means.is_bias[places]).all():
        better = _better(loss, units, rows["prompt"].to_numpy(), n_pairs, is_bias=is_bias)
        low, high = 1 + better.sum(axis=0), len(places) - better.sum(axis=1)
        frame = frame.with_columns(rank_low=np.minimum(low, rank), rank_high=np.maximum(high, rank))
    return frame.with_columns(pl.col(RANK).cast(pl.Int64)).sort("rank", "row")


def _better(loss: Floats, units: csr_array, prompt: Floats, n_pairs: int, *, is_bias: bool) -> Mask:
    """Return the (p, p) matrix of whether row j is better than row k."""
    level = LEVEL ** (1 / n_pairs)
    powers = {1: units, 2: units**2, 3: units**3}
    second, fourth = _power(units, 2), _power(units, 4)
    better = np.zeros((len(loss), len(loss)), dtype=bool)
    for start in range(0, len(loss), _ROWS):
        rows = slice(start, start + _ROWS)

        def product(a: int, b: int, rows: slice = rows) -> Floats:
            return np.asarray((powers[a][rows] @ powers[b].T).toarray())

        squares = np.maximum(second[rows, None] + second - 2 * product(1, 1), 0.0)
        df = np.full(squares.shape, MANY)
        if is_bias:
            fourths = fourth[rows, None] + fourth + 6 * product(2, 2)
            fourths -= 4 * (product(1, 3) + product(3, 1))
            with np.errstate(divide="ignore", invalid="ignore"):
                df = np.maximum(1.0, np.nan_to_num(3 * squares**2 / fourths - 2, nan=1.0))
        error = np.sqrt(squares + prompt[rows, None] ** 2 + prompt**2)
        apart = loss - loss[rows, None]
        may_be = apart > t_quantile(level, np.inf) * error  # t is slow, and never below this
        may_be[may_be] = apart[may_be] > t_quantile(level, df[may_be]) * error[may_be]
        better[rows] = may_be
    return better
