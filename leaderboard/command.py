"""`harness leaderboard`: the command line of the leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import arguments

if TYPE_CHECKING:
    import polars as pl

    from harness.registry.registry import Registry


@click.group()
def leaderboard() -> None:
    """Rank models and mitigators on a static page."""


@leaderboard.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    default=Path("site"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for index.html with its data, leaderboard.csv, leaderboard.json, records.parquet, "
    "changes.json, tables and studies.",
)
@click.option(
    "--tasks",
    "-t",
    multiple=True,
    help="Only these tasks, and required controls: names, globs or benchmarks, comma-separated or "
    "repeated.  [default: all]",
)
@click.option("--title", default="Bias in embeddings", show_default=True, help="Title of the page.")
@click.option(
    "--since",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the earlier build that the news compare with.  [default: --out]",
)
@arguments.include
@click.option("--json", "as_json", is_flag=True, help="Print the contents of leaderboard.json.")
def build(
    results: tuple[Path, ...],
    out: Path,
    tasks: tuple[str, ...],
    title: str,
    since: Path | None,
    include: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Build a leaderboard of the records and studies in RESULTS, files or folders."""
    from harness.errors import UsageError
    from harness.leaderboard.boards import references
    from harness.leaderboard.boards.board import compile_boards
    from harness.leaderboard.boards.cells import of_tasks
    from harness.leaderboard.claims import facts
    from harness.leaderboard.claims.frame import frame_of
    from harness.leaderboard.claims.reading import Claims
    from harness.leaderboard.site import studies, writing
    from harness.leaderboard.site.registered import registered
    from harness.names import split
    from harness.registry.registry import Registry
    from harness.results import folder as results_files
    from harness.results import smoke_runs
    from harness.task.benchmark import BenchmarkFile

    registry = Registry(include=include)
    reading, study_reading = results_files.read(results), studies.read(results)
    whole, smoke = smoke_runs.set_aside(reading.records)
    notices = tuple(filter(None, (*reading.notices, *study_reading.notices, smoke)))
    claims = frame_of(whole)
    if tasks and claims["primary"].any():
        claims = of_tasks(claims, _names(split(tasks), claims, registry))
    claims, lacking = references.added(claims)
    notices = (*notices, *lacking)
    for notice in notices:
        click.echo(notice, err=True)
    benchmarks = [
        registry.benchmark_files.find(name).validate(BenchmarkFile)
        for name in sorted(registry.benchmark_files.owners)
    ]
    known = facts.known(claims["task"].unique().to_list(), include)
    kinds = {name: task.kinds for name, task in known.items()}
    boards = compile_boards(claims, benchmarks, kinds)
    compared = studies.compile_studies(study_reading.records)
    if not boards and not compared:
        places = ", ".join(f"'{path}'" for path in results)
        kind = "primary scores" if whole else "whole records" if smoke else "records"
        raise UsageError(f"no {kind} in {places}; `harness eval` writes them")
    for board in boards:
        for notice in board.notices:
            click.echo(f"{board.kind} embeddings: {notice}", err=True)
    written = writing.write(
        boards,
        out,
        title=title,
        claims=Claims(claims),
        registered=registered(registry, known),
        notices=notices,
        sources=results,
        studies=compared,
        since=since,
    )
    if as_json:
        click.echo(written.json.read_text("utf-8"), nl=False)
        return
    for board in boards:
        click.echo(f"{board.kind} embeddings: {board.summary()}")
    for study in compared:
        click.echo(study.line())
    click.echo(f"wrote {written.page}")


def _names(patterns: list[str], claims: pl.DataFrame, registry: Registry) -> list[str]:
    """Return the patterns with the name of a benchmark replaced by its tasks in the records."""
    from fnmatch import fnmatchcase

    from harness.task.benchmark import BenchmarkFile

    tasks = set(claims.filter("primary")["task"])
    names = []
    for pattern in patterns:
        if any(fnmatchcase(task, pattern) for task in tasks):
            names.append(pattern)
            continue
        benchmarks = registry.benchmark_files
        if pattern not in benchmarks.owners:
            names.append(pattern)
            continue
        wanted = benchmarks.find(pattern).validate(BenchmarkFile).tasks
        missing = [task for task in wanted if task not in tasks]
        if missing:
            text = f"no record of {len(missing)} of {len(wanted)} tasks of '{pattern}': "
            click.echo(text + ", ".join(missing), err=True)
        names += [task for task in wanted if task in tasks] or [pattern]
    return names
