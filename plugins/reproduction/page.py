"""The page of all rows in Markdown: a summary, then a table for each paper.

A pure function of the rows and their recorded values.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.results.formats import markdown_grid, markdown_text

from .rows import PaperFile
from .status import SHOWN, Result, as_printed, text

INTRODUCTION = """\
# What the papers print, and what comes out here

**reproduced**: within the tolerance, or the claim holds. **differs**: it is not, for the reason
that the row gives. **needs**: something that is not here. *Valid score* says whether a ranked task
ranks by this score, or why none does; a dash where nothing is ranked by it.
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
    return "\n".join([INTRODUCTION, summary(papers, results), tables(papers, results)])


def summary(papers: Iterable[PaperFile], results: Iterable[Result]) -> str:
    """Return the table of papers: how many rows have which status."""
    by_paper = _by_paper(results)
    rows = []
    for file in papers:
        name = file.paper.name
        counts = [sum(r.status == status for r in by_paper[name]) for status in SHOWN]
        items = {item for r in by_paper[name] for item in r.row.items}
        printed = [sum(item.startswith(kind) for item in items) for kind in ("Table", "Figure")]
        rows.append((name, *map(str, (*printed, sum(counts), *counts))))
    totals = [str(sum(int(row[i]) for row in rows)) for i in range(1, 7)]
    columns = ("paper", "tables", "figures", "rows", *SHOWN)
    return markdown_grid(columns, [*rows, ("**all**", *totals)]) + "\n"


def tables(papers: Iterable[PaperFile], results: Sequence[Result]) -> str:
    """Return a table of the rows of each paper, under a heading, with the commands below it."""
    by_paper = _by_paper(results)
    notes = [
        line for source, line in SOURCES.items() if any(r.row.source == source for r in results)
    ]
    parts = [" ".join(notes) + "\n"] if notes else []
    parts += [_section(file, by_paper[file.paper.name]) for file in papers]
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


def _by_paper(results: Iterable[Result]) -> dict[str, list[Result]]:
    by_paper: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_paper[result.paper].append(result)
    return by_paper


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
        markdown_grid(columns, rows),
    ]
    if commands:
        parts.append("\n".join(f"{i + 1}. `{command}`" for i, command in enumerate(commands)))
    return "\n\n".join(parts) + "\n"


def _escaped(value: str) -> str:
    """Return a text for a cell in Markdown; what stands in backticks is code."""
    texts_and_codes = re.split("`([^`]+)`", value)
    return "".join(
        f"`{part.replace('|', chr(92) + '|')}`" if i % 2 else markdown_text(part)
        for i, part in enumerate(texts_and_codes)
    )
