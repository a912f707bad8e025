"""Sentences of a corpus of any size, one at a time: JSON lines, TSV, or plain text.

Holds one line in memory. Does not read CSV, because a CSV field may span several lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeAlias

from harness.errors import InvalidFile, InvalidOption, suggestion, unreadable

Format: TypeAlias = Literal["jsonl", "tsv", "text"]
STDIN = "-"
_FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".txt": "text",
    "": "text",
}


class Sentence(NamedTuple):
    """A text, its line number from 1, and its key or column."""

    line: int
    key: str
    text: str


def format_of(name: str) -> Format:
    """Return the format that belongs to a file extension.

    Raises
    ------
    InvalidOption
        If the extension is unknown.
    """
    kind = _FORMATS.get(Path(name).suffix.lower())
    if kind is None:
        raise InvalidOption(
            f"'{name}': unknown format of the corpus; set --format to jsonl, tsv or text"
        )
    return kind


def sentences(name: str, kind: Format, keys: Sequence[str] = ()) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of standard input for `-`; blank ones are skipped.

    Parameters
    ----------
    name
        File in UTF-8.
    kind
        `jsonl`: one object per line; `tsv`: columns separated by tabs, without quotes; `text`: one
        sentence per line.
    keys
        Keys of the objects, or columns of the table, that hold sentences; by default `text`.
        Columns are names in the first line; if all are numbers, from 1, there is no header.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a line has no such key or column; names the line.
    InvalidOption
        If keys are given for plain text.
    """
    if kind == "text" and keys:
        raise InvalidOption("--text-key needs jsonl or tsv; in plain text each line is a sentence")
    lines = _lines(name)
    unstripped: Iterator[Sentence]
    if kind == "text":
        unstripped = (Sentence(i, "", line) for i, line in lines)
    elif kind == "jsonl":
        unstripped = _of_objects(name, lines, keys or ("text",))
    else:
        unstripped = _of_table(name, lines, keys or ("text",))
    for sentence in unstripped:
        text = " ".join(sentence.text.split())
        if text:
            yield sentence._replace(text=text)


def count_lines(name: str) -> int | None:
    """Return the number of lines of a file; None for standard input, which is read only once."""
    path = Path(name)
    if name == STDIN or not path.is_file():
        return None
    lines, last = 0, b""
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            lines, last = lines + block.count(b"\n"), block
    return lines + (last != b"" and not last.endswith(b"\n"))


def _lines(name: str) -> Iterator[tuple[int, str]]:
    try:
        if name == STDIN:
            yield from _decoded(name, sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _decoded(name, file)
    except OSError as error:
        raise unreadable(name, error) from None


def _decoded(name: str, file: IO[bytes]) -> Iterator[tuple[int, str]]:
    for i, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8-sig" if i == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidFile("not UTF-8", path=name, line=i) from None
        yield i, text.rstrip("\r\n")


def _of_objects(
    name: str, lines: Iterator[tuple[int, str]], keys: Sequence[str]
) -> Iterator[Sentence]:
    for i, line in lines:
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidFile("invalid JSON", path=name, line=i) from None
        if not isinstance(item, Mapping):
            raise InvalidFile("expected a JSON object", path=name, line=i)
        for key in keys:
            if not isinstance(item.get(key), str):
                texts = [str(k) for k, value in item.items() if isinstance(value, str)]
                problem = "the value is not a string" if key in item else "missing key"
                hint = suggestion(key, texts) or f"; keys with text: {', '.join(texts[:8])}"
                raise InvalidFile(f"{problem}{hint} (--text-key)", path=name, line=i, key=key)
            yield Sentence(i, key, item[key])


def _of_table(
    name: str, lines: Iterator[tuple[int, str]], keys: Sequence[str]
) -> Iterator[Sentence]:
    columns: list[int] = []
    if all(key.isdecimal() for key in keys):
        columns = [int(key) - 1 for key in keys]
        if -1 in columns:
            raise InvalidOption("--text-key 0: column numbers start at 1")
    for i, line in lines:
        cells = line.split("\t")
        if not columns:
            for key in keys:
                if key not in cells:
                    hint = suggestion(key, cells)
                    raise InvalidFile(
                        f"missing column{hint} (--text-key)", path=name, line=i, key=key
                    )
            columns = [cells.index(key) for key in keys]
            continue
        for key, column in zip(keys, columns, strict=True):
            if column >= len(cells):
                problem = f"expected at least {column + 1} columns, got {len(cells)}"
                raise InvalidFile(problem, path=name, line=i)
            yield Sentence(i, key, cells[column])
