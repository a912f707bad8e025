"""The files of a leaderboard in one folder: the page, its scripts and data, and the downloads.

The folder is built beside its place and replaces that of the build before. What index.html loads is
in folders that are named by their content, so a page that was loaded before a build does not show
data of that build.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from ..submissions.withdrawn import Decision
from . import about, badges, images
from . import studies as study_files
from .about import BoardFile
from .badges import Badge
from .documents import Document, documents_of
from .evidence import NO_EVIDENCE, Evidence, items_data
from .history import (
    FEED,
    FILE,
    HISTORY,
    History,
    Notices,
    changes,
    feed,
    history_page,
    kept,
)
from .images import Picture
from .payload import (
    END,
    SCHEMA,
    board_data,
    details_data,
    layout_of,
    rounded,
    script,
)
from .registered import NOTHING, Registered
from .rendering import ASSETS, assets_folder, check_ours, grouped, significant, text_of
from .static_pages import (
    Page,
    Site,
    home_page,
    home_picture,
    menu_of,
    pages_of,
    pictures_of,
    publish_indexes,
    publish_pages,
    title_of,
)
from .studies import StudyOnModel

# Tables of records: lists those of a board, and copies them.
#
# A table may come from anybody: it is read as tab-separated text and written again, within limits,
# and the path in a record is not trusted. Figures are not copied: they are pages with scripts.
# `harness results figures` shows those of your own results.


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
        The records, with the columns of `claims.reading.SCHEMA`; without them there are no tables.

    Returns
    -------
    pl.DataFrame
        `row`, `task`, `scenario`, `name` of the table, and its `path` relative to the results
        folder. Invalid paths are left out.
    """
    if frame is None:
        return pl.DataFrame(schema=_SCHEMA)
    has_any = frame.lazy().filter(pl.col("tables") != "{}")
    having = has_any.select(*_KEY, "task", "scenario", "tables").collect()
    if having.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    shown = board.cells.select("row", "id").join(frame.select("id", *_KEY), on="id").drop("id")
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


def copy(
    paths: Iterable[str], sources: Iterable[Path], files: folders.BuiltFolder
) -> tuple[set[str], str]:
    """Copy the tables that are plain files, and return their paths, and a notice.

    Parameters
    ----------
    paths
        Relative paths from `tables_of`.
    sources
        Folders and files of results.
    files
        The files of the site.

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
        files.write(path, content)
        copied.add(path)
    if not refused:
        return copied, ""
    noun = "1 table is" if len(refused) == 1 else f"{len(refused)} tables are"
    return copied, (
        f"{noun} not copied, such as '{refused[0]}': a table has at most {MAX_COLUMNS} columns and "
        f"{MAX_BYTES // 1000} kB, and all together {MAX_TOTAL // 1_000_000} MB"
    )


def _paths(tables: str) -> dict[str, Any]:
    """Return the paths by name; none if the text is not a JSON object."""
    try:
        paths = json.loads(tables)
    except (ValueError, RecursionError):
        return {}
    return paths if isinstance(paths, dict) else {}


def _plain(file: Path) -> bytes | None:
    """Return a table as it is published; None if it is not a plain table within the limits.

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
    """Return a cell without control characters, and not as a formula."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    if not clean.startswith(FORMULAS):
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


# The files to download: leaderboard.csv, leaderboard.json and records.parquet.
#
# They have the content of the page, for other programs. Computes no number.


PARQUET = "records.parquet"
_FORMULA = rf"^([{''.join(FORMULAS).replace('-', '')}\-])"
_RECORD = (
    *("kind", "model", "fingerprint", "revision", "mitigator", "label", "params", "fitted_on"),
    *("mitigator_fingerprint", "task", "version", "digest", "measures", "category", "family"),
    *("language", "scenario", "metric", "score", "primary", "seed", "value", "reason", "ideal"),
    *("low_bound", "high_bound", "unit", "p_value", "alternative", "low", "high", "level", "floor"),
    *("floor_sd", "gap", "gap_error", "yardstick", "yardstick_error", "power", "n", "asked"),
    *("found", "truncated", "word_share", "created", "run", "harness"),
)
"""Columns of records.parquet that a record states; those of `claims.reading.SCHEMA`."""
_BITS = {
    "value": 17,
    **dict.fromkeys(("gap", "yardstick"), 14),
    "measure": 13,
    **dict.fromkeys(("low", "high", "gap_error", "yardstick_error"), 10),
    **dict.fromkeys(("p_value", "floor"), 9),
    **dict.fromkeys(("floor_sd", "word_share"), 8),
}
"""Bits of the mantissas of numbers in records.parquet: five digits of values, four of what ranks,
as the page has them, two or three of others. Fewer bits make a smaller file."""


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
    studies: Iterable[StudyOnModel] = (),
    aside: Sequence[dict[str, Any]] = (),
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Return the contents of leaderboard.json: everything but the values of single tasks."""
    return {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": list(notices),
        "boards": [_board(board) for board in boards],
        "studies": [study.to_dict() for study in studies],
        "aside": list(aside),
        "decisions": [asdict(decision) for decision in decisions],
    }


def downloadable_records(frame: pl.DataFrame, boards: Iterable[Board]) -> pl.DataFrame:
    """Return the content of records.parquet: a line a record, with its role on a board.

    Parameters
    ----------
    frame
        The records that are trusted, with the columns of `claims.reading.SCHEMA`.
    boards
        Boards of these records. `ranked` says whether the record is a cell of a board;
        `measure` is the ranked number, `leak` whether the mitigator was fitted on texts of the
        task, and `aside` why a value does not count.
    """
    cells = [
        board.cells.select("id", "measure", "leak", "aside", ranked=pl.lit(value=True))
        for board in boards
    ]
    schema = {"id": pl.String, "measure": pl.Float64, "leak": pl.Boolean, "aside": pl.String}
    every = pl.concat([pl.DataFrame(schema=schema | {"ranked": pl.Boolean}), *cells])
    # Numbers of a task are alike, so together they make a smaller file.
    order = ("kind", "task", "scenario", "metric", "model", "fingerprint", "label", "params")
    lines = (
        frame.select("id", *_RECORD)
        .join(every, on="id", how="left")
        .drop("id")  # follows from the fingerprints, the digest and the names
        .sort(*order, "score", "seed", "mitigator_fingerprint")
        .with_columns(pl.col("ranked", "leak").fill_null(value=False))
    )
    return lines.with_columns(
        pl.Series(name, rounded(lines[name], bits), nan_to_null=True)
        for name, bits in _BITS.items()
    )


def to_parquet(lines: pl.DataFrame) -> bytes:
    """Return a Parquet file."""
    file = io.BytesIO()
    lines.write_parquet(file, compression="zstd", compression_level=9, statistics=False)
    return file.getvalue()


def _board(board: Board) -> dict[str, Any]:
    rows = board.rows.select(~pl.selectors.starts_with("task:"))
    names = rows.select("row", "model", "fingerprint")
    return {
        "kind": board.kind,
        "notices": list(board.notices),
        "tasks": board.tasks.to_dicts(),
        "rows": significant(rows).to_dicts(),
        "effects": significant(board.effects).to_dicts(),
        "mitigators": significant(board.mitigators).to_dicts(),
        "benchmarks": [
            {
                "name": part.name,
                "title": part.title,
                "version": part.version,
                "tasks": list(part.tasks),
                "findings": list(part.findings),
                "notices": list(part.notices),
                "ranks": significant(
                    part.ranks.join(names, on="row", how="left").drop("row")
                ).to_dicts(),
                "mitigators": significant(part.mitigators).to_dicts(),
            }
            for part in board.benchmarks
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


@dataclass(frozen=True)
class Written:
    """Paths of the files."""

    page: Path
    csv: Path
    json: Path
    notice: str = ""
    """What the site lacks, for the user."""


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
    url: str = "",
    who: BoardFile = NOBODY,
    decisions: Sequence[Decision] = (),
    evidence: Evidence = NO_EVIDENCE,
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
        Lines to show on the page, for example about records that could not be read.
    built
        Date to print on the page; by default SOURCE_DATE_EPOCH, else now.
    sources
        The results folders and files of the boards; their tables are copied into `folder` and
        linked.
    studies
        Studies, each with a page of its own that is linked.
    since
        Folder of the earlier build that the news compare with; by default `folder`.
    url
        Address of the site, as of `static_pages.site_address`; empty if it is not known.
    who
        Who publishes the board.
    decisions
        What became of models and tasks that maintainers withdrew, replaced or renamed.
    evidence
        The strongest items of the cells.

    Raises
    ------
    DiskError
        If the folder cannot be written, or has files of another kind.
    """
    boards, notices, studies = list(boards), list(notices), list(studies)
    sources = list(sources)
    built = built or _now()
    written = Written(
        folder / "index.html", folder / "leaderboard.csv", folder / "leaderboard.json"
    )
    check_ours(folder, sources)
    with folders.BuiltFolder(folder) as files:
        aside = [group.to_dict() for group in grouped(claims.aside if claims else ())]
        records = downloadable_records(claims.frame, boards) if claims and boards else None
        news, notice = changes(boards, records, since or folder, built=built, decisions=decisions)
        notices += [notice] if notice else []
        history, notice = kept(since or folder, news, boards, decisions, built)
        notices += [notice] if notice else []
        columns = {PARQUET: [] if records is None else about.columns_of(records)}
        study_files.write(studies, files)
        if records is not None:
            files.write(PARQUET, to_parquet(records))
        downloads = [written.csv.name, written.json.name, *([] if records is None else [PARQUET])]
        del records  # they take as much memory as the boards
        entries = []
        tables = _tables(boards, claims)
        copied, notice = copy({path for frame in tables for path in frame["path"]}, sources, files)
        notices += [notice] if notice else []
        submissions = submissions_of(claims.frame) if claims else {}
        people = {key: sorted({run.submitted_by for run in of}) for key, of in submissions.items()}
        data = _DataFiles(files)
        for board, lines in zip(boards, tables, strict=True):
            entry = _entry(board)
            entries.append(entry)
            lines = lines.filter(pl.col("path").is_in(sorted(copied)))
            layout, items = layout_of(board), {}
            for task, of_task in evidence.of(board).items():
                file = f"data/{board.kind}-items-{layout.tasks.index(task)}.js"
                items[task] = file, of_task.row
                data.write(file, items_data(of_task, layout))
            data.write(entry["data"], board_data(board, registered, people, items))
            data.write(entry["details"], details_data(board, lines))
        content = to_json(
            boards,
            title=title,
            notices=notices,
            built=built,
            studies=studies,
            aside=aside,
            decisions=decisions,
        )
        table = to_frame(boards)
        columns[written.csv.name] = about.columns_of(table)
        files.write(written.csv.name, table.write_csv())
        files.write(written.json.name, text_of(content))
        if news is not None:
            files.write(FILE, news.model_dump_json(indent=1) + "\n")
        menu = menu_of((board.kind for board in boards), has_studies=bool(studies))
        contents = {
            "schema": SCHEMA,
            "title": title,
            "built": built,
            "harness": harness.__version__,
            "notices": notices,
            "boards": entries,
            "studies": [_study(study) for study in studies],
            "menu": [
                group._asdict() | {"links": [link._asdict() for link in group.links]}
                for group in menu
            ],
            "decisions": [asdict(d) | {"date": history.since(d)} for d in decisions],
            "files": [*downloads, *([] if news is None else [FILE])],
        }
        for asset in sorted(ASSETS.iterdir()):
            files.write(f"{assets_folder()}/{asset.name}", asset.read_bytes())
        documents = documents_of(boards, registered, people)
        pictures, image, said = _pictures(boards, documents, files, title) if url else ({}, "", "")
        head = Site(title=title, built=built, url=url, image=image, menu=menu)
        _publish_history(files, history, head, who)
        badges_of = badges.badges(boards)
        for name, badge in badges_of.items():
            files.write(f"badge/{name}.svg", badge.svg())
            files.write(f"embed/{name}.html", badge.html(head))
        cited = about.bibliography(who, boards, registered, head)
        files.write(about.BIBLIOGRAPHY, "\n\n".join(text for _, text in cited) + "\n")
        runs = [run for of in submissions.values() for run in of]
        decided = Notices(decisions, history, boards)
        listed = _downloads(files, columns)
        every = chain(  # a page at a time is in memory
            (_with_leads(page, badges_of, decided, url) for page in pages_of(documents, pictures)),
            decided.tombstones(),
            about.pages(who, boards, registered, runs, listed, cited, head),
            [about.reading_page(boards, notices, aside)],
            [history_page(history, head, has_changes=news is not None)],
            map(study_files.page_of, studies),
        )
        pages = publish_pages(files, every, head)
        publish_indexes(files, pages, head, boards)
        page = home_page(title, boards, documents["model"])
        page = replace(page, content={**page.content, "build": data.finish(contents)})
        files.write(written.page.name, page.html(head))  # last: a reader starts here
    return replace(written, notice=said)


def _pictures(
    boards: Sequence[Board],
    documents: Mapping[str, Sequence[Document]],
    files: folders.BuiltFolder,
    title: str,
) -> tuple[dict[str, Picture], str, str]:
    """Write the pictures, and draw those that are missing.

    Returns
    -------
    tuple
        The pictures of models, the path of that of the site, and why there are none.
    """
    if not images.can_draw():
        return {}, "", images.MISSING
    pictures = pictures_of(title, boards, documents["model"])
    home = home_picture(title, boards)
    images.publish_pictures(files, [home, *pictures.values()])
    return pictures, home.path, ""


def _now() -> str:
    """Return the time of the build, which SOURCE_DATE_EPOCH may set."""
    epoch = os.environ.get(EPOCH, "")
    time = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return time.strftime("%Y-%m-%d %H:%M UTC")


def _tables(boards: Iterable[Board], claims: Claims | None) -> list[pl.DataFrame]:
    """Return the tables of each board's records."""
    frame = claims.frame if claims else None
    return [tables_of(board, frame) for board in boards]


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


def _study(study: StudyOnModel) -> dict[str, str]:
    summary = study.summary
    return {
        "name": summary.study.name,
        "title": summary.study.title,
        "model": summary.model.name,
        "line": study.line(),
        "page": study.page,
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


def _publish_history(
    files: folders.BuiltFolder, history: History, head: Site, who: BoardFile
) -> None:
    """Write the history, and the feed if the address of the site is known."""
    files.write(HISTORY, history.model_dump_json(indent=1, by_alias=True) + "\n")
    if head.url:
        files.write(FEED, feed(history, head, who.publisher or ""))


def _with_leads(page: Page, shown: Mapping[str, Badge], notices: Notices, url: str) -> Page:
    """Return a page of a model or task with what became of it, and how to show its badge."""
    own = notices.of(page.kind, page.name)
    badge = shown.get(Path(page.path).stem) if page.kind == "model" and page.name else None
    return replace(page, content={**page.content, "notices": own, "badge": badge, "url": url})


_CONTENTS = {
    "leaderboard.csv": "one line a row: ranks, means with intervals, the value of each task",
    "leaderboard.json": "rows, effects, mitigators, benchmarks, studies and notices",
    PARQUET: "one line a record, with how it counts",
    FILE: "each value and rank that the last change concerned",
    HISTORY: "what changed, from build to build",
    FEED: "the same as an Atom feed",
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
