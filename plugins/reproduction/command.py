"""`harness reproduce`: the command line. Reads the options and prints; the other modules work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.folders import Place
from harness.printing import echo

if TYPE_CHECKING:
    from .rows import PaperFile, Value
    from .status import Findings, Result

WIDEST = 48
"""Characters of a cell in the terminal."""


def _papers(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from harness.registry.registry import Registry

    from . import rows

    return [name for name in rows.read(Registry()) if name.startswith(incomplete)]


@click.command("reproduce")
@click.argument("papers", nargs=-1, metavar="[PAPER]...", shell_complete=_papers)
@click.option(
    "--model",
    "-m",
    help="Show this model's scores beside those that are printed for it.",
    shell_complete=arguments.complete("model"),
)
@click.option("--no-run", is_flag=True, help="Run nothing: show the recorded values.")
@click.option("--record", is_flag=True, help="Keep the values beside the rows, in values.json.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Page to write, in Markdown; refused if a row has no status.",
)
@arguments.results
@arguments.cache
@arguments.include
@arguments.trust
@arguments.as_json
def command(**options: Any) -> int:
    """Show what papers print beside what comes out here, row by row.

    Runs the tasks that rows select; what is recorded in the results folder is not run again.
    Studies are read from there, else their recorded values are shown. A row whose data or model is
    missing has no value, which is no failure.

    \b
    harness reproduce uriot-2024
    harness reproduce uriot-2024 --model all-mpnet-base-v2
    harness reproduce --no-run

    Exit code 1: a task failed, or a row differs and gives no reason.
    """  # noqa: D301  # click keeps the lines after a backspace
    return run(Options(**options))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the command, as click parses them; `--help` describes each."""

    papers: tuple[str, ...]
    model: str | None
    no_run: bool
    record: bool
    out: Path | None
    results: Path
    cache: Place | None
    include: tuple[Path, ...]
    trust: tuple[Path, ...]
    as_json: bool


def run(options: Options) -> int:
    """Find the values, print the tables, and write what was asked for."""
    from harness import folders
    from harness.errors import HarnessError, InvalidFile, UsageError
    from harness.registry.registry import Registry

    from . import page, rows, status

    if options.model and (options.no_run or options.record or options.out):
        raise UsageError("--model compares a model of yours: omit --no-run, --record and --out")
    registry = Registry(include=options.include, trust=options.trust)
    try:
        known = rows.read(registry, options.include)
    except InvalidFile as error:
        for mistake in error.mistakes:
            echo(f"harness: {mistake}", err=True)
        return error.exit_code
    papers = rows.chosen(known, options.papers)
    findings = _findings(options, papers)
    if options.model:
        shown = [
            result
            for file in papers
            for result in status.of_model(file, options.model, findings.values, findings.missing)
            if result.row.id not in findings.inapplicable
        ]
        problems: list[str] = []
    else:
        values = _with_recorded(papers, findings, keep=options.record)
        shown = [r for file in papers for r in status.results(file, values, findings.missing)]
        problems = status.problems(papers, shown)
    _show(options, papers, shown, findings)
    if options.out is not None:
        if problems:
            raise HarnessError(f"'{options.out}' was not written: {problems[0]}")
        folders.write_atomically(options.out, page.render(papers, shown).encode())
        echo(f"wrote {options.out}", err=True)
    unexplained = [r for r in shown if r.problem and r.status != "no value"]
    lines = [f"FAILED: {line}" for line in findings.failed]
    lines += [f"row '{r.row.id}': {r.problem}" for r in unexplained]
    for line in lines:
        echo(line, err=True)
    return int(bool(lines))


def _findings(options: Options, papers: Sequence[PaperFile]) -> Findings:
    """Return the values that running the tasks gives, and those of recorded studies."""
    from harness import progress

    from . import status

    if options.no_run:
        return status.Findings()
    findings = status.scores(
        papers,
        model=options.model,
        results=options.results,
        cache=options.cache,
        include=options.include,
        trust=options.trust,
        progress=progress.for_terminal(),
    )
    studies = status.studies(papers, options.results)
    findings.values |= studies.values
    findings.missing |= studies.missing
    return findings


def _with_recorded(
    papers: Sequence[PaperFile], findings: Findings, *, keep: bool
) -> dict[str, Value]:
    """Return the new values, and the recorded ones of rows that this run did not try to answer.

    Records the new values if asked to.
    """
    from . import rows
    from .rows import ScoreSelection

    merged: dict[str, Value] = {}
    for file in papers:
        folder = file.path.parent
        recorded = rows.read_values(folder)
        kept = dict(recorded)
        for id_, selected in file.selections.items():
            kept.pop(id_, None)
            earlier = rows.current(recorded, id_, selected)
            if (value := findings.values.get(id_) or earlier) is not None:
                kept[id_] = value
                if not (isinstance(selected, ScoreSelection) and id_ in findings.missing):
                    merged[id_] = value
        if keep and kept != recorded:
            rows.write_values(folder, kept)
    return merged


def _show(
    options: Options, papers: Sequence[PaperFile], shown: Sequence[Result], findings: Findings
) -> None:
    from harness.commands import output

    from . import page, status

    if options.as_json:
        output.as_json([_as_json(result) for result in shown])
        return
    for file in papers:
        of_paper = [r for r in shown if r.paper == file.paper.name]
        lines = [
            [
                ", ".join(result.row.items),
                result.row.claim,
                _cut(page.expected(result)),
                _cut(status.text(result.here, result.row)),
                _cut(page.status(result)),
            ]
            for result in of_paper
        ]
        if lines:
            columns = ["item", "claim", "printed", "here", "status"]
            output.table(columns, lines, title=file.paper.name, shorten=columns)
    counts = {kind: sum(r.status == kind for r in shown) for kind in _kinds(shown)}
    echo(", ".join(f"{n} {kind}" for kind, n in counts.items()) or "no row fits this model")
    if options.model and findings.inapplicable:
        rows_ = output.counted(len(findings.inapplicable), "row")
        echo(f"{rows_} made for the other kind of model: not shown")


def _cut(text: str) -> str:
    """Return a text that is cut to the width of a column; the page has it whole."""
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _kinds(shown: Sequence[Result]) -> list[str]:
    order = ("reproduced", "differs", "needs", "no value", "not printed")
    return [kind for kind in order if any(r.status == kind for r in shown)]


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "paper": result.paper,
        "id": result.row.id,
        "item": list(result.row.items),
        "claim": result.row.claim,
        "source": result.row.source,
        "printed": result.expected,
        "here": result.here,
        "tolerance": result.row.tolerance,
        "model": result.model or None,
        "command": result.command or None,
        "status": result.status,
        "why": result.why or None,
        "valid": result.valid or None,
    }
