"""`harness results correlate`: how two groups of tasks correlate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, output, selection

if TYPE_CHECKING:
    from harness.registry.registry import Registry
    from harness.results.correlation import Correlation, Correlations


@click.command("correlate")
@click.argument("a")
@click.argument("b")
@selection.results
@selection.filters_of_rows
@click.option(
    "--exclude", multiple=True, help="Tasks to leave out, as --tasks takes them; repeatable."
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Only tasks of this category, such as gender; repeatable.",
)
@click.option(
    "--other-metrics",
    is_flag=True,
    help="Leave out tasks of A by a metric that B has, too: a metric agrees with itself.",
)
@arguments.include
@click.option("--points", is_flag=True, help="Print the correlated means, too.")
@arguments.as_json
def command(
    a: str,
    b: str,
    results: Path,
    exclude: Sequence[str],
    categories: Sequence[str],
    other_metrics: bool,
    include: Sequence[Path],
    points: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Correlate the bias of the tasks A with that of the tasks B.

    A and B are benchmarks, categories, tags or tasks, with commas between. Does a model with more
    bias in A have more in B (over models)? Does a mitigator that lowers the one lower the other
    (over mitigators, by changes against `none`)?

    A mitigator of gender says nothing about tasks on other groups: --category gender leaves these
    out.

    \b
    harness results correlate social-bias-encoders downstream
    harness results correlate social-bias-encoders downstream --category gender --other-metrics
    harness results correlate gender downstream --exclude names --json
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.errors import UsageError
    from harness.registry.registry import Registry
    from harness.results.correlation import correlate, of_other_metrics
    from harness.run.tasks import list_tasks

    registry = Registry(include=include)
    left_out = _names(registry, exclude) if exclude else set()
    files = [entry.file for entry in list_tasks(registry)]
    _check(categories, {file.category for file in files})
    tasks_a, tasks_b = (_names(registry, [side], categories) - left_out for side in (a, b))
    records = selection.read((results,)).select(**options, all_scores=True)
    if other_metrics:
        tasks_a = of_other_metrics(records, tasks_a, tasks_b)
    for side, tasks in ((a, tasks_a), (b, tasks_b - tasks_a)):
        if not tasks:
            raise UsageError(
                f"no task is left in '{side}': the other side has them, or --exclude, --category "
                "or --other-metrics leaves them out"
            )
    required = {file.name for file in files if file.required}
    found = correlate(records, tasks_a, tasks_b, required)
    if as_json:
        output.as_json(_as_json(found))
    else:
        _show(found, a, b, points=points)
    selection.notices(records)


def _names(registry: Registry, patterns: Sequence[str], categories: Sequence[str] = ()) -> set[str]:
    """Return the names of the chosen tasks, of any category if there are no `categories`."""
    from harness import names
    from harness.run.tasks import select

    files = [entry.file for entry in select(registry, names.split(patterns))]
    return {file.name for file in files if not categories or file.category in categories}


def _check(categories: Sequence[str], known: Collection[str]) -> None:
    """Raise `UnknownName` if no task has one of the categories."""
    from harness.errors import UnknownName

    for category in categories:
        if category not in known:
            raise UnknownName("category", category, known)


def _as_json(found: Correlations) -> dict[str, Any]:
    over = [
        asdict(part) | {"interval": part.interval.model_dump() if part.interval else None}
        for part in found.over
    ]
    left_out = [{"model": model, "reason": reason} for model, reason in found.left_out]
    return {"correlations": over, "left_out": left_out}


def _show(found: Correlations, a: str, b: str, *, points: bool) -> None:
    from harness import jackknife
    from harness.results.rank_correlation import FEWEST

    whole = [part for part in found.over if part.task is None]
    if points:
        for part in whole:
            change = "" if part.over == "models" else ", changes against none"
            output.table(
                ["model", "mitigator", a, b],
                [[point.model, point.mitigator, point.a, point.b] for point in part.points],
                title=f"means above the floor{change}",
            )
    output.table(
        ["over", "tasks of A", "tasks of B", "points", "Spearman", "95% interval", "Pearson"],
        [
            [
                part.over,
                *part.tasks,
                len(part.points),
                part.spearman,
                _interval(part),
                part.pearson,
            ]
            for part in whole
        ],
        title=f"{a} (A) and {b} (B)",
    )
    _show_tasks(found.by_task, a)
    for part in whole:
        models = len({point.model for point in part.points})
        if part.spearman is None:
            click.echo(f"no correlation over {part.over}: fewer than {FEWEST} points, or all alike")
        elif models < jackknife.FEWEST:
            few = f"{output.counted(models, 'model')}, an interval needs {jackknife.FEWEST}"
            click.echo(f"no interval over {part.over}: {few}")
    for model, reason in found.left_out:
        click.echo(f"left out: {model}: {reason}", err=True)


def _show_tasks(by_task: Mapping[str, Mapping[str, Correlation]], a: str) -> None:
    """Print the correlation of each task of B with the mean of A, over models and mitigators."""
    if not by_task:
        return
    kinds = list(dict.fromkeys(kind for of in by_task.values() for kind in of))
    output.table(
        ["task of B", *(name for kind in kinds for name in (f"over {kind}", f"95% ({kind})"))],
        [
            [
                task,
                *(
                    cell
                    for kind in kinds
                    for cell in (
                        (of[kind].spearman, _interval(of[kind])) if kind in of else (None, "")
                    )
                ),
            ]
            for task, of in by_task.items()
        ],
        title=f"Spearman's correlation of single tasks with the mean of {a}",
    )


def _interval(part: Correlation) -> str:
    if part.interval is None:
        return ""
    return f"{part.interval.low:.2f} to {part.interval.high:.2f}"
