"""Prints means over tasks: `harness results average`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from harness.commands import output
from harness.results.averages import Average, Score, agreements


def show(rows: Sequence[Average]) -> None:
    """Print the averages, and how the scores agree if there are several."""
    output.table(
        ["model", "mitigator", "score", "tasks", "mean", "mean |value|"],
        [
            [
                row.model,
                row.mitigator,
                _name((row.metric, row.score, row.scenario)),
                f"{row.tasks - len(row.missing)} of {row.tasks}",
                row.mean,
                row.mean_absolute,
            ]
            for row in rows
        ],
    )
    for row in rows:
        if row.missing:
            click.echo(f"{row.model}, {row.mitigator}: no value of {', '.join(row.missing)}")
    pairs = agreements(rows)
    if pairs and all(pair.pearson is None for pair in pairs):
        click.echo("no correlation: it needs three models or mitigators with different values")
    elif pairs:
        output.table(
            ["A", "B", "rows", "Pearson", "Spearman"],
            [[_name(pair.a), _name(pair.b), pair.rows, pair.pearson, pair.spearman]
             for pair in pairs],
            title="correlation of A and B over models and mitigators, by their means of |value|",
        )  # fmt: skip


def as_json(rows: Sequence[Average]) -> dict[str, Any]:
    """Return the same as JSON-like values."""
    return {
        "averages": [row.row() for row in rows],
        "agreements": [asdict(pair) for pair in agreements(rows)],
    }


def _name(score: Score) -> str:
    metric, name, scenario = score
    return f"{metric}: {name}" + ("" if scenario == "default" else f" ({scenario})")
