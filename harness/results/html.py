"""Tables as HTML, for notebooks; every text is escaped. Pages are the leaderboard's subject."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from harness.results import formats
from harness.results.tables import Cell, Section

_LEFT = 'style="text-align: left"'
_RIGHT = 'style="text-align: right; white-space: nowrap"'
_SMALL = 'style="font-size: smaller; margin: 0"'


def of_sections(sections: Sequence[Section]) -> str:
    """Return the tables of an evaluation, with what their marks mean."""
    parts = []
    for section in sections:
        rows = (*section.rows, section.mean) if section.mean else section.rows
        parts.append(
            table(
                section.title,
                ("task", "score", "ideal", *section.columns),
                [
                    [
                        *(_cell(text, _LEFT) for text in (row.task, row.score, row.ideal)),
                        *(_number(cell) for cell in row.cells),
                    ]
                    for row in rows
                ],
                n_texts=3,
            )
        )
    return "".join([*parts, lines(formats.legend(sections, intervals=False))])


def of_texts(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    return table(title, columns, [[_cell(text, _LEFT) for text in row] for row in rows])


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, n_texts: int | None = None
) -> str:
    """Return a table.

    Parameters
    ----------
    title, columns
        Its title, and the names of the columns, not escaped.
    rows
        The cells as HTML.
    n_texts
        Number of columns of text, which come first; by default all.
    """
    n_texts = len(columns) if n_texts is None else n_texts
    head = "".join(
        f"<th {_LEFT if i < n_texts else _RIGHT}>{html.escape(column)}</th>"
        for i, column in enumerate(columns)
    )
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    caption = f'<caption style="text-align: left">{html.escape(title)}</caption>'
    return f"<table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"


def lines(texts: Iterable[str]) -> str:
    """Return texts in small print, each on a line."""
    return "".join(f"<p {_SMALL}>{html.escape(text)}</p>\n" for text in texts)


def _cell(text: str, style: str) -> str:
    return f"<td {style}>{html.escape(text)}</td>"


def _number(cell: Cell | None) -> str:
    value = html.escape(formats.number(cell) + formats.marks(cell))
    if cell and cell.is_best:
        value = f"{formats.BEST} <b>{value}</b>"
    extra = html.escape(formats.beside(cell, intervals=False))
    return (
        f"<td {_RIGHT}>{value} <small>{extra}</small></td>"
        if extra
        else (f"<td {_RIGHT}>{value}</td>")
    )
