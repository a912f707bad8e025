"""Writes a repository of results: guides, a checklist and workflows from `repository/`.

Placeholders of the templates stand in angle brackets: `<title>`, `<title option>` and `<version>`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

import harness
from harness import folders
from harness.errors import UsageError
from harness.results.formats import markdown_text

from .card import card
from .check import check_command
from .merge import merge_command
from .pack import pack_command
from .rerun import rerun_command

TEMPLATES = Path(__file__).parent / "repository"


@dataclass(frozen=True)
class Written:
    """What was written.

    Parameters
    ----------
    files
        Paths of the new files.
    kept
        Paths of files that existed, and stay as they are.
    """

    files: tuple[Path, ...]
    kept: tuple[Path, ...]


def init(folder: Path, *, title: str) -> Written:
    """Write the files of a results repository into a folder; those that exist stay as they are.

    Raises
    ------
    UsageError
        If the title has a line break or another control character, or `folder` is a file.
    DiskError
        If a file cannot be written.
    """
    if not title.strip() or not title.isprintable():
        raise UsageError("the title is not one line of text; expected such as 'Bias of embeddings'")
    if folder.is_file():
        raise UsageError(f"'{folder}' is a file; name a folder")
    files, kept = [], []
    for path, text in _filled(title):
        file = folder / path
        if file.exists() or file.is_symlink():
            kept.append(file)
            continue
        folders.write_atomically(file, text.encode())
        files.append(file)
    return Written(tuple(files), tuple(kept))


def _filled(title: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each file."""
    values = {
        "<version>": harness.__version__,
        "<title option>": f"--title {shlex.quote(title)}",
        "<title>": markdown_text(title),
    }
    for template in sorted(TEMPLATES.rglob("*")):
        if template.is_file():
            text = template.read_text("utf-8")
            for placeholder, value in values.items():
                text = text.replace(placeholder, value)
            yield template.relative_to(TEMPLATES), text


# The commands that submissions add to `harness results`: each has a module `*_command`.
#
# These modules import what they need inside their functions, so that `harness --help` stays
# instant.


@click.group("results")
def results() -> None:
    """Commands that join `harness results`."""


for command in (pack_command, check_command, rerun_command, merge_command, card):
    results.add_command(command)


# `harness leaderboard init`: the command line of a new results repository.


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--title", default="Bias in embeddings", show_default=True, help="Title of the board."
)
def init_command(folder: Path, title: str) -> None:
    """Write a repository that collects results into FOLDER.

    It has guides, a checklist and workflows. People submit results to it by pull requests, which a
    workflow checks. Another workflow builds the board and publishes it. Files that exist stay as
    they are.
    """
    written = init(folder, title=title)
    for file in written.files:
        click.echo(file)
    for file in written.kept:
        click.echo(f"kept '{file}', which exists", err=True)
    click.echo(f"\nnext: read {folder / 'README.md'}, section 'Set up'")
