"""The results of a study, on the terminal and as files beside its records."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import output

if TYPE_CHECKING:
    from harness.study.summary import Summary

LONGEST = "others"
"""Column of the chosen hyper-parameters that may be shortened."""


def show(summaries: Sequence[Summary]) -> None:
    """Print the results of a study on each model."""
    from harness.study import tables

    for summary in summaries:
        study = summary.study
        click.echo(output.wrapped(f"{study.title} ({study.name}, on {summary.model.name})") + "\n")
        for block in tables.changes(summary):
            output.table(block.columns, (*block.rows, *block.foot), title=block.title, repeat=1)
        _lines("", tables.legend(summary))
        if summary.chosen:
            table = tables.chosen(summary)
            output.table(table.columns, table.rows, title=table.title, shorten=[LONGEST], repeat=1)
        _lines("", summary.statement)
        _lines("note: ", summary.notes)


def write(summaries: Sequence[Summary], records: Path) -> Path:
    """Write tables and violins into a folder beside the records, and return it.

    Parameters
    ----------
    summaries
        The results of the study on each model.
    records
        File of its records.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """
    from harness import folders
    from harness.results.folder import write_figure
    from harness.study import formats
    from harness.study.violins import violins

    folder = records.with_suffix("")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(summaries)
    contents = {
        "table.txt": text.getvalue(),
        "table.csv": formats.changes_csv(summaries),
        "table.tex": latex(summaries),
        "table.md": markdown(summaries),
        "chosen.csv": formats.choices_csv(summaries),
    }
    for name, content in contents.items():
        if content:
            folders.write_atomically(folder / name, content.encode())
    for summary in summaries:
        model = f"-{folders.safe_name(summary.model.name)}" if len(summaries) > 1 else ""
        title = f"{summary.study.title}, on {summary.model.name}"
        write_figure(folder / f"violins{model}.html", violins(summary), title)
    return folder


def latex(summaries: Sequence[Summary]) -> str:
    """Return the tables of all models as LaTeX."""
    from harness.study import formats

    parts = []
    for summary in summaries:
        parts.append(formats.changes_latex(summary))
        if summary.chosen:
            parts.append(formats.chosen_latex(summary))
    return "\n".join(parts)


def markdown(summaries: Sequence[Summary]) -> str:
    """Return the results on all models as Markdown."""
    from harness.study import formats

    return "\n".join(formats.markdown(summary) for summary in summaries)


def _lines(prefix: str, lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(output.wrapped(f"{prefix}{line}"))
    if lines:
        click.echo()
