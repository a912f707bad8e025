"""Prints what `harness results compare` finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from harness.commands import output

if TYPE_CHECKING:
    from harness.results.comparison import Comparison, Mean, Pair
    from harness.results.record_parts import IntervalPart

LISTED = 3
"""Most tasks that are listed by name where they are left out."""


def show(context: str, names: tuple[str, str], comparison: Comparison, width: int | None) -> None:
    """Print a comparison: a table for what the tasks measure each, and a conclusion for each.

    Parameters
    ----------
    context
        What both rows share: a model, a mitigator, or both.
    names
        Names of the two rows.
    comparison
        The comparison.
    width
        Width of the terminal in characters; None for no limit.
    """
    from harness.results.tables import MEASURES

    columns = ["task", "score", "ideal", *names, "difference", "nearer"]
    for measures in MEASURES:
        pairs = [pair for pair in comparison.pairs if pair.a.task.measures == measures]
        if pairs:
            rows = [_row(pair, names, measures) for pair in pairs]
            title = f"{context}: {measures}"
            output.print_table(
                columns, rows, title=title, drop=("nearer", "score"), repeat=1, width=width
            )
    if any(pair.interval for pair in comparison.pairs):
        click.echo("[low, high]: 95% interval of the difference over the items of the task")
    for mean in comparison.means:
        click.echo(_conclusion(mean, names, comparison))
    reasons: dict[str, list[str]] = {}
    for task, reason in comparison.left_out:
        reasons.setdefault(reason, []).append(task)
    for reason, tasks in reasons.items():
        names_ = list(dict.fromkeys(tasks))
        listed = ", ".join(names_) if len(names_) <= LISTED else f"{len(names_)} tasks"
        click.echo(f"left out: {listed}: {reason}", err=True)
    click.echo()


def as_json(comparisons: Mapping[str, Comparison]) -> list[dict[str, Any]]:
    """Return comparisons as plain values."""
    return [
        {
            "context": context,
            "scores": comparison.rows(),
            "means": [_mean(mean) for mean in comparison.means],
            "left_out": [{"task": task, "reason": reason} for task, reason in comparison.left_out],
        }
        for context, comparison in comparisons.items()
    ]


def _mean(mean: Mean) -> dict[str, Any]:
    interval = mean.interval
    return asdict(mean) | {"interval": interval.model_dump() if interval else None}


def _row(pair: Pair, names: tuple[str, str], measures: str) -> list[Any]:
    ideal = pair.a.ideal if isinstance(pair.a.ideal, str) else f"{pair.a.ideal:g}"
    nearer = {"a": names[0], "b": names[1]}.get(pair.nearer, "")
    return [
        pair.a.task.name,
        pair.a.score,
        ideal,
        pair.value_a,
        pair.value_b,
        _difference(pair),
        "" if measures == "control" else nearer,
    ]


def _difference(pair: Pair) -> str:
    """Return the difference and its interval over items, if there is one."""
    interval = f" {_ends(pair.interval)}" if pair.interval else ""
    return f"{pair.difference:+z.3f}{interval}"


def _ends(interval: IntervalPart) -> str:
    return f"[{interval.low:+z.3f}, {interval.high:+z.3f}]"


def _conclusion(mean: Mean, names: tuple[str, str], comparison: Comparison) -> str:
    """Return how often each is nearer to the ideal, and the mean difference with its interval."""
    from harness.results import means

    nearer = [pair.nearer for pair in comparison.pairs if pair.a.task.measures == mean.measures]
    lines = [
        f"{mean.measures}: of {output.counted(len(nearer), 'score')}, {names[0]} is nearer to the "
        f"ideal on {nearer.count('a')}, {names[1]} on {nearer.count('b')}",
        f"  {means.NAMES[mean.measures]} ({mean.n}): {mean.a:.3f} and {mean.b:.3f}, "
        f"difference {mean.difference:+z.3f}",
    ]
    if mean.interval:
        interval = f"{mean.interval.level:.0%} interval of the difference over families"
        lines.append(f"  {interval}: {_ends(mean.interval)}")
    return "\n".join(lines)
