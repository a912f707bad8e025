"""Tables and reports, and the one way to write them as text, CSV, LaTeX, Markdown and HTML.

Other modules build a `Table`, or a `Report` of several tables with sentences. A function for each
format writes them; every text is escaped. Knows no records and no commands.
"""

from __future__ import annotations

import contextlib
import csv
import html as html_
import io
import json
import os
import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import click

from harness.printing import echo, printable, printable_lines, stdout

NOTHING = "–"
"""Shown for a missing value."""
BEST = "•"
"""Marks the best value of a row in formats without bold type."""
BOLD = "bold:"
"""Replaces `BEST` in the legend of formats with bold type."""
SMALL_P = 0.001
"""Smaller p-values are not written out."""
MIN_WIDTH = 20
"""Smallest width to which a single column of free text is shortened; of several, half of it."""


def p_text(p: float) -> str:
    """Return a p-value as a text of three decimals."""
    return "< .001" if p < SMALL_P else f"{p:.3f}"


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its marks.

    Parameters
    ----------
    number
        The number.
    stars
        Stars of its p-value.
    sign
        A further mark.
    beside
        Small print after the number, such as a change or an interval.
    is_best
        Whether it is the best of its row.
    """

    number: str
    stars: str = ""
    sign: str = ""
    beside: str = ""
    is_best: bool = False

    def __str__(self) -> str:
        return f"{self.number}{self.stars}{self.sign} {self.beside}".rstrip()


@dataclass(frozen=True)
class Table:
    """Rows and columns with a title.

    Numbers are aligned to the right.

    Parameters
    ----------
    title
        Its title; empty for none.
    columns
        Names of the columns.
    rows
        The cells: texts, numbers, lists, `Value`s, or None.
    foot
        Further rows, below a rule.
    shorten
        Columns of free text, which a narrow terminal cuts, the widest first; other columns are
        never cut.
    drop
        Columns that a narrow terminal drops, the least important first.
    repeat
        Number of columns that each part repeats if a narrow terminal divides the table; 0 keeps
        the table whole.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    foot: Sequence[Sequence[Any]] = ()
    _: KW_ONLY
    shorten: Sequence[str] = ()
    drop: Sequence[str] = ()
    repeat: int = 0

    @classmethod
    def of(cls, title: str, lines: Sequence[Mapping[str, Any]], **layout: Any) -> Table:
        """Return a table of mappings with equal keys, which name the columns."""
        columns = list(lines[0]) if lines else []
        return cls(title, columns, [[line[name] for name in columns] for line in lines], **layout)

    @property
    def all_rows(self) -> list[Sequence[Any]]:
        """All rows, those of the foot last."""
        return [*self.rows, *self.foot]

    def by_column(self) -> list[list[Any]]:
        """Return the cells of each column."""
        rows = self.all_rows
        return [[row[i] for row in rows] for i in range(len(self.columns))]


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
    lines: Sequence[str]
    prefix: str = ""


@dataclass(frozen=True)
class Report:
    """Tables and sentences under one title.

    Parameters
    ----------
    title
        Its title; empty for none.
    parts
        The tables and sentences in their order. Sentences without lines are left out.
    """

    title: str
    parts: Sequence[Table | Sentences]


def text(value: Any) -> str:
    """Return a cell as text."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:z.3f}"
    if isinstance(value, list | tuple | set):
        return ", ".join(map(str, value))
    return str(value)


# CSV and tab-separated values.


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""First characters of a formula in spreadsheets."""


def comma_separated(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines with equal keys as CSV; empty if there are none.

    A mapping becomes JSON. A text that a spreadsheet would read as a formula is quoted.
    """
    if not lines:
        return ""
    return separated({name: _field(value) for name, value in line.items()} for line in lines)


def separated(lines: Iterable[Mapping[str, Any]], delimiter: str = ",") -> str:
    """Return lines with a header; a line may lack columns."""
    lines = list(lines)
    out = io.StringIO(newline="")
    columns = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(out, columns, delimiter=delimiter, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _field(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


# LaTeX.


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
        "†": r"$^{\dagger}$",
        "‡": r"$^{\ddagger}$",
        "•": r"$\bullet$",
        "–": "--",
        "\n": " ",
    }
)


def latex(report: Report) -> str:
    """Return tables of booktabs with captions and labels, and sentences as comments.

    A label is the caption in small letters, with a number if it is not the first of its name.
    """
    blocks = [_comments([report.title])] if report.title else []
    labels: Counter[str] = Counter()
    for part in report.parts:
        if isinstance(part, Table):
            caption = part.title or report.title or "Scores"
            label = re.sub(r"[^a-z0-9]+", "-", caption.lower()).strip("-")
            labels[label] += 1
            label += f"-{labels[label]}" if labels[label] > 1 else ""
            head = [rf"\caption{{{caption.translate(_LATEX)}}}", rf"\label{{tab:{label}}}"]
            inner = [r"\centering", *head, *_tabular(part)]
            blocks.append([r"\begin{table}", *inner, r"\end{table}"])
        elif part.lines:
            blocks.append(_comments(part.lines))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _tabular(table: Table) -> list[str]:
    alignment = "".join("r" if is_right else "l" for is_right in _are_right(table))
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", _latex_row(table.columns)]
    for rows in (table.rows, table.foot):
        if rows:
            lines += [r"\midrule", *map(_latex_row, rows)]
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _comments(lines: Iterable[str]) -> list[str]:
    return [f"% {line}".replace("\n", " ") for line in lines]


def _latex_row(cells: Iterable[Any]) -> str:
    """Return a line of a tabular."""
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(value: Any) -> str:
    """Return a cell for LaTeX."""
    if not isinstance(value, Value):
        return text(value).translate(_LATEX)
    number, beside = (
        part.replace("-", "−").translate(_LATEX) for part in (value.number, value.beside)
    )
    bold = rf"\textbf{{{number}}}" if value.is_best else number
    raised = f"$^{{{value.stars}}}$" if value.stars else ""
    sign = value.sign.replace("↔", " ↔").translate(_LATEX)  # the other marks are raised
    return f"{bold}{raised}{sign} {beside}".rstrip()


def _are_right(table: Table) -> list[bool]:
    """Return whether each column is aligned to the right, which columns of numbers are."""
    return [
        bool(cells) and all(isinstance(cell, Value) or _is_number(cell) for cell in cells)
        for cells in table.by_column()
    ]


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


# Markdown.


_MARKDOWN = str.maketrans(
    {
        **{character: f"\\{character}" for character in "\\`*_[]|#"},
        "<": "&lt;",
        ">": "&gt;",
        "\n": " ",
    }
)


def markdown_text(text: str) -> str:
    """Return a text for Markdown."""
    return text.translate(_MARKDOWN)


def markdown(report: Report) -> str:
    """Return tables, and sentences as lists, under headings of the third level."""
    blocks = [f"## {markdown_text(report.title)}"] if report.title else []
    for part in report.parts:
        if part.title and (isinstance(part, Table) or part.lines):
            blocks.append(f"### {markdown_text(part.title)}")
        if isinstance(part, Table):
            rows = [list(map(_markdown_cell, row)) for row in part.all_rows]
            blocks.append(markdown_grid(list(map(markdown_text, part.columns)), rows))
        elif part.lines:
            blocks.append("\n".join(f"- {markdown_text(line)}" for line in part.lines))
    return "\n\n".join(blocks) + "\n"


def markdown_grid(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table whose texts are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(text, line)) + " |" for line in lines)


def _markdown_cell(value: Any) -> str:
    if not isinstance(value, Value):
        return markdown_text(text(value))
    bold = f"**{value.number}**" if value.is_best else value.number
    return f"{bold}{markdown_text(f'{value.stars}{value.sign} {value.beside}')}".rstrip()


# HTML, for notebooks. Pages are the leaderboard's subject.


_LEFT = 'style="text-align: left"'
_RIGHT = 'style="text-align: right; white-space: nowrap"'
_SMALL = 'style="font-size: smaller; margin: 0"'


def html(report: Report) -> str:
    """Return tables, and sentences in small print."""
    return "".join(
        _html_table(part)
        if isinstance(part, Table)
        else "".join(f"<p {_SMALL}>{html_.escape(line)}</p>\n" for line in part.lines)
        for part in (Sentences("", [report.title] if report.title else []), *report.parts)
    )


def _html_table(table: Table) -> str:
    styles = [_RIGHT if is_right else _LEFT for is_right in _are_right(table)]

    def row(tag: str, cells: Iterable[str]) -> str:
        shown = zip(styles, cells, strict=True)
        return f"<tr>{''.join(f'<{tag} {style}>{cell}</{tag}>' for style, cell in shown)}</tr>"

    caption = f'<caption style="text-align: left">{html_.escape(table.title)}</caption>'
    head = row("th", map(html_.escape, table.columns))
    body = "".join(row("td", map(_html_cell, cells)) + "\n" for cells in table.all_rows)
    return f"<table>{caption}\n<thead>{head}</thead>\n<tbody>\n{body}</tbody></table>\n"


def _html_cell(value: Any) -> str:
    if not isinstance(value, Value):
        return html_.escape(text(value))
    number = html_.escape(f"{value.number}{value.stars}{value.sign}")
    best = f"{BEST} <b>{number}</b>" if value.is_best else number
    return f"{best} <small>{html_.escape(value.beside)}</small>" if value.beside else best


# A terminal. A table that is too wide breaks the names of its columns, cuts free text, drops
# columns, or is divided into parts, as its fields allow. What is then still too wide the
# terminal wraps.


def show(report: Report, width: int | None) -> None:
    """Print a report.

    Parameters
    ----------
    report
        The report.
    width
        Width of the terminal in characters; None for no limit.
    """
    if report.title:
        echo(wrapped(report.title, width) + "\n")
    dropped: dict[str, None] = {}
    for part in [*report.parts, Sentences("", ())]:
        if isinstance(part, Table):
            dropped |= dict.fromkeys(_print(part, width))
            continue
        if dropped:
            line = f"columns not shown on this narrow terminal: {', '.join(dropped)} (see --json)"
            echo(wrapped(line, width) + "\n")
            dropped = {}
        for line in part.lines:
            echo(wrapped(f"{part.prefix}{line}", width))
        if part.lines:
            echo()


def width() -> int | None:
    """Return the width of the output in characters; None if nothing limits it.

    The environment variable `COLUMNS` counts for every output; else a terminal has its own width.
    """
    is_limited = os.environ.get("COLUMNS") or stdout().isatty()
    return shutil.get_terminal_size().columns if is_limited else None


def plain_text(report: Report, width: int | None = None) -> str:
    """Return what `show` prints; by default without a limit of the width."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show(report, width)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def wrapped(line: str, width: int | None) -> str:
    """Return a line with breaks between words, so that it fits a width."""
    if not width:
        return line
    return textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)


def _print(table: Table, width: int | None) -> list[str]:
    """Print a table in as many parts as it needs, and return the columns that it drops."""
    columns = _columns(table)
    shown: set[str] = set()
    for i, part in enumerate(_divided(table, columns, width)):
        fitted = _fitted(part, table.drop, width)
        shown |= {column.name for column, *_ in fitted}
        if table.title:
            echo(f"{table.title} (continued)" if i else table.title, italic=True)
        click.echo("\n".join(_grid(fitted)), stdout())  # noqa: TID251  # printable cells, with styles
    return [name for name in table.drop if name in table.columns and name not in shown]


@dataclass(frozen=True)
class _Column:
    """A column on a terminal.

    Parameters
    ----------
    name, broken
        Its name, and with a line break before each `+`, `?` and `&` of a mitigator's name.
    cells
        Its cells, each as plain text and with its styles.
    is_right
        Whether it is aligned to the right.
    whole, least, floor
        Its width, that with the broken name, and the smallest that it can be cut to.
    """

    name: str
    broken: str
    cells: Sequence[tuple[str, str]]
    is_right: bool
    whole: int
    least: int
    floor: int


def _columns(table: Table) -> list[_Column]:
    columns = []
    for column, values in zip(table.columns, table.by_column(), strict=True):
        name = printable_lines(column)  # a header may have several lines
        cells = _cells(values)
        is_right = bool(values) and all(map(_is_number, values))
        broken = re.sub(r"(?<=.)(?=[+?&])", "\n", name)
        widest = max((_length(plain) for plain, _ in cells), default=0)
        whole, least = (max(widest, *map(_length, n.split("\n"))) for n in (name, broken))
        floor = least
        if column in table.shorten:
            floor = min(least, max(MIN_WIDTH // min(2, len(table.shorten)), len(name)))
        columns.append(_Column(name, broken, cells, is_right, whole, least, floor))
    return columns


def _cells(values: Sequence[Any]) -> list[tuple[str, str]]:
    """Return a column's cells; those of `Value`s have points and marks below each other."""
    if not values or not all(isinstance(value, Value) for value in values):
        return [(_plain(text(value)),) * 2 for value in values]
    lines = [(BEST * v.is_best, v.number, v.stars + v.sign, v.beside) for v in values]
    best, number, mark, beside = (max(map(len, texts)) for texts in zip(*lines, strict=True))
    cells = []
    for line in lines:
        shown = f"{line[0]:>{best}}{line[1]:>{number}}{line[2]:<{mark}}"
        small = f" {line[3]:>{beside}}" if beside else ""
        bold = click.style(shown, bold=True) if line[0] else shown
        cells.append((shown + small, bold + click.style(small, dim=True)))
    return cells


def _plain(cell: str) -> str:
    return printable(" ".join(cell.splitlines()), None)


def _divided(
    table: Table, columns: Sequence[_Column], width: int | None
) -> Iterator[Sequence[_Column]]:
    """Yield the columns of each part of a table, each with the columns that are repeated."""
    if not table.repeat or width is None or _total(column.floor for column in columns) <= width:
        yield columns
        return
    rest = [column for column in columns[table.repeat :] if column.name not in table.drop]
    while rest:
        part = [*columns[: table.repeat], rest.pop(0)]
        while rest and _total(column.floor for column in (*part, rest[0])) <= width:
            part.append(rest.pop(0))
        yield part


def _fitted(
    columns: Sequence[_Column], drop: Sequence[str], width: int | None
) -> list[tuple[_Column, str, int]]:
    """Return the columns that are kept, each with its header and its width."""
    if width is None or _total(column.whole for column in columns) <= width:
        return [(column, column.name, column.whole) for column in columns]
    kept = list(columns)
    for name in drop:
        if _total(column.floor for column in kept) > width:
            kept = [column for column in kept if column.name != name]
    sizes = [column.least for column in kept]
    while _total(sizes) > width:
        longer = [i for i, column in enumerate(kept) if sizes[i] > column.floor]
        if not longer:
            break
        sizes[max(longer, key=lambda i: sizes[i])] -= 1
    return [(column, column.broken, size) for column, size in zip(kept, sizes, strict=True)]


def _grid(columns: Sequence[tuple[_Column, str, int]]) -> list[str]:
    """Return the lines of a table: its header, a rule, and its rows, between empty lines."""
    n_lines = max((header.count("\n") for _, header, _ in columns), default=0) + 1
    texts = []
    for column, header, size in columns:
        lines = header.split("\n")
        lines = [""] * (n_lines - len(lines)) + lines
        bold = [(line, click.style(line, bold=True)) for line in lines]
        texts.append([_padded(cell, size, column.is_right) for cell in (*bold, *column.cells)])
    rows = [f" {'  '.join(cells)} " for cells in zip(*texts, strict=True)]
    width = _total(size for *_, size in columns) - 1
    blank, rule = " " * width, f" {'─' * (width - 2)} "
    return [blank, *rows[:n_lines], rule, *rows[n_lines:], blank]


def _padded(cell: tuple[str, str], width: int, is_right: bool) -> str:
    """Return a cell with spaces up to a width, or cut to it."""
    plain, styled = cell
    length = _length(plain)
    if length > width:
        from rich.cells import set_cell_size

        return f"{set_cell_size(plain, width - 1)}…"
    padding = " " * (width - length)
    return f"{padding}{styled}" if is_right else f"{styled}{padding}"


def _length(line: str) -> int:
    """Return how wide a text is: some characters take two places."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def _total(widths: Iterable[int]) -> int:
    """Return the width that a terminal needs for columns, with the spaces around them."""
    return sum(width + 2 for width in widths) + 1
