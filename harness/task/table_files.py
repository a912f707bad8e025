"""Parses the file of a table. `data_files.py` finds it."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

import jsonlines

from harness import limits, user_files
from harness.errors import InvalidFile, Unavailable
from harness.task.table_schema import Table

Row = Mapping[str, Any]
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]')
"""Brackets of JSON, and texts, which may have brackets in them."""
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
        content = _decompressed(path, max(limits.TABLE_BYTES, table.size or 0))
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


def _decompressed(path: Path, largest: int) -> bytes:
    content = user_files.read(path, largest)
    if path.suffix == ".gz":
        with gzip.open(io.BytesIO(content)) as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            problem = f"more than {largest:,} bytes once it is decompressed"
            raise InvalidFile(f"{problem}, which is the limit", path=path)
    return content


def _parse(text: str, table: Table, path: Path) -> Sequence[Row]:
    suffix = PurePath(path.name.removesuffix(".gz")).suffix
    if suffix == ".jsonl" and not table.columns:
        return _objects(text, table, path)
    numbered, sections = _lines(text, table, path)
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


def _lines(text: str, table: Table, path: Path) -> tuple[list[tuple[int, str]], list[str]]:
    """Return the lines that hold data with their numbers, and the section of each."""
    numbered = []
    sections, section = [], ""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if table.section and line.startswith(":"):
            section = line[1:].strip()
        elif line.strip() and not (table.comment and line.startswith(table.comment)):
            numbered.append((number, line.rstrip("\r\n")))
            sections.append(section)
            if len(numbered) > limits.TABLE_ROWS + 1:
                problem = f"more than {limits.TABLE_ROWS:,} rows, which is the limit"
                raise InvalidFile(problem, path=path, line=number)
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
    reader = jsonlines.Reader(lines, loads=_json)
    try:
        objects = reader.iter(type=dict, skip_empty=True)
        rows = list(itertools.islice(objects, limits.TABLE_ROWS + 1))
    except jsonlines.InvalidLineError as error:
        cause = error.__cause__
        problem = f"not JSON ({cause})" if cause else "expected a JSON object"
        raise InvalidFile(problem, path=path, line=error.lineno) from None
    if len(rows) > limits.TABLE_ROWS:
        raise InvalidFile(f"more than {limits.TABLE_ROWS:,} rows, which is the limit", path=path)
    return rows


def _json(line: str | bytes) -> Any:
    """Return the value of a line; ValueError if it is no JSON, or nested too deeply."""
    line = line.decode() if isinstance(line, bytes) else line
    brackets = line.count("[") + line.count("{")
    if brackets > limits.NESTING:
        depth = deepest = 0
        for bracket in _BRACKETS.findall(line):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(bracket, 0)
            deepest = max(depth, deepest)
        if deepest > limits.NESTING:
            raise ValueError(limits.too_many(deepest, limits.NESTING, "levels"))
    return json.loads(line)
