"""A study's tables as CSV, LaTeX and Markdown, and its summary for JSON.

`tables` has their contents; the command prints them on a terminal.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from harness.study import tables
from harness.study.summary import Summary
from harness.study.tables import Table

_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "²": "$^2$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "–": "--",
        "\n": " ",
    }
)
_MARKDOWN = str.maketrans(
    {
        **{character: f"\\{character}" for character in "\\`*_[]|#"},
        "<": "&lt;",
        ">": "&gt;",
        "\n": " ",
    }
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of what spreadsheets read as a formula."""


def changes_csv(summaries: Iterable[Summary]) -> str:
    """Return all numbers as CSV, a line for each model, criterion, row and measure."""
    return _csv([line for summary in summaries for line in tables.lines(summary)])


def choices_csv(summaries: Iterable[Summary]) -> str:
    """Return the chosen hyper-parameters as CSV, each as JSON; empty if nothing was chosen."""
    return _csv([line for summary in summaries for line in tables.choices(summary)])


def changes_latex(summary: Summary) -> str:
    """Return the table of changes as a tabular of booktabs, with its legend as comments."""
    blocks = tables.changes(summary)
    columns = blocks[0].columns
    body = []
    for block in blocks:
        title = rf"\multicolumn{{{len(columns)}}}{{l}}{{{_latex(block.title)}}} \\"
        body += [r"\midrule", title, *(_row(row) for row in block.rows)]
    legend = [_about(summary), *tables.legend(summary), *summary.notes]
    comments = [f"% {line}".replace("\n", " ") for line in legend]
    return "\n".join([*comments, *_tabular(columns, body)]) + "\n"


def chosen_latex(summary: Summary) -> str:
    """Return the table of chosen hyper-parameters as a tabular of booktabs."""
    table = tables.chosen(summary)
    body = [r"\midrule", *(_row(row) for row in table.rows)]
    return "\n".join([f"% {_about(summary)}", *_tabular(table.columns, body)]) + "\n"


def markdown(summary: Summary) -> str:
    """Return the tables, their legend, the conclusion and the caveats as Markdown."""
    parts = [f"## {_plain(_about(summary))}"]
    for block in tables.changes(summary):
        parts.append(f"### {_plain(block.title)}\n\n{_grid(block)}")
    parts.append("\n".join(f"- {_plain(line)}" for line in tables.legend(summary)))
    if summary.chosen:
        table = tables.chosen(summary)
        parts.append(f"### {_plain(table.title)}\n\n{_grid(table)}")
    for title, lines in (("Conclusion", summary.statement), ("Notes", summary.notes)):
        if lines:
            parts.append(f"### {title}\n\n" + "\n".join(f"- {_plain(line)}" for line in lines))
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


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    if not lines:
        return ""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({name: _field(value) for name, value in line.items()} for line in lines)
    return text.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def _tabular(columns: Sequence[str], body: Sequence[str]) -> list[str]:
    alignment = "l" * len(columns)
    return [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _row(columns),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _row(texts: Iterable[str]) -> str:
    return " & ".join(_latex(text) for text in texts) + r" \\"


def _latex(text: str) -> str:
    return text.translate(_LATEX)


def _grid(table: Table) -> str:
    rows = [table.columns, ("---",) * len(table.columns), *table.rows]
    return "\n".join(
        "| " + " | ".join(text if i == 1 else _plain(text) for text in row) + " |"
        for i, row in enumerate(rows)
    )


def _plain(text: str) -> str:
    return text.translate(_MARKDOWN)
