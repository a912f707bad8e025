"""`harness results`: show, average, compare and export recorded scores, without the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments, export_formats

if TYPE_CHECKING:
    from harness.results.records import Records

F = TypeVar("F", bound=Callable[..., Any])
FILTERS = ("model", "mitigator", "task", "scenario", "metric")

paths = click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
intervals = click.option(
    "--intervals", is_flag=True, help="Show confidence intervals, not changes."
)

over_seeds = click.option(
    "--over-seeds",
    is_flag=True,
    help="Show the mean ± standard error of runs that differ only in a seed.",
)


def _split(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[str]:
    from harness import names

    return names.split(values)


def filters(*names: str) -> Callable[[F], F]:
    """Add the options that select records."""
    helps = {
        "model": "Only these models, names or globs; repeatable.",
        "mitigator": "Only these mitigators, labels or globs; repeatable.",
        "task": "Only these tasks, names or globs; comma-separated or repeated.",
        "scenario": "These scenarios, names or globs, instead of the primary one; repeatable.",
        "metric": "All scores of these metrics instead of the primary one; repeatable.",
    }
    spellings = {
        "model": ["-m"], "mitigator": ["-M"], "task": ["--tasks", "-t"],
    }  # fmt: skip

    def add(function: F) -> F:
        all_scores = click.option("--all-scores", is_flag=True, help="All scores of all scenarios.")
        function = all_scores(function)
        for name in reversed(names):
            option = click.option(
                f"--{name}",
                *spellings.get(name, ()),
                multiple=True,
                help=helps[name],
                callback=_split if name == "task" else None,
            )
            function = option(function)
        return function

    return add


@click.group("results")
def command() -> None:
    """Show, average, compare and export recorded scores.

    PATHS are results folders, read at any depth, or their files.  [default: results]
    """


@command.command("show")
@paths
@filters(*FILTERS)
@intervals
@over_seeds
@arguments.as_json
def show(
    paths: tuple[Path, ...], intervals: bool, over_seeds: bool, as_json: bool, **options: Any
) -> None:
    """Show the scores in PATHS as tables: the primary score of each task.

    \b
    harness results show
    harness results show results --mitigator none --scenario debiasing
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import output, result_tables

    records = _selected(paths, over_seeds, options)
    if as_json:
        output.as_json(records.rows())
        return
    result_tables.show(records, intervals=intervals, width=output.width())
    _notices(records)


@command.command("average")
@paths
@filters(*FILTERS)
@arguments.as_json
def average(paths: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Average the scores in PATHS over tasks, for each model and mitigator.

    Prints the mean of the values and of the absolute values. If several scores are chosen, it also
    prints how they correlate over models and mitigators.

    \b
    harness results average -t seat-c6,seat-c6b,seat-c7,seat-c7b,seat-c8,seat-c8b
    harness results average -t '*-*' --metric association-test --metric concept-direction
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import average_tables, output
    from harness.results.averages import averages

    records = _read(paths).select(**options)
    rows = averages(records)
    if as_json:
        output.as_json(average_tables.as_json(rows))
        return
    average_tables.show(rows)
    _notices(records)


@command.command("tables")
@paths
@filters(*FILTERS)
@click.option("--name", "-n", multiple=True, help="Only tables of this name; repeatable.")
@arguments.as_json
def tables(paths: tuple[Path, ...], name: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Print the tables that metrics keep beside the scores in PATHS, such as pairs of texts.

    \b
    harness results tables --tasks name-triplets --scenario original --name pairs
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands import attached_tables, output

    chosen = paths or (Path("results"),)
    ids = [record.id for record in _read(chosen).select(**options)]
    found = attached_tables.read(chosen, ids, name)
    if as_json:
        output.as_json(attached_tables.as_json(found))
    elif not attached_tables.show(found):
        click.echo("these scores have no tables; --all-scores looks at all scores", err=True)


@command.command("compare")
@click.argument("a")
@click.argument("b")
@click.option(
    "--results",
    "-r",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Results folder that A and B are names in.",
)
@filters(*FILTERS)
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
    from harness.errors import UsageError
    from harness.results.sides import between, between_runs

    if a == b:
        raise UsageError(f"A and B are both '{a}'; name two different ones")
    absent = [side for side in (a, b) if not Path(side).exists()]
    if len(absent) == 1 and not results.exists():
        raise UsageError(f"'{absent[0]}' is no results folder or file")
    if not absent:
        sides = [_read((Path(side),)).select(**options) for side in (a, b)]
        comparisons = between_runs(*sides, folder=_folder(a), folder_b=_folder(b))
    else:
        records = _read((results,)).select(**options)
        comparisons = between(records, a, b, folder=_folder(results))
    if as_json:
        output.as_json(comparison_tables.as_json(comparisons))
        return
    for context, comparison in comparisons.items():
        comparison_tables.show(context, (a, b), comparison, width=output.width())


@command.command("export")
@paths
@filters(*FILTERS)
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
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
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
    if out is not None and out.exists() and not overwrite:
        raise UsageError(f"'{out}' exists; --overwrite replaces it")
    records = _selected(paths, over_seeds, options)
    content = export_formats.written(records, kind, intervals=intervals)
    if out is None:
        click.echo(content.decode(), nl=False)
    else:
        folders.write_atomically(out, content)
    _notices(records)


def _selected(paths: tuple[Path, ...], over_seeds: bool, options: Mapping[str, Any]) -> Records:
    records = _read(paths)
    return (records.over_seeds() if over_seeds else records).select(**options)


def _read(paths: tuple[Path, ...]) -> Records:
    from harness.errors import UsageError
    from harness.results.folder import read_results
    from harness.results.records import Records
    from harness.results.smoke_runs import set_aside

    chosen = paths or (Path("results"),)
    records = read_results(*chosen)
    if not records:
        places = ", ".join(f"'{path}'" for path in chosen)
        raise UsageError(f"no records in {places}; `harness eval` writes them")
    whole, smoke = set_aside(records)
    if not whole or not smoke:  # there is nothing that they could be mixed up with
        return records
    return Records(whole, notices=(*records.notices, smoke))


def _folder(path: Path | str) -> Path:
    """Return the results folder of a path, which may be a file in it."""
    return Path(path) if Path(path).is_dir() else Path(path).parent


def _notices(records: Records) -> None:
    for notice in records.notices:
        click.echo(notice, err=True)
