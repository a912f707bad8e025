"""The tables of an evaluation: a section for each model and for what its tasks measure.

A row is a score of a task, a column a mitigator. Computes what the cells say; knows no formats:
`formats` writes LaTeX and Markdown, and the commands print tables on a terminal.
"""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness import names
from harness.results import resampling
from harness.results.record import STARS, IntervalPart, Record, stars
from harness.results.record import loss as loss_of
from harness.results.resampling import standard_error

MEASURES = ("bias", "usefulness", "control")
"""Sections of a model, in this order."""
ONE_SIDED = {"greater": 1, "less": -1}
"""Values of `details.alternative` with a one-sided p-value: the direction that it tests."""
DIGITS = 3
"""Digits after the decimal point. Values that are equal when rounded to these are ties."""


@dataclass(frozen=True)
class Cell:
    """A score as a table shows it.

    Parameters
    ----------
    value
        The number; None if the score is void.
    stars
        Stars of its p-value; empty where it has none, and for usefulness, whose p-values only say
        that a correlation differs from 0.
    is_reversed
        Whether the association points the other way: against the direction that a one-sided
        p-value tests; or significantly against the expected one, where the metric says it
        (`details.reversed`); or else against the association of the unmitigated model.
    is_best
        Whether no other value of the row is as near to the ideal.
    change
        The value minus the value of the unmitigated model.
    interval
        Confidence interval of the value.
    standard_error
        Standard error of a mean over runs with other seeds.
    """

    value: float | None
    stars: str = ""
    is_reversed: bool = False
    is_best: bool = False
    change: float | None = None
    interval: IntervalPart | None = None
    standard_error: float | None = None


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Parameters
    ----------
    task, score
        What was measured. The task has its scenario if the table has several of it.
    ideal
        The fair value, or `higher` or `lower`.
    cells
        One for each column; None if the task was not run.
    """

    task: str
    score: str
    ideal: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Section:
    """The table of one model and of what its tasks measure.

    Parameters
    ----------
    model
        Label of the model.
    measures
        `bias`, `usefulness` or `control`.
    columns
        Labels of the mitigators.
    rows
        The scores.
    mean
        Mean distance to the ideal, over the tasks that all columns have; None with fewer than two
        such tasks, and for controls.
    one_sided
        Metrics whose p-values are one-sided.
    limit
        Number of items that sets and tables were cut to, in a smoke run.
    """

    model: str
    measures: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    mean: Row | None = None
    one_sided: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def title(self) -> str:
        """The model, and what is measured."""
        limit = "" if self.limit is None else f" (--limit {self.limit})"
        return f"{self.model}: {self.measures}{limit}"

    @property
    def cells(self) -> list[Cell]:
        """All cells that have a score."""
        rows = (*self.rows, self.mean) if self.mean else self.rows
        return [cell for row in rows for cell in row.cells if cell]


Key = tuple[str, str, str, str]
"""Task, scenario, metric and score: what a row stands for."""


def sections(records: Iterable[Record]) -> list[Section]:
    """Return the tables of records: models and mitigators in the order of the records.

    Of several records of one cell, such as those of two seeds, the newest version and then the
    latest record counts. Different weights under one name have a section each, with the end of
    their fingerprint.
    """
    models: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        models[record.model.name, record.model.fingerprint].append(record)
    known_by_name = Counter(name for name, _ in models)
    return [
        _section(
            name if known_by_name[name] == 1 else names.with_fingerprint(name, fingerprint),
            measures,
            chosen,
        )
        for (name, fingerprint), of_model in models.items()
        for measures in MEASURES
        if (chosen := [record for record in of_model if record.task.measures == measures])
    ]


def _section(model: str, measures: str, records: Sequence[Record]) -> Section:
    lines: dict[Key, dict[str, Record]] = {}
    for record in records:
        key = (record.task.name, record.scenario, record.metric, record.score)
        line = lines.setdefault(key, {})
        other = line.get(record.mitigator.label)
        if other is None or age(other) <= age(record):
            line[record.mitigator.label] = record
    columns = _columns(lines.values())
    named = _names(lines)
    one_sided = [
        record.metric
        for line in lines.values()
        for record in line.values()
        if record.p_value is not None and record.details.get("alternative") in ONE_SIDED
    ]
    return Section(
        model=model,
        measures=measures,
        columns=columns,
        rows=tuple(_row(*named[key], line, columns) for key, line in lines.items()),
        mean=None if measures == "control" else _mean(measures, list(lines.values()), columns),
        one_sided=() if measures == "usefulness" else tuple(dict.fromkeys(one_sided)),
        limit=max((record.limit for record in records if record.limit is not None), default=None),
    )


def _columns(lines: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return the labels of all lines, so that the labels of each line keep their order.

    A task on which only the last mitigator applies may come first.
    """
    columns: list[str] = []
    for line in lines:
        in_line = list(line)
        for i, name in enumerate(in_line):
            if name not in columns:
                later = [columns.index(other) for other in in_line[i + 1 :] if other in columns]
                columns.insert(min(later, default=len(columns)), name)
    return tuple(columns)


def age(record: Record) -> tuple[int, str]:
    """Return the version of a record's task and its time: the larger, the newer."""
    return record.task.version, record.created


def _names(keys: Iterable[Key]) -> dict[Key, tuple[str, str]]:
    """Return the task and the score of each row, with the scenario and metric if needed."""
    keys = list(keys)
    named = {}
    for task, scenario, metric, score in keys:
        same = [key for key in keys if key[0] == task]
        shown = task if len({key[1] for key in same}) == 1 else f"{task} ({scenario})"
        several = len({key[2] for key in same}) > 1
        named[task, scenario, metric, score] = shown, f"{metric} {score}" if several else score
    return named


def _row(task: str, score: str, line: Mapping[str, Record], columns: Sequence[str]) -> Row:
    first = next(iter(line.values()))
    base = line.get(names.NONE)
    cells = [_cell(line[column], base) if column in line else None for column in columns]
    ideal = first.ideal if isinstance(first.ideal, str) else f"{first.ideal:g}"
    if first.task.measures != "control":
        losses = {
            column: loss_of(record.value, record.ideal, record.bounds)
            for column, record in line.items()
            if record.value is not None
        }
        cells = _with_best(cells, columns, losses)
    return Row(task, score, ideal, tuple(cells))


def _cell(record: Record, base: Record | None) -> Cell:
    if record.value is None:
        return Cell(None)
    is_compared = base is not None and base is not record and base.value is not None
    return Cell(
        value=record.value,
        stars="" if record.task.measures == "usefulness" else stars(record.p_value),
        is_reversed=_is_reversed(record, base),
        change=record.value - base.value if is_compared else None,  # type: ignore[operator, union-attr]
        interval=record.interval,
        standard_error=standard_error(record),
    )


def _is_reversed(record: Record, base: Record | None) -> bool:
    side = _side(record)
    tested = ONE_SIDED.get(str(record.details.get("alternative")))
    if tested is not None and record.p_value is not None:
        return side == -tested
    if "reversed" in record.details:
        return bool(record.details["reversed"])
    return base is not None and side * _side(base) < 0


def _side(record: Record) -> int:
    """Return on which side of its ideal a value lies: −1, 0 or 1."""
    if record.value is None or isinstance(record.ideal, str):
        return 0
    difference = round(record.value - record.ideal, DIGITS)
    return (difference > 0) - (difference < 0)


def _with_best(
    cells: Sequence[Cell | None], columns: Sequence[str], losses: Mapping[str, float]
) -> list[Cell | None]:
    """Mark the cell with the smallest loss, unless another one has the same."""
    rounded = {column: round(loss, DIGITS) for column, loss in losses.items()}
    least = [column for column, loss in rounded.items() if loss == min(rounded.values())]
    if len(rounded) < 2 or len(least) > 1:
        return list(cells)
    return [
        dataclasses.replace(cell, is_best=True) if cell and column == least[0] else cell
        for cell, column in zip(cells, columns, strict=True)
    ]


def _mean(
    measures: str, lines: Sequence[Mapping[str, Record]], columns: Sequence[str]
) -> Row | None:
    """Return the mean over families of the tasks that count in all columns, as on a leaderboard."""
    counted = resampling.mean_over_families(lines, columns)
    if counted is None:
        return None
    by_column, n = counted
    base = by_column.get(names.NONE)
    cells = [
        Cell(mean, change=None if base is None or column == names.NONE else mean - base)
        for column, mean in by_column.items()
    ]
    title = f"{resampling.NAMES[measures]} ({n} of {len(lines)})"
    return Row(title, "", "0", tuple(_with_best(cells, columns, by_column)))


# Tables of texts as LaTeX, Markdown and CSV; every text is escaped.


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


def latex_text(text: str) -> str:
    """Return a text for LaTeX."""
    return text.translate(_LATEX)


def markdown_text(text: str) -> str:
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
        latex_row(map(latex_text, columns)),
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def markdown_grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
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


# The cells of an evaluation's tables as texts, and the tables as LaTeX and Markdown.


BEST = "•"
"""Marks the best value of a row where there is no bold type."""
BOLD = "bold:"
"""Stands for `BEST` in the legend where there is bold type."""
REVERSED = "↔"
"""Marks a reversed association."""
NOT_RUN = "–"
VOID = "void"


def number(cell: Cell | None) -> str:
    """Return the number of a cell, `void`, or `–` if the task was not run."""
    if cell is None:
        return NOT_RUN
    return VOID if cell.value is None else f"{cell.value:z.{DIGITS}f}"


def marks(cell: Cell | None) -> str:
    """Return the stars of a cell, and whether its association is reversed."""
    return "" if cell is None else cell.stars + (REVERSED if cell.is_reversed else "")


def beside(cell: Cell | None, *, intervals: bool) -> str:
    """Return the change of a cell from the unmitigated model, or its interval; empty if none.

    A mean over runs has its standard error in place of the change.
    """
    if cell is None:
        return ""
    if intervals:
        interval = cell.interval
        return f"[{interval.low:z.2f}, {interval.high:z.2f}]" if interval else ""
    if cell.standard_error is not None:
        return f"± {cell.standard_error:.{DIGITS}f}"
    if cell.change is None:
        return ""
    change = f"{cell.change:+z.{DIGITS}f}"
    return "(=)" if float(change) == 0 else f"({change})"


def legend(sections: Sequence[Section], *, intervals: bool, best: str = BEST) -> list[str]:
    """Return what the marks in the tables mean, a line each; only of marks that occur.

    Parameters
    ----------
    sections
        The tables.
    intervals
        Whether they show intervals in place of changes.
    best
        What marks the best value of a row.
    """
    cells = [cell for section in sections for cell in section.cells]
    shown = [(number(cell), beside(cell, intervals=intervals)) for cell in cells]
    lines = []
    if any(cell.stars for cell in cells):
        lines.append(STARS)
    if intervals:
        levels = sorted({f"{cell.interval.level:.0%}" for cell in cells if cell.interval})
        lines += [f"[low, high]: {' or '.join(levels)} confidence interval"] if levels else []
    elif any(extra.startswith("(") for _, extra in shown):
        lines.append("(change): difference from none; (=): no difference")
    if any(cell.standard_error is not None for cell in cells) and not intervals:
        lines.append("± standard error of the mean over runs that differ only in their seed")
    if any(cell.is_best for cell in cells):
        lines.append(f"{best} nearest to the ideal in its row")
    if any(cell.is_reversed for cell in cells):
        lines.append(f"{REVERSED} reversed: the association points the other way")
    if one_sided := dict.fromkeys(name for section in sections for name in section.one_sided):
        lines.append(f"p-values of {', '.join(one_sided)} are one-sided: reversed has no star")
    if any(text == VOID for text, _ in shown):
        lines.append(f"{VOID}: no number could be computed")
    if any(cell is None for section in sections for row in section.rows for cell in row.cells):
        lines.append(f"{NOT_RUN} not run")
    if any(section.limit is not None for section in sections):
        lines.append("smoke run (--limit): the scores only show that it runs; never ranked")
    if any(section.mean for section in sections):
        lines += [
            f"{name}: {resampling.HELP[name]}; lower is better"
            for name in dict.fromkeys(
                resampling.NAMES[section.measures] for section in sections if section.mean
            )
        ]
        lines.append("(n of m): n of m tasks count in all columns; a family has one vote")
    return lines


def latex(sections: Iterable[Section], *, intervals: bool = False) -> str:
    """Return tables as LaTeX: a tabular of booktabs each, with the best value in bold type."""
    parts = []
    sections = list(sections)
    for section in sections:
        body = [r"\midrule", *(_latex_row(row, intervals=intervals) for row in section.rows)]
        if section.mean:
            body += [r"\midrule", _latex_row(section.mean, intervals=intervals)]
        columns = ("task", "score", "ideal", *section.columns)
        alignment = "lll" + "r" * len(section.columns)
        lines = [
            f"% {section.title}".replace("\n", " "),
            *tabular(columns, body, alignment),
        ]
        parts.append("\n".join(lines) + "\n")
    notes = [f"% {line}" for line in legend(sections, intervals=intervals, best=BOLD)]
    return "\n".join([*parts, *notes]) + "\n"


def markdown(sections: Iterable[Section], *, intervals: bool = False) -> str:
    """Return tables as Markdown, with the best value in bold type."""
    parts = []
    sections = list(sections)
    for section in sections:
        rows = (*section.rows, section.mean) if section.mean else section.rows
        columns = [markdown_text(name) for name in section.columns]
        grid = markdown_grid(
            ["task", "score", "ideal", *columns],
            [
                [
                    *map(markdown_text, (row.task, row.score, row.ideal)),
                    *(_markdown_cell(cell, intervals=intervals) for cell in row.cells),
                ]
                for row in rows
            ],
        )
        parts.append(f"### {markdown_text(section.title)}\n\n{grid}\n")
    lines = [
        f"- {markdown_text(line)}" for line in legend(sections, intervals=intervals, best=BOLD)
    ]
    return "\n".join([*parts, *lines]) + "\n"


def _latex_row(row: Row, *, intervals: bool) -> str:
    texts = [latex_text(text) for text in (row.task, row.score, row.ideal)]
    return latex_row([*texts, *(_latex_cell(cell, intervals) for cell in row.cells)])


def _latex_cell(cell: Cell | None, intervals: bool) -> str:
    value = latex_text(number(cell).replace("-", "−"))
    if cell is not None and cell.is_best:
        value = rf"\textbf{{{value}}}"
    raised = f"$^{{{cell.stars}}}$" if cell and cell.stars else ""
    turned = rf" {latex_text(REVERSED)}" if cell and cell.is_reversed else ""
    extra = latex_text(beside(cell, intervals=intervals).replace("-", "−"))
    return f"{value}{raised}{turned} {extra}".rstrip()


def _markdown_cell(cell: Cell | None, *, intervals: bool) -> str:
    value = number(cell)
    bold = f"**{value}**" if cell and cell.is_best else value
    extra = markdown_text(beside(cell, intervals=intervals))
    return f"{bold}{markdown_text(marks(cell))} {extra}".rstrip()


# Tables as HTML, for notebooks; every text is escaped. Pages are the leaderboard's subject.


_LEFT = 'style="text-align: left"'
_RIGHT = 'style="text-align: right; white-space: nowrap"'
_SMALL = 'style="font-size: smaller; margin: 0"'


def html_of_sections(sections: Sequence[Section]) -> str:
    """Return the tables of an evaluation, with what their marks mean."""
    parts = []
    for section in sections:
        rows = (*section.rows, section.mean) if section.mean else section.rows
        parts.append(
            html_table(
                section.title,
                ("task", "score", "ideal", *section.columns),
                [
                    [
                        *(_html_cell(text, _LEFT) for text in (row.task, row.score, row.ideal)),
                        *(_html_number(cell) for cell in row.cells),
                    ]
                    for row in rows
                ],
                n_texts=3,
            )
        )
    return "".join([*parts, html_lines(legend(sections, intervals=False))])


def html_of_texts(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    return html_table(title, columns, [[_html_cell(text, _LEFT) for text in row] for row in rows])


def html_table(
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


def html_lines(texts: Iterable[str]) -> str:
    """Return texts in small print, each on a line."""
    return "".join(f"<p {_SMALL}>{html.escape(text)}</p>\n" for text in texts)


def _html_cell(text: str, style: str) -> str:
    return f"<td {style}>{html.escape(text)}</td>"


def _html_number(cell: Cell | None) -> str:
    value = html.escape(number(cell) + marks(cell))
    if cell and cell.is_best:
        value = f"{BEST} <b>{value}</b>"
    extra = html.escape(beside(cell, intervals=False))
    return (
        f"<td {_RIGHT}>{value} <small>{extra}</small></td>"
        if extra
        else (f"<td {_RIGHT}>{value}</td>")
    )
