"""Finds the values that rows select: runs the tasks of scores, and reads the records of studies.

Studies take minutes to hours, so they are not run: `harness study run` is the user's to call.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from harness import folders
from harness.errors import DiskError, HarnessError, UsageError
from harness.folders import Place
from harness.plugins.reproduction.rows import PaperFile
from harness.plugins.reproduction.selection import ScoreSelection, StudySelection
from harness.plugins.reproduction.values import Value
from harness.results.not_run import NotRun, NotRunWarning

if TYPE_CHECKING:
    from harness.progress import Progress
    from harness.results.record_parts import ModelPart
    from harness.results.records import Records
    from harness.study.summary import Summary


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
