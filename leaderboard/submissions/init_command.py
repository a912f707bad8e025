"""`harness leaderboard init`: the command line of a new results repository."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--title", default="Bias in embeddings", show_default=True, help="Title of the board."
)
def init(folder: Path, title: str) -> None:
    """Write a repository that collects results into FOLDER.

    It has guides, a checklist and workflows. People submit results to it by pull requests, which a
    workflow checks. Another workflow builds the board and publishes it. Files that exist stay as
    they are.
    """
    from harness.leaderboard.submissions.init import init as write

    written = write(folder, title=title)
    for file in written.files:
        click.echo(file)
    for file in written.kept:
        click.echo(f"kept '{file}', which exists", err=True)
    click.echo(f"\nnext: read {folder / 'README.md'}, section 'Set up'")
