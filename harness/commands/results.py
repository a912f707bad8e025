"""`harness results`: show, average, compare and export recorded scores, without the models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import (
    arguments,
    export_formats,
    results_correlate,
    results_files,
    results_views,
    selection,
)
from harness.commands.selection import filters, paths

if TYPE_CHECKING:
    from harness.results.records import Records

intervals = click.option(
    "--intervals", is_flag=True, help="Show confidence intervals, not changes."
)

over_seeds = click.option(
    "--over-seeds",
    is_flag=True,
    help="Show the mean ± standard error of runs that differ only in a seed.",
)


@click.group("results")
def command() -> None:
    """Show, average, compare and export recorded scores, with their items, tables and figures.

    PATHS are results folders, read at any depth, or their files.  [default: results]
    """


command.add_command(results_correlate.command)
command.add_command(results_views.items)
command.add_command(results_views.tables)
command.add_command(results_views.figures)
command.add_command(results_files.verify)
command.add_command(results_files.repair)


@command.command("show")
@paths
@filters
@intervals
@over_seeds
@arguments.as_json
def show(
    paths: tuple[Path, ...], intervals: bool, over_seeds: bool, as_json: bool, **options: Any
) -> None:
    """Show the scores in PATHS as tables, by default the primary ones.

    \b
    harness results show
    harness results show results --mitigator none --scenario debiasing
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import output, result_tables

    records = _selected(paths, over_seeds, options)
    if as_json:
        output.as_json(records.rows())
    else:
        result_tables.show(records, intervals=intervals, width=output.width())
    selection.notices(records)


@command.command("average")
@paths
@filters
@arguments.as_json
def average(paths: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Average the scores in PATHS over tasks.

    Prints the mean of the values and of the absolute values of each model and mitigator. If several
    scores are chosen, it also prints how they correlate over models and mitigators.

    \b
    harness results average -t seat-c6,seat-c6b,seat-c7,seat-c7b,seat-c8,seat-c8b
    harness results average -t '*-*' --metric association-test --metric concept-direction
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import average_tables, output
    from harness.results.averages import averages

    records = selection.read(paths).select(**options)
    rows = averages(records)
    if as_json:
        output.as_json(average_tables.as_json(rows))
    else:
        average_tables.show(rows)
    selection.notices(records)


@command.command("compare")
@click.argument("a")
@click.argument("b")
@selection.results
@filters
@arguments.as_json
def compare(a: str, b: str, results: Path, as_json: bool, **options: Any) -> None:
    """Compare A with B on the scores that both have.

    A and B are two mitigators, two models, or two results folders or files.

    \b
    harness results compare none hard-debias
    harness results compare all-MiniLM-L6-v2 all-mpnet-base-v2 --mitigator none
    harness results compare results-of-monday results-of-friday
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import comparison_tables, output

    comparisons = selection.compared(a, b, results, options).comparisons
    if as_json:
        output.as_json(comparison_tables.as_json(comparisons))
        return
    for context, comparison in comparisons.items():
        comparison_tables.show(context, (a, b), comparison, width=output.width())


@command.command("export")
@paths
@filters
@intervals
@over_seeds
@click.option(
    "--format",
    "kind",
    type=click.Choice(export_formats.FORMATS),
    help="csv and parquet have one row for each score, the others are tables.  "
    "[default: by the suffix of --out; without --out, table]",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write.  [default: standard output]",
)
@arguments.overwrite
def export(
    paths: tuple[Path, ...],
    intervals: bool,
    over_seeds: bool,
    kind: str | None,
    out: Path | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Write the scores in PATHS in a format of other programs.

    \b
    harness results export --out table.tex
    harness results export results --all-scores --out scores.parquet
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.errors import UsageError

    kind = kind or export_formats.of_file(out)
    if out is None and kind == "parquet":
        raise UsageError("a Parquet file needs --out")
    arguments.refuse_to_replace(out, overwrite=overwrite)
    records = _selected(paths, over_seeds, options)
    content = export_formats.written(records, kind, intervals=intervals)
    if out is None:
        click.echo(content.decode(), nl=False)
    else:
        folders.write_atomically(out, content)
    selection.notices(records)


def _selected(paths: tuple[Path, ...], over_seeds: bool, options: Mapping[str, Any]) -> Records:
    records = selection.read(paths)
    return (records.over_seeds() if over_seeds else records).select(**options)
