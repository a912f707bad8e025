"""The strongest items of the cells of boards, in a data file for each task that has any.

They are read from `RUN.samples.jsonl` beside the records, and from the samples of a results folder.
The whole is bounded: models without a mitigator come first, and fewer items of each are kept
before a model has none.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from harness import limits
from harness.metrics import Ideal
from harness.names import NONE
from harness.results.reading import SetAside
from harness.results.record import read_rows, samples_path

from ..boards.board import Board
from ..claims import evidence, reading
from ..claims.evidence import KEPT, Catalogue, Extract, Scale, TaskItems
from .payload import Layout, column, rounded

if TYPE_CHECKING:
    from harness.registry.registry import Registry

SHOWN = 10
"""Items of a cell that the page shows."""
MOST_CELLS = 50_000
"""Cells with items: those of 1,000 models on 50 tasks."""
MOST_ITEMS = 500_000
"""Items of all cells. Each has eight bytes, and some five in a compressed file."""
MOST_CHARACTERS = 4_000_000
"""Characters of all texts."""
VALUE_BITS, SCORE_BITS = 11, 14
"""Bits of the mantissa of a value, three digits, and of a score, four."""
_SCALE = ("scenario", "metric", "value_on_all", "ideal", "low_bound", "high_bound")


@dataclass(frozen=True)
class Cell:
    """A cell of a board whose record may have items.

    Parameters
    ----------
    kind, row, task
        The board, the row and the task.
    id
        Its record.
    priority
        Cells that come first keep their items: rows without a mitigator, and ranked tasks.
    scale
        Its score.
    """

    kind: str
    row: str
    task: str
    id: str
    priority: tuple[bool, bool, str]
    scale: Scale


@dataclass
class Items:
    """The strongest items of the cells of a task.

    Parameters
    ----------
    note
        Why texts are missing; empty if none is.
    is_compared
        Whether the texts were compared with those of the task; others are not published.
    texts
        The items: their inputs, their row there, and their texts if these may be quoted.
    row, total, score
        By cell, its row on the board, the number of all its items, and the score, their mean.
    item, value
        By cell, its strongest items as indices into `texts`, and their values.
    """

    note: str
    is_compared: bool = True
    texts: dict[tuple[tuple[str, ...], int], tuple[str, ...] | None] = field(default_factory=dict)
    row: list[str] = field(default_factory=list)
    total: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    item: list[array[int]] = field(default_factory=list)
    value: list[array[float]] = field(default_factory=list)
    _index: dict[tuple[tuple[str, ...], int], int] = field(default_factory=dict)

    def add(self, row: str, score: float, extract: Extract) -> None:
        """Add the items of a cell."""
        keys = [(item.of, item.row) for item in extract.strongest]
        for key, item in zip(keys, extract.strongest, strict=True):
            self._index.setdefault(key, len(self._index))
            if self.texts.get(key) is None:
                self.texts[key] = item.texts if self.is_compared else None
        self.row.append(row)
        self.total.append(extract.items)
        self.score.append(score)
        self.item.append(array("I", (self._index[key] for key in keys)))
        self.value.append(array("d", (item.value for item in extract.strongest)))

    def cut(self) -> None:
        """Keep of each cell what the page shows."""
        self.item = [items[:SHOWN] for items in self.item]
        self.value = [values[:SHOWN] for values in self.value]

    @property
    def characters(self) -> int:
        """Characters of the texts."""
        return sum(len(text) for texts in self.texts.values() for text in texts or ())

    def drop_texts(self) -> None:
        """Leave all texts out."""
        self.note = "the board has no room for more texts"
        self.texts = dict.fromkeys(self.texts)


@dataclass(frozen=True)
class Evidence:
    """The items of boards.

    Parameters
    ----------
    items
        The items of each task, by the kind of the board and the task.
    aside
        Lines that are no items of their record or task.
    notices
        What is left out.
    """

    items: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    aside: tuple[SetAside, ...] = ()
    notices: tuple[str, ...] = ()

    def of(self, board: Board) -> dict[str, Items]:
        """Return the items of a board, by task."""
        return {task: items for (kind, task), items in self.items.items() if kind == board.kind}


NO_EVIDENCE = Evidence()


def gather(
    boards: Iterable[Board], frame: pl.DataFrame, registry: Registry, sources: Iterable[Path]
) -> Evidence:
    """Return the strongest items of the cells of boards.

    Parameters
    ----------
    boards
        The boards.
    frame
        Their records, with the columns of `claims.reading.SCHEMA`.
    registry
        The tasks with which items are compared.
    sources
        The results folders and files of the boards; items are beside files of records.
    """
    aside: list[SetAside] = []
    notices: list[str] = []
    boards = list(boards)
    ids = {id_ for board in boards for id_ in board.cells["id"]}
    places = _places(reading.files(sources), ids, aside)
    cells = sorted(_cells(boards, frame, places), key=lambda cell: cell.priority)
    if len(cells) > MOST_CELLS:
        n = len(cells) - MOST_CELLS
        notices.append(f"the items of {n:,} cells are left out: at most {MOST_CELLS:,} have items")
    catalogue = Catalogue(registry)
    items: dict[tuple[str, str], Items] = {}
    for cell in sorted(cells[:MOST_CELLS], key=lambda cell: cell.task):
        task = catalogue.task(cell.task)
        extract = places[cell.id].extract(cell, task)
        if isinstance(extract, SetAside):
            aside.append(extract)
        elif extract is not None:
            key = cell.kind, cell.task
            items.setdefault(key, Items(task.note, task.texts is not None)).add(
                cell.row, cell.scale.value or 0.0, extract
            )
    notices += within_limits(items.values())
    return Evidence(items, tuple(aside), tuple(notices))


def within_limits(items: Collection[Items]) -> Iterator[str]:
    """Cut the items of a large board, and yield what is cut."""
    if sum(len(cell) for of in items for cell in of.item) > MOST_ITEMS:
        for of in items:
            of.cut()
        yield f"a board of this size has the {SHOWN} strongest items of a cell, not {KEPT}"
    characters = dropped = 0
    for of in items:
        if characters + of.characters > MOST_CHARACTERS:
            of.drop_texts()
            dropped += 1
        characters += of.characters
    if dropped:
        yield f"the texts of the items of {dropped:,} tasks are left out: too long together"


# Where the items of a cell are: a line of a file of extracts, or one's own samples.


@dataclass(frozen=True)
class Place:
    """Where the items of a record are.

    Parameters
    ----------
    file
        The file.
    line
        Its line in a file of extracts, from 1; 0 for a file of samples.
    start
        The byte at which the line begins.
    """

    file: Path
    line: int = 0
    start: int = 0

    def extract(self, cell: Cell, task: TaskItems) -> Extract | SetAside | None:
        """Return the items of a cell, or why they are none; None if the score has no items."""
        if not self.line:
            if reason := _sample_problem(self.file):
                return SetAside(str(self.file), 0, reason)
            extract = evidence.extract_of(cell.id, read_rows(self.file), cell.scale, task)
            if isinstance(extract, str):
                return None
        else:
            with self.file.open("rb") as content:
                content.seek(self.start)
                extract = evidence.read_line(content.readline(limits.EXTRACT_BYTES + 1))
            if isinstance(extract, str):
                return SetAside(str(self.file), self.line, extract)
        reason = evidence.mistake(extract, cell.scale, task)
        return SetAside(str(self.file), self.line, reason, cell.id) if reason else extract


def _sample_problem(file: Path) -> str:
    size = file.stat().st_size
    return limits.too_many(size, limits.RECORDS_BYTES) if size > limits.RECORDS_BYTES else ""


def _cells(boards: Iterable[Board], frame: pl.DataFrame, ids: Collection[str]) -> Iterator[Cell]:
    """Yield the cells of boards whose records have these ids."""
    scales = frame.lazy().select("id", *_SCALE).filter(pl.col("id").is_in(list(ids)))
    for board in boards if ids else ():
        lines = (
            board.cells.lazy()
            .select("row", "task", "id")
            .join(scales, on="id")
            .join(board.rows.lazy().select("row", "mitigator"), on="row")
            .join(board.tasks.lazy().select("task", "not_ranked"), on="task")
            .cast(dict.fromkeys(("row", "task", "ideal", "scenario", "metric"), pl.String))
            .collect()
        )
        for line in lines.iter_rows(named=True):
            yield _cell(board.kind, line)


def _cell(kind: str, line: Mapping[str, Any]) -> Cell:
    ideal: Ideal = line["ideal"] if line["ideal"] in ("higher", "lower") else float(line["ideal"])
    bounds = line["low_bound"], line["high_bound"]
    scale = Scale(line["scenario"], line["metric"], line["value_on_all"], ideal, bounds)
    priority = line["mitigator"] != NONE, line["not_ranked"] is not None, line["task"]
    return Cell(kind, line["row"], line["task"], line["id"], priority, scale)


def _places(runs: Iterable[Path], ids: Collection[str], aside: list[SetAside]) -> dict[str, Place]:
    """Return the place of the items of each record that has any; that of extracts if it has both.

    A record may be in several files: its items may be beside any of them.
    """
    runs = list(runs)
    places: dict[str, Place] = {}
    folders = sorted({run.parent / PurePath(samples_path("")).parent for run in runs})
    folders = [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]
    names = {PurePath(samples_path(id_)).name: id_ for id_ in ids} if folders else {}
    for folder in folders:
        files = (file for file in sorted(folder.iterdir()) if not file.is_symlink())
        places |= {names[file.name]: Place(file) for file in files if file.name in names}
    for file in (evidence.samples_file(run) for run in runs):
        if not file.exists():
            continue
        if reason := evidence.file_problem(file):
            aside.append(SetAside(str(file), 0, reason))
        else:
            places |= _lines(file, ids, aside)
    return places


def _lines(file: Path, ids: Collection[str], aside: list[SetAside]) -> dict[str, Place]:
    """Return the place of each extract in a file."""
    places: dict[str, Place] = {}
    start = 0
    for number, line, id_ in evidence.lines_of(file):
        if not id_:  # not where `pack` writes it
            extract = evidence.read_line(line)
            if isinstance(extract, str):
                aside.append(SetAside(str(file), number, extract))
            else:
                id_ = extract.id
        if id_ in ids:
            places[id_] = Place(file, number, start)
        start += len(line)
    return places


# The data file of a task, as in `scripts/types.d.ts`.


def items_data(items: Items, layout: Layout) -> dict[str, Any]:
    """Return the content of the data file of a task; see `TaskItems` in `scripts/types.d.ts`."""
    order = {row: i for i, row in enumerate(layout.rows["row"])}
    used = sorted({index for indices in items.item for index in indices})
    new = {index: i for i, index in enumerate(used)}
    listed = list(items.texts.items())
    inputs = list(dict.fromkeys(listed[index][0][0] for index in used))
    values = [value for of_cell in items.value for value in of_cell]
    return {
        "note": items.note,
        "inputs": [list(names) for names in inputs],
        "items": [
            [inputs.index(of), row, None if texts is None else list(texts)]
            for (of, row), texts in (listed[index] for index in used)
        ],
        "row": [order[row] for row in items.row],
        "total": items.total,
        "score": column(rounded(items.score, SCORE_BITS), "f32"),
        "count": [len(indices) for indices in items.item],
        "item": column([new[i] for indices in items.item for i in indices], "i32"),
        "value": column(rounded(values, VALUE_BITS), "f32"),
    }
