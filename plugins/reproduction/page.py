"""The page of all rows in Markdown: a summary, then a table for each paper.

A pure function of the rows and their recorded values, so that a test can compare it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.plugins.reproduction.rows import PaperFile
from harness.plugins.reproduction.status import SHOWN, Result, as_printed, text
from harness.results import markup

INTRODUCTION = """\
# What the papers print, and what comes out here

One row for each table, figure and claim of five papers. `harness reproduce` makes this page from
the rows in `tasks/reproduction/`. Every status is computed:

- **reproduced within** a tolerance: |here − printed| is at most as large; or the claim holds;
- **differs**: by more than the tolerance, or the claim does not hold, and the row says why;
- **needs**: something that is not here, such as a model, a data set or a key.

A number that reproduces may still say nothing about bias. The column *valid score* is computed,
too: **yes** if a ranked task ranks by this score, **no** with the reason if it is published but
not valid ([claims](claims.md) has the measurements), and – if nothing is ranked by it.

`harness reproduce PAPER` runs what the rows of a paper need. `--model NAME` shows your own model
beside the printed values, for instance all-mpnet-base-v2 on `uriot-2024`. A task whose data is
missing gives rows without a value.
"""
SOURCES = {
    "peer": "An expected value marked *peer* is that of another implementation.",
    "own": "One marked *own* is an earlier measurement of ours: the paper has no number.",
}


def render(papers: Sequence[PaperFile], results: Sequence[Result]) -> str:
    """Return the page.

    Parameters
    ----------
    papers
        The papers, in order.
    results
        The results of their rows.
    """
    by_paper: dict[str, list[Result]] = {file.paper.name: [] for file in papers}
    for result in results:
        by_paper[result.paper].append(result)
    parts = [INTRODUCTION, _summary(papers, by_paper)]
    notes = [
        line for source, line in SOURCES.items() if any(r.row.source == source for r in results)
    ]
    if notes:
        parts.append(" ".join(notes) + "\n")
    for file in papers:
        parts.append(_section(file, by_paper[file.paper.name]))
    return "\n".join(parts)


def expected(result: Result) -> str:
    """Return the expected value of a row, marked if it is not the paper's."""
    row = result.row
    mark = {"printed": "", "peer": f" (peer: {row.peer})", "own": " (own)"}[row.source]
    return as_printed(result) + mark


def status(result: Result) -> str:
    """Return the status of a row, with its tolerance, the reason and the remark."""
    tolerance = result.row.tolerance if not isinstance(result.here, str) else None
    within = f" within {tolerance:g}" if tolerance and result.status == "reproduced" else ""
    parts = [f"{result.status}: {result.why}" if result.why else result.status + within]
    if result.row.note:
        parts.append(result.row.note)
    return ". ".join(part.rstrip(".") for part in parts)


def _summary(papers: Iterable[PaperFile], by_paper: dict[str, list[Result]]) -> str:
    rows = []
    for file in papers:
        name = file.paper.name
        counts = [sum(r.status == status for r in by_paper[name]) for status in SHOWN]
        items = {item for r in by_paper[name] for item in r.row.items}
        tables = sum(item.startswith("Table") for item in items)
        figures = sum(item.startswith("Figure") for item in items)
        rows.append(
            (f"[{name}](#{name})", str(tables), str(figures), str(sum(counts)), *map(str, counts))
        )
    totals = [str(sum(int(row[i]) for row in rows)) for i in range(1, 7)]
    columns = ("paper", "tables", "figures", "rows", *SHOWN)
    return markup.grid(columns, [*rows, ("**all**", *totals)]) + "\n"


def _section(file: PaperFile, results: Sequence[Result]) -> str:
    commands = list(dict.fromkeys(r.command for r in results if r.command))
    rows = [
        (
            ", ".join(result.row.items),
            _escaped(result.row.claim),
            _escaped(expected(result)),
            _escaped(text(result.here, result.row)),
            _escaped(result.valid or "–"),
            _escaped(result.model or "–"),
            str(commands.index(result.command) + 1) if result.command else "–",
            _escaped(status(result)),
        )
        for result in results
    ]
    columns = ("item", "claim", "printed", "here", "valid score", "model", "command", "status")
    parts = [
        f"## {file.paper.name}",
        f"{_escaped(file.paper.title)}. {_escaped(file.paper.citation)}.",
        markup.grid(columns, rows),
    ]
    if commands:
        parts.append("\n".join(f"{i + 1}. `{command}`" for i, command in enumerate(commands)))
    return "\n\n".join(parts) + "\n"


def _escaped(value: str) -> str:
    """Return a text for a cell in Markdown; what stands in backticks is code."""
    texts_and_codes = re.split("`([^`]+)`", value)
    return "".join(
        f"`{part.replace('|', chr(92) + '|')}`" if i % 2 else markup.markdown(part)
        for i, part in enumerate(texts_and_codes)
    )
