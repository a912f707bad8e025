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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from harness.metrics import t_quantile
from harness.names import NONE
from harness.results.ratios import CLEAR, ITEMS, LEVEL, MEANING, NORMAL
from harness.results.record import VOID, Record, greatest_loss
from harness.results.verdict import (
    FEWEST_SEEDS,
    LESS,
    MORE,
    OVERALL,
    POWER,
    SAME,
    SMALLEST,
    UNCLEAR,
)

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
DIGITS = 5
"""Digits of a mean that count: scores depend on the batches by up to 1e-5."""
MANY = 1000.0
"""Degrees of freedom of the error of usefulness: many items stand behind each task."""

OTHER_VERSION = "of another version of the task"
NOT_IN_BOTH = "not in both rows"
NO_SCALE = "in a method without a clear gap of the reference encoder"
BLURRED = "in a method whose yardstick is not clear"
"""Why a cell does not count, beside `Record.left_out`."""

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
    """
    text, name = pl.col("deviations"), pl.col("name")
    known = (
        cells.select("place", "method", "of", text.str.extract_all(r'"[^"]*": ?\[[^\]]*\]'))
        .drop_nulls("deviations")
        .explode("deviations")
        .with_columns(
            name=text.str.extract(r'^"([^"]*)"'),
            gap=text.str.extract(r"\[([^,]*),").cast(pl.Float64, strict=False),
            yardstick=text.str.extract(r", ?([^\]]*)\]").cast(pl.Float64, strict=False),
        )
        .with_columns(
            name=pl.when(name.str.starts_with("yardstick "))
            .then(pl.concat_str("of", name, separator=" "))
            .when(name.str.starts_with("group "))
            .then(pl.concat_str("method", name, separator=" "))
            .otherwise(name)
        )
    )
    columns = ["place", "name", "gap", "yardstick"]
    alone = (
        cells.filter(text.is_null())
        .with_columns(k=pl.int_ranges(UNKNOWN), of=_measured_once())
        .explode("k")
    )
    own = []
    for name_of, gap, yardstick in (("task", 1.0, 0.0), ("of", 0.0, 1.0)):
        names = pl.concat_str(pl.lit(name_of), "row", name_of, "k", separator=", ")
        own.append(alone.select("place", name=names, gap=pl.lit(gap), yardstick=pl.lit(yardstick)))
    every = pl.concat([known.select(columns), *(part.select(columns) for part in own)])
    every = every.drop_nulls("name")  # cells without a yardstick
    return every.with_columns(unit=pl.col("name").rank("dense").cast(pl.Int64) - 1)


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
class _Methods:
    """What each method says, one line a key and method.

    Parameters
    ----------
    frame
        `key`, `method`, `tasks`, `is_bias`, `is_evidence`; `r`, the ratio over that of the
        reference encoder, of variances its root, and `error`, that of a difference; `s`, what it
        says of r², and `s_reference`, the same of the reference encoder; of usefulness these are
        the mean and 1; `has_scale` and `is_clear`.
    units
        (methods, units): what each unit changes in s.
    growth
        The same in r, where the ratio is larger by 1.
    """

    frame: pl.DataFrame
    units: csr_array
    growth: csr_array


_REFERENCE = ("reference_gap", "reference_yardstick")


def _methods(cells: pl.DataFrame, of: Cells) -> _Methods:
    """Return what each method says.

    Parameters
    ----------
    cells
        With `key`; `n` and `d`, the places of the cells of the gap and of the yardstick.
    of
        The cells with their units.
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
            pl.col("gap", "yardstick", *_REFERENCE).sum(),
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
    n_ref, d_ref = (frame[name].to_numpy() for name in _REFERENCE)
    v_n_ref, v_d_ref = (frame[f"{name}_reference"].to_numpy() for name in ("v_n", "v_d"))
    is_bias, is_square = frame["is_bias"].to_numpy(), frame["power"].to_numpy() == 2
    has_scale = ~is_bias | ((n_ref > 0) & (d_ref > 0) & (n_ref >= CLEAR_GAP * np.sqrt(v_n_ref)))
    is_clear = (d > 0) & (~frame["is_evidence"].to_numpy() | (d >= CLEAR * np.sqrt(v_d)))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_reference = n_ref / d_ref
        ratio = n / d
        r = ratio / of_reference
        # Variances as if the units of all tasks were different ones.
        apart = (v_n + ratio**2 * v_d) / (d * of_reference) ** 2
        apart_reference = (v_n_ref + of_reference**2 * v_d_ref) / (d_ref * of_reference) ** 2
        scale = diags_array(np.nan_to_num(1 / (d * of_reference), posinf=0.0, neginf=0.0))
        down = diags_array(np.nan_to_num(ratio, posinf=0.0, neginf=0.0))
        share = diags_array(np.nan_to_num(-1 / d, posinf=0.0, neginf=0.0))
    group = cells["group"].to_numpy()
    shape = (frame.height, len(group))
    sums = csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=shape)
    of_gap = sums @ of.gaps[cells["n"].to_numpy()]
    of_yardstick = sums @ of.yardsticks[cells["d"].to_numpy()]
    changes = scale @ (of_gap - down @ of_yardstick)
    v = _power(changes, 2)
    # Of the reference encoder no units are known. What tasks share is the same for all models.
    with np.errstate(divide="ignore", invalid="ignore"):
        v_reference = np.where(apart > 0, apart_reference * v / apart, apart_reference)
    # The slope of r² is 2r. Where r is within its error of 0, the error of r² is that of e² · χ².
    slope = np.where(r < 0, -2.0, 2.0) * np.maximum(np.abs(r), np.sqrt(v / 2))
    slope = np.where(is_square | ~is_bias, 1.0, np.nan_to_num(slope))
    s = np.where(is_square | ~is_bias, r, r**2 - v)
    s_reference = np.where(is_square | ~is_bias, 1.0, 1 - v_reference)
    frame = frame.select("key", "method", "tasks", "is_bias", "is_evidence").with_columns(
        r=np.where(is_square, np.sign(r) * np.sqrt(np.abs(r)), r),
        s=s,
        s_reference=s_reference,
        error=np.where(is_bias & ~is_square, np.sqrt(v), np.nan),
        has_scale=has_scale,
        is_clear=is_clear,
    )
    return _Methods(frame, diags_array(slope) @ changes, share @ of_yardstick)


@dataclass(frozen=True)
class _Values:
    """The mean of each of k keys, with what each unit changes in it.

    Parameters
    ----------
    value
        (k,) √Q, or the mean of usefulness; NaN without a method.
    square
        (k,) Q, which may be below 0.
    units
        (k, units): what each unit changes in the value. Near 0, where the root is steep, it is the
        secant over the error of Q.
    of_square
        The same in Q.
    growth
        The same in the value, where it is larger by 1.
    methods
        (k,) number of methods.
    is_bias
        (k,) whether the key measures bias.
    counts
        (methods,) which methods the means are over.
    """

    value: Floats
    square: Floats
    units: csr_array
    of_square: csr_array
    growth: csr_array
    methods: Floats
    is_bias: Mask
    counts: Mask


def _values(methods: _Methods, counts: Mask, n_keys: int) -> _Values:
    """Return the mean of each key over the methods that count."""
    from scipy.sparse import csr_array, diags_array

    frame, places = methods.frame.filter(counts), np.flatnonzero(counts)
    key = frame["key"].to_numpy()
    number = np.bincount(key, minlength=n_keys).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(key, frame["s"], minlength=n_keys) / number
        unit = np.bincount(key, frame["s_reference"], minlength=n_keys) / number
        square = mean / np.where(unit > 0, unit, np.nan)
        weight = 1 / (number * unit)
    is_bias = np.bincount(key, frame["is_bias"], minlength=n_keys) > 0
    of_key = csr_array(
        (np.nan_to_num(weight)[key], (key, places)), shape=(n_keys, methods.frame.height)
    )
    of_square = of_key @ methods.units
    error = _norm(of_square)
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = (_root(np.maximum(square, 0.0) + sign * error) for sign in (1, -1))
        slope = np.where(error > 0, (above - below) / (2 * error), 0.5 / _root(square))
    slope = np.nan_to_num(np.where(is_bias, slope, 1.0), posinf=0.0)
    each = csr_array((1 / number[key], (key, places)), shape=(n_keys, methods.frame.height))
    return _Values(
        value=np.where(is_bias, _root(square), square),
        square=square,
        units=diags_array(slope) @ of_square,
        of_square=of_square,
        growth=each @ methods.growth,
        methods=number,
        is_bias=is_bias,
        counts=counts,
    )


def _root(square: Floats) -> Floats:
    """Return the root; of what is below 0, which noise is, it is 0."""
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def _norm(units: csr_array) -> Floats:
    """Return the standard error of each line of (n, units)."""
    return np.asarray(np.sqrt(_power(units, 2)))


def _power(units: csr_array, power: int) -> Floats:
    return np.asarray((units**power).sum(axis=1)).ravel()


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


# Means of rows.


def _lines(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells twice: in the line of all concepts, and in that of their own."""
    of_all = cells.with_columns(name=pl.lit(OVERALL))
    return pl.concat([of_all, cells.with_columns(name=pl.col("concept"))])


def _keyed(cells: pl.DataFrame, by: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return cells with `key`, the place of their group, and the groups in this order."""
    keys = cells.select(by).unique(maintain_order=True).with_row_index("key")
    keys = keys.with_columns(pl.col("key").cast(pl.Int64))
    return cells.join(keys, on=by, maintain_order="left"), keys


def _has_methods(methods: pl.DataFrame, of: Sequence[str]) -> pl.Series:
    """Return which methods count: on a line, and for all rows that are compared with each other.

    A method that does not count overall counts on no line of these rows.

    Parameters
    ----------
    methods
        With `measures` and `name`, the line.
    of
        Columns that rows have in common that are compared.
    """
    own = pl.col("has_scale") & pl.col("is_clear")
    overall = own | (pl.col("name") != OVERALL)
    return methods.select(
        own.all().over(*of, "measures", "name", "method")
        & overall.all().over(*of, "measures", "method")
    ).to_series()


def _left_out(methods: pl.DataFrame, cells: pl.DataFrame, of: Sequence[str]) -> pl.DataFrame:
    """Return the cells whose method does not count: `of`, `task`, `measures`, `reason`."""
    without = methods.filter(pl.col("name") == OVERALL).select(
        *of,
        *("measures", "method"),
        reason=pl.when(~pl.col("has_scale"))
        .then(pl.lit(NO_SCALE))
        .when(~pl.col("is_clear"))
        .then(pl.lit(BLURRED)),
    )
    key = [*of, "measures", "method"]
    reasons = without.drop_nulls("reason").unique(key, keep="first", maintain_order=True)
    found = cells.select(*key, "task").join(reasons, on=key, maintain_order="left")
    return found.select(*of, "task", "measures", "reason")


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
    unclear
        By row, its methods without a clear yardstick.
    unusable
        Rows of whose methods fewer than half have a clear yardstick: by row, the reason. They have
        no mean of bias.
    """

    frame: pl.DataFrame
    left_out: pl.DataFrame
    unclear: Mapping[str, tuple[str, ...]]
    unusable: Mapping[str, str]

    def of(self, row: str, measures: str, name: str = OVERALL) -> dict[str, Any]:
        """Return the line of a row; an empty one if nothing counts."""
        found = self.frame.filter(row=row, measures=measures, name=name)
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
    keyed, keys = _keyed(_lines(counted), ["row", "measures", "name"])
    found = _methods(keyed, cells)
    methods = found.frame.join(keys, on="key", maintain_order="left")
    unclear = methods.filter("has_scale", ~pl.col("is_clear"), pl.col("name") == OVERALL)
    named: dict[str, list[str]] = {}
    for row, method in unclear.select("row", "method").sort("row", "method").iter_rows():
        named.setdefault(row, []).append(method)
    unusable = _unusable(methods)
    is_unusable = methods["row"].is_in(list(unusable)) & methods["is_bias"]
    values = _values(found, (_has_methods(methods, ["row"]) & ~is_unusable).to_numpy(), keys.height)
    reasons = cells.every.drop_nulls("left_out").select(
        "row", "task", "measures", reason="left_out"
    )
    return Means(
        _means_frame(keys, methods, values, prompts or {}),
        pl.concat([reasons, _left_out(methods, counted, ["row"])]),
        {row: tuple(names) for row, names in named.items()},
        unusable,
    )


def _unusable(methods: pl.DataFrame) -> dict[str, str]:
    """Return by row why its means say nothing: too few of its yardsticks are clear."""
    shares = (
        methods.filter("has_scale", "is_evidence", pl.col("name") == OVERALL)
        .group_by("row", maintain_order=True)
        .agg(clear=pl.col("is_clear").sum(), of=pl.len())
        .filter(pl.col("clear") < CLEAR_SHARE * pl.col("of"))
    )
    return {
        row: f"the yardsticks of {clear} of {of} methods are clear; half of them are needed"
        for row, clear, of in shares.iter_rows()
    }


def _means_frame(
    keys: pl.DataFrame, methods: pl.DataFrame, values: _Values, prompts: Mapping[str, float]
) -> pl.DataFrame:
    numbers = _numbers(methods, values)
    low, high = _ends(values)
    prompt = NORMAL * np.array([prompts.get(row, 0.0) for row in keys["row"]]) * values.is_bias
    low = values.value - np.hypot(values.value - low, prompt)
    high = values.value + np.hypot(high - values.value, prompt)
    return (
        keys.with_columns(
            value=values.value,
            low=np.where(values.is_bias, np.maximum(low, 0.0), low),
            high=high,
            error=np.hypot(_norm(values.units), prompt / NORMAL),
            methods=values.methods.astype(np.int64),
        )
        .with_columns(pl.col("value", "low", "high", "error").fill_nan(None))
        .drop_nulls("value")
        .join(numbers, on="key", how="left", maintain_order="left")
        .drop("key")
    )


def _numbers(methods: pl.DataFrame, values: _Values) -> pl.DataFrame:
    """Return the number of `tasks` of each `key`, and whether its differences are `toward`."""
    signed = pl.col("error").is_not_nan()
    r, error = pl.col("r").filter(signed), pl.col("error").filter(signed)
    sign = pl.when(r.sum().abs() > NORMAL * (error**2).sum().sqrt()).then(r.sum().sign())
    return (
        methods.filter(values.counts)
        .group_by("key")
        .agg(pl.col("tasks").sum(), toward=sign.fill_null(0.0).cast(pl.Int64))
    )


def _ends(values: _Values) -> tuple[Floats, Floats]:
    """Return the ends of the interval of each mean: of bias the roots of those of Q."""
    known = _enough(values.of_square, values.is_bias)
    error, df = _norm(values.of_square), _df(values.of_square, values.is_bias)
    half = np.where(known, t_quantile(LEVEL, df) * error, np.nan)
    square = np.where(values.is_bias, np.maximum(values.square, 0.0), values.square)
    low, high = square - half, square + half
    return (
        np.where(values.is_bias, _root(low), low),
        np.where(values.is_bias, _root(high), high),
    )


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
        `reason`; `detectable`; `agree`, in how many methods the
        sign is that of the difference; `depends_on`, the method without which it turns, or null;
        `verdict`, `more`, `less`, `not clear` or `equal`; `lacks`, what a verdict lacks where the
        interval alone would give one.
    left_out
        What does not count in both rows: `pair`, `task`, `measures`, `reason`.
    unclear
        By the place of a pair, why its means say nothing.
    """

    frame: pl.DataFrame
    left_out: pl.DataFrame
    unclear: Mapping[int, str]

    def of(self, pair: int = 0, measures: str = "bias", name: str = OVERALL) -> dict[str, Any]:
        """Return a line; an empty one if nothing counts in both rows."""
        found = self.frame.filter(pair=pair, measures=measures, name=name)
        return found.row(0, named=True) if found.height else {}


_SIDES = {
    "base": ("base", "base"),
    "model": ("model", "model"),
    "model_on_base": ("model", "base"),
    "base_on_model": ("base", "model"),
}
"""Whose gaps are over whose yardsticks."""
ROWS = ("base", "model")
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
    sides = [
        both.with_columns(
            *(pl.col(f"{gap}_{name}").alias(name) for name in _GAP),
            *(pl.col(f"{yardstick}_{name}").alias(name) for name in _YARDSTICK),
            n=f"{gap}_place",
            d=f"{yardstick}_place",
            side=pl.lit(side),
        )
        for side, (gap, yardstick) in _SIDES.items()
    ]
    keyed, keys = _keyed(_lines(pl.concat(sides)), ["pair", "seed", "measures", "name", "side"])
    found = _methods(keyed, cells)
    methods = found.frame.join(keys, on="key", maintain_order="left")
    unclear: dict[int, str] = {}
    for row in ROWS:
        own = methods.filter(side=row).with_columns(row=pl.col("pair").cast(pl.String))
        unclear |= {int(pair): why for pair, why in _unusable(own).items()}
    counts = _has_methods(methods, ["pair", "seed"])
    values = _values(found, counts.to_numpy(), keys.height)
    bases = {base: i for i, (base, _) in enumerate(pairs)}
    facts = pl.DataFrame(
        {
            "pair": range(len(pairs)),
            "group": [bases[base] for base, _ in pairs],
            "prompt": _prompts_of(pairs, prompts or {}),
        },
        schema={"pair": pl.Int64, "group": pl.Int64, "prompt": pl.Float64},
    )
    frame = _differences_frame(keys, methods, values, smallest, facts)
    if unclear:
        is_unclear = (pl.col("measures") == "bias") & pl.col("pair").is_in(list(unclear))
        why = pl.col("pair").replace_strict(unclear, default=None, return_dtype=pl.String)
        frame = frame.with_columns(
            *(pl.when(~is_unclear).then(end).alias(end) for end in ("low", "high", "detectable")),
            reason=pl.when(is_unclear).then(why).otherwise("reason"),
            verdict=pl.when(is_unclear).then(pl.lit(UNCLEAR)).otherwise("verdict"),
        )
    equal = _equal(both)
    frame = frame.join(equal, on=["pair", "measures", "name"], how="left", maintain_order="left")
    same = pl.col("is_equal")
    frame = frame.with_columns(
        *(pl.when(~same).then(end).alias(end) for end in ("low", "high", "detectable")),
        *(pl.when(~same).then(text).alias(text) for text in ("depends_on", "lacks", "reason")),
        verdict=pl.when(same).then(pl.lit(SAME)).otherwise("verdict"),
    ).drop("is_equal")
    apart = _left_out(methods.filter(~counts), both, ["pair"])
    return Differences(frame, pl.concat([left_out, apart]).unique(maintain_order=True), unclear)


def prompt_error(records: Columns, fingerprint: str) -> float:
    """Return the error that its prompt gives the bias of a model; 0 if no other one was tried.

    It is the root mean square of what each other neutral instruction changes, which covers an own
    one that was chosen for its low bias, too.

    Parameters
    ----------
    records
        Records, with those of the model and those under other prompts.
    fingerprint
        That of the model under its own prompt.
    """
    fields = {"own": "model.fingerprint", "base": "model.base_fingerprint"}
    frame = records.flat({**fields, "label": "mitigator.label"}).cast(pl.String)
    frame = frame.with_row_index("place").filter(label=NONE)
    rows = {
        str(row): places
        for row, places in frame.filter(pl.col("base") == fingerprint)
        .group_by("own", maintain_order=True)
        .agg("place")
        .iter_rows()
    }
    if not rows:
        return 0.0
    rows["own"] = frame.filter(own=fingerprint)["place"].to_list()
    cells = cells_of({row: records.at(places) for row, places in rows.items()})
    cells = cells.unique(["row", "task"], keep="last", maintain_order=True)
    counted = Cells.of(cells.filter(pl.col("left_out").is_null(), measures="bias"))
    others = counted.every.filter(pl.col("row") != "own")
    draws = others.with_columns(row=pl.lit("own"), prompt="row")
    return prompt_errors(counted.filter(pl.col("row") == "own"), draws)[0].get("own", 0.0)


def prompt_errors(cells: Cells, draws: pl.DataFrame) -> tuple[dict[str, float], dict[str, int]]:
    """Return by row the error that its prompt gives its bias, and how many others were tried.

    Parameters
    ----------
    cells
        The cells that count in the bias of each row.
    draws
        Those under other prompts: `row`, `prompt`, `task`, and what is pooled. A prompt with fewer
        than `LEAST_DRAWN` of the tasks of a row says nothing of it.
    """

    def bias(of: Cells) -> dict[str, float]:
        frame = means(of).frame.filter(measures="bias", name=OVERALL)
        return dict(frame.select("row", "value").iter_rows())

    draws = draws.join(cells.every, on=["row", "task"], how="semi")
    enough = (
        draws.group_by("row", "prompt")
        .len("has")
        .join(cells.every.group_by("row").agg(of=pl.len()), on="row")
        .filter(pl.col("has") >= LEAST_DRAWN * pl.col("of"))
    )
    own, parts = bias(cells), [*_GAP, *_YARDSTICK]
    changes: dict[str, list[float]] = {}
    for prompt in enough["prompt"].unique().sort():
        drawn = draws.filter(prompt=prompt).select("row", "task", *parts)
        under = (
            cells.every.join(enough.filter(prompt=prompt), on="row", how="semi")
            .join(drawn, on=["row", "task"], how="left", maintain_order="left", suffix="_under")
            .with_columns(pl.coalesce(f"{name}_under", name).alias(name) for name in parts)
        )
        for row, value in bias(Cells(under, cells.gaps, cells.yardsticks)).items():
            if row in own:
                changes.setdefault(row, []).append(value - own[row])
    errors = {
        row: math.sqrt(math.fsum(change**2 for change in of) / len(of))
        for row, of in changes.items()
    }
    return errors, {row: len(of) for row, of in changes.items()}


def _prompts_of(pairs: Sequence[Pair], prompts: Mapping[str, float]) -> list[float]:
    """Return the error that prompts give the difference of each pair."""
    return [
        math.hypot(prompts.get(base, 0.0), *(prompts.get(row, 0.0) / len(rows) for row in rows))
        for base, rows in pairs
    ]


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


def _equal(both: pl.DataFrame) -> pl.DataFrame:
    """Return which lines are equal in both rows: all their gaps and yardsticks are."""
    least = pl.lit(EQUAL).pow(pl.col("power"))
    same = [
        (pl.col(f"model_{name}") - pl.col(f"base_{name}")).abs() < least
        for name in ("gap", "yardstick")
    ]
    by = ["pair", "measures", "name"]
    return _lines(both).group_by(by).agg(is_equal=pl.all_horizontal(same).all())


def _differences_frame(
    keys: pl.DataFrame,
    methods: pl.DataFrame,
    values: _Values,
    smallest: float,
    facts: pl.DataFrame,
) -> pl.DataFrame:
    """Return the differences with their intervals and verdicts.

    `facts` has by `pair` its `group`, those whose intervals hold at once, and the error `prompt`.
    """
    from scipy.sparse import csr_array

    line = ["pair", "measures", "name"]
    has_value = np.isfinite(values.value)
    known = keys.filter(has_value).pivot(on="side", index=[*line, "seed"], values="key")
    for side in _SIDES:
        if side not in known.columns:
            known = known.with_columns(pl.lit(None, pl.Int64).alias(side))
    known = known.drop_nulls(list(_SIDES))
    seeds = keys.group_by("pair").agg(of=pl.col("seed").n_unique())
    complete = (pl.len().over(line) == pl.col("of")) if known.height else pl.lit(value=True)
    known = known.join(seeds, on="pair", maintain_order="left").filter(complete)
    known, lines = _keyed(known.drop("of"), line)
    at = {side: known[side].to_numpy() for side in _SIDES}
    number = np.bincount(known["key"], minlength=lines.height)
    mean = csr_array(
        (1 / number[known["key"]], (known["key"].to_numpy(), np.arange(known.height))),
        shape=(lines.height, known.height),
    )

    def change(model: str, base: str) -> tuple[Floats, csr_array]:
        own = values.value[at[model]] - values.value[at[base]]
        units = mean @ (values.units[at[model]] - values.units[at[base]])
        units.eliminate_zeros()
        return mean @ own, units

    each = values.value[at["model"]] - values.value[at["base"]]
    difference, units = change("model", "base")
    is_bias = lines["measures"].to_numpy() == "bias"
    spread = mean @ (each**2) - difference**2
    enough_seeds = number >= FEWEST_SEEDS
    with np.errstate(divide="ignore", invalid="ignore"):
        of_seeds = np.where(enough_seeds, np.maximum(spread, 0.0) / (number - 1), 0.0)
    known_facts = lines.join(facts, on="pair", maintain_order="left")
    more = of_seeds + (known_facts["prompt"].to_numpy() * is_bias) ** 2
    at_once = known_facts.select(pl.len().over("group", "measures")).to_series().to_numpy()
    level = LEVEL ** (1 / at_once)

    def half_width(of_units: csr_array) -> Floats:
        squares, df = _power(of_units, 2), _df(of_units, is_bias)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = squares**2 / df + np.where(number > 1, of_seeds**2 / (number - 1), 0.0)
            df = np.where(parts > 0, np.maximum(1.0, (squares + more) ** 2 / parts), df)
        return np.asarray(t_quantile(level, df) * np.sqrt(squares + more))

    half = np.where(_enough(units, is_bias), half_width(units), np.nan)
    sign = np.sign(difference)
    is_sure = np.abs(difference) > half
    is_large = ~is_bias | (np.abs(difference) >= smallest)
    on = {}
    for side, pair in (("base", ("model_on_base", "base")), ("model", ("model", "base_on_model"))):
        own, own_units = change(*pair)
        holds = (sign * own > half_width(own_units)) & (sign * own >= smallest)
        on[side] = ~is_bias | holds
    agree, depends_on = _other_ways(methods, values, known, at, lines.height, sign)
    lacks = np.select(
        [~is_large, ~on["base"], ~on["model"], depends_on != ""],
        [
            f"below the smallest effect, {smallest:g}",
            "not over the yardsticks of the base",
            "not over the yardsticks of the model",
            np.char.add("depends on ", depends_on),
        ],
        default="",
    )
    verdict = np.where(is_sure & (lacks == ""), np.where(sign > 0, MORE, LESS), UNCLEAR)
    n_units = np.diff(units.indptr)
    few = np.char.add(n_units.astype(str), f" units, an interval needs {FEWEST}")
    reason = np.where(np.isnan(half), np.where(is_bias, few, "a score without an interval"), "")
    numbers = _numbers(methods, values)
    first = known.unique("key", keep="first", maintain_order=True).select("key", *ROWS)
    for row in ROWS:
        own_ = numbers.rename({"key": row, "toward": f"{row}_toward", "tasks": f"{row}_tasks"})
        first = first.join(own_, on=row, how="left", maintain_order="left")
    return (
        lines.join(first, on="key", maintain_order="left")
        .with_columns(
            methods=values.methods[first["base"].to_numpy()].astype(np.int64),
            base=mean @ values.value[at["base"]],
            model=mean @ values.value[at["model"]],
            difference=difference,
            low=difference - half,
            high=difference + half,
            detectable=_detectable(units, mean @ values.growth[at["model"]], half, more, is_bias),
            agree=agree,
            depends_on=pl.Series(depends_on.tolist(), dtype=pl.String),
            verdict=pl.Series(verdict.tolist(), dtype=pl.String),
            lacks=pl.Series(np.where(is_sure, lacks, "").tolist(), dtype=pl.String),
            reason=pl.Series(reason.tolist(), dtype=pl.String),
        )
        .with_columns(
            pl.col("low", "high", "detectable").fill_nan(None),
            pl.col("depends_on", "lacks", "reason").replace("", None),
        )
        .rename({"base_tasks": "tasks"})
        .drop("key", "model_tasks")
        .sort("pair", "measures", pl.col("name") != OVERALL, "name")
    )


def _detectable(
    units: csr_array, growth: csr_array, half: Floats, more: Floats, is_bias: Mask
) -> Floats:
    """Return the smallest true difference whose interval is beyond 0 in 80 % of cases.

    The error of a ratio grows with the ratio, so the interval is that of the larger bias.
    """
    squares, both = _power(units, 2), np.asarray(units.multiply(growth).sum(axis=1)).ravel()
    grown = np.asarray((growth**2).sum(axis=1)).ravel()
    error = np.sqrt(squares + more)
    power = t_quantile(2 * POWER - 1, _df(units, is_bias)) * error
    found = half + power
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(10):
            larger = np.sqrt(np.maximum(squares + 2 * found * both + found**2 * grown + more, 0.0))
            found = np.where(error > 0, half * larger / error + power, half)
    return np.asarray(found)


def _other_ways(
    methods: pl.DataFrame,
    values: _Values,
    known: pl.DataFrame,
    at: Mapping[str, Floats],
    n_lines: int,
    sign: Floats,
) -> tuple[Any, Any]:
    """Return in how many methods the sign is that of the difference, and on which it depends.

    Parameters
    ----------
    methods, values
        What each method says, and the means over those that count.
    known
        A line for each seed of each difference, with `key`, the line of the difference.
    at
        By side, the keys of the means of `known`.
    n_lines
        Number of differences.
    sign
        (n_lines,) their signs.
    """
    counted = methods.filter(values.counts).select("key", "method", "s", "s_reference", "is_bias")
    sums = counted.group_by("key").agg(pl.col("s", "s_reference").sum(), n=pl.len())
    rest = counted.join(sums, on="key", suffix="_all", maintain_order="left").with_columns(
        without=(pl.col("s_all") - pl.col("s"))
        / (pl.col("s_reference_all") - pl.col("s_reference"))
    )
    rest = rest.with_columns(
        without=pl.when("is_bias").then(pl.col("without").clip(0.0).sqrt()).otherwise("without")
    )
    sides = [
        pl.DataFrame({"line": known["key"], "key": at[side]})
        .join(rest, on="key", maintain_order="left")
        .select("line", "method", "n", s="s", without="without", place="key")
        .group_by("line", "method", maintain_order=True)
        .agg(pl.col("n").first(), pl.col("s", "without").mean())
        for side in ("base", "model")
    ]
    both = sides[0].join(sides[1], on=["line", "method"], suffix="_model", maintain_order="left")
    of_line = pl.Series(sign).gather(both["line"])
    both = both.with_columns(
        agrees=((pl.col("s_model") - pl.col("s")) * of_line) > 0,
        turned=(pl.col("without_model") - pl.col("without")) * of_line,
    )
    agree = both.group_by("line").agg(pl.col("agrees").sum())
    turns = (
        both.filter(pl.col("n") > 1, pl.col("turned") <= 0)
        .sort("turned", "method")
        .unique("line", keep="first")
    )
    agrees, depends = np.zeros(n_lines, dtype=np.int64), np.full(n_lines, "", dtype=object)
    agrees[agree["line"].to_numpy()] = agree["agrees"].to_numpy()
    for line, method in turns.select("line", "method").iter_rows():
        depends[line] = method
    return agrees, depends.astype(str)


# Ranges of ranks.


_ROWS = 256
"""Rows whose pairs with all rows are in memory at once."""


@dataclass(frozen=True)
class Ranks:
    """The ranks of rows; see `ranks`.

    Parameters
    ----------
    frame
        One line a ranked row, what it measures and a line: `row`, `measures`, `name`, `rank`, and
        `rank_low` and `rank_high`, the ends of the range that holds the true rank; null without
        intervals. Best first.
    unranked
        By measures, line and row, why it has no rank.
    """

    frame: pl.DataFrame
    unranked: Mapping[tuple[str, str, str], str]


def ranks(cells: pl.DataFrame | Cells, prompts: Mapping[str, float] | None = None) -> Ranks:
    """Rank rows by their means, overall and by concept.

    A row has a rank if all tasks count in it that any row has, the yardsticks of all methods are
    clear, and the half-width of its interval is at most `WIDEST`. The order is that of the means:
    the lowest bias, or the highest usefulness, is first. Row j is better than row k if the interval
    of their difference is below 0; all differences of all lines hold at once, with `LEVEL`. The
    range of a row goes from 1 plus the number of rows that are better to the number of rows less
    those that it is better than (Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks).

    Parameters
    ----------
    cells
        The cells of the rows to rank, on the tasks to rank by.
    prompts
        As of `means`.
    """
    cells = Cells.of(cells)
    counted = cells.counting.with_columns(n="place", d="place")
    keyed, keys = _keyed(_lines(counted), ["row", "measures", "name"])
    found = _methods(keyed, cells)
    methods = found.frame.join(keys, on="key", maintain_order="left")
    counts = _has_methods(methods, ["row"])
    values = _values(found, counts.to_numpy(), keys.height)
    low, high = _ends(values)
    half = np.maximum(values.value - low, high - values.value)
    n_tasks = _lines(cells.every).group_by("measures", "name").agg(of=pl.col("task").n_unique())
    line = ["row", "measures", "name"]
    has = _lines(counted).group_by(line).agg(has=pl.len())
    blurred = (
        methods.filter("has_scale")
        .with_columns(counts=counts.filter(methods["has_scale"]))
        .filter(~pl.col("counts"))
        .group_by(line)
        .agg(blurred=pl.col("method").sort().str.join(", "))
    )
    every = (
        _lines(cells.every)
        .select(line)
        .unique(maintain_order=True)
        .join(keys, on=line, how="left", maintain_order="left")
        .join(n_tasks, on=["measures", "name"], how="left", maintain_order="left")
        .join(has, on=line, how="left", maintain_order="left")
        .join(blurred, on=line, how="left", maintain_order="left")
    )
    unranked: dict[tuple[str, str, str], str] = {}
    places: dict[tuple[str, str], list[int]] = {}
    for row, measures, name, key, of, n, unclear in every.select(
        *line, "key", "of", "has", "blurred"
    ).iter_rows():
        reason = ""
        if n != of:
            reason = f"{n or 0} of {of} tasks count"
        elif unclear:
            reason = f"the yardstick of {unclear} is not clear"
        elif not math.isfinite(values.value[key]):
            reason = "no method counts"
        elif half[key] > WIDEST and measures == "bias":
            reason = f"the interval is wider than ± {WIDEST:g}"
        if reason:
            unranked[measures, name, row] = reason
        else:
            places.setdefault((measures, name), []).append(key)
    # As many differences hold at once as the ranked rows have pairs, on all lines.
    n_lines = keys.filter(np.isfinite(values.value)).unique(["measures", "name"])["measures"]
    most: dict[str, int] = {}
    for (measures, _), of in places.items():
        most[measures] = max(len(of) * (len(of) - 1) // 2, most.get(measures, 0))
    frames = [
        _ranked(
            keys[of],
            values,
            np.asarray(of),
            most[measures] * int((n_lines == measures).sum()),
            prompts or {},
        )
        for (measures, _), of in places.items()
    ]
    schema = {**dict.fromkeys(line, pl.String()), **dict.fromkeys(_RANK, pl.Int64())}
    return Ranks(pl.concat([pl.DataFrame(schema=schema), *frames]), unranked)


_RANK = ("rank", "rank_low", "rank_high")


def _ranked(
    rows: pl.DataFrame, values: _Values, places: Any, n_pairs: int, prompts: Mapping[str, float]
) -> pl.DataFrame:
    """Return the ranks of the rows of one line."""
    is_bias = rows["measures"][0] == "bias"
    loss = values.value[places] * (1 if is_bias else -1)
    prompt = np.array([prompts.get(row, 0.0) if is_bias else 0.0 for row in rows["row"]])
    rounded = loss.round(DIGITS)
    rank = 1 + np.searchsorted(np.sort(rounded), rounded)
    frame = rows.select("row", "measures", "name").with_columns(
        rank=rank, rank_low=pl.lit(None, pl.Int64), rank_high=pl.lit(None, pl.Int64)
    )
    units = values.units[places]
    if len(places) > 1 and _enough(units, values.is_bias[places]).all():
        better = _better(loss, units, prompt, n_pairs, is_bias=is_bias)
        low, high = 1 + better.sum(axis=0), len(places) - better.sum(axis=1)
        frame = frame.with_columns(rank_low=np.minimum(low, rank), rank_high=np.maximum(high, rank))
    return frame.sort("rank", "row")


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
