"""Figures and tables that belong to records: lists those of a board, and copies them.

Figures are pages with scripts: publish a leaderboard only of results that you trust. Paths in
records are not trusted: a file must lie in `figures/` or `tables/` beside the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from harness import folders
from harness.errors import DiskError
from harness.leaderboard.boards.cells import row_name
from harness.results.figures import SCRIPT
from harness.results.record import Record

_NAME = re.compile(r"figures/[\w-][\w.-]*\.html|tables/[\w-][\w.-]*\.tsv", re.ASCII)
_SCHEMA = {
    "row": pl.String,
    "task": pl.String,
    "digest": pl.String,
    "seed": pl.Int64,
    "scenario": pl.String,
    "metric": pl.String,
    "score": pl.String,
    "name": pl.String,
    "path": pl.String,
}


def attachments(records: Iterable[Record], chosen: pl.DataFrame) -> pl.DataFrame:
    """Return a line for each figure and table of the chosen records.

    Parameters
    ----------
    records
        Records of one kind of embedder.
    chosen
        `row`, `task`, `digest` and `seed` of the chosen cells.

    Returns
    -------
    pl.DataFrame
        `row`, `task`, `scenario`, `metric`, `score`, `name` of the figure or table, and its `path`
        relative to the results folder. Invalid paths are left out.
    """
    lines: list[dict[str, Any]] = [
        {
            "row": row_name(record),
            "task": record.task.name,
            "digest": record.task.digest,
            **record.model_dump(include={"seed", "scenario", "metric", "score"}),
            "name": name,
            "path": path,
        }
        for record in records
        for name, path in (*record.figures.items(), *record.tables.items())
        if _NAME.fullmatch(path)
    ]
    keys = ["row", "task", "digest", "seed"]
    return (
        pl.DataFrame(lines, schema=_SCHEMA)
        .join(chosen.select(keys).unique(), on=keys, how="semi")
        .drop("digest", "seed")
        .sort("row", "task", "scenario", "metric", "score", "name")
    )


def copy(paths: Iterable[str], sources: Iterable[Path], folder: Path) -> set[str]:
    """Copy the files that exist, and return their paths.

    Parameters
    ----------
    paths
        Relative paths from `attachments`.
    sources
        Folders and files of results.
    folder
        Folder to copy into; Plotly's script is written into its `figures/`.

    Raises
    ------
    DiskError
        If a file cannot be read or written.
    """
    roots = {
        file.parent
        for source in sources
        for file in (source.rglob("*.jsonl") if source.is_dir() else [source])
    }
    copied = set()
    for path in sorted(set(paths)):
        if not _NAME.fullmatch(path):
            continue
        source = next((file for root in sorted(roots) if (file := _inside(root, path))), None)
        if source is not None:
            try:
                folders.write_atomically(folder / path, source.read_bytes())
            except OSError as error:
                raise DiskError(f"cannot read '{source}' ({error.strerror})") from None
            copied.add(path)
    if any(path.startswith("figures/") for path in copied):
        write_script(folder)
    return copied


def write_script(folder: Path) -> None:
    """Write Plotly's script, which all pages of figures and studies share, into `folder`."""
    from plotly.offline import get_plotlyjs

    folders.write_atomically(folder / "figures" / SCRIPT, get_plotlyjs().encode())


def _inside(root: Path, path: str) -> Path | None:
    """Return the file; None if it does not exist or is a link out of its folder."""
    file, subfolder = root / path, path.partition("/")[0]
    inside = file.is_file() and file.resolve().parent == root.resolve() / subfolder
    return file if inside else None
