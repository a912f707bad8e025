"""The status of a row: computed from what was expected and what came out, never typed."""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import harness
from harness import folders
from harness.errors import DiskError, HarnessError, UsageError
from harness.folders import Place
from harness.results.records import NotRun, NotRunWarning

from .rows import (
    Number,
    PaperFile,
    Row,
    ScoreSelection,
    Selection,
    StudySelection,
    Value,
)

if TYPE_CHECKING:
    from harness.progress import Progress
    from harness.results.record import ModelPart
    from harness.results.records import Records
    from harness.study.summary import Summary

from .rows import current, read_values

Status: TypeAlias = Literal["reproduced", "differs", "needs", "no value", "not printed"]
"""`no value`: not run here, for lack of data for example. `not printed`: the paper has no value for
this model."""
SHOWN: tuple[Status, ...] = ("reproduced", "differs", "needs")
"""What a row of the page may have."""
_SUFFIX = re.compile(r"(\.(bin|gz|kv|safetensors|txt|vec))+$")
SLACK = 1e-9
"""For the arithmetic of decimal numbers: |0.49 − 0.48| is more than 0.01 in binary."""


@dataclass(frozen=True)
class Result:
    """A row and what came out.

    Parameters
    ----------
    row
        The row.
    paper
        Name of its paper.
    expected
        The value that it is compared with; None if the paper prints none for the model.
    here
        What came out; None if nothing did.
    status
        Whether they agree.
    why
        Why not, or what is missing.
    model, command
        What gave it.
    problem
        What is wrong with the row, for its author; empty if nothing is.
    valid
        Whether it stands on a valid score: `yes`, `no: ` with the reason, or empty if the row has
        no score that ranks anything.
    """

    row: Row
    paper: str
    expected: Number | str | None
    here: float | str | None
    status: Status
    why: str
    model: str
    command: str
    problem: str = ""
    valid: str = ""


def results(
    paper: PaperFile, values: Mapping[str, Value], missing: Mapping[str, str]
) -> list[Result]:
    """Return the result of every row of a paper.

    Parameters
    ----------
    paper
        The rows.
    values
        Values of rows that select a score or a cell of a study, by id.
    missing
        Why other such rows have no value, by id.
    """
    computed = [
        _result(paper, row, selection, values.get(row.id), missing.get(row.id, "not run"))
        for row, selection in paper.rows()
    ]
    return sorted(computed, key=_place)


def recorded(papers: Iterable[PaperFile]) -> list[Result]:
    """Return the result of every row by the recorded values: nothing is run."""
    found: list[Result] = []
    for paper in papers:
        kept = read_values(paper.path.parent)
        values = {id_: current(kept, id_, of) for id_, of in paper.selections.items()}
        found += results(paper, {id_: value for id_, value in values.items() if value}, {})
    return found


def of_model(
    paper: PaperFile, model: str, values: Mapping[str, Value], missing: Mapping[str, str]
) -> list[Result]:
    """Return the results of a model of the user's on the rows that select a score.

    It is compared with what the paper prints for this model, if it does.
    """
    computed = []
    for row, selection in paper.rows():
        if row.score is None or selection is None:
            continue
        value = values.get(row.id)
        expected = printed_for(row, model)
        here = None if value is None else value.value
        status: Status = "no value"
        if here is not None:
            status = "not printed" if expected is None else _compared(row, expected, here)
        why = missing.get(row.id, "") if here is None else ""
        command = selection.command.replace(selection.model, model, 1)
        result = Result(row, paper.paper.name, expected, here, status, why, model, command)
        computed.append(dataclasses.replace(result, valid=paper.standings[row.id]))
    return sorted(computed, key=_place)


def problems(papers: Sequence[PaperFile], computed: Sequence[Result]) -> list[str]:
    """Return what keeps the page from being written, a line each."""
    paths: dict[str, Path] = {file.paper.name: file.path for file in papers}
    lines = [f"{paths[r.paper]}: row '{r.row.id}': {r.problem}" for r in computed if r.problem]
    for file in papers:
        lines += [f"{file.path}: {item} has no row" for item in file.paper.without_a_row()]
    return lines


def text(value: Number | str | None, row: Row, *, digits: int | None = None) -> str:
    """Return a value of a row as text; by default with the digits that a found value has."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    digits = _digits(row) if digits is None else digits
    unit = f" {row.unit}" if row.unit else ""
    return f"{value:z.{digits}f}{unit}".replace("-", "−")


def as_printed(result: Result) -> str:
    """Return the expected value of a row as text, with its own digits."""
    value = result.expected
    digits = max(_decimals(value), isinstance(value, float))
    return text(value, result.row, digits=digits)


def _place(result: Result) -> tuple[int, list[int | str]]:
    """Return the place of a row's first item: tables and figures by number, then the rest."""
    kind, _, number = result.row.items[0].partition(" ")
    parts = [int(part) if part.isdigit() else 0 for part in number.split(".")]
    return {"Table": 0, "Figure": 1}.get(kind, 2), [kind, *parts]


def _result(
    paper: PaperFile, row: Row, selection: Selection | None, value: Value | None, missing: str
) -> Result:
    status: Status
    here: float | str | None = row.here if selection is None else value.value if value else None
    command = row.command or ""
    why = problem = ""
    if selection is not None:
        command = selection.command
    if row.needs is not None:
        status, why = "needs", row.needs
    elif row.holds is not None:
        status, here = "reproduced" if row.holds else "differs", row.evidence
    elif here is None:
        status, why = "no value", missing
        problem = f"has no value ({missing})"
    else:
        status = _compared(row, row.printed, here)
    if status == "differs":
        why = row.reason or ""
        if not why:
            shown, expected = text(here, row), text(row.printed, row)
            problem = f"differs (here {shown}, printed {expected}) and states no 'reason'"
    elif status == "reproduced" and row.reason:
        problem = "reproduces, so its 'reason' is out of date: remove it, or make it a 'note'"
    return Result(
        row,
        paper.paper.name,
        row.printed,
        here,
        status,
        why,
        row.model or "",
        command,
        problem,
        paper.standings.get(row.id, ""),
    )


def _compared(row: Row, expected: Number | str, here: float | str) -> Status:
    if isinstance(expected, str) or isinstance(here, str):
        return "reproduced" if expected == here else "differs"
    return "reproduced" if abs(here - expected) <= (row.tolerance or 0) + SLACK else "differs"


def printed_for(row: Row, model: str) -> Number | str | None:
    """Return what the paper prints for a model, however its name is typed; None if nothing."""
    if row.model is not None and _plain(row.model) == _plain(model):
        return row.printed
    return next((v for name, v in row.elsewhere.items() if _plain(name) == _plain(model)), None)


def _plain(model: str) -> str:
    """Return a model's name without its provider, owner, options, suffix of a file and case."""
    name = model.partition("?")[0].rpartition(":")[2].rstrip("/").rpartition("/")[2].lower()
    return _SUFFIX.sub("", name)


def _digits(row: Row) -> int:
    """Return the digits after the decimal point of what is found: as many as are printed.

    A printed 1.0 stands for 1.00 where the tolerance is in hundredths.
    """
    if row.digits is not None:
        return row.digits
    digits = max(map(_decimals, [row.printed, *row.elsewhere.values()]))
    is_round = isinstance(row.printed, float) and row.printed.is_integer()
    return max(digits, min(_decimals(row.tolerance), 2)) if is_round else digits


def _decimals(number: Number | str | None) -> int:
    if not isinstance(number, float) or not math.isfinite(number):
        return 0
    exponent = Decimal(str(number)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


# Finds the values that rows select: runs the tasks of scores, and reads the records of studies.
#
# Studies take minutes to hours, so they are not run: `harness study run` is the user's to call.


@dataclass
class Findings:
    """What running the tasks of rows gave.

    Parameters
    ----------
    values
        The values, by the id of the row.
    missing
        Why a row has no value, by its id, such as missing data.
    inapplicable
        Ids of rows whose task is made for another kind of model.
    failed
        What went wrong, a line each.
    """

    values: dict[str, Value] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    inapplicable: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)


def scores(
    papers: Iterable[PaperFile],
    *,
    model: str | None = None,
    results: Path | None,
    cache: Place | None,
    progress: bool | Progress,
    include: Iterable[Path] = (),
    trust: Iterable[Path] = (),
) -> Findings:
    """Return the values of the rows that select a score, by running only the tasks they select.

    Parameters
    ----------
    papers
        The rows.
    model
        Model of all rows, in place of their own.
    results
        Folder of the records; what is recorded there is not run again.
    cache, include, trust, progress
        As in `harness.evaluate`.
    """
    jobs: dict[tuple[str, str], list[tuple[str, ScoreSelection]]] = defaultdict(list)
    for paper in papers:
        for id_, selected in paper.selections.items():
            if isinstance(selected, ScoreSelection):
                jobs[model or selected.model, selected.mitigator].append((id_, selected))
    findings = Findings()
    for (name, mitigator), rows in jobs.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotRunWarning)  # `_take` reports it
                records = harness.evaluate(
                    name,
                    tasks=list(dict.fromkeys(selected.task for _, selected in rows)),
                    mitigators=mitigator,
                    results=results,
                    cache=cache,
                    include=include,
                    trust=trust,
                    progress=progress,
                )
        except (UsageError, DiskError):
            raise
        except HarnessError as error:
            if model is not None:
                raise
            findings.missing |= {id_: f"no model: {error}" for id_, _ in rows}
            continue
        _take(findings, records, rows)
    return findings


def studies(papers: Sequence[PaperFile], results: Path) -> Findings:
    """Return the values of the rows that select a cell of a study that is recorded in a folder."""
    findings = Findings()
    summaries: dict[str, tuple[Summary, ...]] = {}
    for paper in papers:
        for id_, selected in paper.selections.items():
            if not isinstance(selected, StudySelection):
                continue
            if selected.study not in summaries:
                summaries[selected.study] = _summaries(selected.study, results)
            of_model = [s for s in summaries[selected.study] if s.model.name == selected.model]
            if not of_model or not of_model[0].complete:
                findings.missing[id_] = f"not run: {selected.command}"
                continue
            try:
                value = selected.value(of_model[0])
            except UsageError as error:
                raise UsageError(f"{paper.path}: row '{id_}': {error}") from None
            if value is None or value != value:
                findings.missing[id_] = "undefined in the study"
            else:
                findings.values[id_] = _value(value, selected.address, of_model[0].model)
    return findings


def _take(findings: Findings, records: Records, rows: Iterable[tuple[str, ScoreSelection]]) -> None:
    """Add the values of rows from the records of their model and mitigator."""
    not_run: dict[str, NotRun] = {entry.task: entry for entry in records.not_run}
    findings.failed += [
        f"{entry.model}: {entry.task}: {entry.reason}" for entry in records.not_run if entry.failed
    ]
    for id_, selected in rows:
        record = next(filter(selected.matches, records), None)
        if record is not None:
            try:
                value = selected.value(record)
            except UsageError as error:
                raise UsageError(f"row '{id_}': {error}") from None
            if value is None:
                findings.missing[id_] = f"no value: {record.reason}"
            else:
                findings.values[id_] = _value(value, selected.address, record.model)
        elif selected.task in not_run:
            entry = not_run[selected.task]
            if entry.kind == "embedder":
                findings.inapplicable.add(id_)
            label = {"data": "data missing", "failed": "failed"}.get(entry.kind, "not run")
            findings.missing[id_] = f"{label}: {entry.reason}"
        else:
            findings.missing[id_] = "not run"


def _value(value: float | str, address: str, model: ModelPart) -> Value:
    return Value(
        value=value,
        selection=address,
        model=model.name,
        fingerprint=model.fingerprint,
        harness=harness.__version__,
    )


def _summaries(study: str, results: Path) -> tuple[Summary, ...]:
    from harness.results import jsonl
    from harness.results.folder import STUDY
    from harness.study.study_record import StudyRecord
    from harness.study.summary import summarize

    path = results / f"{folders.safe_name(study)}{STUDY}"
    return summarize(jsonl.read(path, StudyRecord, [])) if path.is_file() else ()
