"""The files of a leaderboard in one folder: the page, its scripts and data, and the downloads.

Each file is replaced atomically, the page last; other files in the folder are not touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

import harness
from harness import folders
from harness.leaderboard.boards.board import Board
from harness.leaderboard.claims.reading import Claims
from harness.leaderboard.site import attachments, downloads
from harness.leaderboard.site import changes as change_files
from harness.leaderboard.site import studies as study_files
from harness.leaderboard.site.asides import grouped
from harness.leaderboard.site.details import details_data
from harness.leaderboard.site.files import check_ours, publish
from harness.leaderboard.site.layout import layout_of
from harness.leaderboard.site.payload import SCHEMA, board_data, script
from harness.leaderboard.site.registered import NOTHING, Registered
from harness.leaderboard.site.rendering import MADE_BY, template
from harness.leaderboard.site.studies import StudyOnModel
from harness.leaderboard.site.submitters import submitters

ASSETS = Path(__file__).parent / "assets"
EPOCH = "SOURCE_DATE_EPOCH"
"""Variable that sets the date of a build, as in other tools whose builds can be repeated."""


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
    claims: Claims | None = None,
    registered: Registered = NOTHING,
    notices: Iterable[str] = (),
    built: str | None = None,
    sources: Iterable[Path] = (),
    studies: Iterable[StudyOnModel] = (),
    since: Path | None = None,
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
    claims
        The records of the boards, and what was set aside. Without them there are no
        records.parquet, tables and submitters.
    registered
        Facts of registered models, mitigators and tasks.
    notices
        Lines to show on the page, such as one on records that could not be read.
    built
        Date to print on the page; by default SOURCE_DATE_EPOCH, else now.
    sources
        The results folders and files of the boards; tables beside them are copied into `folder`
        and linked.
    studies
        Studies, each with a page of its own that is linked.
    since
        Folder of the earlier build that the news compare with; by default `folder`.

    Raises
    ------
    DiskError
        If the folder cannot be written, or a page in it was not written by this function.
    """
    boards, notices, studies = list(boards), list(notices), list(studies)
    built = built or _now()
    folders.make(folder)
    files = Written(*(folder / n for n in ("index.html", "leaderboard.csv", "leaderboard.json")))
    for path in (files.page, *(folder / study.page for study in studies)):
        check_ours(path)
    aside = [group.to_dict() for group in grouped(claims.aside if claims else ())]
    records = downloads.records(claims.frame, boards) if claims and boards else None
    news, notice = change_files.changes(boards, records, since or folder)
    notices += [notice] if notice else []
    study_files.write(studies, folder, title=title, built=built)
    entries = []
    tables = _tables(boards, claims)
    copied, notice = attachments.copy(
        {path for frame in tables for path in frame["path"]}, sources, folder
    )
    notices += [notice] if notice else []
    people = submitters(claims.frame) if claims else {}
    for board, lines in zip(boards, tables, strict=True):
        entry = _entry(board)
        entries.append(entry)
        lines = lines.filter(pl.col("path").is_in(sorted(copied)))
        _publish_data(folder, entry["data"], board_data(board, registered, people))
        _publish_data(folder, entry["details"], details_data(board, lines))
    content = downloads.to_json(
        boards, title=title, notices=notices, built=built, studies=studies, aside=aside
    )
    publish(files.csv, downloads.to_frame(boards).write_csv())
    publish(files.json, downloads.text_of(content))
    if records is not None:
        folders.write_atomically(folder / downloads.PARQUET, downloads.to_parquet(records))
    if news is not None:
        publish(folder / change_files.FILE, news.model_dump_json(indent=1) + "\n")
    site = {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": notices,
        "boards": entries,
        "studies": [_study(study) for study in studies],
        "aside": aside,
        "news": None if news is None else news.news(),
        "files": [
            *(files.csv.name, files.json.name),
            *([] if records is None else [downloads.PARQUET]),
            *([] if news is None else [change_files.FILE]),
        ],
    }
    _publish_data(folder, "data/site.js", site)
    scripts = _publish_assets(folder)
    page = template("index.html.j2").render(title=title, generator=MADE_BY, scripts=scripts)
    publish(files.page, page)
    return files


def _now() -> str:
    """Return the time of the build, which SOURCE_DATE_EPOCH may set."""
    epoch = os.environ.get(EPOCH, "")
    time = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return time.strftime("%Y-%m-%d %H:%M UTC")


def _tables(boards: Iterable[Board], claims: Claims | None) -> list[pl.DataFrame]:
    """Return the tables of each board's records."""
    frame = claims.frame if claims else None
    return [attachments.tables_of(board, frame) for board in boards]


def _entry(board: Board) -> dict[str, Any]:
    """Return what the list of boards says about a board."""
    layout = layout_of(board)
    return {
        "kind": board.kind,
        "title": f"{board.kind.capitalize()} embeddings",
        "models": int((layout.models["role"] != "reference").sum()),
        "rows": layout.rows.height,
        "tasks": len(layout.tasks),
        "data": f"data/{board.kind}.js",
        "details": f"data/{board.kind}-details.js",
    }


def _study(study: StudyOnModel) -> dict[str, str]:
    summary = study.summary
    return {
        "name": summary.study.name,
        "title": summary.study.title,
        "model": summary.model.name,
        "line": study.line(),
        "page": study.page,
    }


def _publish_data(folder: Path, file: str, content: dict[str, Any]) -> None:
    publish(folder / file, script(file, content))


def _publish_assets(folder: Path) -> Sequence[str]:
    """Copy the scripts and the style, and return the scripts; app.js comes first."""
    files = sorted(file for file in ASSETS.rglob("*") if file.suffix in (".js", ".css"))
    names = [file.relative_to(ASSETS).as_posix() for file in files]
    for file, name in zip(files, names, strict=True):
        publish(folder / "assets" / name, file.read_text("utf-8"))
    scripts = [name for name in names if name.endswith(".js")]
    return sorted(scripts, key=lambda name: (name != "app.js", name))
