"""Studies on a leaderboard: reads their records and writes their pages.

Each study on each model has a page in `studies/`, beside it a CSV file of its table and its
records. Computes no number: `harness.study.summary` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import folders, limits
from harness.digest import digest
from harness.errors import HarnessError, one_line
from harness.leaderboard.site.files import publish
from harness.leaderboard.site.study_page import render
from harness.leaderboard.site.violin_plot import drawings
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.study import study_tables
from harness.study.study_record import StudyRecord
from harness.study.summary import Summary, summarize

FOLDER = "studies"


Reading = jsonl.Reading[StudyRecord]
"""The records of studies, and notices about those that could not be read."""


@dataclass(frozen=True)
class StudyOnModel:
    """A study on one model: the content of a page.

    Parameters
    ----------
    name
        Name of its files without the suffix; unique.
    summary
        Results of the study.
    records
        Records that the results come from.
    """

    name: str
    summary: Summary
    records: tuple[StudyRecord, ...]

    @property
    def page(self) -> str:
        """Path of the page, relative to the folder of the leaderboard."""
        return f"{FOLDER}/{self.name}.html"

    @property
    def csv(self) -> str:
        """Path of the CSV file of its table."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def jsonl(self) -> str:
        """Path of its records."""
        return f"{FOLDER}/{self.name}{STUDY}"

    @property
    def unit(self) -> str:
        """What its folds consist of: `pairs` or `sets` of words."""
        held_out = (words for record in self.records for words in record.held_out)
        return "pairs" if all(len(words) == 2 for words in held_out) else "sets"

    def line(self) -> str:
        """Return one line: name, model, number of rows and folds."""
        study, model = self.summary.study, self.summary.model
        folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
        line = f"study '{study.name}' on {model.name}: {len(study.rows)} rows in {folds}"
        if study.protocol == "published":
            line += "; published protocol"
        return line + ("" if self.summary.complete else "; incomplete")

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in leaderboard.json."""
        return {
            "study": self.summary.study.name,
            "title": self.summary.study.title,
            "model": self.summary.model.name,
            "complete": self.summary.complete,
            "protocol": self.summary.study.protocol,
            "judging": self.summary.study.judging,
            "page": self.page,
            "csv": self.csv,
            "records": self.jsonl,
            "notes": self.summary.notes,
            "statement": self.summary.statement,
            "cells": study_tables.lines(self.summary),
        }


def read(paths: Iterable[Path]) -> Reading:
    """Return the records of studies in files and folders, at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist. A line that is no record of a study is left out.
    """
    records: list[StudyRecord] = []
    notices: list[str] = []
    for file in jsonl.files(paths, f"*{STUDY}"):
        if file.name.endswith(STUDY):
            size = file.stat().st_size
            if size > limits.RECORDS_BYTES:
                reason = limits.too_many(size, limits.RECORDS_BYTES)
                notices.append(f"set aside: {file}: a file of {reason}")
                continue
            records += jsonl.read(file, StudyRecord, notices)
    # The latest record of an id counts: a leaderboard within the results has older copies.
    latest = {record.id: record for record in sorted(records, key=lambda record: record.created)}
    return Reading(tuple(latest.values()), tuple(notices))


def compile_studies(records: Iterable[StudyRecord], notices: list[str]) -> list[StudyOnModel]:
    """Return each study on each model, sorted by name.

    A study that cannot be computed or drawn becomes a line in `notices`: its records may say what
    no study has, such as values near the largest number.
    """
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    files = {key: folders.safe_name("-".join(key)) for key in groups}
    folded = [file.lower() for file in files.values()]  # some file systems ignore case
    studies = []
    for key in sorted(groups):
        name = files[key]
        if folded.count(name.lower()) > 1:
            name += f"-{digest(list(key))[:8]}"
        group = sorted(groups[key], key=lambda r: (r.created, r.repeat, r.fold, r.row))
        try:
            (summary,) = summarize(group)
            drawings(summary)
        except (HarnessError, ArithmeticError, ValueError) as error:
            study, model = (label[:60] for label in key)
            notices.append(f"set aside: study {study!r} on {model!r}: {one_line(error)}")
            continue
        studies.append(StudyOnModel(name, summary, tuple(group)))
    return studies


def write(studies: Sequence[StudyOnModel], folder: Path, *, title: str, built: str) -> None:
    """Write the pages of studies, their tables and their records.

    Parameters
    ----------
    studies
        Studies; may be empty.
    folder
        Folder of the leaderboard.
    title
        Title of the leaderboard.
    built
        Date to print on the pages.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    for study in studies:
        publish(folder / study.jsonl, "".join(record.line() for record in study.records))
        publish(folder / study.csv, study_tables.changes_csv([study.summary]))
        page = render(
            study.summary,
            unit=study.unit,
            csv=Path(study.csv).name,
            records=Path(study.jsonl).name,
            leaderboard=title,
            built=built,
        )
        publish(folder / study.page, page)
