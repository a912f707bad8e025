"""The status of a row: computed from what is printed and what came out, never typed.

Here are also the tables of docs/papers.md, which `docs/pages.py` writes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from harness.results.formats import markdown_grid, markdown_text

from .rows import NOT_PRINTED, Number, PaperFile, Row, recorded

Status: TypeAlias = Literal["reproduced", "differs", "needs", "no value", "not printed"]
"""`no value`: not run here, for lack of data for example. `not printed`: the paper has no value for
this model."""
SHOWN: tuple[Status, ...] = ("reproduced", "differs", "needs")
"""What a row of the page may have."""
SLACK = 1e-9
"""For the arithmetic of decimal numbers: |0.49 − 0.48| is more than 0.01 in binary."""


@dataclass(frozen=True)
class Result:
    """A row and what came out.

    Parameters
    ----------
    row, paper
        The row, and the name of its paper.
    here
        What came out; None if nothing did.
    status, why
        Whether it agrees with what is printed, and why not or what is missing.
    command
        What gave it.
    valid
        Whether tasks rank by it, as in `rows.Selection`.
    """

    row: Row
    paper: str
    here: float | str | None
    status: Status
    why: str
    command: str
    valid: str

    @property
    def problem(self) -> str:
        """What is wrong with the row, for its author; empty if nothing is."""
        if self.status == "differs" and not self.why:
            return f"differs (here {self.found}, printed {self.printed}) and states no 'reason'"
        if self.status == "reproduced" and self.row.reason:
            return "reproduces, so its 'reason' is out of date: remove it, or make it a 'note'"
        return ""

    @property
    def printed(self) -> str:
        """The expected value as text, with its own digits."""
        value = self.row.printed
        mark = f" ({self.row.source})" if self.row.source else ""
        return _text(value, max(_decimals(value), isinstance(value, float)), self.row.unit) + mark

    @property
    def found(self) -> str:
        """What came out as text, with as many digits as are printed.

        A printed 1.0 stands for 1.00 where the tolerance is in hundredths.
        """
        row, digits = self.row, self.row.digits
        if digits is None:
            digits = max(map(_decimals, [row.printed, *row.elsewhere.values()]))
            if isinstance(row.printed, float) and row.printed.is_integer():
                digits = max(digits, min(_decimals(row.tolerance), 2))
        return _text(self.here, digits, row.unit)

    @property
    def verdict(self) -> str:
        """The status, with its tolerance, the reason and the remark."""
        is_close = self.status == "reproduced" and not isinstance(self.here, str)
        within = f" within {self.row.tolerance:g}" if is_close and self.row.tolerance else ""
        parts = [f"{self.status}: {self.why}" if self.why else self.status + within]
        return ". ".join(part.rstrip(".") for part in [*parts, *filter(None, [self.row.note])])


def results(
    paper: PaperFile, values: Mapping[str, float | str], missing: Mapping[str, str]
) -> list[Result]:
    """Return the result of every row of a paper, tables and figures first.

    Parameters
    ----------
    paper
        The rows.
    values, missing
        Values of what rows select, or why there are none, by the address of the selection.
    """
    found = []
    for row in paper.paper.rows:
        status: Status
        here: float | str | None = row.here
        command, valid, why = row.command or "", "", row.reason or ""
        absent = ""
        if (selected := paper.selections.get(row.id)) is not None:
            here, command = values.get(selected.address), selected.command
            valid, absent = selected.valid, missing.get(selected.address, "not run")
        if row.needs is not None:
            status, why = "needs", row.needs
        elif row.holds is not None:
            status, here = "reproduced" if row.holds else "differs", row.evidence
        elif here is None:
            status, why = "no value", absent
        else:
            status = _compared(row, here)
        if status in ("reproduced", "not printed"):
            why = ""
        found.append(Result(row, paper.paper.name, here, status, why, command, valid))
    return sorted(found, key=_place)


def of_recorded(papers: Iterable[PaperFile]) -> list[Result]:
    """Return the result of every row by the recorded values: nothing is run."""
    papers = list(papers)
    values = recorded(papers)
    return [result for paper in papers for result in results(paper, values, {})]


def _compared(row: Row, here: float | str) -> Status:
    printed = row.printed
    if printed == NOT_PRINTED:
        return "not printed"
    if isinstance(printed, str) or isinstance(here, str):
        return "reproduced" if printed == here else "differs"
    return "reproduced" if abs(here - printed) <= (row.tolerance or 0) + SLACK else "differs"


def _place(result: Result) -> tuple[int, list[int | str]]:
    """Return the place of a row's first item: tables and figures by number, then the rest."""
    kind, _, number = result.row.items[0].partition(" ")
    parts = [int(part) if part.isdigit() else 0 for part in number.split(".")]
    return {"Table": 0, "Figure": 1}.get(kind, 2), [kind, *parts]


def _text(value: Number | str | None, digits: int, unit: str) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:z.{digits}f}{f' {unit}' if unit else ''}".replace("-", "−")


def _decimals(number: Number | str | None) -> int:
    if not isinstance(number, float) or not math.isfinite(number):
        return 0
    exponent = Decimal(str(number)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


# The tables of docs/papers.md: a summary, and the rows of each paper.


def summary(papers: Iterable[PaperFile]) -> str:
    """Return the table of papers: how many rows have which status."""
    rows = []
    for paper in papers:
        of_paper = of_recorded([paper])
        items = {item for r in of_paper for item in r.row.items}
        printed = [sum(item.startswith(kind) for item in items) for kind in ("Table", "Figure")]
        counts = [sum(r.status == status for r in of_paper) for status in SHOWN]
        rows.append((paper.paper.name, *map(str, (*printed, sum(counts), *counts))))
    totals = [str(sum(int(row[i]) for row in rows)) for i in range(1, 7)]
    columns = ("paper", "tables", "figures", "rows", *SHOWN)
    return markdown_grid(columns, [*rows, ("**all**", *totals)]) + "\n"


def tables(papers: Iterable[PaperFile]) -> str:
    """Return the rows of each paper under a heading, with the commands below them."""
    return "\n".join(_section(paper, of_recorded([paper])) for paper in papers)


def _section(paper: PaperFile, of_paper: Sequence[Result]) -> str:
    commands = list(dict.fromkeys(r.command for r in of_paper if r.command))
    rows = [
        (
            ", ".join(result.row.items),
            *map(
                _escaped,
                (
                    result.row.claim,
                    result.printed,
                    result.found,
                    result.valid or "–",
                    result.row.model or "–",
                ),
            ),
            str(commands.index(result.command) + 1) if result.command else "–",
            _escaped(result.verdict),
        )
        for result in of_paper
    ]
    columns = ("item", "claim", "printed", "here", "valid score", "model", "command", "status")
    parts = [
        f"## {paper.paper.name}",
        f"{_escaped(paper.paper.title)}. {_escaped(paper.paper.citation)}.",
        markdown_grid(columns, rows),
    ]
    if commands:
        parts.append("\n".join(f"{i}. `{command}`" for i, command in enumerate(commands, 1)))
    return "\n\n".join(parts) + "\n"


def _escaped(value: str) -> str:
    """Return a text for a cell in Markdown; what stands in backticks is code."""
    texts_and_codes = re.split("`([^`]+)`", value)
    return "".join(
        f"`{part.replace('|', chr(92) + '|')}`" if i % 2 else markdown_text(part)
        for i, part in enumerate(texts_and_codes)
    )
