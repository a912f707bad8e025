"""`harness results items` and `harness results figures`: what lies behind and beside the scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, selection
from harness.commands.selection import FILTERS, filters

if TYPE_CHECKING:
    from harness.results.items import Items


@click.command("items")
@click.argument("a")
@click.argument("b")
@selection.results
@click.option(
    "--column",
    default="contribution",
    show_default=True,
    help="Column of the samples to compare, such as projection.",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="HTML page to write, with a point for each item of one score.",
)
@arguments.overwrite
@filters(*FILTERS)
@arguments.as_json
def items(
    a: str,
    b: str,
    results: Path,
    column: str,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare A with B item by item: how their samples correlate.

    A and B are as in `compare`. Both need samples (`harness eval --samples`).

    \b
    harness results items glove-6b-50d en-core-web-md --tasks direct-bias --column cosine
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import output
    from harness.errors import UsageError
    from harness.results.items import items_of

    if out is not None and out.exists() and not overwrite:
        raise UsageError(f"'{out}' exists; --overwrite replaces it")
    compared = selection.compared(a, b, results, options)
    found = items_of(compared.comparisons, column, compared.folder, compared.folder_b)
    if out is not None:
        _write(out, found, a, b)
    rows = [
        {
            "context": part.context,
            "task": part.pair.a.task.name,
            "scenario": part.pair.a.scenario,
            "score": part.pair.a.score,
            "n": len(part.texts),
            "spearman": part.spearman,
        }
        for part in found
    ]
    if as_json:
        parts = zip(rows, found, strict=True)
        output.as_json([row | {"column": column, "items": part.rows()} for row, part in parts])
        return
    output.table(
        list(rows[0]),
        [list(row.values()) for row in rows],
        title=f"{column} of the items: {a} and {b}",
    )
    if out is not None:
        click.echo(f"wrote {out}")


def _write(out: Path, found: list[Items], a: str, b: str) -> None:
    from harness.errors import UsageError
    from harness.results import figures

    if len(found) > 1:
        raise UsageError(
            f"--out draws the items of one score, here are {len(found)}: choose with --tasks, "
            "--scenario, --metric, --model or --mitigator"
        )
    figures.write(out, found[0].figure(a, b), f"{a} and {b}")


@click.command("figures")
@selection.paths
@filters(*FILTERS)
@arguments.as_json
def figures(paths: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """List the pages with figures beside the scores in PATHS; `tables` prints the tables.

    All scores are searched, not only the primary ones. The paths are relative to the results
    folder.

    \b
    harness results figures results --tasks explained-variance
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import output

    records = selection.read(paths).select(**options | {"all_scores": True})
    rows = [
        {
            "model": record.model.name,
            "mitigator": record.mitigator.label,
            "task": record.task.name,
            "scenario": record.scenario,
            "figure": name,
            "path": path,
        }
        for record in records
        for name, path in record.figures.items()
    ]
    if as_json:
        output.as_json(rows)
    elif rows:
        output.table(list(rows[0]), [list(row.values()) for row in rows])
    else:
        click.echo("no figures lie beside these scores")
    selection.notices(records)
