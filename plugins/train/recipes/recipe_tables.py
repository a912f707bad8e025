"""The result of a recipe as tables, sentences and a figure, on the terminal and as files.

Like tables 6 to 11 and figure 6 of Dolci, Azzalini and Tanelli (2023). Computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from harness import folders
from harness.results.figures import buttons, write_with_picture
from harness.results.formats import Report, Sentences, Table, comma_separated, markdown, plain_text

from .results import (
    MEAN_ABS,
    MEAN_D,
    OVERALL,
    CellPart,
    MeasurePart,
    NoisePart,
    RowPart,
    RunsPart,
    Summary,
)


def report(summary: Summary) -> Report:
    """Return the tables, how to read them, what stands out, and the caveats."""
    return Report(
        f"{summary.title} ({summary.recipe})",
        (
            *tables(summary),
            Sentences("How to read the tables", legend(summary)),
            Sentences("What stands out", conclusions(summary)),
            Sentences("Notes", summary.notes, prefix="note: "),
        ),
    )


def write(summary: Summary, folder: Path) -> None:
    """Write the tables as text, CSV and Markdown, all numbers as JSON, and the figure.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """
    content = report(summary)
    contents = {
        "tables.txt": plain_text(content),
        "tables.csv": comma_separated(lines(summary)),
        "tables.md": markdown(content),
    }
    for name, text in contents.items():
        folders.write_atomically(folder / name, text.encode())
    folders.write_json(folder / "summary.json", summary.model_dump(mode="json"))
    drawing = figure(summary)
    if drawing["data"]:
        write_with_picture(folder / "figure-6.json", drawing)


HOLM = "*"
"""Marks a change whose p-value over the seeds is at most .05 after Holm's correction."""
ITEMS = "°"
"""Marks a change whose interval over the items of the task excludes 0."""
ALPHA = 0.05
NONE = "–"


@dataclass(frozen=True)
class Unit:
    """How numbers are written.

    Parameters
    ----------
    factor
        What they are multiplied with.
    digits
        Digits after the decimal point.
    """

    factor: float = 1
    digits: int = 3

    def number(self, number: float | None, sign: str = "") -> str:
        """Return a number, or `–`; with its sign if `sign` is `+`."""
        if number is None:
            return NONE
        return f"{number * self.factor:{sign}z.{self.digits}f}".replace("-", "−")

    def interval(self, low: float | None, high: float | None) -> str:
        """Return an interval, or `–`."""
        if low is None or high is None:
            return NONE
        return f"[{self.number(low)}, {self.number(high)}]"

    def spread(self, values: Sequence[float | None]) -> str:
        """Return mean and standard deviation of the values that there are."""
        known = [value for value in values if value is not None]
        if not known:
            return NONE
        mean = self.number(fmean(known))
        return f"{mean} ± {self.number(stdev(known))}" if len(known) > 1 else mean

    def change(self, cell: CellPart) -> str:
        """Return the change of a cell with its interval over the seeds, and its marks."""
        change = cell.difference
        if change is None:
            return NONE
        text, interval = self.number(change.mean, "+"), self.interval(change.low, change.high)
        marks = HOLM if change.p_holm is not None and change.p_holm <= ALPHA else ""
        if change.items is not None and (change.items.low > 0 or change.items.high < 0):
            marks += ITEMS
        return text + marks if interval == NONE else f"{text} {interval}{marks}"


PLAIN, HUNDRED = Unit(), Unit(100, 1)
"""Effect sizes as they are; scores of usefulness × 100, as the paper prints them."""
PERCENT = Unit(1, 1)


def p_value(p: float | None) -> str:
    """Return a p-value, or `–`."""
    return NONE if p is None else f"{p:.3f}"


def tables(summary: Summary) -> tuple[Table, ...]:
    """Return all tables in their order; those without content are left out."""
    associations = [*summary.columns("bias"), *summary.columns("retained")]
    useful, n = summary.columns("usefulness"), len(summary.seeds)
    seeds = f"mean ± standard deviation over {n} seeds" if n > 1 else "one seed"
    by_task = "changes by task, {}" + (", with 95 % intervals over seeds" if n > 1 else "")
    all_ = (
        _trained(summary, f"trained models, accuracy or Spearman × 100, {seeds}"),
        _values(summary, associations, f"effect sizes d (tables 6, 7 and 11), {seeds}"),
        _values(summary, useful, f"usefulness × 100 (tables 8 to 10), {seeds}"),
        changes(summary),
        _changes_by_task(summary, associations, by_task.format("effect sizes")),
        _changes_by_task(summary, useful, by_task.format("usefulness × 100")),
        _by_percentile(summary),
    )
    return tuple(table for table in all_ if table.rows and len(table.columns) > 1)


def _trained(summary: Summary, title: str) -> Table:
    """Return the table of the corpora and of what training reached on them."""
    rows = [
        (
            row.row,
            row.corpus,
            row.base + (f" after {row.mitigator}" if row.mitigator else ""),
            f"{row.pairs.get('train', 0):,}",
            HUNDRED.spread(row.dev),
            HUNDRED.spread(row.test),
            row.compared_with or NONE,
        )
        for row in summary.rows
    ]
    columns = ("row", "corpus", "base", "training pairs", "dev", "test", "compared with")
    return Table(title, columns, tuple(rows), repeat=1)


def _values(summary: Summary, measures: Sequence[MeasurePart], title: str) -> Table:
    """Return the values of some measures, a column each."""
    rows = tuple(
        (row.row, *(_unit(m).spread(summary.cell(row.row, m.measure).values) for m in measures))
        for row in summary.rows
    )
    return Table(title, ("row", *(measure.measure for measure in measures)), rows, repeat=1)


def changes(summary: Summary) -> Table:
    """Return the changes of the means and of the retained associations, a line each."""
    headline = [m for m in summary.measures if m.is_mean or m.group == "retained"]
    rows = [
        _change(summary, row, row.compared_with, measure)
        for row in summary.rows
        if row.compared_with
        for measure in headline
    ]
    columns = ("row", "score", "from", "to", "change", "%", "95 % interval", "p", "p Holm")
    others = dict.fromkeys(row.compared_with for row in summary.rows if row.compared_with)
    return Table(
        f"changes from {' or '.join(others)}, paired by seed", columns, tuple(rows), repeat=1
    )


def _changes_by_task(summary: Summary, measures: Sequence[MeasurePart], title: str) -> Table:
    """Return the changes of the tasks among some measures, a column each."""
    tasks = [measure for measure in measures if not measure.is_mean]
    rows = tuple(
        (row.row, *(_unit(m).change(summary.cell(row.row, m.measure)) for m in tasks))
        for row in summary.rows
        if row.compared_with
    )
    return Table(title, ("row", *(task.measure for task in tasks)), rows, repeat=1)


def _by_percentile(summary: Summary) -> Table:
    """Return the means of the bias tasks by percentile, as figure 6."""
    means = [measure for measure in summary.columns("bias") if measure.is_mean]
    rows = [
        (
            row.method,
            NONE if row.percentile is None else f"{row.percentile:g}",
            *(PLAIN.spread(summary.cell(row.row, m.measure).values) for m in means),
        )
        for row in summary.rows
        if row.percentile or (not row.mitigator and row.compared_with is None)
    ]
    columns = ("corpus", "percentile", *(m.measure for m in means))
    return Table("mean effect sizes by percentile (figure 6)", columns, tuple(rows), repeat=1)


def lines(summary: Summary) -> list[dict[str, Any]]:
    """Return all numbers, a line for each row and measure; None where there is none."""
    return [_line(summary, row, measure) for measure in summary.measures for row in summary.rows]


def _line(summary: Summary, row: RowPart, measure: MeasurePart) -> dict[str, Any]:
    cell = summary.cell(row.row, measure.measure)
    change = cell.difference
    items = change.items if change else None
    by_seed = zip(summary.seeds, cell.values, strict=True)
    return {
        "recipe": summary.recipe,
        "row": row.row,
        "group": measure.group,
        "measure": measure.measure,
        "score": measure.score,
        **{f"seed{seed}": value for seed, value in by_seed},
        "mean": cell.mean,
        "sd": cell.sd,
        "compared_with": row.compared_with,
        "n": change.n if change else None,
        "change": change.mean if change else None,
        "change_sd": change.sd if change else None,
        "low": change.low if change else None,
        "high": change.high if change else None,
        "p_value": change.p_value if change else None,
        "p_holm": change.p_holm if change else None,
        "percent": change.percent if change else None,
        "items_low": items.low if items else None,
        "items_high": items.high if items else None,
    }


def _change(summary: Summary, row: RowPart, other: str, measure: MeasurePart) -> tuple[str, ...]:
    unit, cell = _unit(measure), summary.cell(row.row, measure.measure)
    change = cell.difference
    name = measure.measure + (" × 100" if unit is HUNDRED else "")
    numbers = unit.number(summary.cell(other, measure.measure).mean), unit.number(cell.mean)
    if change is None:
        return row.row, name, *numbers, *(NONE,) * 5
    return (
        row.row,
        name,
        *numbers,
        unit.number(change.mean, "+"),
        NONE if change.percent is None else f"{PERCENT.number(change.percent, '+')} %",
        unit.interval(change.low, change.high),
        p_value(change.p_value),
        p_value(change.p_holm),
    )


def _unit(measure: MeasurePart) -> Unit:
    return HUNDRED if measure.group == "usefulness" else PLAIN


def legend(summary: Summary) -> tuple[str, ...]:
    """Return how to read the tables, a line each."""
    names = {measure.measure: measure for measure in summary.measures}
    lines = []
    if MEAN_D in names:
        tests = ", ".join(names[MEAN_D].tasks)
        lines.append(
            f"{MEAN_D}: mean of the effect sizes of {tests}, with their signs; {MEAN_ABS}: mean of "
            "their sizes. Fair is 0. Tests of opposite signs cancel out in the first"
        )
    if OVERALL in names:
        n = len(names[OVERALL].tasks)
        lines.append(f"{OVERALL}: mean over {n} task{'s'[: n > 1]}; higher is better")
    if len(summary.seeds) > 1:
        df = len(summary.seeds) - 1
        degrees = f"{df} degree{'s'[: df > 1]} of freedom"
        lines.append(
            f"95 % interval: of the mean change over {len(summary.seeds)} seeds, by Student's t "
            f"with {degrees}. p Holm: corrected over the rows of a mean, or over all cells of a "
            "table of tasks"
        )
        lines.append(f"{HOLM} p Holm ≤ {ALPHA}".replace("0.", "."))
    lines.append(
        f"{ITEMS} the 95 % interval over the items of the task (words or texts) "
        "excludes 0: true of these very models, whatever other seeds give"
    )
    return tuple(lines)


def conclusions(summary: Summary) -> tuple[str, ...]:
    """Return what the seeds alone give, and which changes stand out, a line each."""
    lines = [line for part in summary.noise for line in _noise(part, len(summary.seeds))]
    for row in summary.rows:
        changed = []
        for measure in summary.measures:
            change = summary.cell(row.row, measure.measure).difference
            if change and change.p_holm is not None and change.p_holm <= ALPHA:
                changed.append(f"{measure.measure} {PLAIN.number(change.mean, '+')}")
        if row.compared_with and len(summary.seeds) > 1:
            result = f"differs in {', '.join(changed)}" if changed else "no score is told apart"
            lines.append(f"{row.row} against {row.compared_with}: {result}")
    return tuple(lines)


def _noise(part: NoisePart, seeds: int) -> list[str]:
    unit, name = PLAIN, part.measure
    if name == OVERALL:
        unit, name = HUNDRED, f"{name} × 100"

    def size(value: float) -> str:
        share = f" ({100 * abs(value / part.mean):.1f} % of {unit.number(part.mean)})"
        return unit.number(value) + (share if part.is_clear else "")

    def often(runs: RunsPart) -> str:
        if runs.chance is None:
            return ""
        return (
            f"; a difference of {part.claimed:g} % or more, the change that the source claims, "
            f"comes by chance in {100 * runs.chance:.0f} % of all cases"
        )

    lines = [
        f"{name}: two single runs on one corpus with different seeds differ by "
        f"{size(part.other_seeds.sd)} in standard deviation{often(part.other_seeds)}"
    ]
    if not part.is_clear:
        lines.append(f"{name}: the first row's mean is within this noise: percents say nothing")
    if part.one_seed is not None:
        lines.append(
            f"{name}: changes between rows that share a seed vary by {size(part.one_seed.sd)} from "
            f"seed to seed{often(part.one_seed)}"
        )
    if part.smallest_change is not None:
        lines.append(
            f"{name}: with {seeds} seeds, an interval excludes 0 from a mean change of about "
            f"{size(part.smallest_change)} on"
        )
    return lines


COLOURS = {"original": "#6b7280", "subtract": "#3b6fb6", "augment": "#c8553d", "random": "#b8892b"}


def figure(summary: Summary) -> dict[str, Any]:
    """Return `data` and `layout` of a figure; no data if no row has a percentile.

    A line is a method; its points are means over the seeds with their standard deviation. The
    original corpus is the horizontal line, and a menu chooses the mean.
    """
    means = [measure.measure for measure in summary.columns("bias") if measure.is_mean]
    rows = [row for row in summary.rows if row.percentile]
    methods = list(dict.fromkeys(row.method for row in rows))
    if not rows or not means:
        return {"data": [], "layout": {}}
    traces = [
        trace
        for mean in means
        for trace in (
            *(_trace(summary, [r for r in rows if r.method == m], mean) for m in methods),
            _original_trace(summary, rows, mean),
        )
    ]
    n = len(methods) + 1
    for i, trace in enumerate(traces):
        trace["visible"] = i < n
    choices = buttons({mean: mean for mean in means}, len(traces))
    seeds = f"{len(summary.seeds)} seeds" if len(summary.seeds) > 1 else "one seed"
    return {
        "data": traces,
        "layout": {
            "title": {"text": escape(f"{summary.title}: mean effect size, {seeds}")},
            "template": "none",
            "xaxis": {
                "title": {"text": "percentile above which pairs are corrected"},
                "autorange": "reversed",
                "tickvals": sorted({row.percentile for row in rows}),
                "automargin": True,
            },
            "yaxis": {"title": {"text": escape(means[0])}, "automargin": True},
            "updatemenus": [
                {"buttons": choices, "x": 1, "xanchor": "right", "y": 1.15, "yanchor": "top"}
            ],
        },
    }


def _trace(summary: Summary, rows: list[RowPart], mean: str) -> dict[str, Any]:
    cells = [summary.cell(row.row, mean) for row in rows]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": rows[0].method,
        "x": [row.percentile for row in rows],
        "y": [cell.mean for cell in cells],
        "error_y": {"type": "data", "array": [cell.sd for cell in cells]},
        "line": {"color": COLOURS[rows[0].method]},
    }


def _original_trace(summary: Summary, rows: list[RowPart], mean: str) -> dict[str, Any]:
    first = summary.rows[0]
    places = [row.percentile for row in rows if row.percentile is not None]
    value = summary.cell(first.row, mean).mean
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escape(first.row),
        "x": [min(places) - 0.5, max(places) + 0.5],
        "y": [value, value],
        "line": {"color": COLOURS["original"], "dash": "dash"},
    }
