"""Lines of a text file or of standard input, one at a time, with their numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from harness.errors import InvalidFile, unreadable

STDIN = "-"


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def lines(name: str) -> Iterator[Line]:
    """Yield the lines of a file in UTF-8, or of standard input for `-`.

    Raises
    ------
    InvalidFile
        If the file cannot be read, or a line is not UTF-8; names the line.
    """
    try:
        if name == STDIN:
            yield from _decoded(name, sys.stdin.buffer)
        else:
            with Path(name).open("rb") as file:
                yield from _decoded(name, file)
    except OSError as error:
        raise unreadable(name, error) from None


def count_lines(name: str) -> int | None:
    """Return the number of lines of a file; None for standard input, which is read only once."""
    path = Path(name)
    if name == STDIN or not path.is_file():
        return None
    number, last = 0, b""
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            number, last = number + block.count(b"\n"), block
    return number + (last != b"" and not last.endswith(b"\n"))


def _decoded(name: str, file: IO[bytes]) -> Iterator[Line]:
    for i, line in enumerate(file, start=1):
        try:
            text = line.decode("utf-8-sig" if i == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidFile("not UTF-8", path=name, line=i) from None
        yield Line(i, text.rstrip("\r\n"))
