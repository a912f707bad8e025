"""Parses the file of a table. `data_files.py` finds it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

import jsonlines

from harness.errors import InvalidFile, Unavailable
from harness.task.table_schema import Table

Row = Mapping[str, Any]
_UNREADABLE = (
    *(OSError, EOFError, zlib.error, UnicodeDecodeError, LookupError, TypeError, csv.Error),
)


def parse(table: Table, path: Path) -> Sequence[Row]:
    """Return the rows of a table's file, each a mapping from column to cell.

    Raises
    ------
    InvalidFile
        If the file has a mistake in it.
    Unavailable
        If it is another file than the one that the task was made for.
    """
    try:
        content = _decompressed(path)
        if table.sha256 and sha256(content).hexdigest() != table.sha256:
            raise Unavailable(
                f"{path} is not the file that the task was made for: expected sha256 {table.sha256}"
            )
        text = io.TextIOWrapper(io.BytesIO(content), encoding=table.encoding).read()
        rows = _parse(text, table, path)
    except _UNREADABLE as error:
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if not rows:
        raise InvalidFile("has no rows", path=path)
    return rows


def _decompressed(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _parse(text: str, table: Table, path: Path) -> Sequence[Row]:
    suffix = PurePath(path.name.removesuffix(".gz")).suffix
    if suffix == ".jsonl" and not table.columns:
        return _objects(text, table, path)
    numbered, sections = _lines(text, table)
    cells = _cells([line for _, line in numbered], table, suffix)
    columns = list(table.columns) or (cells.pop(0) if cells else [])
    rows = []
    offset = len(numbered) - len(cells)
    for i, row in enumerate(cells):
        if len(row) < len(columns):
            raise InvalidFile(
                f"expected {len(columns)} cells ({', '.join(columns)}), but found {len(row)}",
                path=path,
                line=numbered[i + offset][0],
            )
        rows.append(dict(zip(columns, row, strict=False)))
        if table.section:
            rows[-1][table.section] = sections[i + offset]
    return rows


def _lines(text: str, table: Table) -> tuple[list[tuple[int, str]], list[str]]:
    """Return the lines that hold data with their numbers, and the section of each."""
    numbered = []
    sections, section = [], ""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if table.section and line.startswith(":"):
            section = line[1:].strip()
        elif line.strip() and not (table.comment and line.startswith(table.comment)):
            numbered.append((number, line.rstrip("\r\n")))
            sections.append(section)
    return numbered, sections


def _cells(lines: Sequence[str], table: Table, suffix: str) -> list[list[str]]:
    delimiter = table.delimiter or ("," if suffix == ".csv" else "\t")
    others = {}
    if not table.quoted:
        others = str.maketrans(dict.fromkeys(delimiter[1:], delimiter[0]))
        delimiter = delimiter[0]
    return list(
        csv.reader(
            (line.translate(others) for line in lines),
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if table.quoted else csv.QUOTE_NONE,
        )
    )


def _objects(text: str, table: Table, path: Path) -> Sequence[Row]:
    """Return the objects of a JSONL file, one per line."""
    lines: Iterable[str] = io.StringIO(text, newline="")
    if table.comment:
        comment = table.comment
        lines = ("" if line.startswith(comment) else line for line in lines)
    # By default jsonlines picks whichever JSON parser is installed; numbers could differ.
    reader = jsonlines.Reader(lines, loads=json.loads)
    try:
        return list(reader.iter(type=dict, skip_empty=True))
    except jsonlines.InvalidLineError as error:
        cause = error.__cause__
        problem = f"not JSON ({cause})" if cause else "expected a JSON object"
        raise InvalidFile(problem, path=path, line=error.lineno) from None
