"""Figures and tables that records keep beside them: which a board names, and copies of them.

Figures are pages with scripts, so a leaderboard that is put online should be of results that one
trusts. The names in records are not trusted: a file must lie in its folder beside the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from harness import folders
from harness.errors import DiskError
from harness.leaderboard.cells import row_name
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
    """Return a line for each figure and table of the records that count.

    Parameters
    ----------
    records
        Of one kind of embedder.
    chosen
        `row`, `task`, `digest` and `seed` of what counts.

    Returns
    -------
    pl.DataFrame
        `row`, `task`, `scenario`, `metric`, `score`, `name` of the figure or table, and its `path`
        from the folder of the results. Paths that are no name of a figure or table are left out.
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
    """Copy those of `paths` that are there; return them.

    Parameters
    ----------
    paths
        As `attachments` gives them.
    sources
        The results: folders and files.
    folder
        Where to; figures find Plotly's script, our own, beside them.

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
        found = next((file for root in sorted(roots) if (file := _inside(root, path))), None)
        if found is not None:
            try:
                folders.write_atomically(folder / path, found.read_bytes())
            except OSError as error:
                raise DiskError(f"cannot read '{found}' ({error.strerror})") from None
            copied.add(path)
    if any(path.startswith("figures/") for path in copied):
        write_script(folder)
    return copied


def write_script(folder: Path) -> None:
    """Write Plotly's script, which the pages of figures and of studies share, into `folder`."""
    from plotly.offline import get_plotlyjs

    folders.write_atomically(folder / "figures" / SCRIPT, get_plotlyjs().encode())


def _inside(root: Path, path: str) -> Path | None:
    """Return the file, unless it is not there or a link that leads out of its folder."""
    file, place = root / path, root / path.partition("/")[0]
    there = file.is_file() and file.resolve().parent == (root.resolve() / place.name)
    return file if there else None
