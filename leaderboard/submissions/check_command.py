"""`harness results check`: what the workflow of a results repository runs on a submission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.leaderboard.submissions.additions import Addition


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--base",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Results repository that they join; nothing of it may be changed or gone.",
)
@arguments.include
@arguments.as_json
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write a comment to, for a pull request.",
)
def check(
    paths: tuple[Path, ...],
    base: Path | None,
    include: tuple[Path, ...],
    as_json: bool,
    markdown: Path | None,
) -> None:
    """Check submissions of results, and show what they add.

    PATHS are results repositories, folders in them, or files.

    Prints a line for each problem, and what is new beside two reference models. A folder with a
    folder `results` and anything beside it is a changed copy of the base, which must still have
    all that the base has. Exits with 1 if there is a problem.

    \b
    harness results check results/all-MiniLM-L6-v2 --base ../board
    harness results check ../fork --base . --markdown comment.md
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import folders
    from harness.commands import output
    from harness.leaderboard.submissions import additions, comment
    from harness.leaderboard.submissions.check import check as checked_of

    checked = checked_of(paths, base, include=include)
    added = additions.additions(checked.records, checked.base)
    if markdown is not None:
        folders.write_atomically(markdown, comment.markdown(checked, added).encode())
    if as_json:
        output.as_json(
            {
                "problems": [vars(problem) for problem in checked.problems],
                "warnings": [vars(warning) for warning in checked.warnings],
                "new_records": len(checked.records),
                "known_records": checked.known,
                "new": [addition.as_json() for addition in added],
            }
        )
    else:
        for line in comment.listed(map(str, checked.problems), "problem"):
            click.echo(line)
        for line in comment.listed(map(str, checked.warnings), "warning"):
            click.echo(f"warning: {line}")
        _show(added)
        click.echo(comment.summary(checked))
    if checked.problems:
        click.get_current_context().exit(1)


def _show(added: Sequence[Addition]) -> None:
    """Print the means of what is new, and the values of each task of the first new row."""
    from harness.commands import output
    from harness.leaderboard.submissions.comment import printable

    rows = [
        [
            printable(addition.row.label, 60),
            *(mean.measures, mean.tasks, mean.value),
            printable(mean.reference, 60),
            mean.beside,
        ]
        for addition in added
        for mean in addition.means
    ]
    if rows:
        columns = ("new", "mean of", "tasks", "value", "reference", "its value")
        output.table(columns, rows, title="What is new", shorten=("new", "reference"))
    for addition in added[:1]:
        labels = [printable(row.label, 60) for row in (addition.row, *addition.references)]
        lines = [[task, score, *values] for task, score, values in addition.lines()]
        output.table(("task", "score", *labels), lines, title="Each task", shorten=("task",))
