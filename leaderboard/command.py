"""`harness leaderboard`: the command line of the leaderboard."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from harness.commands import arguments


@click.group()
def leaderboard() -> None:
    """Rank models and mitigators on a static page."""


@leaderboard.command()
@click.argument("results", nargs=-1, required=True, type=arguments.PlaceType())
@arguments.copied("results")
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
    """Build a leaderboard of the records and studies in RESULTS, files or folders, also of buckets.

    Scales and categories are those of the registered tasks. A record that is not as its task says
    is set aside, with one line for each reason, and the rest is built. Tasks of your own are
    registered by their plugin, or by --include with their folder.
    """
    from harness.errors import UsageError
    from harness.leaderboard import building
    from harness.leaderboard.site import studies, writing
    from harness.leaderboard.site.asides import grouped
    from harness.leaderboard.site.registered import registered
    from harness.names import split
    from harness.registry.registry import Registry

    say = functools.partial(click.echo, err=True)
    registry = Registry(include=include)
    study_reading = studies.read(results)
    ranked = building.rank(results, registry, include=include, tasks=split(tasks), say=say)
    for group in grouped(ranked.claims.aside):
        say(group.line())
    notices = [*study_reading.notices, *ranked.notices]
    compared = studies.compile_studies(study_reading.records, notices)
    for notice in notices:
        say(notice)
    if not ranked.boards and not compared:
        places = ", ".join(f"'{path}'" for path in results)
        reason = (
            "all are set aside, see above" if ranked.claims.aside else "`harness eval` writes it"
        )
        raise UsageError(f"no record of a primary score counts in {places}: {reason}")
    for board in ranked.boards:
        for notice in board.notices:
            say(f"{board.kind} embeddings: {notice}")
    written = writing.write(
        ranked.boards,
        out,
        title=title,
        claims=ranked.claims,
        registered=registered(registry, ranked.facts),
        notices=notices,
        sources=results,
        studies=compared,
        since=since,
    )
    if as_json:
        click.echo(written.json.read_text("utf-8"), nl=False)
        return
    for board in ranked.boards:
        click.echo(f"{board.kind} embeddings: {board.summary()}")
    for study in compared:
        click.echo(study.line())
    click.echo(f"wrote {written.page}")
