"""Tables and reports of texts as LaTeX, Markdown and CSV; every text is escaped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
        "↔": r"$\leftrightarrow$",
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
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of what spreadsheets read as a formula."""


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    title
        Its title.
    columns, rows
        Names of the columns, and the texts of the cells.
    foot
        Further rows, which stand apart.
    shorten
        Columns of free text, which a narrow terminal may cut.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    foot: tuple[tuple[str, ...], ...] = ()
    shorten: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentences:
    """Sentences of a report, such as a legend, a conclusion or caveats.

    Parameters
    ----------
    title
        Heading in Markdown; empty for none.
    lines
        The sentences, a line each.
    prefix
        What each line begins with on a terminal, which shows no heading.
    """

    title: str
    lines: tuple[str, ...]
    prefix: str = ""


@dataclass(frozen=True)
class Report:
    """Tables and sentences under one title, for a terminal, a notebook or a file.

    Parameters
    ----------
    title
        Its title.
    parts
        The tables and sentences in their order.
    """

    title: str
    parts: tuple[Table | Sentences, ...]


def report_in_markdown(report: Report) -> str:
    """Return a report with its title as Markdown."""
    return f"## {markdown(report.title)}\n\n{parts_in_markdown(report.parts)}"


def parts_in_markdown(parts: Iterable[Table | Sentences]) -> str:
    """Return the tables and sentences of a report as Markdown; those without lines are left out."""
    texts = []
    for part in parts:
        heading = f"### {markdown(part.title)}\n\n" if part.title else ""
        if isinstance(part, Table):
            rows = [[markdown(text) for text in row] for row in (*part.rows, *part.foot)]
            texts.append(heading + grid([markdown(column) for column in part.columns], rows))
        elif part.lines:
            texts.append(heading + "\n".join(f"- {markdown(line)}" for line in part.lines))
    return "\n\n".join(texts) + "\n"


def table_in_latex(tables: Sequence[Table], about: Iterable[str], *, titles: bool) -> str:
    """Return tables with equal columns as one tabular of booktabs.

    Parameters
    ----------
    tables
        The tables.
    about
        Comments above it, a line each.
    titles
        Whether each table begins with its title.
    """
    columns = tables[0].columns
    body = []
    for table in tables:
        body.append(r"\midrule")
        if titles:
            body.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{{latex(table.title)}}} \\")
        body += [latex_row(map(latex, row)) for row in table.rows]
        if table.foot:
            body += [r"\addlinespace", *(latex_row(map(latex, row)) for row in table.foot)]
    comments = [f"% {line}".replace("\n", " ") for line in about]
    return "\n".join([*comments, *tabular(columns, body)]) + "\n"


def latex(text: str) -> str:
    """Return a text for LaTeX."""
    return text.translate(_LATEX)


def markdown(text: str) -> str:
    """Return a text for Markdown."""
    return text.translate(_MARKDOWN)


def latex_row(texts: Iterable[str]) -> str:
    """Return a line of a tabular; `texts` are LaTeX."""
    return " & ".join(texts) + r" \\"


def tabular(columns: Sequence[str], body: Sequence[str], alignment: str = "") -> list[str]:
    """Return the lines of a tabular of booktabs.

    Parameters
    ----------
    columns
        Names of the columns, not escaped.
    body
        Its lines, in LaTeX, with the rules that they need.
    alignment
        A letter for each column; by default all are left-aligned.
    """
    return [
        rf"\begin{{tabular}}{{{alignment or 'l' * len(columns)}}}",
        r"\toprule",
        latex_row(map(latex, columns)),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all texts are Markdown."""
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def comma_separated(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines with equal keys as CSV; empty if there are none.

    A mapping becomes JSON. A text that a spreadsheet would take for a formula is quoted.
    """
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
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
