"""`harness reproduce`: runs the tasks that rows of papers select, and prints the rows.

Studies take minutes to hours, so they are not run: `harness study run` is the user's to call.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments, output
from harness.errors import DiskError, HarnessError, InvalidFile, UsageError
from harness.printing import echo

if TYPE_CHECKING:
    from harness.study.summary import Summary

    from .rows import Number, PaperFile, ScoreAnswer, Selection
    from .status import Result

WIDEST = 48
"""Characters of a cell in the terminal."""
_SUFFIX = re.compile(r"(\.(bin|gz|kv|safetensors|txt|vec))+$")


@click.command("reproduce")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option(
    "--model",
    "-m",
    help="Show this model's scores beside those that are printed for it.",
    shell_complete=arguments.complete("model"),
)
@click.option("--no-run", is_flag=True, help="Run nothing: show the recorded values.")
@click.option("--record", is_flag=True, help="Keep the values beside the rows, in values.json.")
@arguments.results
@arguments.cache
@arguments.include
@arguments.trust
@arguments.as_json
def command(
    papers: tuple[str, ...],
    model: str | None,
    no_run: bool,
    record: bool,
    results: Path,
    include: tuple[Path, ...],
    as_json: bool,
    **options: Any,
) -> int:
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
    from harness import progress
    from harness.registry.registry import Registry

    from . import rows, status

    if model and (no_run or record):
        raise UsageError("--model compares a model of yours: omit --no-run and --record")
    try:
        known = rows.read(Registry(include=include, trust=options["trust"]), include)
    except InvalidFile as error:
        for mistake in error.mistakes:
            echo(f"harness: {mistake}", err=True)
        return error.exit_code
    files = rows.chosen(known, papers)
    if model:
        files = [of_model(file, model) for file in files]
    recorded, found = rows.recorded(known.values()), Findings()
    if not no_run:
        shown = progress.for_terminal()
        found = scores(files, results=results, include=include, progress=shown, **options)
        if not model:
            studies(found, files, results)
    if record:
        rows.record(known.values(), recorded | found.values)
    here = {k: v for k, v in recorded.items() if k not in found.missing} | found.values
    lines = [result for file in files for result in status.results(file, here, found.missing)]
    if as_json:
        output.as_json([_as_json(result) for result in lines])
    else:
        _show(lines)
    problems = [f"row '{r.row.id}': {r.problem}" for r in lines if r.problem and not model]
    for line in [*(f"FAILED: {line}" for line in found.failed), *problems]:
        echo(line, err=True)
    return int(bool(found.failed or problems))


def of_model(file: PaperFile, model: str) -> PaperFile:
    """Return the rows that select a score, for a model of the user's."""
    from .rows import NOT_PRINTED

    rows = []
    for row in file.paper.rows:
        if row.score is not None and row.model is not None:
            printed: dict[str, Number | str] = {_plain(k): v for k, v in row.elsewhere.items()}
            printed[_plain(row.model)] = row.printed
            own = printed.get(_plain(model), NOT_PRINTED)
            update = {"model": model, "printed": own, "reason": None}
            rows.append(row.model_copy(update=update))
    selections = {row.id: dataclasses.replace(file.selections[row.id], model=model) for row in rows}
    paper = file.paper.model_copy(update={"rows": tuple(rows)})
    return dataclasses.replace(file, paper=paper, selections=selections)


def _plain(model: str) -> str:
    """Return a model's name without its provider, owner, options, suffix of a file and case."""
    name = model.partition("?")[0].rpartition(":")[2].rstrip("/").rpartition("/")[2].lower()
    return _SUFFIX.sub("", name)


def _show(lines: Sequence[Result]) -> None:
    columns = ["item", "claim", "printed", "here", "status"]
    for paper in dict.fromkeys(result.paper for result in lines):
        cells = [
            [", ".join(r.row.items), r.row.claim, *map(_cut, (r.printed, r.found, r.verdict))]
            for r in lines
            if r.paper == paper
        ]
        output.table(columns, cells, title=paper, shorten=columns)
    counts = Counter(result.status for result in lines)
    echo(", ".join(f"{n} {status}" for status, n in sorted(counts.items())) or "no row")


def _cut(text: str) -> str:
    """Return a text that is cut to the width of a column; the page has it whole."""
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _as_json(result: Result) -> dict[str, Any]:
    row = result.row
    kept = {"id", "claim", "source", "printed", "tolerance", "model"}
    shown = {key: getattr(result, key) or None for key in ("command", "status", "why", "valid")}
    own = {"paper": result.paper, "items": row.items, "here": result.here}
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


def scores(files: Iterable[PaperFile], **options: Any) -> Findings:
    """Return the values of the scores that rows select, by running only their tasks.

    Parameters
    ----------
    files
        The rows.
    **options
        `results`, `cache`, `include`, `trust` and `progress` of `harness.evaluate`.
    """
    import harness
    from harness.results.records import NotRunWarning

    from .rows import ScoreAnswer

    jobs: dict[tuple[str, str], list[tuple[Selection, ScoreAnswer]]] = defaultdict(list)
    for selected in (of for file in files for of in file.selections.values()):
        if isinstance(selected.answer, ScoreAnswer):
            job = selected.model, selected.answer.mitigator
            jobs[job].append((selected, selected.answer))
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
            found.missing |= {selected.address: f"no model: {error}" for selected, _ in of_job}
            continue
        not_run = {entry.task: entry for entry in records.not_run}
        found.failed += [f"{e.model}: {e.task}: {e.reason}" for e in records.not_run if e.failed]
        by_place = {(r.task.name, r.scenario, r.metric, r.score): r for r in records}
        for selected, answer in of_job:
            place = answer.task, answer.scenario, answer.metric, answer.score
            record = by_place.get(place)
            if record is not None and (value := answer.value(record)) is not None:
                found.values[selected.address] = value
            elif record is not None:
                found.missing[selected.address] = f"no value: {record.reason}"
            else:
                entry = not_run.get(answer.task)
                kind = "data missing" if entry and entry.kind == "data" else "not run"
                why = f"{kind}: {entry.reason}" if entry else kind
                found.missing[selected.address] = why
    return found


def studies(found: Findings, files: Sequence[PaperFile], results: Path) -> None:
    """Add the values of the cells of studies that are recorded in a folder."""
    from harness import folders
    from harness.results import jsonl
    from harness.results.folder import STUDY
    from harness.study.study_record import StudyRecord
    from harness.study.summary import summarize

    from .rows import StudyAnswer

    summaries: dict[str, tuple[Summary, ...]] = {}
    for selected in (of for file in files for of in file.selections.values()):
        answer = selected.answer
        if isinstance(answer, StudyAnswer):
            path = results / f"{folders.safe_name(answer.study)}{STUDY}"
            if answer.study not in summaries:
                lines = jsonl.read(path, StudyRecord, []) if path.is_file() else []
                summaries[answer.study] = summarize(lines) if lines else ()
            for summary in summaries[answer.study]:
                if summary.model.name == selected.model and summary.complete:
                    value = answer.value(summary)
                    if value is not None and value == value:
                        found.values[selected.address] = value
