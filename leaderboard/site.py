"""The files of a leaderboard: index.html, leaderboard.csv and leaderboard.json in one folder.

Beside them the figures and tables that records keep, where they are at hand, and a page for each
study. Each file is replaced whole; others in the folder are left alone.
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
from harness.leaderboard import attachments
from harness.leaderboard import studies as study_files
from harness.leaderboard.board import Board
from harness.leaderboard.files import check_ours, publish
from harness.leaderboard.page import render
from harness.leaderboard.studies import StudyOnModel

SCHEMA = 1
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
    """Write the leaderboard of `boards` into `folder`, which is made if it is not there.

    Parameters
    ----------
    boards
        None if there are only studies.
    folder
        Where to.
    title
        Of the page.
    notices
        Lines to show on the page, such as on records that could not be read.
    built
        Date to state; by default now.
    sources
        The results folders and files that the boards were made of: figures and tables beside them
        are copied into `folder` and linked.
    studies
        Each gets a page of its own, which is linked.

    Raises
    ------
    DiskError
        If the folder cannot be written, or a page in it is somebody else's.
    """
    boards, notices, studies = list(boards), list(notices), list(studies)
    built = built or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    folders.make(folder)
    files = Written(*(folder / n for n in ("index.html", "leaderboard.csv", "leaderboard.json")))
    for path in (files.page, *(folder / one.page for one in studies)):
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
    return files


def to_frame(boards: Iterable[Board]) -> pl.DataFrame:
    """Return the rows of all boards in one frame, with the column `board`; for CSV.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
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
    """Return everything that the page shows as JSON."""
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
                "cells": board.cells.drop("url", "dimensions", "parameters").to_dicts(),
                "lacks": board.lacks.to_dicts(),
                "others": board.others.to_dicts(),
                "published": board.published.to_dicts(),
                "attachments": board.attachments.to_dicts(),
                "environments": dict(board.environments),
            }
            for board in boards
        ],
        "studies": [one.to_dict() for one in studies],
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
