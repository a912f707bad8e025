"""Tables and reports, and the one way to write them as text, CSV, LaTeX, Markdown and HTML.

Who has something to show builds a `Table`; a `Report` has several, with sentences between them. A
function for each format writes them; every text is escaped. Knows neither records nor commands.
"""

from __future__ import annotations

import contextlib
import csv
import html as html_
import io
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.text import Text

NOTHING = "–"
"""Stands for a value that there is not."""
BEST = "•"
"""Marks the best value of a row where there is no bold type."""
BOLD = "bold:"
"""Stands for `BEST` in the legend where there is bold type."""
MIN_WIDTH = 20
"""Smallest width to which a single column of free text is shortened; of several, half of it."""


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
        What stands beside it in small print, such as a change or an interval.
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
        Further rows, which stand apart.
    shorten
        Columns of free text, which a narrow terminal cuts, the widest first; no other is cut.
    drop
        Columns that a narrow terminal drops, the least important first.
    repeat
        Number of columns that each part repeats if a narrow terminal divides the table; 0 keeps
        the table whole.
    turned
        The same table with its rows as columns, for terminals on which only that fits.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    foot: Sequence[Sequence[Any]] = ()
    _: KW_ONLY
    shorten: Sequence[str] = ()
    drop: Sequence[str] = ()
    repeat: int = 0
    turned: Table | None = None

    @classmethod
    def of(cls, title: str, lines: Sequence[Mapping[str, Any]], **layout: Any) -> Table:
        """Return a table of mappings with equal keys, which name the columns."""
        columns = list(lines[0]) if lines else []
        return cls(title, columns, [[line[name] for name in columns] for line in lines], **layout)

    @property
    def all_rows(self) -> list[Sequence[Any]]:
        """All rows, those of the foot last."""
        return [*self.rows, *self.foot]

    def column(self, i: int) -> list[Any]:
        """Return the cells of a column."""
        return [row[i] for row in self.all_rows]


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


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of what spreadsheets read as a formula."""


def comma_separated(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines with equal keys as CSV; empty if there are none.

    A mapping becomes JSON. A text that a spreadsheet would take for a formula is quoted.
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
        "–": "--",
        "\n": " ",
    }
)


def latex(report: Report) -> str:
    """Return tables as tabulars of booktabs, and titles and sentences as comments."""
    blocks = [_comments([report.title])] if report.title else []
    for part in report.parts:
        if isinstance(part, Table):
            title = [part.title] if part.title else []
            blocks.append([*_comments(title), *_tabular(part)])
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
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(value: Any) -> str:
    if not isinstance(value, Value):
        return text(value).translate(_LATEX)
    number, beside = (
        part.replace("-", "−").translate(_LATEX) for part in (value.number, value.beside)
    )
    bold = rf"\textbf{{{number}}}" if value.is_best else number
    raised = f"$^{{{value.stars}}}$" if value.stars else ""
    sign = f" {value.sign.translate(_LATEX)}" if value.sign else ""
    return f"{bold}{raised}{sign} {beside}".rstrip()


def _are_right(table: Table) -> list[bool]:
    """Return whether each column is aligned to the right, which columns of numbers are."""
    columns = [table.column(i) for i in range(len(table.columns))]
    return [
        bool(cells) and all(isinstance(cell, Value) or _is_number(cell) for cell in cells)
        for cells in columns
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
# columns, turns, or is divided into parts, as its fields allow. What is then still too wide the
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
    import click

    if report.title:
        click.echo(wrapped(report.title, width) + "\n")
    dropped: dict[str, None] = {}
    for part in [*report.parts, Sentences("", ())]:
        if isinstance(part, Table):
            dropped |= dict.fromkeys(_print(part, width))
            continue
        if dropped:
            columns = ", ".join(dropped)
            click.echo(f"columns not shown on this narrow terminal: {columns} (see --json)\n")
            dropped = {}
        for line in part.lines:
            click.echo(wrapped(f"{part.prefix}{line}", width))
        if part.lines:
            click.echo()


def plain_text(report: Report) -> str:
    """Return what `show` prints, without a limit of the width."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show(report, None)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def wrapped(line: str, width: int | None) -> str:
    """Return a line with breaks between words, so that it fits a width."""
    return textwrap.fill(line, width, subsequent_indent="  ") if width else line


def _print(table: Table, width: int | None) -> list[str]:
    """Print a table in as many parts as it needs, and return the columns that it drops."""
    if width is None and (lines := _plain(table)) is not None:
        import click

        click.echo("\n".join(lines))
        return []
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    if width and table.turned and _least(table) > width >= _least(table.turned):
        table = table.turned
    shown: set[str] = set()
    for i, part in enumerate(_divided(table, width)):
        fitted = _fitted(table, part, width)
        shown |= {table.columns[j] for j in fitted}
        grid = Grid(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for column, (header, size) in fitted.items():
            values = table.column(column)
            side: Literal["left", "right"] = (
                "right" if values and all(map(_is_number, values)) else "left"
            )
            grid.add_column(header, justify=side, no_wrap=True, overflow="ellipsis", max_width=size)
        for cells in zip(*(_cells(table.column(j)) for j in fitted), strict=True):
            grid.add_row(*cells)
        heading = f"{table.title} (continued)" if table.title and i else table.title
        total = _total(size for _, size in fitted.values())
        console = Console(width=max(total, len(heading)))
        if heading:
            console.print(Text(heading, style="italic"))
        console.print(grid)
    return [name for name in table.drop if name in table.columns and name not in shown]


def _divided(table: Table, width: int | None) -> Iterator[list[int]]:
    """Yield the columns of each part of a table, each with the columns that are repeated."""
    every = list(range(len(table.columns)))
    floors = [_floor(table, i) for i in every]
    if not table.repeat or width is None or _total(floors) <= width:
        yield every
        return
    rest = [i for i in every[table.repeat :] if table.columns[i] not in table.drop]
    while rest:
        part = [*every[: table.repeat], rest.pop(0)]
        while rest and _total(floors[i] for i in (*part, rest[0])) <= width:
            part.append(rest.pop(0))
        yield part


def _fitted(table: Table, columns: Iterable[int], width: int | None) -> dict[int, tuple[str, int]]:
    """Return the header and the width of each column that is kept."""
    whole = {i: (table.columns[i], _width(table, i, table.columns[i])) for i in columns}
    if width is None or _total(size for _, size in whole.values()) <= width:
        return whole
    kept = {i: _width(table, i, _broken(table.columns[i])) for i in whole}
    floors = {i: _floor(table, i) for i in whole}
    for name in table.drop:
        if _total(floors[i] for i in kept) > width:
            kept = {i: size for i, size in kept.items() if table.columns[i] != name}
    while _total(kept.values()) > width:
        longer = [i for i in kept if kept[i] > floors[i]]
        if not longer:
            break
        kept[max(longer, key=lambda i: kept[i])] -= 1
    return {i: (_broken(table.columns[i]), size) for i, size in kept.items()}


def _least(table: Table) -> int:
    """Return the width of a table whose columns have broken names."""
    return _total(_width(table, i, _broken(name)) for i, name in enumerate(table.columns))


def _floor(table: Table, i: int) -> int:
    """Return the smallest width that a column can be cut to."""
    name = table.columns[i]
    width = _width(table, i, _broken(name))
    if name not in table.shorten:
        return width
    return min(width, max(MIN_WIDTH // min(2, len(table.shorten)), len(name)))


def _broken(name: str) -> str:
    """Return a mitigator's name with a line break before each `+`, `?` and `&`."""
    return re.sub(r"(?<=.)(?=[+?&])", "\n", name)


def _width(table: Table, i: int, header: str) -> int:
    from rich.cells import cell_len

    cells = [cell.cell_len for cell in _cells(table.column(i))]
    return max([*map(cell_len, header.split("\n")), *cells])


def _total(widths: Iterable[int]) -> int:
    """Return the width of a table with these columns, paddings and borders included."""
    return sum(width + 2 for width in widths) + 1


def _cells(values: Sequence[Any]) -> list[Text]:
    """Return a column's texts; those of `Value`s with decimal points and marks below each other."""
    from rich.text import Text

    cells = []
    for shown, beside, is_best in _aligned(values):
        cell = Text(shown, style="bold" if is_best else "")
        if beside:
            cell.append(beside, style="not bold dim")
        cells.append(cell)
    return cells


def _aligned(values: Sequence[Any]) -> Iterator[tuple[str, str, bool]]:
    """Yield the text of each cell, what stands beside it, and whether it is the best."""
    if not values or not all(isinstance(value, Value) for value in values):
        yield from ((text(value), "", False) for value in values)
        return
    lines = [(BEST * v.is_best, v.number, v.stars + v.sign, v.beside) for v in values]
    best, number, mark, beside = (max(map(len, texts)) for texts in zip(*lines, strict=True))
    for line in lines:
        shown = f"{line[0]:>{best}}{line[1]:>{number}}{line[2]:<{mark}}"
        yield shown, f" {line[3]:>{beside}}" if beside else "", bool(line[0])


def _plain(table: Table) -> list[str] | None:
    """Return the lines of a table for no terminal, ten times as fast as rich lays it out.

    None if a text has a line break or another character that takes no place.
    """
    columns = []
    for i, name in enumerate(table.columns):
        values = table.column(i)
        cells = [name, *(shown + beside for shown, beside, _ in _aligned(values))]
        if not all(map(str.isprintable, cells)):
            return None
        is_right = bool(values) and all(map(_is_number, values))
        columns.append(_padded(cells, is_right=is_right))
    if not table.title.isprintable():
        return None
    header, *rows = (f" {'  '.join(cells)} " for cells in zip(*columns, strict=True))
    width = _places(header)
    blank, rule = " " * width, f" {'─' * (width - 2)} "
    return [*([table.title] if table.title else []), blank, header, rule, *rows, blank]


def _padded(cells: Sequence[str], *, is_right: bool) -> list[str]:
    """Return the cells of a column, all as wide as the widest."""
    widths = [_places(cell) for cell in cells]
    most = max(widths)
    pads = (" " * (most - width) for width in widths)
    pairs = zip(pads, cells, strict=True)
    return [pad + cell if is_right else cell + pad for pad, cell in pairs]


def _places(line: str) -> int:
    """Return how wide a text is: some characters take two places."""
    from rich.cells import cell_len

    return len(line) if line.isascii() else cell_len(line)
