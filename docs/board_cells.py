"""How numbers stand in the tables of docs/board.md and the pages beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from harness.plugins.validity.command import number
from harness.results.comparison import SIGNIFICANT, Correlation
from harness.results.record import Record


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are aligned to the right."""
    head = "| " + " | ".join(columns) + " |\n"
    rule = "| --- |" + " ---: |" * (len(columns) - 1) + "\n"
    return head + rule + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def ideal(value: float | str) -> str:
    """Return the ideal of a score."""
    return str(value).removesuffix(".0")


def change(of_models: Iterable[Sequence[float]]) -> str:
    """Return the mean change by a mitigator, and the number of models that it is negative for."""
    means = [fmean(changes) for changes in of_models]
    return f"{number(fmean(means))} ({sum(mean < 0 for mean in means)} of {len(means)} lower)"


def ends(low: float | None, high: float | None) -> str:
    """Return the ends of an interval."""
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def interval(part: Correlation) -> str:
    """Return the ends of the interval of a correlation."""
    return ends(part.interval.low, part.interval.high) if part.interval else "–"


def ranks(row: dict[str, Any]) -> str:
    """Return the rank of a row of a board with its set of ranks."""
    low, high = row["rank_low"], row["rank_high"]
    if row["rank"] is None:
        return "–"
    return f"{row['rank']}" if low is None else f"{row['rank']} ({low} to {high})"


def with_floor(cell: dict[str, Any] | None) -> str:
    """Return a value and, in brackets, its floor: what shuffled sides show on average."""
    if cell is None or cell["value"] is None:
        return "–"
    floor = "" if cell["floor"] is None else f" ({number(cell['floor'])})"
    return f"{number(cell['value'])}{floor}"


def is_found(record: Record | None) -> bool:
    """Return whether an association goes the expected way, with p < .05."""
    if record is None or record.value is None or record.p_value is None:
        return False
    return record.value > 0 and record.p_value < SIGNIFICANT


def in_units(record: Record | None) -> str:
    """Return an association in units of the spread of all cosines, its floor and its p-value."""
    if record is None or record.value is None or record.floor is None or record.unit is None:
        return "–"
    value, floor = record.value / record.unit, record.floor.mean / record.unit
    return f"{number(value, 2)} ({number(floor, 2)}; {p_value(record)})"


def with_p(record: Record | None) -> str:
    """Return a value with its floor and its p-value."""
    if record is None or record.value is None:
        return "–"
    floor = f"{number(record.floor.mean)}; " if record.floor else ""
    return f"{number(record.value)} ({floor}{p_value(record)})"


def p_value(record: Record) -> str:
    """Return the p-value of a score."""
    if record.p_value is None:
        return "no p"
    return "p < .001" if record.p_value < 0.001 else f"p {number(record.p_value)}"
