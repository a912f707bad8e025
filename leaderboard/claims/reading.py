"""Reads records of anybody: what is no record is set aside with its reason, the rest counts.

Lines are parsed many at once. Where that fails, they are halved until the lines that are no records
stand alone; `single.py` then says what is wrong with each. Keys that no record has are ignored.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from harness import limits, user_files
from harness.leaderboard.claims import single
from harness.leaderboard.claims.frame import SCHEMA, TEXT
from harness.leaderboard.claims.lines import parsed
from harness.results import samples
from harness.results.folder import STUDY
from harness.results.lines import is_as_written

MOST_TOLD = 1_000
"""Lines of a file that are told one by one if they are no records."""
MOST_SHORT = 100_000
"""Lines of a file that are too short for a record; what has more is not read further."""
_BATCH = 16_000_000
_CHUNK = 4_000_000
_SHORTEST = 300
"""Bytes; what is shorter is no record, and may be blank."""
_CHANGED = "its check differs from its content: damaged, or changed by hand"
_FEW = 16
"""Lines that are looked at alone if one of them is no record."""


@dataclass(frozen=True)
class Aside:
    """A record, or a line that is none, that does not count.

    Parameters
    ----------
    file
        The file, as it was asked for; empty for a record that is in no file.
    line
        The line, from 1; 0 for a whole file.
    reason
        What is wrong, and what would be right.
    id
        The record's id; empty if it has none.
    """

    file: str
    line: int
    reason: str
    id: str = ""

    @property
    def place(self) -> str:
        """The file, with the line if it is about one; empty for a record that is in no file."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        """Return one line for the user."""
        return f"{self.place}: {self.reason}" if self.place else self.reason


@dataclass(frozen=True)
class Claims:
    """What was read.

    Parameters
    ----------
    frame
        The records, a line each, with the columns of `frame.SCHEMA`.
    aside
        What does not count, and why.
    """

    frame: pl.DataFrame
    aside: tuple[Aside, ...] = ()


def read(paths: Iterable[Path]) -> Claims:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    aside: list[Aside] = []
    frames = [pl.DataFrame(schema=SCHEMA)]
    for batch in _batches(_files(paths), aside):
        frames += _frames(batch.lines, np.arange(len(batch.lines)), batch, aside)
    aside = _told(aside)
    aside.sort(key=lambda entry: (entry.file, entry.line))
    return Claims(pl.concat(frames), tuple(aside))


def _told(aside: list[Aside]) -> list[Aside]:
    """Return the entries of each file, no more than are told, and the number of the others."""
    counts = Counter(entry.file for entry in aside)
    if max(counts.values(), default=0) <= MOST_TOLD:
        return aside
    told: Counter[str] = Counter()
    kept = []
    for entry in sorted(aside, key=lambda entry: (entry.file, entry.line)):
        told[entry.file] += 1
        if told[entry.file] <= MOST_TOLD:
            kept.append(entry)
    return kept + [
        Aside(file, 0, f"further lines that are no records: {n - MOST_TOLD}")
        for file, n in counts.items()
        if n > MOST_TOLD
    ]


def asides(frame: pl.DataFrame, reason: pl.Expr) -> list[Aside]:
    """Return an entry for each line of a frame of claims, with its reason."""
    return [
        Aside(file or "", line or 0, text, id_)
        for file, line, text, id_ in frame.select(
            pl.col("file").cast(pl.String),
            "line",
            reason.alias("reason"),
            pl.col("id").str.head(64),
        ).iter_rows()
    ]


@dataclass
class _Batch:
    """Lines of one or several files, without blank ones, and where they are.

    `short` is the number of lines of each file that are too short, earlier batches included.
    """

    short: Counter[str]
    lines: list[bytes] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, chunk: list[bytes], file: str, before: int, aside: list[Aside]) -> None:
        """Add lines of a file, of which it has some number before these."""
        sizes = list(map(len, chunk))
        places: Sequence[int] = range(len(chunk))
        if min(sizes) < _SHORTEST or max(sizes) > limits.LINE_BYTES:
            places = [
                i for i in places
                if not chunk[i].isspace() and self._is_taken(chunk[i], file, before + i + 1, aside)
            ]  # fmt: skip
        if changed := {i for i in places if not is_as_written(chunk[i])}:
            aside += [Aside(file, before + i + 1, _CHANGED) for i in changed]
            places = [i for i in places if i not in changed]
        self.lines += [chunk[i] for i in places]
        self.files += [file] * len(places)
        self.numbers += [before + i + 1 for i in places]
        self.size += sum(sizes[i] for i in places)

    def _is_taken(self, line: bytes, file: str, number: int, aside: list[Aside]) -> bool:
        """Return whether a line is to be looked at; tell why it is not."""
        if len(line) < _SHORTEST:
            self.short[file] += 1
            return self.short[file] <= MOST_TOLD
        if len(line) <= limits.LINE_BYTES:
            return True
        reason = f"a record of {limits.too_many(len(line), limits.LINE_BYTES)}"
        aside.append(Aside(file, number, reason))
        return False


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        user_files.check(path)
        files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        yield from (file for file in files if not file.name.endswith((STUDY, samples.SUFFIX)))


def _batches(files: Iterable[Path], aside: list[Aside]) -> Iterator[_Batch]:
    short: Counter[str] = Counter()
    batch = _Batch(short)
    for file in files:
        name = os.fsencode(file).decode(errors="replace")  # names of files may be no UTF-8
        try:
            size = file.stat().st_size
            if not file.is_file():
                continue
            if size > limits.RECORDS_BYTES:
                reason = f"a file of {limits.too_many(size, limits.RECORDS_BYTES)}"
                aside.append(Aside(name, 0, reason))
                continue
            with file.open("rb") as stream:
                number = 0
                while chunk := stream.readlines(_CHUNK):
                    batch.add(chunk, name, number, aside)
                    number += len(chunk)
                    if short[name] > MOST_SHORT:
                        reason = "most lines are too short for a record; the rest is not read"
                        aside.append(Aside(name, 0, reason))
                        break
                    if batch.size >= _BATCH:
                        yield batch
                        batch = _Batch(short)
        except OSError as error:
            aside.append(Aside(name, 0, f"cannot be read ({error.strerror})"))
    yield batch


def _frames(
    lines: list[bytes], places: np.ndarray, batch: _Batch, aside: list[Aside]
) -> Iterator[pl.DataFrame]:
    """Yield frames of the lines at some places of a batch."""
    if not lines:
        return
    content = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines)
    try:
        result = parsed(content)
    except pl.exceptions.PolarsError:
        result = None
    if result is not None and result.frame.height == len(lines):
        yield _placed(result.frame.filter(result.is_plain), places[result.is_plain], batch)
        for i in np.flatnonzero(~result.is_plain):
            yield from _alone(lines[i], int(places[i]), batch, aside)
    elif len(lines) > _FEW:
        half = len(lines) // 2
        yield from _frames(lines[:half], places[:half], batch, aside)
        yield from _frames(lines[half:], places[half:], batch, aside)
    else:
        for line, place in zip(lines, places, strict=True):
            yield from _alone(line, int(place), batch, aside)


def _alone(line: bytes, place: int, batch: _Batch, aside: list[Aside]) -> Iterator[pl.DataFrame]:
    file = batch.files[place]
    result = single.frame_of_line(line)
    if isinstance(result, str):
        aside.append(Aside(file, batch.numbers[place], result))
    else:
        yield _placed(result, np.array([place]), batch)


def _placed(frame: pl.DataFrame, places: np.ndarray, batch: _Batch) -> pl.DataFrame:
    files = pl.Series("file", [batch.files[i] for i in places], dtype=pl.String).cast(TEXT)
    numbers = pl.Series("line", [batch.numbers[i] for i in places], dtype=pl.Int64)
    return frame.with_columns(files, numbers)
