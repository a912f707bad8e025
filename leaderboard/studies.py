"""Studies on a leaderboard: what is read, which pages there are, and their files.

A study on a model is a page in `studies/`, with its table as CSV and its records beside it, and the
script of the figures. Computes no number: that is for `harness.study.summary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import folders
from harness.digest import digest
from harness.leaderboard import attachments
from harness.leaderboard.files import publish
from harness.leaderboard.study_page import render
from harness.results import jsonl
from harness.results.folder import STUDY
from harness.study import formats, tables
from harness.study.study_record import StudyRecord
from harness.study.summary import Summary, summarize

FOLDER = "studies"


Reading = jsonl.Reading[StudyRecord]
"""What was read of studies."""


@dataclass(frozen=True)
class StudyOnModel:
    """What becomes a page.

    Parameters
    ----------
    name
        Of its files, without an ending; no two have the same.
    summary
        What the study says.
    records
        What it was made of.
    """

    name: str
    summary: Summary
    records: tuple[StudyRecord, ...]

    @property
    def page(self) -> str:
        """Path of the page from the folder of the leaderboard."""
        return f"{FOLDER}/{self.name}.html"

    @property
    def csv(self) -> str:
        """Path of its table."""
        return f"{FOLDER}/{self.name}.csv"

    @property
    def jsonl(self) -> str:
        """Path of its records."""
        return f"{FOLDER}/{self.name}{STUDY}"

    @property
    def dealt(self) -> str:
        """What its folds consist of."""
        held_out = (words for record in self.records for words in record.held_out)
        return "pairs" if all(len(words) == 2 for words in held_out) else "sets"

    def line(self) -> str:
        """Return one line on what was compared, on what."""
        study, model = self.summary.study, self.summary.model
        folds = f"{study.folds} folds" + (f" × {study.repeats}" if study.repeats > 1 else "")
        line = f"study '{study.name}' on {model.name}: {len(study.rows)} rows in {folds}"
        if study.protocol == "published":
            line += "; published protocol"
        return line + ("" if self.summary.complete else "; incomplete")

    def to_dict(self) -> dict[str, Any]:
        """Return what leaderboard.json says of it."""
        return {
            "study": self.summary.study.name,
            "title": self.summary.study.title,
            "model": self.summary.model.name,
            "complete": self.summary.complete,
            "protocol": self.summary.study.protocol,
            "page": self.page,
            "csv": self.csv,
            "records": self.jsonl,
            "notes": self.summary.notes,
            "statement": self.summary.statement,
            "cells": tables.lines(self.summary),
        }


def read(paths: Iterable[Path]) -> Reading:
    """Return the records of studies in files and folders, at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist, or a line that is not the last is no record of a study.
    """
    found: list[StudyRecord] = []
    notices: list[str] = []
    for file in jsonl.files(paths, f"*{STUDY}"):
        if file.name.endswith(STUDY):
            found += jsonl.read(file, StudyRecord, notices)
    # By age, since a leaderboard within the results has copies of what was there before.
    latest = {record.id: record for record in sorted(found, key=lambda record: record.created)}
    return Reading(tuple(latest.values()), tuple(notices))


def compile_studies(records: Iterable[StudyRecord]) -> list[StudyOnModel]:
    """Return what becomes a page: each study on each model, in the order of their names."""
    groups: dict[tuple[str, str], list[StudyRecord]] = {}
    for record in records:
        groups.setdefault((record.study.name, record.model.name), []).append(record)
    files = {key: folders.safe_name("-".join(key)) for key in groups}
    folded = [file.lower() for file in files.values()]  # as some file systems do
    found = []
    for key in sorted(groups):
        name = files[key]
        if folded.count(name.lower()) > 1:
            name += f"-{digest(list(key))[:8]}"
        group = sorted(groups[key], key=lambda one: (one.created, one.repeat, one.fold, one.row))
        (summary,) = summarize(group)
        found.append(StudyOnModel(name, summary, tuple(group)))
    return found


def write(studies: Sequence[StudyOnModel], folder: Path, *, title: str, built: str) -> None:
    """Write the pages of studies, their tables and their records.

    Parameters
    ----------
    studies
        May be none.
    folder
        Of the leaderboard.
    title
        Of the leaderboard.
    built
        Date to state.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    if studies:
        attachments.write_script(folder)
    for one in studies:
        publish(folder / one.jsonl, "".join(record.line() for record in one.records))
        publish(folder / one.csv, formats.changes_csv([one.summary]))
        page = render(
            one.summary,
            dealt=one.dealt,
            csv=Path(one.csv).name,
            records=Path(one.jsonl).name,
            leaderboard=title,
            built=built,
        )
        publish(folder / one.page, page)
