"""The files of a leaderboard: index.html, leaderboard.csv and leaderboard.json in one folder.

Beside them the figures and tables that records keep, where they are at hand. Each file is replaced
whole; others in the folder are left alone.
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
from harness.errors import DiskError
from harness.leaderboard import attachments
from harness.leaderboard.board import Board
from harness.leaderboard.page import render
from harness.leaderboard.rendering import GENERATOR

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
) -> Written:
    """Write the leaderboard of `boards` into `folder`, which is made if it is not there.

    Parameters
    ----------
    boards
        At least one.
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

    Raises
    ------
    DiskError
        If the folder cannot be written, or its index.html is somebody else's.
    """
    boards, notices = list(boards), list(notices)
    built = built or datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    folders.make(folder)
    files = Written(*(folder / n for n in ("index.html", "leaderboard.csv", "leaderboard.json")))
    if files.page.exists() and GENERATOR not in _start(files.page):
        raise DiskError(
            f"'{files.page}' was not made by `harness leaderboard build` and is left alone; "
            "give another --out, or move that file away"
        )
    paths = {path for board in boards for path in board.attachments["path"]}
    copied = attachments.copy(paths, sources, folder)
    boards = [
        dataclasses.replace(
            board, attachments=board.attachments.filter(pl.col("path").is_in(sorted(copied)))
        )
        for board in boards
    ]
    page = render(boards, title=title, notices=notices, built=built)
    content = to_json(boards, title=title, notices=notices, built=built)
    _publish(files.csv, to_frame(boards).write_csv())
    _publish(files.json, content + "\n")
    _publish(files.page, page)
    return files


def to_frame(boards: Iterable[Board]) -> pl.DataFrame:
    """Return the rows of all boards in one frame, with the column `board`; for CSV.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    frames = [
        board.rows.drop("row").select(pl.lit(board.kind).alias("board"), pl.all())
        for board in boards
    ]
    frame = pl.concat(frames, how="diagonal")
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(texts).str.replace(r"^([=+\-@\t\r])", "'$1"))


def to_json(boards: Iterable[Board], *, title: str, notices: Iterable[str], built: str) -> str:
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
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def _publish(path: Path, content: str) -> None:
    folders.write_atomically(path, content.encode())


def _start(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(2000)
    except OSError as error:
        raise DiskError(f"cannot read '{path}' ({error.strerror})") from None
