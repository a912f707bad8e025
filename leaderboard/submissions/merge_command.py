"""`harness results merge`: the command line of a maintainer's merge."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("merge")
@click.argument("submissions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--into", type=click.Path(path_type=Path), required=True, help="The results repository."
)
def merge(submissions: tuple[Path, ...], into: Path) -> None:
    """Merge SUBMISSIONS into a results repository.

    They are folders as `harness results pack` writes them. Adds what is new and changes nothing.
    Exits with 1 if a record is there with another value: both are kept, and neither counts until
    withdrawn.yaml of the repository says which is withdrawn.

    \b
    harness results merge submission --into board
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.commands.output import counted
    from harness.leaderboard.submissions import merge as merges
    from harness.leaderboard.submissions.comment import listed, printable

    merged = merges.merge(submissions, into)
    for file, n in merged.added.items():
        click.echo(f"{file}: {counted(n, 'new record')}")
    for (first, second), n in merged.conflicts.items():
        click.echo(f"conflict: {counted(n, 'record')} with different values in:", err=True)
        click.echo(f"  {first.relative_to(into)}\n  {second.relative_to(into)}", err=True)
        click.echo(f"  such as {printable(merged.examples[first, second])}", err=True)
    for line in listed(map(str, merged.problems), "problem"):
        click.echo(line, err=True)
    new = sum(merged.added.values())
    click.echo(f"{counted(new, 'new record')}, {counted(merged.repeats, 'record')} there already")
    if merged.conflicts:
        click.echo(
            f"none of these counts until {into / 'withdrawn.yaml'} withdraws one of the two, such "
            "as by `records: [{file: …, reason: …}]`",
            err=True,
        )
    if merged.conflicts or merged.problems:
        click.get_current_context().exit(1)
