"""A study's tables as CSV, LaTeX and Markdown, and its summary for JSON.

`tables` has their contents; the command prints them on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.results.tables import (
    comma_separated,
    latex_row,
    latex_text,
    markdown_grid,
    markdown_text,
    tabular,
)
from harness.study import tables
from harness.study.summary import Summary
from harness.study.tables import Table


def changes_csv(summaries: Iterable[Summary]) -> str:
    """Return all numbers as CSV, a line for each model, criterion, row and measure."""
    return comma_separated([line for summary in summaries for line in tables.lines(summary)])


def choices_csv(summaries: Iterable[Summary]) -> str:
    """Return the chosen hyper-parameters as CSV, each as JSON; empty if nothing was chosen."""
    return comma_separated([line for summary in summaries for line in tables.choices(summary)])


def changes_latex(summary: Summary) -> str:
    """Return the table of changes as a tabular of booktabs, with its legend as comments."""
    blocks = tables.changes(summary)
    columns = blocks[0].columns
    body = []
    for block in blocks:
        title = rf"\multicolumn{{{len(columns)}}}{{l}}{{{latex_text(block.title)}}} \\"
        body += [r"\midrule", title, *(_row(row) for row in block.rows)]
        body += [r"\addlinespace", *(_row(row) for row in block.foot)] if block.foot else []
    legend = [_about(summary), *tables.legend(summary), *summary.notes]
    comments = [f"% {line}".replace("\n", " ") for line in legend]
    return "\n".join([*comments, *tabular(columns, body)]) + "\n"


def chosen_latex(summary: Summary) -> str:
    """Return the table of chosen hyper-parameters as a tabular of booktabs."""
    table = tables.chosen(summary)
    body = [r"\midrule", *(_row(row) for row in table.rows)]
    return "\n".join([f"% {_about(summary)}", *tabular(table.columns, body)]) + "\n"


def markdown(summary: Summary) -> str:
    """Return the tables, their legend, the conclusion and the caveats as Markdown."""
    parts = [f"## {markdown_text(_about(summary))}"]
    for block in tables.changes(summary):
        parts.append(f"### {markdown_text(block.title)}\n\n{_grid(block)}")
    parts.append("\n".join(f"- {markdown_text(line)}" for line in tables.legend(summary)))
    if summary.chosen:
        table = tables.chosen(summary)
        parts.append(f"### {markdown_text(table.title)}\n\n{_grid(table)}")
    for title, lines in (("Conclusion", summary.statement), ("Notes", summary.notes)):
        if lines:
            items = "\n".join(f"- {markdown_text(line)}" for line in lines)
            parts.append(f"### {title}\n\n{items}")
    return "\n\n".join(parts) + "\n"


def as_json(summary: Summary) -> dict[str, Any]:
    """Return a summary as plain values."""
    return {
        "study": summary.study.model_dump(mode="json"),
        "model": summary.model.model_dump(mode="json"),
        "complete": summary.complete,
        "undefined": summary.undefined,
        "test": summary.test,
        "family": summary.family,
        "overlap": list(summary.overlap),
        "cells": tables.lines(summary),
        "chosen": tables.choices(summary),
        "legend": list(tables.legend(summary)),
        "statement": list(summary.statement),
        "notes": list(summary.notes),
    }


def _about(summary: Summary) -> str:
    return f"{summary.study.title} ({summary.study.name}, on {summary.model.name})"


def _grid(table: Table) -> str:
    rows = [[markdown_text(text) for text in row] for row in (*table.rows, *table.foot)]
    return markdown_grid([markdown_text(column) for column in table.columns], rows)


def _row(texts: Iterable[str]) -> str:
    return latex_row(map(latex_text, texts))
