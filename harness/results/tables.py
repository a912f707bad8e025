"""The tables of an evaluation: a section for each model and for what its tasks measure.

A row is a score of a task, a column a mitigator. This module computes the cells; `formats` writes
them.
"""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness import names
from harness.results.formats import (
    BEST,
    NOTHING,
    Report,
    Sentences,
    Table,
    Value,
)
from harness.results.ratios import LEVEL, OVERALL
from harness.results.record import (
    STARS,
    IntervalPart,
    Record,
    stars,
)
from harness.results.record import loss as loss_of
from harness.results.seeds import standard_error
from harness.results.verdict import TOWARDS, Difference, differences_of

if TYPE_CHECKING:
    import polars as pl

NAMES = {"bias": "mean bias", "usefulness": "mean usefulness"}
"""Name of the mean of each kind of task."""
HELP = {
    "mean bias": "gaps over yardsticks; 0 is fair, 1 as biased as the reference encoder",
    "mean usefulness": "1 is the ideal; higher is better",
}
"""What each mean is."""
MEASURES = ("bias", "usefulness", "control")
"""Sections of a model, in this order."""
ONE_SIDED = {"greater": 1, "less": -1}
"""Values of `details.alternative` with a one-sided p-value: the direction that it tests."""
DIGITS = 3
"""Digits after the decimal point. Values that are equal when rounded to these are ties."""
OLD = "‡"
"""Marks a score of another version of its task than the newest one."""
LISTED = 3
"""Most tasks that are named where they are left out, unless all are asked for."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of one score of a model over its neutral instructions (`--prompts`).

    Parameters
    ----------
    low, high
        The lowest and the highest value.
    sd
        The standard deviation of the values, over n - 1.
    n
        Number of values, with that of the model's own prompt.
    """

    low: float
    high: float
    sd: float
    n: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A score as a table shows it.

    Parameters
    ----------
    value
        The number; None if the score is void.
    stars
        Stars of its p-value; empty where it has none, and for usefulness, whose
        p-values only say that a correlation differs from 0.
    is_reversed
        Whether the association points the other way: against the direction that a one-sided
        p-value tests; or significantly against the expected one, where the metric says it
        (`details.reversed`); or else against the association of the unmitigated model.
    mark
        `OLD` for a score that is compared with no other.
    is_best
        Whether no other value of the row is as near to the ideal, above its floor.
    change
        The value minus the value of the unmitigated model.
    interval
        Confidence interval of the value.
    standard_error
        Standard error of a mean over runs with other seeds.
    counts
        Of a mean over tasks, how many count, where not all columns have the same tasks.
    reason
        Why the score is void.
    spread
        The values under several neutral instructions.
    """

    value: float | None
    stars: str = ""
    is_reversed: bool = False
    mark: str = ""
    is_best: bool = False
    change: float | None = None
    interval: IntervalPart | None = None
    standard_error: float | None = None
    counts: str = ""
    reason: str = ""
    spread: Spread | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    task, score
        The task and the score. The task includes its scenario if the table has several of them.
    ideal
        The fair value, or `higher` or `lower`.
    cells
        One for each column; None if the task was not run.
    """

    task: str
    score: str
    ideal: str
    cells: tuple[Cell | None, ...]

    @property
    def is_void(self) -> bool:
        """Whether it has no value in any column."""
        return all(cell is None or cell.value is None for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Counted:
    """The mean of a column over its tasks that count.

    Parameters
    ----------
    value, low, high
        The mean, and its interval; None where nothing counts, or too few yardsticks are clear.
    n, of
        Number of scores that count, and of those that there are.
    left_out
        Names of the tasks that do not count, by the reason.
    unclear
        Why there is no mean: too few yardsticks are clear.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    of: int
    left_out: Mapping[str, tuple[str, ...]]
    unclear: str = ""

    @property
    def counts(self) -> str:
        """How many scores count, of how many."""
        return f"{self.n} of {self.of}"

    @property
    def interval(self) -> IntervalPart | None:
        """The interval as a record has it."""
        if self.low is None or self.high is None:
            return None
        return IntervalPart(low=self.low, high=self.high, level=LEVEL, method="items")


@dataclass(frozen=True)
class Section:
    """The table of one model and of what its tasks measure.

    Parameters
    ----------
    model
        Label of the model.
    measures
        `bias`, `usefulness` or `control`.
    columns
        Labels of the mitigators.
    rows
        The scores.
    mean
        The mean of each column over its tasks that count; None with fewer than two tasks, and for
        controls.
    means
        The mean of each column, with what counts in it.
    changes
        The difference of each mitigated column from `none`, over the tasks that count in both.
    mean_name
        What the means are of.
    concepts
        The means of `none`, or of the first column, by concept, and what associations are towards.
    several_seeds
        Number of scores of several runs with different seeds, of which the latest is shown.
    one_sided
        Metrics whose p-values are one-sided; with the score, if others of it are not.
    limit
        Number of items that sets and tables were cut to, in a smoke run.
    base
        Label of the model that this one is under another neutral instruction; empty for any other.
    controls
        The columns of controls, which mitigate nothing and are never the best of a row.
    judged
        How many scores of each mitigated column are judged in each way.
    """

    model: str
    measures: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    mean: Row | None = None
    means: Mapping[str, Counted] = field(default_factory=dict)
    changes: Mapping[str, Difference | None] = field(default_factory=dict)
    mean_name: str = ""
    concepts: str = ""
    several_seeds: int = 0
    one_sided: tuple[str, ...] = ()
    limit: int | None = None
    base: str = ""
    controls: tuple[str, ...] = ()
    judged: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The model, and what is measured."""
        limit = "" if self.limit is None else f" (--limit {self.limit})"
        return f"{self.model}: {self.measures}{limit}"

    @property
    def cells(self) -> list[Cell]:
        """All cells that have a score."""
        return [cell for row in (*self.rows, *self.foot) for cell in row.cells if cell]

    @property
    def foot(self) -> list[Row]:
        """The row of means, if there is one."""
        return [self.mean] if self.mean else []


Key = tuple[str, str, str, str]
"""Task, scenario, metric and score of a row."""


def sections(
    records: Iterable[Record], installed: Mapping[str, int] | None = None
) -> list[Section]:
    """Return the tables of records: models and mitigators in the order of the records.

    Beside each value of a model stands its spread over the neutral instructions that it was run
    under, too.

    Of several records of one cell, such as those of two seeds, the newest version and then the
    latest record counts. Scores of other versions of a task than the newest one of all records are
    marked, and count in no mean. Different weights under one name have a section each, with the end
    of their fingerprint.

    Parameters
    ----------
    records
        The records.
    installed
        The installed version of tasks; a row of an older version has its version in its name.
    """
    from harness.results import estimator
    from harness.results.columns import Columns

    columns = Columns.of(records)
    models = columns.places_by_model()
    known_by_name = Counter(name for name, _ in models)
    versions = columns.flat({"task": "task.name", "version": "task.version"})
    newest = dict(versions.group_by("task").max().cast({"task": str}).iter_rows())
    found = [
        _section(
            name if known_by_name[name] == 1 else names.with_fingerprint(name, fingerprint),
            measures,
            chosen,
            newest,
            installed or {},
            prompt_error,
        )
        for (name, fingerprint), places in models.items()
        for prompt_error in [estimator.prompt_error(columns, fingerprint)]
        for of_model in [_as_shown(columns.at(places))]  # the records of one model at a time
        for measures in MEASURES
        if (chosen := [record for record in of_model if record.task.measures == measures])
    ]
    variants: dict[tuple[str, str], list[Section]] = {}
    for section in found:
        if section.base:
            variants.setdefault((section.base, section.measures), []).append(section)
    return [
        _with_spreads(section, of_base)
        if (of_base := variants.get((section.model, section.measures)))
        else section
        for section in found
    ]


def _as_shown(records: Iterable[Record]) -> list[Record]:
    """Return the records of a model: beside a mitigated score each is on unseen words.

    So are those of a model that was written under a mitigator.
    """
    of_model = list(records)
    is_mitigated = any(
        record.mitigator.name != names.NONE or (record.unseen and record.unseen.kind == VOID)
        for record in of_model
    )
    return [record.judged() for record in of_model] if is_mitigated else of_model


def _with_spreads(section: Section, variants: Iterable[Section]) -> Section:
    """Return a section with the spread of each value over this model and its variants."""
    cells: dict[tuple[str, str, str], list[Cell]] = {}
    for variant in variants:
        for row in (*variant.rows, *variant.foot):
            for column, cell in zip(variant.columns, row.cells, strict=True):
                if cell:
                    cells.setdefault((row.task, row.score, column), []).append(cell)

    def spread(row: Row | None) -> Row | None:
        return row and dataclasses.replace(
            row,
            cells=tuple(
                _with_spread(cell, cells.get((row.task, row.score, column), ())) if cell else None
                for column, cell in zip(section.columns, row.cells, strict=True)
            ),
        )

    return dataclasses.replace(
        section,
        rows=tuple(row for row in map(spread, section.rows) if row),
        mean=spread(section.mean),
    )


def _with_spread(cell: Cell, others: Iterable[Cell]) -> Cell:
    """Return a cell with the spread of its value and others; without one if there are no others.

    Scores of another version of the task, and void ones, are not among the values.
    """
    same = [other for other in (cell, *others) if other.mark == cell.mark]
    values = [other.value for other in same if other.value is not None]
    if cell.value is None or len(values) < 2:
        return cell
    spread = Spread(min(values), max(values), statistics.stdev(values), len(values))
    return dataclasses.replace(cell, spread=spread)


def _section(
    model: str,
    measures: str,
    records: Sequence[Record],
    newest: Mapping[str, int],
    installed: Mapping[str, int],
    prompt_error: float,
) -> Section:
    lines: dict[Key, dict[str, Record]] = {}
    seeds: dict[tuple[Key, str, str], set[int]] = {}
    for record in records:
        key, label = _key(record), record.mitigator.label
        line = lines.setdefault(key, {})
        other = line.get(label)
        if other is None or age(other) <= age(record):
            line[label] = record
        seeds.setdefault((key, label, record.task.digest), set()).add(record.seed)
    contents = {key: max(line.values(), key=age).task.digest for key, line in lines.items()}

    def is_old(record: Record) -> bool:
        part = record.task
        return part.version < newest[part.name] or part.digest != contents[_key(record)]

    columns = _columns(lines.values())
    named = _names(lines)
    for key, (shown, score) in named.items():
        version = max(record.task.version for record in lines[key].values())
        if version < installed.get(key[0], version):
            named[key] = f"{shown} (version {version})", score
    tested: dict[str, dict[str, bool]] = {}  # by metric and score, whether the test is one-sided
    for record in (record for line in lines.values() for record in line.values()):
        if record.p_value is not None:
            is_one_sided = record.details.get("alternative") in ONE_SIDED
            tested.setdefault(record.metric, {})[record.score] = is_one_sided
    one_sided = [
        metric if all(scores.values()) else f"{metric} ({score})"
        for metric, scores in tested.items()
        for score, is_one_sided in scores.items()
        if is_one_sided
    ]
    section = Section(
        model=model,
        measures=measures,
        columns=columns,
        rows=tuple(_row(*named[key], line, columns, is_old) for key, line in lines.items()),
        several_seeds=sum(len(of_cell) > 1 for of_cell in seeds.values()),
        one_sided=() if measures == "usefulness" else tuple(dict.fromkeys(one_sided)),
        limit=max((record.limit for record in records if record.limit is not None), default=None),
        base=records[-1].model.base,
        controls=tuple(dict.fromkeys(r.mitigator.label for r in records if r.mitigator.control)),
        judged={name: _ways(lines.values(), name) for name in columns if name != names.NONE},
    )
    if measures == "control":
        return section
    return _with_means(section, list(lines.values()), is_old, prompt_error)


def _ways(lines: Iterable[Mapping[str, Record]], column: str) -> Counter[str]:
    """Return how many scores of a column are judged in each way."""
    parts = (line[column].unseen for line in lines if column in line)
    return Counter(part.kind for part in parts if part is not None)


def _key(record: Record) -> Key:
    return record.task.name, record.scenario, record.metric, record.score


def _columns(lines: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the labels of all lines, so that the labels of each line keep their order.

    A task to which only the last mitigator applies may come first.
    """
    columns: list[str] = []
    for line in lines:
        in_line = list(line)
        for i, name in enumerate(in_line):
            if name not in columns:
                later = [columns.index(other) for other in in_line[i + 1 :] if other in columns]
                columns.insert(min(later, default=len(columns)), name)
    return tuple(columns)


def age(record: Record) -> tuple[int, str]:
    """Return the version of a record's task and its time: the larger, the newer."""
    return record.task.version, record.created


def _names(keys: Iterable[Key]) -> dict[Key, tuple[str, str]]:
    """Return the task and the score of each row, with the scenario and metric if needed."""
    keys = list(keys)
    named = {}
    for task, scenario, metric, score in keys:
        same = [key for key in keys if key[0] == task]
        shown = task if len({key[1] for key in same}) == 1 else f"{task} ({scenario})"
        several = len({key[2] for key in same}) > 1
        named[task, scenario, metric, score] = shown, f"{metric} {score}" if several else score
    return named


def _row(
    task: str,
    score: str,
    line: Mapping[str, Record],
    columns: Sequence[str],
    is_old: Callable[[Record], bool],
) -> Row:
    first = next(iter(line.values()))
    base = line.get(names.NONE)
    cells = tuple(
        cell_of(line[column], base, is_old=is_old(line[column])) if column in line else None
        for column in columns
    )
    ideal = first.ideal if isinstance(first.ideal, str) else f"{first.ideal:g}"
    if first.task.measures != "control":
        compared = {
            column: record
            for column, record in line.items()
            if record.value is not None and not is_old(record)
            if not record.mitigator.control
        }
        cells = _with_best(cells, columns, _losses(compared))
    return Row(task, score, ideal, cells)


def _losses(records: Mapping[str, Record]) -> dict[str, float]:
    """Return what the best of some values has least of: the distance above its floor.

    Where a score has no unit and no bounds, it is how far the value is from its ideal.
    """
    above = {column: record.above_floor for column, record in records.items()}
    known = {column: value for column, value in above.items() if value is not None}
    if len(known) == len(records):
        return known
    return {
        column: loss_of(record.value or 0.0, record.ideal, record.bounds)
        for column, record in records.items()
    }


def cell_of(record: Record, base: Record | None = None, *, is_old: bool = False) -> Cell:
    """Return a score as every output shows it.

    Parameters
    ----------
    record
        The score.
    base
        That of the unmitigated model, if there is one.
    is_old
        Whether it is of another version of its task.
    """
    mark = OLD if is_old else ""
    if record.value is None:
        return Cell(None, mark=mark, reason=record.reason or "no number")
    is_same = base is not None and base.task.digest == record.task.digest
    before = base.value if base is not None and base is not record and is_same else None
    return Cell(
        value=record.value,
        stars="" if record.task.measures == "usefulness" else stars(record.p_value),
        is_reversed=_is_reversed(record, base),
        mark=mark,
        change=None if before is None else record.value - before,
        interval=record.interval,
        standard_error=standard_error(record),
    )


def _is_reversed(record: Record, base: Record | None) -> bool:
    side = _side(record)
    tested = ONE_SIDED.get(str(record.details.get("alternative")))
    if tested is not None and record.p_value is not None:
        return side == -tested
    if "reversed" in record.details:
        return bool(record.details["reversed"])
    return base is not None and side * _side(base) < 0


def _side(record: Record) -> int:
    """Return the side of its ideal on which a value lies: −1, 0 or 1."""
    if record.value is None or isinstance(record.ideal, str):
        return 0
    difference = round(record.value - record.ideal, DIGITS)
    return (difference > 0) - (difference < 0)


def _with_best(
    cells: Sequence[Cell | None], columns: Sequence[str], losses: Mapping[str, float]
) -> tuple[Cell | None, ...]:
    """Mark the cell with the smallest loss, unless another one has the same."""
    rounded = {column: round(loss, DIGITS) for column, loss in losses.items()}
    least = [column for column, loss in rounded.items() if loss == min(rounded.values())]
    if len(rounded) < 2 or len(least) > 1:
        return tuple(cells)
    return tuple(
        dataclasses.replace(cell, is_best=True) if cell and column == least[0] else cell
        for cell, column in zip(cells, columns, strict=True)
    )


def _with_means(
    section: Section,
    lines: Sequence[Mapping[str, Record]],
    is_old: Callable[[Record], bool],
    prompt_error: float,
) -> Section:
    """Return a section with the mean of each column, and its change from `none`.

    `prompt_error` is what other prompts of the model change in its bias.
    """
    import polars as pl

    from harness.results import estimator

    columns = section.columns
    rows = {name: [line[name] for line in lines if name in line] for name in columns}
    cells = estimator.cells_of(rows, is_old=is_old)
    means = estimator.means(cells, dict.fromkeys(columns, prompt_error))
    mitigated = [column for column in columns if column != names.NONE]
    pairs = [(names.NONE, (column,)) for column in mitigated] if names.NONE in columns else []
    found = estimator.differences(cells, pairs)
    differences = {
        column: next((d for d in differences_of(found, i) if d.name == OVERALL), None)
        for i, (_, (column,)) in enumerate(pairs)
    }
    of_all = dict(cells.group_by("row").len().iter_rows())
    is_primary = all(record.primary for of in rows.values() for record in of)
    counted = {
        column: Counted(
            **_of_mean(means.of(column, section.measures)),
            of=of_all.get(column, 0),
            left_out=_reasons(means.left_out.filter(row=column)),
            unclear=means.unusable.get(column, "") if section.measures == "bias" else "",
        )
        for column in columns
    }
    name = NAMES[section.measures] + ("" if is_primary else " of these scores")
    first = names.NONE if names.NONE in columns else columns[0]
    by_concept = means.frame.filter(pl.col("name") != OVERALL, row=first, measures="bias")
    concepts = ", ".join(
        f"{concept} {value:.{DIGITS}f} ({TOWARDS[toward]})"
        for concept, value, toward in by_concept.select("name", "value", "toward").iter_rows()
    )
    section = dataclasses.replace(
        section,
        means=counted,
        changes=differences,
        mean_name=name,
        concepts=f"{first}, by concept: {concepts}" if concepts else "",
    )
    if max(of.of for of in counted.values()) < 2 or not any(of.n for of in counted.values()):
        return section
    sign, ideal = (-1, "1") if section.measures == "usefulness" else (1, "0")
    losses = {
        column: sign * of.value
        for column, of in counted.items()
        if of.value is not None and column not in section.controls
    }
    # A change stands beside two means only if it is that of these means, as they are printed.
    is_same = len({of.counts for of in counted.values()}) == 1 and all(
        _is_of(d.base, counted[names.NONE]) and _is_of(d.model, counted[column])
        for column, d in differences.items()
        if d is not None
    )
    cells_ = []
    for column, of in counted.items():
        found_ = differences.get(column)
        change = None if found_ is None or not is_same else float(found_.shown)
        counts = "" if is_same else of.counts
        cells_.append(Cell(of.value, change=change, interval=of.interval, counts=counts))
    if not is_same:
        return dataclasses.replace(section, mean=Row(name, "", ideal, tuple(cells_)))
    name = f"{name} ({counted[columns[0]].counts})"
    best = _with_best(cells_, columns, losses)
    return dataclasses.replace(section, mean=Row(name, "", ideal, best))


def _is_of(value: float, mean: Counted) -> bool:
    return mean.value is not None and round(value, DIGITS) == round(mean.value, DIGITS)


def _of_mean(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value, the ends and the number of tasks of a mean."""
    fields = {"value": "value", "low": "low", "high": "high", "n": "tasks"}
    return {name: line.get(key, 0 if name == "n" else None) for name, key in fields.items()}


def _reasons(left_out: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the tasks that do not count by the reason."""
    tasks: dict[str, dict[str, None]] = {}
    for task, reason in left_out.select("task", "reason").iter_rows():
        tasks.setdefault(reason, {})[task] = None
    return {reason: tuple(of_reason) for reason, of_reason in tasks.items()}


def mean_rows(sections: Iterable[Section]) -> list[dict[str, Any]]:
    """Return the mean of each model and mitigator over tasks, and its change, a flat row each.

    `n` of `of` scores count; `left_out` has the names of the others by the reason. `change` is the
    difference from `none`, a flat mapping.
    """
    return [
        {
            "model": section.model,
            "mitigator": column,
            "measures": section.measures,
            "name": section.mean_name,
            "mean": of.value,
            "low": of.low,
            "high": of.high,
            "n": of.n,
            "of": of.of,
            "change": None if (d := section.changes.get(column)) is None else d.row(),
            "left_out": {reason: list(tasks) for reason, tasks in of.left_out.items()},
            "unclear": of.unclear or None,
        }
        for section in sections
        for column, of in section.means.items()
    ]


# The same as `Table`s, which `formats` writes.


REVERSED = "↔"
"""Marks a reversed association."""
OLD_MEANS = "another version of the task: compared with no score, and in no mean"
VOID = "void"
_VARYING = re.compile(r"\d+%|'[^']*'")
REASONS = 5
"""Most reasons why scores of a table are void, unless all are asked for."""


def report(
    sections: Sequence[Section],
    *,
    intervals: bool = False,
    best: str = BEST,
    verbose: bool = True,
) -> Report:
    """Return the tables, each with why scores are void and what its means leave out, and a legend.

    Parameters
    ----------
    sections
        The sections of an evaluation.
    intervals
        Whether to show confidence intervals in place of changes.
    best
        What marks the best value of a row in the legend.
    verbose
        Whether to name all tasks that are void, or that a mean leaves out, and to show the tables
        of a model under each neutral instruction, beside those of its own prompt.
    """
    parts: list[Table | Sentences] = []
    models = {section.model for section in sections}
    # The values of variants are in the spreads of their base.
    shown = [section for section in sections if verbose or section.base not in models]
    for section in shown:
        if all(row.is_void for row in section.rows):
            parts.append(Sentences("", [f"{section.title}: no score"]))
        else:
            parts.append(_table(section, intervals=intervals))
        means = section.means if max((m.of for m in section.means.values()), default=0) > 1 else {}
        left_out = left_out_lines(means, verbose=verbose)
        changes = [
            f"{column}: {difference.sentence()}"
            for column, difference in section.changes.items()
            if difference is not None and section.mean
        ]
        if section.concepts and section.mean:
            changes.insert(0, section.concepts)
        void = _void_lines(section, verbose=verbose)
        judged = judged_lines(section.judged)
        parts.append(Sentences("", [*changes, *judged, *void, *left_out]))
    lines = legend(shown, intervals=intervals, best=best)
    if len(shown) < len(sections):
        lines.append("the tables of the other prompts are left out (--verbose shows them)")
    return Report("", [*parts, Sentences("", lines)])


def _void_lines(section: Section, *, verbose: bool) -> list[str]:
    """Return why scores of a table are void: a line for each reason, with tasks and mitigators.

    Reasons that differ in shares and in names of inputs alone are one.
    """
    rows = Counter(row.task for row in section.rows)
    # By mitigators (none if it is void under all) and kind of reason, the reason of each score.
    void: dict[tuple[str, str], dict[str, str]] = {}
    for row in section.rows:
        name = row.task if rows[row.task] == 1 else f"{row.task} {row.score}"
        columns: dict[str, list[str]] = {}
        for column, cell in zip(section.columns, row.cells, strict=True):
            if cell and cell.value is None:
                columns.setdefault(cell.reason, []).append(column)
        for reason, of_reason in columns.items():
            is_whole = len(of_reason) == sum(cell is not None for cell in row.cells)
            under = "" if is_whole else f" under {', '.join(of_reason)}"
            void.setdefault((under, _VARYING.sub("…", reason)), {})[name] = reason
    lines = []
    for (under, kind), scores in void.items():
        reasons = set(scores.values())
        shown = reasons.pop() if len(reasons) == 1 else kind
        lines.append(f"{VOID}{under}: {_listed(list(scores), verbose=verbose)}: {shown}")
    if verbose or len(lines) <= REASONS:
        return lines
    return [*lines[:REASONS], f"{VOID}: {len(lines) - REASONS} more reasons; --verbose names them"]


JUDGED = {
    "unseen texts": "on texts without words of the fit (none, too)",
    "held-out fit": "by a fit without words of the task",
    "void": "not judged",
    "fit not stated": "by a fit that is not stated, which does not rank",
}
"""The ways in which a mitigator is judged."""


def judged_lines(judged: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return how mitigators are judged on words that they never saw: a line for equal ones.

    Parameters
    ----------
    judged
        How many scores of each mitigator are judged in each way.
    """
    rows: dict[str, list[str]] = {}
    for column, kinds in judged.items():
        parts = [f"{kinds[kind]} {means}" for kind, means in JUDGED.items() if kinds.get(kind)]
        if parts:
            line = f"of {_scores(sum(kinds.values()))} {', '.join(parts)}"
            rows.setdefault(line, []).append(column)
    return [
        f"{', '.join(columns)}: fitted and judged on different words: {parts}"
        for parts, columns in rows.items()
    ]


def left_out_lines(means: Mapping[str, Counted], *, verbose: bool) -> list[str]:
    """Return what the means of rows leave out: a line for equal ones.

    Parameters
    ----------
    means
        What counts in the mean of each row.
    verbose
        Whether to name all tasks.
    """
    others: dict[tuple[str, int], list[str]] = {}
    for row, of in means.items():
        if of.left_out:
            reasons = [
                f"{len(tasks)} {reason} ({_listed(tasks, verbose=verbose)})"
                for reason, tasks in of.left_out.items()
            ]
            others.setdefault((", ".join(reasons), of.of), []).append(row)
    lines = [
        f"{_prefix(rows)}not in the mean of {_scores(n)}: {reasons_}"
        for (reasons_, n), rows in others.items()
    ]
    for row, of in means.items():
        if of.unclear:
            lines.append(f"{_prefix([row])}no mean: {of.unclear}")
    return lines


def _prefix(rows: Sequence[str]) -> str:
    return f"{', '.join(rows)}: " if any(rows) else ""


def _scores(n: int) -> str:
    return "1 score" if n == 1 else f"{n} scores"


def _listed(tasks: Sequence[str], *, verbose: bool) -> str:
    shown = list(tasks if verbose else tasks[:LISTED])
    more = len(tasks) - len(shown)
    return ", ".join(shown) + (f" and {more} more; --verbose names them" if more else "")


def _table(section: Section, *, intervals: bool) -> Table:
    """Return a section; a narrow terminal divides it into parts."""
    rows = [
        [row.task, row.score, row.ideal, *(_value(cell, intervals) for cell in row.cells)]
        for row in (*section.rows, *section.foot)
        if row in section.foot or not row.is_void  # a line below has the others
    ]
    n_foot = len(section.foot)
    return Table(
        section.title,
        ["task", "score", "ideal", *section.columns],
        rows[: len(rows) - n_foot],
        rows[len(rows) - n_foot :],
        drop=["score"],
        repeat=1,
    )


def _value(cell: Cell | None, intervals: bool) -> Value:
    return value_of(cell, beside(cell, intervals=intervals) if cell else "")


def seeds_line(n: int, latest: str) -> str:
    """Return what becomes of the latest run of `n` scores that were run with several seeds."""
    scores = "1 score was" if n == 1 else f"{n} scores were"
    return f"{scores} run with several seeds: the latest {latest}"


def value_of(cell: Cell | None, small: str = "") -> Value:
    """Return a cell with its marks; `small` stands beside it in small print."""
    if cell is None:
        return Value(NOTHING)
    nothing = NOTHING if cell.counts else VOID
    if spread := cell.spread:
        ends = f"{spread.low:z.{DIGITS}f} to {spread.high:z.{DIGITS}f}"
        small = f"{small} {ends}, sd {spread.sd:.{DIGITS}f}".strip()
    return Value(
        nothing if cell.value is None else f"{cell.value:z.{DIGITS}f}",
        stars=cell.stars,
        sign=(REVERSED if cell.is_reversed else "") + cell.mark,
        beside=small,
        is_best=cell.is_best,
    )


def beside(cell: Cell, *, intervals: bool) -> str:
    """Return the change of a cell from the unmitigated model, or its interval; empty if none.

    A mean over runs has its standard error in place of the change, and one over tasks may have
    their number.
    """
    if cell.counts:
        return f"({cell.counts})"
    if intervals:
        interval = cell.interval
        return f"[{interval.low:z.2f}, {interval.high:z.2f}]" if interval else ""
    if cell.standard_error is not None:
        return f"± {cell.standard_error:.{DIGITS}f}"
    if cell.change is None:
        return ""
    change = f"{cell.change:+z.{DIGITS}f}"
    return "(=)" if float(change) == 0 else f"({change})"


def legend(sections: Sequence[Section], *, intervals: bool, best: str = BEST) -> list[str]:
    """Return the meaning of the marks that occur in the tables, a line each.

    Parameters
    ----------
    sections
        The tables.
    intervals
        Whether they show intervals in place of changes.
    best
        What marks the best value of a row.
    """
    cells = [cell for section in sections for cell in section.cells]
    lines = []
    if any(cell.stars for cell in cells):
        lines.append(STARS)
    if intervals:
        levels = sorted({f"{cell.interval.level:.0%}" for cell in cells if cell.interval})
        lines += [f"[low, high]: {' or '.join(levels)} confidence interval"] if levels else []
    elif any(beside(cell, intervals=False).startswith("(") for cell in cells):
        lines.append("(change): difference from none; (=): no difference")
    if counts := sorted({cell.spread.n for cell in cells if cell.spread}):
        listed = " or ".join(map(str, counts))
        lines.append(f"low to high, sd: over {listed} neutral prompts of the model")
    if any(cell.standard_error is not None for cell in cells) and not intervals:
        lines.append("± standard error of the mean over runs that differ only in their seed")
    if any(cell.is_best for cell in cells):
        lines.append(f"{best} nearest to the ideal in its row; bias: less the floor of each value")
    if controls := dict.fromkeys(name for section in sections for name in section.controls):
        lines.append(f"{', '.join(controls)}: a control, no mitigation")
    if any(cell.is_reversed for cell in cells):
        lines.append(f"{REVERSED} reversed: the association points the other way")
    if one_sided := dict.fromkeys(name for section in sections for name in section.one_sided):
        lines.append(f"p-values of {', '.join(one_sided)} are one-sided: reversed has no star")
    if any(cell.mark == OLD for cell in cells):
        lines.append(f"{OLD} {OLD_MEANS}")
    if any(cell is None for section in sections for row in section.rows for cell in row.cells):
        lines.append(f"{NOTHING} not run")
    if any(section.limit is not None for section in sections):
        lines.append("smoke run (--limit): the scores only show that it runs; never ranked")
    if with_mean := [section for section in sections if section.mean and not section.mean.is_void]:
        lines += [
            f"{name}: {HELP[name]}"
            for name in dict.fromkeys(NAMES[section.measures] for section in with_mean)
        ]
        lines.append("n of m: n of m tasks count in the mean; a family of tasks has one vote")
    changes = [d for section in sections if section.mean for d in section.changes.values()]
    if any(d is not None and d.ends for d in changes):
        lines.append("[low, high] after a change: holds at once for all mitigators of the table")
    if any(section.concepts and section.mean for section in sections):
        lines.append(
            "by concept: the mean, and whether its associations are towards the stereotype, "
            "against it, or neither clearly"
        )
    if n := sum(section.several_seeds for section in sections):
        lines.append(seeds_line(n, "is shown; --over-seeds shows their mean"))
    return lines
