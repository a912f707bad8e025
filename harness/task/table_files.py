"""Finds and parses the file of a table: beside the task, in a package, or downloaded.

A copy in the folder that the environment variable HARNESS_DATA names is preferred to all of these.
"""

from __future__ import annotations

import csv
import io
import json
import os
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256 as sha256_of
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import jsonlines

from harness import folders
from harness.digest import file_sha256
from harness.errors import InvalidFile, Unavailable
from harness.task.schema import Table
from harness.task.yaml_files import Document, KeyPath

Row = Mapping[str, Any]


def read(table: Table, document: Document, key: KeyPath) -> Sequence[Row]:
    """Return the rows of a table, each a mapping from column to cell.

    Raises
    ------
    InvalidFile
        If the table or its file has a mistake in it.
    Unavailable
        If the file is missing; the message says where to get it.
    """
    if table.rows is not None:
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    path = locate(table, document, key)
    if table.sha256 and file_sha256(path) != table.sha256:
        raise Unavailable(
            f"{path} is not the file that the task was made for: expected sha256 {table.sha256}"
        )
    try:
        rows = _parse(path.read_text(encoding=table.encoding), table, path)
    except (OSError, UnicodeDecodeError, LookupError, TypeError, csv.Error) as error:
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if not rows:
        raise InvalidFile("has no rows", path=path)
    return rows


def locate(table: Table, document: Document, key: KeyPath) -> Path:
    """Return the path of a table's file; download it if necessary."""
    root = os.environ.get("HARNESS_DATA")
    if table.local and root and (Path(root) / table.local).is_file():
        return Path(root) / table.local
    if table.package:
        return _in_package(table.package, table.file or "")
    if table.file:
        path = document.path.parent / table.file
        if not path.is_file():
            raise document.error(f"there is no file '{table.file}' in this folder", key)
        return path
    if table.url:
        return _fetched(table.url, table.sha256 or "")
    raise Unavailable(
        f"missing data: put '{table.local}' in the folder that HARNESS_DATA names. "
        f"{table.how_to_get}".strip()
    )


def _in_package(package: str, file: str) -> Path:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # the parent package is missing
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(f"missing package '{package}' with its data: pip install {package}")
    path = Path(next(iter(spec.submodule_search_locations))) / file
    if not path.is_file():
        raise Unavailable(f"the installed package '{package}' has no file '{file}'")
    return path


def _fetched(url: str, sha256: str) -> Path:
    if url.startswith("hf://"):
        return _from_hub(url.removeprefix("hf://datasets/"))
    folder = folders.cache() / "downloads" / sha256
    try:
        # Of the address, only a known suffix goes into the file name: it selects the parser.
        suffix = PurePosixPath(urlsplit(url).path).suffix
        target = folder / f"table{suffix if suffix in ('.csv', '.jsonl') else ''}"
        if target.is_file():
            return target
        with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310  # https by the schema
            content = response.read()
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(f"'{url}' could not be fetched ({error})") from None
    if sha256_of(content).hexdigest() != sha256:
        raise Unavailable(
            f"the file at '{url}' is not the one that the task was made for: "
            f"expected sha256 {sha256}"
        )
    folders.write_atomically(target, content)
    return target


def _from_hub(reference: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    owner, name, path = reference.split("/", 2)
    name, _, revision = name.partition("@")
    try:
        return Path(
            hf_hub_download(f"{owner}/{name}", path, repo_type="dataset", revision=revision or None)
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        raise Unavailable(f"'{reference}' could not be fetched from the hub ({error})") from None


def _parse(text: str, table: Table, path: Path) -> Sequence[Row]:
    if path.suffix == ".jsonl":
        return _objects(text, table, path)
    numbered, sections = _lines(text, table)
    cells = _cells([line for _, line in numbered], table, path)
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


def _cells(lines: Sequence[str], table: Table, path: Path) -> list[list[str]]:
    delimiter = table.delimiter or ("," if path.suffix == ".csv" else "\t")
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
