"""The cells of an evaluation's tables as texts, and the tables as LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.results import markup, means
from harness.results.record import STARS
from harness.results.tables import DIGITS, Cell, Row, Section

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
            f"{name}: {means.HELP[name]}; lower is better"
            for name in dict.fromkeys(
                means.NAMES[section.measures] for section in sections if section.mean
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
            *markup.tabular(columns, body, alignment),
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
        columns = [markup.markdown(name) for name in section.columns]
        grid = markup.grid(
            ["task", "score", "ideal", *columns],
            [
                [
                    *map(markup.markdown, (row.task, row.score, row.ideal)),
                    *(_markdown_cell(cell, intervals=intervals) for cell in row.cells),
                ]
                for row in rows
            ],
        )
        parts.append(f"### {markup.markdown(section.title)}\n\n{grid}\n")
    lines = [
        f"- {markup.markdown(line)}" for line in legend(sections, intervals=intervals, best=BOLD)
    ]
    return "\n".join([*parts, *lines]) + "\n"


def _latex_row(row: Row, *, intervals: bool) -> str:
    texts = [markup.latex(text) for text in (row.task, row.score, row.ideal)]
    return markup.latex_row([*texts, *(_latex_cell(cell, intervals) for cell in row.cells)])


def _latex_cell(cell: Cell | None, intervals: bool) -> str:
    value = markup.latex(number(cell).replace("-", "−"))
    if cell is not None and cell.is_best:
        value = rf"\textbf{{{value}}}"
    raised = f"$^{{{cell.stars}}}$" if cell and cell.stars else ""
    turned = rf" {markup.latex(REVERSED)}" if cell and cell.is_reversed else ""
    extra = markup.latex(beside(cell, intervals=intervals).replace("-", "−"))
    return f"{value}{raised}{turned} {extra}".rstrip()


def _markdown_cell(cell: Cell | None, *, intervals: bool) -> str:
    value = number(cell)
    bold = f"**{value}**" if cell and cell.is_best else value
    extra = markup.markdown(beside(cell, intervals=intervals))
    return f"{bold}{markup.markdown(marks(cell))} {extra}".rstrip()
