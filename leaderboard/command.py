"""`harness leaderboard`: the command line of the leaderboard. The work is done elsewhere."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def leaderboard() -> None:
    """Rank models and mitigators by their records."""


@leaderboard.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    default=Path("site"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for index.html, leaderboard.csv, leaderboard.json, figures, tables and studies.",
)
@click.option(
    "--tasks",
    "-t",
    multiple=True,
    help="Only these tasks: names or globs; commas or repeated.  [default: all]",
)
@click.option("--title", default="Bias in embeddings", show_default=True, help="Title of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print leaderboard.json too.")
def build(
    results: tuple[Path, ...], out: Path, tasks: tuple[str, ...], title: str, as_json: bool
) -> None:
    """Make a static leaderboard of the records and studies in RESULTS (files and folders)."""
    from harness.commands.arguments import split
    from harness.errors import UsageError
    from harness.leaderboard import site, studies
    from harness.leaderboard.board import compile_boards
    from harness.leaderboard.cells import of_tasks
    from harness.results import folder as results_files

    reading, of_studies = results_files.read(results), studies.read(results)
    notices = (*reading.notices, *of_studies.notices)
    for notice in notices:
        click.echo(notice, err=True)
    found = any(record.primary for record in reading.records)
    records = of_tasks(reading.records, split(tasks)) if tasks and found else reading.records
    boards = compile_boards(records)
    compared = studies.compile_studies(of_studies.records)
    if not boards and not compared:
        where = ", ".join(f"'{path}'" for path in results)
        what = "no record that ranks a task" if reading.records else "no records"
        raise UsageError(f"there are {what} in {where}; `harness eval` makes them")
    for board in boards:
        for notice in board.notices:
            click.echo(f"{board.kind} embeddings: {notice}", err=True)
    written = site.write(
        boards, out, title=title, notices=notices, sources=results, studies=compared
    )
    if as_json:
        click.echo(written.json.read_text("utf-8"))
        return
    for board in boards:
        click.echo(f"{board.kind} embeddings: {board.summary()}")
    for study in compared:
        click.echo(study.line())
    click.echo(f"wrote {written.page}")
