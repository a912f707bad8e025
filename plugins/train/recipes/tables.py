"""The tables of a recipe as texts: effect sizes, usefulness, and changes.

Like tables 6 to 11 and figure 6 of Dolci, Azzalini and Tanelli (2023). Computes nothing;
`report` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.study.tables import Table

from .summary import Group, MeasurePart, RowPart, Summary
from .texts import HUNDRED, NONE, PERCENT, PLAIN, Unit, p_value


def tables(summary: Summary) -> tuple[Table, ...]:
    """Return all tables in their order; those without content are left out."""
    all_ = (
        trained(summary),
        effect_sizes(summary),
        usefulness(summary),
        changes(summary),
        changes_by_task(summary, ("bias", "retained"), "effect sizes"),
        changes_by_task(summary, ("usefulness",), "usefulness × 100"),
        by_percentile(summary),
    )
    return tuple(table for table in all_ if table.rows and len(table.columns) > 1)


def trained(summary: Summary) -> Table:
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
    title = _over_seeds(summary, "trained models, accuracy or Spearman × 100")
    return Table(title, columns, tuple(rows))


def effect_sizes(summary: Summary) -> Table:
    """Return the effect sizes with their means, as tables 6, 7 and 11."""
    measures = [*summary.columns("bias"), *summary.columns("retained")]
    return _values(summary, measures, "effect sizes d (tables 6, 7 and 11)")


def usefulness(summary: Summary) -> Table:
    """Return the scores of the tasks of usefulness with their mean, as tables 8 to 10."""
    return _values(summary, summary.columns("usefulness"), "usefulness × 100 (tables 8 to 10)")


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
    return Table(f"changes from {' or '.join(others)}, paired by seed", columns, tuple(rows))


def changes_by_task(summary: Summary, groups: Iterable[Group], noun: str) -> Table:
    """Return the changes of the tasks of some groups, a column each."""
    measures = [m for group in groups for m in summary.columns(group) if not m.is_mean]
    rows = [
        (row.row, *(_unit(m).change(summary.cell(row.row, m.measure)) for m in measures))
        for row in summary.rows
        if row.compared_with
    ]
    with_intervals = ", with 95 % intervals over seeds" if len(summary.seeds) > 1 else ""
    title = f"changes by task, {noun}{with_intervals}"
    return Table(title, ("row", *(m.measure for m in measures)), tuple(rows))


def by_percentile(summary: Summary) -> Table:
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
    return Table("mean effect sizes by percentile (figure 6)", columns, tuple(rows))


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
        unit.signed(change.mean),
        NONE if change.percent is None else f"{PERCENT.signed(change.percent)} %",
        unit.interval(change.low, change.high),
        p_value(change.p_value),
        p_value(change.p_holm),
    )


def _values(summary: Summary, measures: Sequence[MeasurePart], title: str) -> Table:
    rows = tuple(
        (row.row, *(_unit(m).spread(summary.cell(row.row, m.measure).values) for m in measures))
        for row in summary.rows
    )
    columns = ("row", *(measure.measure for measure in measures))
    return Table(_over_seeds(summary, title), columns, rows)


def _unit(measure: MeasurePart) -> Unit:
    return HUNDRED if measure.group == "usefulness" else PLAIN


def _over_seeds(summary: Summary, title: str) -> str:
    n = len(summary.seeds)
    return f"{title}, mean ± standard deviation over {n} seeds" if n > 1 else f"{title}, one seed"
