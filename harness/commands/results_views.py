"""`harness results items`, `tables` and `figures`: what lies behind and beside the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments, selection
from harness.commands.selection import filters, filters_of_all

if TYPE_CHECKING:
    from harness.results.items import Items
    from harness.results.record import Record

F = TypeVar("F", bound=Callable[..., Any])


def _out(purpose: str) -> Callable[[F], F]:
    path = click.Path(path_type=Path, dir_okay=False)
    return click.option("--out", "-o", type=path, help=purpose)


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
@_out("HTML page to write, with a point for each item of one score.")
@arguments.overwrite
@filters
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
    from harness.results.items import items_of

    arguments.refuse_to_replace(out, overwrite=overwrite)
    compared = selection.compared(a, b, results, options)
    pairs = items_of(compared.comparisons, column, compared.folder, compared.folder_b)
    if out is not None:
        _write(out, pairs, a, b)
    rows = [
        {
            "context": part.context,
            "task": part.pair.a.task.name,
            "scenario": part.pair.a.scenario,
            "score": part.pair.a.score,
            "n": len(part.texts),
            "spearman": part.spearman,
        }
        for part in pairs
    ]
    if as_json:
        parts = zip(rows, pairs, strict=True)
        output.as_json([row | {"column": column, "items": part.rows()} for row, part in parts])
        return
    output.table(
        list(rows[0]),
        [list(row.values()) for row in rows],
        title=f"{column} of the items: {a} and {b}",
    )


def _write(out: Path, parts: list[Items], a: str, b: str) -> None:
    from harness.errors import UsageError
    from harness.results import figures

    if len(parts) > 1:
        raise UsageError(
            f"--out draws the items of one score, here are {len(parts)}: choose with --tasks, "
            "--scenario, --metric, --model or --mitigator"
        )
    figures.write(out, parts[0].figure(a, b), f"{a} and {b}")
    click.echo(f"wrote {out}", err=True)


@click.command("tables")
@selection.paths
@filters_of_all
@click.option("--name", "-n", multiple=True, help="Only tables of this name; repeatable.")
@arguments.as_json
def tables(paths: tuple[Path, ...], name: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Print the tables beside the scores in PATHS.

    Some metrics keep such tables, for instance of pairs of texts.

    \b
    harness results tables --tasks name-triplets --scenario original --name pairs
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import attached_tables, output

    chosen = paths or (Path("results"),)
    records = selection.read(chosen).select(**options, all_scores=True)
    shown = attached_tables.read(chosen, [record.id for record in records], name)
    if as_json:
        output.as_json(attached_tables.as_json(shown))
    elif not attached_tables.show(shown):
        click.echo("no tables lie beside these scores")
    selection.notices(records)


@click.command("figures")
@selection.paths
@filters_of_all
@click.option("--name", "-n", multiple=True, help="Only figures of this name; repeatable.")
@_out("HTML page to write, with the listed figures of one name in one.")
@arguments.overwrite
@arguments.as_json
def figures(
    paths: tuple[Path, ...],
    name: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """List the figures beside the scores in PATHS.

    With --out, those of one name are drawn in one page. The paths that it prints are relative to
    the results folder.

    \b
    harness results figures results --tasks explained-variance
    harness results figures results --tasks analogy-ratings --name ratings --out ratings.html
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import attached_tables, output

    arguments.refuse_to_replace(out, overwrite=overwrite)
    chosen = paths or (Path("results"),)
    records = selection.read(chosen).select(**options, all_scores=True)
    pages = attached_tables.attached("figure", chosen, [record.id for record in records], name)
    if out is not None:
        _write_together(out, pages)
    rows = [
        {
            "model": record.model.name,
            "mitigator": record.mitigator.label,
            "task": record.task.name,
            "scenario": record.scenario,
            "figure": figure,
            "path": f"{path.parent.name}/{path.name}",
        }
        for path, record, figure in pages
    ]
    if as_json:
        output.as_json(rows)
    elif rows:
        output.table(list(rows[0]), [list(row.values()) for row in rows])
    else:
        click.echo("no figures lie beside these scores")
    selection.notices(records)


def _write_together(out: Path, pages: Sequence[tuple[Path, Record, str]]) -> None:
    """Write one page with figures of one name; what differs between them names the traces."""
    from harness.errors import UsageError
    from harness.results import figures

    names = dict.fromkeys(name for *_, name in pages)
    if len(names) != 1:
        shown = f"here are {', '.join(names)}: choose with --name" if names else "here are none"
        raise UsageError(f"--out draws figures of one name, {shown}")
    places = [
        (record.model.name, record.mitigator.label, record.task.name, record.scenario)
        for _, record, _ in pages
    ]
    differ = [i for i in range(4) if len({place[i] for place in places}) > 1]
    labels = [", ".join(place[i] for i in differ) for place in places]
    drawings = {label: figures.read(path) for label, (path, *_) in zip(labels, pages, strict=True)}
    figures.write(out, figures.together(drawings), next(iter(names)))
    click.echo(f"wrote {out}", err=True)
