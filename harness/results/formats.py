"""A table, and the one way to write it in each format: terminal, CSV, LaTeX, Markdown and HTML.

Who has something to show builds a `Table`, and `Lines` for what stands beside it, such as a legend.
The functions below write both; every text is escaped. Knows neither records nor commands.
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
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

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


@dataclass(frozen=True)
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
    columns
        Names of the columns.
    rows
        The cells: texts, numbers, lists, `Value`s, or None.
    title
        Its title.
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

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    _: KW_ONLY
    foot: Sequence[Sequence[Any]] = ()
    shorten: Sequence[str] = ()
    drop: Sequence[str] = ()
    repeat: int = 0
    turned: Table | None = None

    @classmethod
    def of(cls, lines: Sequence[Mapping[str, Any]], title: str = "", **layout: Any) -> Table:
        """Return a table of mappings with equal keys, which name the columns."""
        columns = list(lines[0]) if lines else []
        return cls(columns, [[line[name] for name in columns] for line in lines], title, **layout)

    @property
    def all_rows(self) -> list[Sequence[Any]]:
        """All rows, those of the foot last."""
        return [*self.rows, *self.foot]

    def column(self, i: int) -> list[Any]:
        """Return the cells of a column."""
        return [row[i] for row in self.all_rows]


@dataclass(frozen=True)
class Lines:
    """Lines of text: a legend, a conclusion or notes.

    Parameters
    ----------
    lines
        The lines.
    title
        Heading in Markdown.
    prefix
        What each line begins with on a terminal, which shows no heading.
    """

    lines: Sequence[str]
    title: str = ""
    prefix: str = ""


Part: TypeAlias = Table | Lines


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


def latex(parts: Iterable[Part]) -> str:
    """Return tables as tabulars of booktabs, and titles and lines as comments."""
    blocks = []
    for part in parts:
        if isinstance(part, Table):
            title = [part.title] if part.title else []
            blocks.append([*_comments(title), *_tabular(part)])
        elif part.lines:
            blocks.append(_comments(part.lines))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _tabular(table: Table) -> list[str]:
    indices = range(len(table.columns))
    alignment = "".join("r" if _is_right(table.column(i)) else "l" for i in indices)
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


def _is_right(cells: Sequence[Any]) -> bool:
    return bool(cells) and all(isinstance(cell, Value) or _is_number(cell) for cell in cells)


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


def markdown(parts: Iterable[Part], *, title: str = "", level: int = 3) -> str:
    """Return tables and lists under headings of a level; a title stands one level above."""
    blocks = [f"{'#' * (level - 1)} {markdown_text(title)}"] if title else []
    for part in parts:
        if part.title and (isinstance(part, Table) or part.lines):
            blocks.append(f"{'#' * level} {markdown_text(part.title)}")
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


def html(parts: Iterable[Part]) -> str:
    """Return tables, and lines in small print."""
    return "".join(
        _html_table(part)
        if isinstance(part, Table)
        else "".join(f"<p {_SMALL}>{html_.escape(line)}</p>\n" for line in part.lines)
        for part in parts
    )


def _html_table(table: Table) -> str:
    styles = [_RIGHT if _is_right(table.column(i)) else _LEFT for i in range(len(table.columns))]

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


def show(parts: Iterable[Part], width: int | None) -> None:
    """Print tables and lines.

    Parameters
    ----------
    parts
        The tables and lines.
    width
        Width of the terminal in characters; None for no limit.
    """
    import click

    dropped: dict[str, None] = {}
    for part in [*parts, Lines(())]:
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


def plain_text(parts: Iterable[Part]) -> str:
    """Return what `show` prints, without a limit of the width."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        show(parts, None)
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

    columns = _columns(table)
    if width is not None and table.turned is not None and _total(columns) > width:
        turned = _columns(table.turned)
        if _total(turned) <= width:
            table, columns = table.turned, turned
    shown: set[str] = set()
    for i, part in enumerate(_divided(table, columns, width)):
        fitted = _fitted(part, table.drop, width)
        shown |= {column.name for column in fitted}
        grid = Grid(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for column in fitted:
            grid.add_column(
                column.header,
                justify="right" if column.is_right else "left",
                no_wrap=True,
                overflow="ellipsis",
                max_width=column.width,
            )
        for cells in zip(*(column.cells for column in fitted), strict=True):
            grid.add_row(*cells)
        heading = f"{table.title} (continued)" if table.title and i else table.title
        console = Console(width=max(_total(fitted), len(heading)))
        if heading:
            console.print(Text(heading, style="italic"))
        console.print(grid)
    return [name for name in table.drop if name in table.columns and name not in shown]


@dataclass(frozen=True)
class _Column:
    """A column on a terminal.

    Parameters
    ----------
    name
        Its name.
    header
        The name as it is shown, with line breaks where it is too long.
    cells
        Its cells.
    is_right
        Whether it is aligned to the right.
    width, floor
        Its width, and the smallest one that it can be cut to.
    """

    name: str
    header: str
    cells: Sequence[Text]
    is_right: bool
    width: int
    floor: int


def _columns(table: Table) -> list[_Column]:
    """Return the columns with broken names."""
    from rich.text import Text

    columns = []
    for i, name in enumerate(table.columns):
        values = table.column(i)
        if values and all(isinstance(value, Value) for value in values):
            cells = _aligned(values)
        else:
            cells = [Text(text(value)) for value in values]
        # Names of mitigators break before each `+`, `?` and `&`.
        header = re.sub(r"(?<=.)(?=[+?&])", "\n", name)
        width = floor = _width(header, cells)
        if name in table.shorten:
            floor = min(width, max(MIN_WIDTH // min(2, len(table.shorten)), len(name)))
        is_right = bool(values) and all(map(_is_number, values))
        columns.append(_Column(name, header, cells, is_right, width, floor))
    return columns


def _aligned(values: Sequence[Value]) -> list[Text]:
    """Return the texts of a column, with the decimal points, stars and changes below each other."""
    from rich.text import Text

    cells = []
    for value, (shown, beside) in zip(values, _below_each_other(values), strict=True):
        cell = Text(shown, style="bold" if value.is_best else "")
        if beside:
            cell.append(beside, style="not bold dim")
        cells.append(cell)
    return cells


def _below_each_other(values: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """Yield each number of a column with its marks, and what stands beside it."""
    lines = [
        (BEST if value.is_best else "", value.number, value.stars + value.sign, value.beside)
        for value in values
    ]
    best, number, mark, beside = (max(map(len, texts)) for texts in zip(*lines, strict=True))
    for line in lines:
        shown = f"{line[0]:>{best}}{line[1]:>{number}}{line[2]:<{mark}}"
        yield shown, f" {line[3]:>{beside}}" if beside else ""


def _plain(table: Table) -> list[str] | None:
    """Return the lines of a table for no terminal, ten times as fast as rich lays it out.

    None if a text has a line break or another character that takes no place.
    """
    columns = []
    for i, name in enumerate(table.columns):
        values = table.column(i)
        if values and all(isinstance(value, Value) for value in values):
            cells = [shown + beside for shown, beside in _below_each_other(values)]
        else:
            cells = [text(value) for value in values]
        is_right = bool(values) and all(map(_is_number, values))
        columns.append(_padded([name, *cells], is_right=is_right))
    if not all(map(str.isprintable, (table.title, *(cell for cells in columns for cell in cells)))):
        return None
    header, *rows = (f" {'  '.join(cells)} " for cells in zip(*columns, strict=True))
    width = _cells(header)
    blank, rule = " " * width, f" {'─' * (width - 2)} "
    return [*([table.title] if table.title else []), blank, header, rule, *rows, blank]


def _padded(cells: Sequence[str], *, is_right: bool) -> list[str]:
    widths = [_cells(cell) for cell in cells]
    most = max(widths)
    pads = (" " * (most - width) for width in widths)
    pairs = zip(pads, cells, strict=True)
    return [pad + cell if is_right else cell + pad for pad, cell in pairs]


def _cells(line: str) -> int:
    """Return how wide a text is: some characters take two places."""
    from rich.cells import cell_len

    return len(line) if line.isascii() else cell_len(line)


def _width(header: str, cells: Iterable[Text]) -> int:
    from rich.cells import cell_len

    return max([*map(cell_len, header.split("\n")), *(cell.cell_len for cell in cells)])


def _divided(
    table: Table, columns: Sequence[_Column], width: int | None
) -> Iterator[Sequence[_Column]]:
    """Yield the columns of each part of a table, each with the columns that are repeated."""
    if not table.repeat or width is None or _total(columns, cut=True) <= width:
        yield columns
        return
    repeated = columns[: table.repeat]
    rest = [column for column in columns[table.repeat :] if column.name not in table.drop]
    while rest:
        part = [*repeated, rest.pop(0)]
        while rest and _total([*part, rest[0]], cut=True) <= width:
            part.append(rest.pop(0))
        yield part


def _fitted(
    columns: Sequence[_Column], drop: Sequence[str], width: int | None
) -> Sequence[_Column]:
    """Return the columns that are kept, with their headers and widths."""
    whole = [
        replace(column, header=column.name, width=_width(column.name, column.cells))
        for column in columns
    ]
    if width is None or _total(whole) <= width:
        return whole
    kept = list(columns)
    for name in drop:
        if _total(kept, cut=True) > width:
            kept = [column for column in kept if column.name != name]
    while _total(kept) > width:
        longer = [i for i, column in enumerate(kept) if column.width > column.floor]
        if not longer:
            break
        widest = max(longer, key=lambda i: kept[i].width)
        kept[widest] = replace(kept[widest], width=kept[widest].width - 1)
    return kept


def _total(columns: Iterable[_Column], *, cut: bool = False) -> int:
    """Return the width of a table with these columns, paddings and borders included."""
    return sum((column.floor if cut else column.width) + 2 for column in columns) + 1
