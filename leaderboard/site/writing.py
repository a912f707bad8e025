"""The files of a leaderboard: index.html, leaderboard.csv and leaderboard.json in one folder.

It also has copies of the records' figures and tables, and a page for each study. Each file is
replaced atomically; other files in the folder are not touched.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

import harness
from harness import folders
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site import attachments
from harness.leaderboard.site import studies as study_files
from harness.leaderboard.site.files import check_ours, publish
from harness.leaderboard.site.page import render
from harness.leaderboard.site.pages import write_site
from harness.leaderboard.site.studies import StudyOnModel

SCHEMA = 2
"""Version of leaderboard.json."""


@dataclass(frozen=True)
class Written:
    """Paths of the files."""

    page: Path
    csv: Path
    json: Path


def write(
    boards: Iterable[Board],
    folder: Path,
    *,
    title: str,
    notices: Iterable[str] = (),
    built: str | None = None,
    sources: Iterable[Path] = (),
    studies: Iterable[StudyOnModel] = (),
) -> Written:
    """Write the leaderboard of `boards` into `folder`, which is created if needed.

    Parameters
    ----------
    boards
        Empty if there are only studies.
    folder
        Folder to write into.
    title
        Title of the page.
    notices
        Lines to show on the page, such as one on records that could not be read.
    built
        Date to print on the page; by default now.
    sources
        The results folders and files of the boards; figures and tables beside them are copied
        into `folder` and linked.
    studies
        Studies, each with a page of its own that is linked.

    Raises
    ------
    DiskError
        If the folder cannot be written, or a page in it was not written by this function.
    """
    boards, notices, studies = list(boards), list(notices), list(studies)
    built = built or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    folders.make(folder)
    files = Written(*(folder / n for n in ("index.html", "leaderboard.csv", "leaderboard.json")))
    for path in (files.page, *(folder / study.page for study in studies)):
        check_ours(path)
    paths = {path for board in boards for path in board.attachments["path"]}
    copied = attachments.copy(paths, sources, folder)
    boards = [
        dataclasses.replace(
            board, attachments=board.attachments.filter(pl.col("path").is_in(sorted(copied)))
        )
        for board in boards
    ]
    page = render(boards, title=title, notices=notices, built=built, studies=studies)
    content = to_json(boards, title=title, notices=notices, built=built, studies=studies)
    study_files.write(studies, folder, title=title, built=built)
    publish(files.csv, to_frame(boards).write_csv())
    publish(files.json, content + "\n")
    publish(files.page, page)
    write_site(boards, folder, title=title, notices=notices, built=built, studies=studies)
    return files


def to_frame(boards: Iterable[Board]) -> pl.DataFrame:
    """Return the rows of all boards in one frame, with the column `board`; for the CSV file.

    A text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    frames = [
        board.rows.drop("row").select(pl.lit(board.kind).alias("board"), pl.all())
        for board in boards
    ]
    empty = pl.DataFrame(schema={"board": pl.String})
    frame = pl.concat([empty, *frames], how="diagonal")
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(texts).str.replace(r"^([=+\-@\t\r])", "'$1"))


def to_json(
    boards: Iterable[Board],
    *,
    title: str,
    notices: Iterable[str],
    built: str,
    studies: Iterable[StudyOnModel] = (),
) -> str:
    """Return the contents of leaderboard.json: everything that the page shows."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": list(notices),
        "boards": [
            {
                "kind": board.kind,
                "notices": board.notices,
                "tasks": board.tasks.to_dicts(),
                "rows": board.rows.to_dicts(),
                "effects": board.effects.to_dicts(),
                "mitigators": board.mitigators.to_dicts(),
                "cells": board.cells.drop("url", "dimensions", "parameters").to_dicts(),
                "lacks": board.lacks.to_dicts(),
                "others": board.others.to_dicts(),
                "published": board.published.to_dicts(),
                "attachments": board.attachments.to_dicts(),
                "environments": dict(board.environments),
            }
            for board in boards
        ],
        "studies": [study.to_dict() for study in studies],
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
