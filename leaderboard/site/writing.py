"""The files of a leaderboard in one folder: the page, its scripts and data, and the downloads.

The folder is built beside its place and replaces that of the build before. What index.html loads is
in folders that are named by their content, so a page that was loaded before a build does not show
data of that build.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

import harness
from harness import folders
from harness.digest import digest
from harness.results.formats import FORMULAS

from ..boards.board import Board
from ..claims.reading import Claims
from ..submissions import submission
from . import about, badges
from .about import BoardFile
from .documents import documents_of
from .evidence import NO_EVIDENCE, Evidence, items_data
from .payload import (
    END,
    SCHEMA,
    board_data,
    details_data,
    layout_of,
    script,
)
from .registered import NOTHING, Registered
from .rendering import ASSETS, assets_folder, check_ours, grouped, significant, text_of
from .static_pages import (
    Page,
    Site,
    home_page,
    menu_of,
    pages_of,
    publish_pages,
    title_of,
)

# The files to download: leaderboard.csv, leaderboard.json and records.parquet.
#
# They have the content of the page, for other programs. Computes no number.


CSV, JSON, PARQUET = "leaderboard.csv", "leaderboard.json", "records.parquet"
_FORMULA = rf"^([{''.join(FORMULAS).replace('-', '')}\-])"
_RECORD = (
    *("kind", "model", "fingerprint", "revision", "mitigator", "label", "params", "fitted_on"),
    *("mitigator_fingerprint", "task", "version", "digest", "measures", "category", "family"),
    *("language", "scenario", "metric", "score", "primary", "seed", "unseen", "value"),
    *("value_on_all", "reason", "ideal", "low_bound", "high_bound", "unit", "p_value"),
    *("alternative", "low", "high", "level", "floor"),
    *("floor_sd", "gap", "gap_error", "yardstick", "yardstick_error", "power", "n", "asked"),
    *("found", "truncated", "word_share", "created", "run", "harness"),
)
"""Columns of records.parquet that a record states; those of `claims.reading.SCHEMA`."""


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
    return significant(frame).with_columns(pl.col(texts).str.replace(_FORMULA, "'$1"))


def to_json(
    boards: Iterable[Board],
    *,
    title: str,
    notices: Iterable[str],
    built: str,
    aside: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the contents of leaderboard.json: everything but the values of single tasks."""
    return {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": list(notices),
        "boards": [_board(board) for board in boards],
        "aside": list(aside),
    }


def downloadable_records(frame: pl.DataFrame, boards: Iterable[Board]) -> pl.DataFrame:
    """Return the content of records.parquet: a line a record, with its role on a board.

    Parameters
    ----------
    frame
        The records that are trusted, with the columns of `claims.reading.SCHEMA`.
    boards
        Boards of these records. `ranked` says whether the record is a cell of a board;
        `measure` is the ranked number, and `aside` why a value does not count.
    """
    cells = [
        board.cells.select("id", "measure", "aside", ranked=pl.lit(value=True)) for board in boards
    ]
    schema = {"id": pl.String, "measure": pl.Float64, "aside": pl.String}
    every = pl.concat([pl.DataFrame(schema=schema | {"ranked": pl.Boolean}), *cells])
    # Numbers of a task are alike, so together they make a smaller file.
    order = ("kind", "task", "scenario", "metric", "model", "fingerprint", "label", "params")
    return (
        frame.select("id", *_RECORD)
        .join(every, on="id", how="left")
        .drop("id")  # follows from the fingerprints, the digest and the names
        .sort(*order, "score", "seed", "mitigator_fingerprint")
        .with_columns(pl.col("ranked").fill_null(value=False))
    )


def to_parquet(lines: pl.DataFrame) -> bytes:
    """Return a Parquet file."""
    file = io.BytesIO()
    lines.write_parquet(file, compression="zstd", compression_level=9, statistics=False)
    return file.getvalue()


def _board(board: Board) -> dict[str, Any]:
    rows = board.rows.select(~pl.selectors.starts_with("task:"))
    names = rows.select("row", "fingerprint", "mitigator", on="model")
    return {
        "kind": board.kind,
        "notices": list(board.notices),
        "tasks": board.tasks.to_dicts(),
        "rows": significant(rows).to_dicts(),
        "effects": significant(board.effects).to_dicts(),
        "benchmarks": [
            {
                "name": part.name,
                "title": part.title,
                "version": part.version,
                "tasks": list(part.tasks),
            }
            for part in board.benchmarks
        ],
        "views": [
            {
                "benchmark": view.benchmark,
                "concept": view.concept,
                "language": view.language,
                "tasks": list(view.tasks),
                "finding": view.finding,
                "notices": list(view.notices),
                **{
                    name: significant(names.join(frame, on="row").drop("row")).to_dicts()
                    for name, frame in (("rows", view.rows), ("effects", view.effects))
                },
                "mitigators": significant(view.mitigators).to_dicts(),
            }
            for view in board.views
        ],
        "published": board.published.to_dicts(),
        "environments": dict(board.environments),
    }


# The submitters of a model's results, from the `submission.json` next to the records.


def submissions_of(frame: pl.DataFrame) -> dict[tuple[str, str], list[submission.Submission]]:
    """Return what submitters say of the runs of each model, by its name and fingerprint.

    Results without a valid `submission.json` have nothing.

    Parameters
    ----------
    frame
        The records, with the columns of `claims.reading.SCHEMA`.
    """
    of_model: defaultdict[tuple[str, str], list[submission.Submission]] = defaultdict(list)
    lines = frame.select("model", "fingerprint", "file").unique().drop_nulls().cast(pl.String)
    runs = submission.of_files(lines["file"].unique())
    for model, fingerprint, file in lines.sort(pl.all()).iter_rows():
        if file in runs:
            of_model[model, fingerprint].append(runs[file])
    return dict(of_model)


NOBODY = BoardFile()
"""A board that does not say who publishes it."""
EPOCH = "SOURCE_DATE_EPOCH"
"""Variable that sets the date of a build, as in other tools with reproducible builds."""


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
    url: str = "",
    who: BoardFile = NOBODY,
    evidence: Evidence = NO_EVIDENCE,
) -> Path:
    """Write the leaderboard of `boards` into `folder`, and return the path of its page.

    Parameters
    ----------
    boards
        The boards.
    folder
        Folder to write into; it is created if needed.
    title
        Title of the page.
    claims
        The records of the boards, and what was set aside. Without them there are no
        records.parquet and no submitters.
    registered
        Facts of registered models, mitigators and tasks.
    notices
        Lines to show on the page, for example about records that could not be read.
    built
        Date to print on the page; by default SOURCE_DATE_EPOCH, else now.
    sources
        The results, which the site never replaces.
    url
        Address of the site, as of `static_pages.site_address`; empty if it is not known.
    who
        Who publishes the board.
    evidence
        The strongest items of the cells.

    Raises
    ------
    DiskError
        If the folder cannot be written, or has files of another kind.
    """
    boards, notices = list(boards), list(notices)
    built = built or _now()
    index = folder / "index.html"
    check_ours(folder, sources)
    with folders.BuiltFolder(folder) as files:
        aside = [group.to_dict() for group in grouped(claims.aside if claims else ())]
        columns = {}
        if claims and boards:
            records = downloadable_records(claims.frame, boards)
            columns[PARQUET] = about.columns_of(records)
            files.write(PARQUET, to_parquet(records))
            del records  # they take as much memory as the boards
        submissions = submissions_of(claims.frame) if claims else {}
        people = {key: sorted({run.submitted_by for run in of}) for key, of in submissions.items()}
        documents = documents_of(boards, registered, people)
        data = _DataFiles(files)
        entries = [_entry(board) for board in boards]
        for board, entry in zip(boards, entries, strict=True):
            layout, items = layout_of(board), {}
            for task, of_task in evidence.of(board).items():
                file = f"data/{board.kind}-items-{layout.tasks.index(task)}.js"
                items[task] = file, of_task.row
                data.write(file, items_data(of_task, layout))
            data.write(entry["data"], board_data(board, registered, people, items))
            data.write(entry["details"], details_data(board))
        table = to_frame(boards)
        columns[CSV] = about.columns_of(table)
        files.write(CSV, table.write_csv())
        content = to_json(boards, title=title, notices=notices, built=built, aside=aside)
        files.write(JSON, text_of(content))
        menu = menu_of(board.kind for board in boards)
        contents = {
            "schema": SCHEMA,
            "title": title,
            "built": built,
            "harness": harness.__version__,
            "notices": notices,
            "boards": entries,
            "menu": [
                group._asdict() | {"links": [link._asdict() for link in group.links]}
                for group in menu
            ],
            "files": [CSV, JSON, *([PARQUET] if claims and boards else [])],
        }
        for asset in sorted(ASSETS.iterdir()):
            files.write(f"{assets_folder()}/{asset.name}", asset.read_bytes())
        head = Site(title=title, built=built, url=url, menu=menu)
        for model in documents["model"]:
            files.write(badges.path_of(model.name), badges.svg(model))
        cited = about.bibliography(who, boards, registered, head)
        files.write(about.BIBLIOGRAPHY, "\n\n".join(text for _, text in cited) + "\n")
        runs = [run for of in submissions.values() for run in of]
        listed = _downloads(files, columns)
        every = chain(  # a page at a time is in memory
            (_with_badge(page, url) for page in pages_of(documents)),
            about.pages(who, boards, registered, runs, listed, cited, head),
            [about.reading_page(boards, notices, aside)],
        )
        publish_pages(files, every, head)
        page = home_page(title, boards, documents["model"])
        page = replace(page, content={**page.content, "build": data.finish(contents)})
        files.write(index.name, page.html(head))  # last: a reader starts here
    return index


def _now() -> str:
    """Return the time of the build, which SOURCE_DATE_EPOCH may set."""
    epoch = os.environ.get(EPOCH, "")
    time = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return time.strftime("%Y-%m-%d %H:%M UTC")


def _entry(board: Board) -> dict[str, Any]:
    """Return the entry of a board in the list of boards."""
    layout = layout_of(board)
    return {
        "kind": board.kind,
        "title": title_of(board.kind),
        "models": int((layout.models["role"] != "reference").sum()),
        "ranked": int((layout.rows["rank"].is_not_null()).sum()),
        "rows": layout.rows.height,
        "tasks": len(layout.tasks),
        "data": f"data/{board.kind}.js",
        "details": f"data/{board.kind}-details.js",
    }


class _DataFiles:
    """The data files of a build, `data/NAME.js`, which carry its id.

    They are written as `data/ID/NAME.js`, so a page that was loaded before a build does not get
    data of that build under its own names.
    """

    def __init__(self, files: folders.BuiltFolder) -> None:
        self._all = files
        self._files: list[str] = []

    def write(self, file: str, content: dict[str, Any]) -> None:
        """Write a data file up to its end."""
        self._all.write(file, script(file, content))
        self._files.append(file)

    def finish(self, site: dict[str, Any]) -> str:
        """Write data/site.js and the ends of the others, and return the id of the build.

        It is a digest of what the files hold but for the date: browsers keep what is the same.
        """
        digests = [
            hashlib.sha256(self._all.content(file) or b"").hexdigest() for file in self._files
        ]
        build = digest([digests, site | {"built": ""}])[:16]
        self.write("data/site.js", site)
        for file in self._files:
            self._all.append(file, END.format(build).encode())
            self._all.rename(file, data_path(file, build))
        return build


def data_path(file: str, build: str) -> str:
    """Return the path of a data file such as `data/site.js` in a site."""
    return file.replace("/", f"/{build}/")


def _with_badge(page: Page, url: str) -> Page:
    """Return a page, of a model with its badge and how to show it elsewhere."""
    badge = None
    if page.kind == "model" and page.name:
        badge = {
            "path": badges.path_of(page.name),
            "markdown": badges.markdown(url, page.name),
        }
    return replace(page, content={**page.content, "badge": badge})


_CONTENTS = {
    CSV: "one line a row: ranks, means with intervals, the value of each task",
    JSON: "rows, effects, benchmarks, what was computed on each, and notices",
    PARQUET: "one line a record, with how it counts",
    about.BIBLIOGRAPHY: "BibTeX of the board, the harness and the tasks' papers",
}
"""The files to download, and what they have."""


def _downloads(
    files: folders.BuiltFolder, columns: Mapping[str, Sequence[tuple[str, str, str]]]
) -> list[about.File]:
    """Return the files to download that were written."""
    return [
        about.File(name, about.size_text(len(written)), content, columns.get(name, ()))
        for name, content in _CONTENTS.items()
        if (written := files.content(name)) is not None
    ]
