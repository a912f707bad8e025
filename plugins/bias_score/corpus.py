"""Sentences of a corpus of any size, one after the other: JSON lines, TSV, or plain lines.

Holds one line at a time. Reads no CSV, since a field of it may go over several lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeAlias

from harness.errors import InvalidFile, InvalidOption, suggestion

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
    """A text, the line that it stands on, from 1, and the key or column that it is under."""

    line: int
    key: str
    text: str


def format_of(name: str) -> Format:
    """Return the format that a file's ending stands for.

    Raises
    ------
    InvalidOption
        If it stands for none.
    """
    found = _FORMATS.get(Path(name).suffix.lower())
    if found is None:
        raise InvalidOption(
            f"what '{name}' holds is not told by its ending: say --format jsonl, tsv or text"
        )
    return found


def sentences(name: str, kind: Format, keys: Sequence[str] = ()) -> Iterator[Sentence]:
    """Yield the sentences of a file, or of standard input for `-`; blank ones are left out.

    Parameters
    ----------
    name
        File in UTF-8.
    kind
        `jsonl`: an object a line; `tsv`: tabs between the columns, no quotes; `text`.
    keys
        Keys of the objects or columns of the table that hold sentences; `text` if none is given.
        Columns are named by the first line, or given as numbers from 1 if there is no such line.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a line holds no such sentence; says which line.
    InvalidOption
        If keys are given for plain text.
    """
    if kind == "text" and keys:
        raise InvalidOption("--text-key is for jsonl and tsv: a line of plain text is a sentence")
    lines = _lines(name)
    found: Iterator[Sentence]
    if kind == "text":
        found = (Sentence(i, "", line) for i, line in lines)
    elif kind == "jsonl":
        found = _of_objects(name, lines, keys or ("text",))
    else:
        found = _of_table(name, lines, keys or ("text",))
    for sentence in found:
        text = " ".join(sentence.text.split())
        if text:
            yield sentence._replace(text=text)


def count_lines(name: str) -> int | None:
    """Return how many lines a file has; None for standard input, which is read but once."""
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
        raise InvalidFile(f"cannot be read ({error.strerror})", path=name) from None


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
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidFile("no JSON", path=name, line=i) from None
        if not isinstance(found, Mapping):
            raise InvalidFile("expected a JSON object", path=name, line=i)
        for key in keys:
            if not isinstance(found.get(key), str):
                texts = [str(k) for k, value in found.items() if isinstance(value, str)]
                problem = "no text" if key in found else "no such key"
                hint = suggestion(key, texts) or f"; keys with text: {', '.join(texts[:8])}"
                raise InvalidFile(f"{problem}{hint} (--text-key)", path=name, line=i, key=key)
            yield Sentence(i, key, found[key])


def _of_table(
    name: str, lines: Iterator[tuple[int, str]], keys: Sequence[str]
) -> Iterator[Sentence]:
    columns: list[int] = []
    if all(key.isdecimal() for key in keys):
        columns = [int(key) - 1 for key in keys]
        if -1 in columns:
            raise InvalidOption("--text-key 0: columns are counted from 1")
    for i, line in lines:
        cells = line.split("\t")
        if not columns:
            for key in keys:
                if key not in cells:
                    hint = suggestion(key, cells)
                    raise InvalidFile(
                        f"no such column{hint} (--text-key)", path=name, line=i, key=key
                    )
            columns = [cells.index(key) for key in keys]
            continue
        for key, column in zip(keys, columns, strict=True):
            if column >= len(cells):
                problem = f"expected at least {column + 1} columns, not {len(cells)}"
                raise InvalidFile(problem, path=name, line=i)
            yield Sentence(i, key, cells[column])
