"""The result of a recipe, on the terminal and as files in its folder."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import click

from harness import folders
from harness.commands import output
from harness.results.folder import write_figure
from harness.results.tables import comma_separated, markdown_grid, markdown_text

from . import statement, tables
from .figure import figure
from .summary import Summary


def show(summary: Summary) -> None:
    """Print the tables, how to read them, and what stands out."""
    click.echo(output.wrapped(f"{summary.title} ({summary.recipe})") + "\n")
    for table in tables.tables(summary):
        output.table(table.columns, table.rows, title=table.title, repeat=1)
    for prefix, lines in (
        ("", statement.legend(summary)),
        ("", statement.conclusions(summary)),
        ("note: ", summary.notes),
    ):
        for line in lines:
            click.echo(output.wrapped(f"{prefix}{line}"))
        if lines:
            click.echo()


def write(summary: Summary, folder: Path) -> None:
    """Write the tables as text, CSV and Markdown, all numbers as JSON, and the figure.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(summary)
    contents = {
        "tables.txt": text.getvalue(),
        "tables.csv": comma_separated(tables.lines(summary)),
        "tables.md": markdown(summary),
    }
    for name, content in contents.items():
        folders.write_atomically(folder / name, content.encode())
    folders.write_json(folder / "summary.json", as_json(summary))
    drawing = figure(summary)
    if drawing["data"]:
        write_figure(folder / "figure-6.html", drawing, summary.title)


def markdown(summary: Summary) -> str:
    """Return a heading, and what `tables_in_markdown` returns."""
    title = markdown_text(f"{summary.title} ({summary.recipe})")
    return f"## {title}\n\n{tables_in_markdown(summary, level=3)}"


def tables_in_markdown(summary: Summary, *, level: int) -> str:
    """Return the tables, their legend, what stands out and the caveats as Markdown.

    `level` is that of their headings.
    """
    heading = "#" * level
    parts = []
    for table in tables.tables(summary):
        rows = [[markdown_text(text) for text in row] for row in table.rows]
        grid = markdown_grid([markdown_text(column) for column in table.columns], rows)
        parts.append(f"{heading} {markdown_text(table.title)}\n\n{grid}")
    for title, lines in (
        ("How to read the tables", statement.legend(summary)),
        ("What stands out", statement.conclusions(summary)),
        ("Notes", summary.notes),
    ):
        if lines:
            items = "\n".join(f"- {markdown_text(line)}" for line in lines)
            parts.append(f"{heading} {title}\n\n{items}")
    return "\n\n".join(parts) + "\n"


def as_json(summary: Summary) -> dict[str, Any]:
    """Return the result as plain values."""
    return summary.model_dump(mode="json")
