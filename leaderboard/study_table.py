"""The table of a study with all its numbers: a line for each criterion, row and measure."""

from __future__ import annotations

from typing import Any

from harness.leaderboard.files import without_formulas
from harness.record import finite
from harness.study.cells import Cell
from harness.study.summary import Summary


def lines(summary: Summary) -> list[dict[str, Any]]:
    """Return a line for each cell, in the study's order; null is what is undefined.

    `mean`, `sd` and `n` are of the change against before; `difference` and what follows of the
    distance from fair against the baseline's, where less is fairer.
    """
    return [_line(cell) for cell in summary.cells.values()]


def to_csv(summary: Summary) -> str:
    """Return the lines as CSV; what a spreadsheet would run gets an apostrophe in front."""
    import polars as pl

    frame = pl.DataFrame(lines(summary), infer_schema_length=None)
    return without_formulas(frame).write_csv()


def _line(cell: Cell) -> dict[str, Any]:
    test, posterior = cell.comparison, cell.posterior
    return {
        "criterion": cell.criterion,
        "row": cell.row,
        "measure": cell.measure,
        "mean": finite(cell.mean),
        "sd": finite(cell.sd),
        "n": cell.n,
        "difference": finite(test.mean) if test else None,
        "difference_sd": finite(test.sd) if test else None,
        "t": finite(test.t) if test else None,
        "df": test.df if test else None,
        "p_value": finite(test.p_value) if test else None,
        "p_holm": finite(cell.p_holm),
        "low": finite(test.low) if test else None,
        "high": finite(test.high) if test else None,
        "confidence": test.confidence if test else None,
        "verdict": cell.verdict,
        "verdict_holm": cell.verdict_holm,
        "fairer_by_more": finite(posterior.left) if posterior else None,
        "within_rope": finite(posterior.rope) if posterior else None,
        "less_fair_by_more": finite(posterior.right) if posterior else None,
        "reason": test.reason or None if test else None,
    }
