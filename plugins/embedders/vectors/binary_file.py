"""Reads word2vec's binary format: each word, a space, and its float32 numbers, little-endian.

Words differ in length, so their positions are found one after the other; the numbers of a whole
block of the file are then copied together. 400,000 words of 50 numbers take about 1 s, half as long
as in gensim, and no more memory than `table_builder.py` needs.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from harness.errors import InvalidFile
from harness.plugins.embedders.vectors.table_builder import TableBuilder
from harness.plugins.embedders.vectors.word_vectors import Table, first_not_finite

if TYPE_CHECKING:
    from harness.plugins.embedders.vectors.vectors_file import Layout

LONGEST_WORD = 10_000  # bytes; a longer word means that the file has another format
BLOCK = 2**24
"""Bytes read at a time."""


def read(path: Path, layout: Layout) -> Table:
    """Return the table in a binary file.

    Raises
    ------
    InvalidFile
        If the file ends early or goes on after the last word, a word is not UTF-8 text, or a number
        is NaN or infinite. Binary files have no lines: the message counts words from 1.
    """
    with cast("IO[bytes]", gzip.open(path) if layout.gzipped else path.open("rb")) as file:
        file.seek(layout.start)
        return _parse(file, path, layout)


def _parse(file: IO[bytes], path: Path, layout: Layout) -> Table:
    n, size = layout.n_words or 0, 4 * layout.dimensions
    table, done, rest = TableBuilder(layout.dimensions), 0, b""
    while done < n:
        more = file.read(BLOCK)
        data = rest + more
        words, starts, end = _positions(data, n - done, size, path, done)
        stuck = not words and len(data) > LONGEST_WORD + size
        if done + len(words) < n and (stuck or not more):
            raise InvalidFile(
                f"the header states {n} words of {layout.dimensions} numbers, but the file ends in "
                f"word {done + len(words) + 1}",
                path=path,
            )
        if words:
            with memoryview(data) as view:
                joined = b"".join([view[start : start + size] for start in starts])
            vectors = np.frombuffer(joined, dtype="<f4").reshape(len(words), -1)
            row = first_not_finite(vectors)
            if row is not None:
                raise InvalidFile(
                    f"the vector of '{words[row]}', word {done + row + 1}, is not finite",
                    path=path,
                )
            table.add(words, vectors.astype(np.float32, copy=False))
        done += len(words)
        rest = data[end:]
    if (rest + file.read(2))[:2].strip(b"\n"):
        raise InvalidFile(f"the header states {n} words, but more data follow", path=path)
    return table.table()


def _positions(
    data: bytes, most: int, size: int, path: Path, done: int
) -> tuple[list[str], list[int], int]:
    """Return up to `most` complete words, where in `data` their numbers start, and the end."""
    words: list[str] = []
    starts: list[int] = []
    at, end = 0, len(data)
    while len(words) < most:
        space = data.find(b" ", at, at + LONGEST_WORD)
        if space < 0 or space + 1 + size > end:
            break
        try:
            words.append(data[at:space].lstrip(b"\n").decode())
        except UnicodeDecodeError:
            number = done + len(words) + 1
            raise InvalidFile(f"word {number} is not UTF-8 text", path=path) from None
        starts.append(space + 1)
        at = space + 1 + size
    return words, starts, at
