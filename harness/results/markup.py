"""Tables of texts as LaTeX, Markdown and CSV; every text is escaped."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
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
