"""`harness reproduce`: runs the tasks that rows of papers select, and prints the rows.

Studies take minutes to hours, so they are not run: `harness study run` is the user's to call.
"""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, output
from harness.errors import DiskError, HarnessError, UsageError
from harness.folders import Place
from harness.printing import echo

if TYPE_CHECKING:
    from harness.study.summary import Summary

    from .rows import Entry, Result, ScoreAnswer


@click.command("reproduce")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--no-run", is_flag=True, help="Run nothing: show the recorded values.")
@arguments.results
@arguments.cache
@arguments.as_json
def command(
    papers: tuple[str, ...],
    no_run: bool,
    results: Path,
    cache: Place | None,
    as_json: bool,
) -> int:
    """Show what papers print beside what comes out here, row by row.

    Runs the tasks that rows select; what is recorded in the results folder is not run again.
    Studies are read from there, else their recorded values are shown. A row whose data or model is
    missing has no value, which is no failure.

    \b
    harness reproduce uriot-2024
    harness reproduce --no-run

    Exit code 1: a task failed, or a row differs and gives no reason.
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.registry.registry import Registry

    from . import rows

    known = rows.read(Registry())
    for name in papers:
        rows.check("paper", name, known)
    entries = [entry for name in dict.fromkeys(papers or known) for entry in known[name].entries]
    recorded, found = rows.recorded(known.values()), Findings()
    if not no_run:
        shown = progress.for_terminal()
        found = scores(entries, results=results, cache=cache, progress=shown)
        studies(found, entries, results)
    here = {k: v for k, v in recorded.items() if k not in found.missing} | found.values
    by_paper = {
        paper: rows.results(of_paper, here, found.missing)
        for paper, of_paper in itertools.groupby(entries, key=lambda entry: entry.paper)
    }
    lines = [result for of_paper in by_paper.values() for result in of_paper]
    if as_json:
        output.as_json([_as_json(result) for result in lines])
    else:
        columns = ["item", "claim", "printed", "here", "status"]
        for paper, of_paper in by_paper.items():
            output.table(columns, list(map(_cells, of_paper)), title=paper, shorten=columns)
        counts = Counter(result.status for result in lines)
        echo(", ".join(f"{n} {status}" for status, n in sorted(counts.items())) or "no row")
    problems = [f"row '{r.row.id}': {r.problem}" for r in lines if r.problem]
    for line in [*(f"FAILED: {line}" for line in found.failed), *problems]:
        echo(line, err=True)
    return int(bool(found.failed or problems))


def _cells(result: Result) -> list[str]:
    places = ", ".join(result.row.items)
    return [places, result.row.claim, result.printed, result.found, result.verdict]


def _as_json(result: Result) -> dict[str, Any]:
    row, entry = result.row, result.entry
    kept = {"id", "claim", "source", "printed", "tolerance", "model"}
    own = {"paper": entry.paper, "items": row.items, "here": result.here}
    shown = {"command": entry.command or None, "status": result.status, "why": result.why or None}
    return row.model_dump(include=kept) | own | shown


@dataclasses.dataclass
class Findings:
    """What running the tasks of rows gave.

    Parameters
    ----------
    values, missing
        Values by the address of the selection, or why there are none, such as missing data.
    failed
        What went wrong, a line each.
    """

    values: dict[str, float | str] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)
    failed: list[str] = dataclasses.field(default_factory=list)


def scores(entries: Iterable[Entry], **options: Any) -> Findings:
    """Return the values of the scores that rows select, by running only their tasks.

    Parameters
    ----------
    entries
        The rows.
    **options
        `results`, `cache` and `progress` of `harness.evaluate`.
    """
    import harness
    from harness.results.records import NotRunWarning

    from .rows import ScoreAnswer

    jobs: dict[tuple[str, str], list[tuple[Entry, ScoreAnswer]]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.answer, ScoreAnswer):
            jobs[entry.model, entry.answer.mitigator].append((entry, entry.answer))
    found = Findings()
    for (model, mitigator), of_job in jobs.items():
        tasks = list(dict.fromkeys(answer.task for _, answer in of_job))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotRunWarning)  # they become `missing`
                records = harness.evaluate(model, tasks, mitigator, **options)
        except (UsageError, DiskError):
            raise
        except HarnessError as error:
            found.missing |= {entry.address: f"no model: {error}" for entry, _ in of_job}
            continue
        not_run = {lost.task: lost for lost in records.not_run}
        found.failed += [f"{e.model}: {e.task}: {e.reason}" for e in records.not_run if e.failed]
        by_place = {(r.task.name, r.scenario, r.metric, r.score): r for r in records}
        for entry, answer in of_job:
            record = by_place.get((answer.task, answer.scenario, answer.metric, answer.score))
            if record is not None and (value := answer.value(record)) is not None:
                found.values[entry.address] = value
            elif record is not None:
                found.missing[entry.address] = f"no value: {record.reason}"
            else:
                lost = not_run.get(answer.task)
                kind = "data missing" if lost and lost.kind == "data" else "not run"
                found.missing[entry.address] = f"{kind}: {lost.reason}" if lost else kind
    return found


def studies(found: Findings, entries: Iterable[Entry], results: Path) -> None:
    """Add the values of the cells of studies that are recorded in a folder."""
    from harness import folders
    from harness.results import jsonl
    from harness.results.folder import STUDY
    from harness.study.study_record import StudyRecord
    from harness.study.summary import summarize

    from .rows import StudyAnswer

    summaries: dict[str, tuple[Summary, ...]] = {}
    for entry in entries:
        answer = entry.answer
        if isinstance(answer, StudyAnswer):
            path = results / f"{folders.safe_name(answer.study)}{STUDY}"
            if answer.study not in summaries:
                lines = jsonl.read(path, StudyRecord, []) if path.is_file() else []
                summaries[answer.study] = summarize(lines) if lines else ()
            for summary in summaries[answer.study]:
                if summary.model.name == entry.model and summary.complete:
                    value = answer.value(summary)
                    if value is not None and value == value:
                        found.values[entry.address] = value
