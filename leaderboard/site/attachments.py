"""Tables that belong to records: lists those of a board, and copies them.

A table is somebody else's file: it is read as tab-separated text and written again, within limits,
and the path in a record is not trusted. Figures are not copied: they are pages with scripts.
`harness results figures` shows those of your own results.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from harness import folders
from harness.leaderboard.boards.board import Board

MAX_BYTES = 200_000
"""Size of the largest table."""
MAX_COLUMNS = 30
MAX_TOTAL = 10_000_000
"""Size of all tables of a site."""
_NAME = re.compile(r"tables/[\w-][\w.-]*\.tsv", re.ASCII)
_KEY = ("fingerprint", "mitigator_fingerprint", "digest", "seed")
_SCHEMA = dict.fromkeys(("row", "task", "scenario", "name", "path"), pl.String)


def tables_of(board: Board, frame: pl.DataFrame | None) -> pl.DataFrame:
    """Return a line for each table of the records that a board shows.

    Parameters
    ----------
    board
        The board.
    frame
        The records, with the columns of `claims.frame.SCHEMA`; None gives no tables.

    Returns
    -------
    pl.DataFrame
        `row`, `task`, `scenario`, `name` of the table, and its `path` relative to the results
        folder. Invalid paths are left out.
    """
    if frame is None:
        return pl.DataFrame(schema=_SCHEMA)
    shown = board.cells.select("row", "id").join(frame.select("id", *_KEY), on="id").drop("id")
    having = frame.filter(pl.col("tables") != "{}").select(*_KEY, "task", "scenario", "tables")
    lines = having.join(shown.unique(), on=list(_KEY)).select(
        pl.col("row", "task", "scenario", "tables").cast(pl.String)
    )
    found = [
        (row, task, scenario, name, path)
        for row, task, scenario, tables in lines.iter_rows()
        for name, path in _paths(tables).items()
        if isinstance(path, str) and _NAME.fullmatch(path)
    ]
    return pl.DataFrame(found, schema=_SCHEMA, orient="row").unique().sort(pl.all())


def copy(paths: Iterable[str], sources: Iterable[Path], folder: Path) -> tuple[set[str], str]:
    """Copy the tables that exist and are plain, and return their paths, and a notice.

    Parameters
    ----------
    paths
        Relative paths from `tables_of`.
    sources
        Folders and files of results.
    folder
        Folder of the site.

    Raises
    ------
    DiskError
        If a file cannot be written.
    """
    paths = sorted({path for path in paths if _NAME.fullmatch(path)})
    roots = _roots(sources) if paths else []
    copied: set[str] = set()
    total, refused = 0, []
    for path in paths:
        source = next((file for root in roots if (file := _inside(root, path))), None)
        if source is None:
            continue
        content = _plain(source)
        if content is None or total + len(content) > MAX_TOTAL:
            refused.append(path)
            continue
        total += len(content)
        if source.resolve() != (folder / path).resolve():
            folders.write_atomically(folder / path, content)
        copied.add(path)
    if not refused:
        return copied, ""
    noun = "1 table is" if len(refused) == 1 else f"{len(refused)} tables are"
    return copied, (
        f"{noun} not copied, such as '{refused[0]}': a table has at most {MAX_COLUMNS} columns and "
        f"{MAX_BYTES // 1000} kB, and all together {MAX_TOTAL // 1_000_000} MB"
    )


def _paths(tables: str) -> dict[str, Any]:
    """Return the paths by name; none if the text is no object of JSON."""
    try:
        paths = json.loads(tables)
    except (ValueError, RecursionError):
        return {}
    return paths if isinstance(paths, dict) else {}


def _plain(file: Path) -> bytes | None:
    """Return a table as it is published; None if it is no plain table within the limits.

    A cell that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    try:
        if file.stat().st_size > MAX_BYTES:
            return None
        rows = list(csv.reader(io.StringIO(file.read_text("utf-8"), newline=""), delimiter="\t"))
    except (OSError, ValueError, csv.Error):
        return None
    width = len(rows[0]) if rows else 0
    if not 0 < width <= MAX_COLUMNS or any(len(row) != width for row in rows):
        return None
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _cell(text: str) -> str:
    """Return a cell without control characters, and as no formula."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    if not clean.startswith(("=", "+", "-", "@")):
        return clean
    try:
        float(clean)
    except ValueError:
        return f"'{clean}"
    return clean


def _roots(sources: Iterable[Path]) -> list[Path]:
    """Return the folders that have records."""
    return sorted(
        {
            file.parent
            for source in sources
            for file in (source.rglob("*.jsonl") if source.is_dir() else [source])
        }
    )


def _inside(root: Path, path: str) -> Path | None:
    """Return the file; None if it does not exist or is a link out of its folder."""
    file, subfolder = root / path, path.partition("/")[0]
    inside = file.is_file() and file.resolve().parent == root.resolve() / subfolder
    return file if inside else None
