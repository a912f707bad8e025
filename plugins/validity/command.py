"""`harness validate-metric`: the command line, and its table. Others measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.task.validity import Validity


@click.command("validate-metric")
@click.argument(
    "metrics", nargs=-1, metavar="[METRIC]...", shell_complete=arguments.complete("metric")
)
@click.option(
    "--task",
    "-t",
    "tasks",
    multiple=True,
    help="Task, glob, benchmark, tag, category or file; repeatable.  [default: the tasks of bias "
    "that METRIC is primary in]",
    shell_complete=arguments.complete(arguments.SELECTION),
)
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    help="Model; repeatable.  [default: glove-6b-50d for words, all-MiniLM-L6-v2 for texts]",
    shell_complete=arguments.complete("model"),
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Seed of all draws.")  # fmt: skip
@arguments.cache
@arguments.include
@arguments.trust
@arguments.as_json
def command(
    metrics: tuple[str, ...],
    include: tuple[Path, ...],
    trust: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Check whether a metric sees planted bias, and what it shows by chance.

    Reads the score of each task on random vectors, on bias planted at rising amplitudes, on
    shuffled sides and on halves of its words. Without METRIC: the primary scores of all tasks of
    bias.

    \b
    harness validate-metric weat
    harness validate-metric weat --task weat-7 --model en-core-web-md
    harness validate-metric mine --task tasks/my.yaml --json > tasks/validity.json

    Exit code 1: something could not be measured.
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.commands import output
    from harness.registry.registry import Registry

    from . import measuring

    rows, skipped = measuring.measure(
        Registry(include=include, trust=trust),
        metrics,
        progress=progress.for_terminal(),
        **options,
    )
    if not rows and not skipped:
        skipped = ["no task is made for such a model, in a language of its card"]
    if as_json:
        output.as_json([measuring.as_json(row) for row in rows])
    else:
        _show(rows)
    for line in skipped:
        echo(f"not measured: {line}", err=True)
    return int(bool(skipped))


def _show(rows: list[Validity]) -> None:
    from harness.commands import output

    drop = ("without one", "noise", "planted", "own")
    for metric in sorted({row.metric for row in rows}):
        lines = [line(row) for row in rows if row.metric == metric]
        output.table(COLUMNS, lines, title=metric, shorten=("result",), drop=drop)
    failed = sum(bool(row.failures) for row in rows)
    untested = sum(bool(row.missing and not row.failures) for row in rows)
    counts = [f"{len(rows) - failed - untested} valid", f"{failed} not valid"]
    echo(", ".join([*counts, *([f"{untested} not fully measured"] if untested else [])]))


COLUMNS = (
    *("task", "model", "value", "own", "floor", "noise", "planted", "found", "rejected"),
    *("reliability", "without one", "result"),
)
"""Columns of the table; docs/method.md says what they hold."""


def line(row: Validity) -> list[str]:
    """Return the cells of a row, by `COLUMNS`."""
    upwards = [value for amplitude, value in row.planted.items() if not amplitude.startswith("-")]
    return [
        row.task,
        row.model,
        number(row.value),
        number(row.own, 2),
        f"{number(row.floor)} ± {number(row.spread)}" if row.floor is not None else "–",
        " ".join(number(value, 1) for value in row.noise.values()),
        " ".join(map(number, upwards)) or "–",
        number(row.detectable, 2),
        number(row.rejected, 2),
        number(row.reliability, 2),
        " to ".join(map(number, row.without_one or ())) or "–",
        "; ".join(row.failures or row.missing) or "valid",
    ]


def number(value: float | None, digits: int = 3) -> str:
    """Return a number without the 0 before the point; a dash for none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    negative = text.startswith("-") and float(text) != 0
    text = text.removeprefix("-")
    return ("−" if negative else "") + (text.removeprefix("0") if text != "0" else text)
