"""Reads word vectors in text files: each line has a word and its numbers, separated by spaces.

Regular files go through polars' parser: 400,000 words of 50 numbers take about 1 s; gensim takes
16 s. A block that this parser rejects is read again line by line: it may still be valid (GloVe 840B
has words with spaces), and if it is not, the error names the line.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from harness.errors import InvalidFile
from harness.plugins.embedders.vectors.table_builder import TableBuilder
from harness.plugins.embedders.vectors.word_vectors import Table, first_not_finite

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.plugins.embedders.vectors.vectors_file import Layout

BLOCK = 2**24
"""Bytes read at a time, up to the next end of a line."""


def read(path: Path, layout: Layout) -> Table:
    """Return the table in a text file.

    Raises
    ------
    InvalidFile
        If a line is malformed, a number is NaN or infinite, or the number of lines differs from the
        header.
    """
    table, n = TableBuilder(layout.dimensions), 0
    for line, data in _blocks(path, layout):
        words, vectors = _regular(data, layout) or _by_lines(data, path, layout, line)
        table.add(words, vectors)
        n += len(words)
    if not n:
        raise InvalidFile("the file has no vectors", path=path)
    if layout.n_words is not None and layout.n_words != n:
        raise InvalidFile(
            f"the header states {layout.n_words} words, but {n} follow", path=path, line=1
        )
    return table.table()


def _blocks(path: Path, layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the header in blocks, each with the number of its first line."""
    line = 1 if layout.n_words is None else 2
    with _open(path, layout) as file:
        file.seek(layout.start)
        while data := file.read(BLOCK):
            data += file.readline()
            yield line, data
            line += data.count(b"\n")


def _regular(data: bytes, layout: Layout) -> tuple[list[str], Vectors] | None:
    """Return the words and vectors of lines with one word and `d` finite numbers; else None."""
    import polars as pl

    trailing = data.find(b" \n", 0, 2**20) >= 0
    schema: dict[str, pl.DataType | type[pl.DataType]] = {"word": pl.String}
    schema |= {str(k): pl.Float32 for k in range(layout.dimensions)}
    if trailing:  # word2vec's own program ends lines with a space, which gives an empty column
        schema["end"] = pl.String
    try:
        frame = pl.read_csv(data, separator=" ", has_header=False, quote_char=None, schema=schema)
    except pl.exceptions.PolarsError:
        return None
    numbers = frame.select(str(k) for k in range(layout.dimensions))
    if trailing and frame["end"].null_count() < len(frame):
        return None
    if frame["word"].null_count() or any(column.null_count() for column in numbers):
        return None
    vectors = np.ascontiguousarray(numbers.to_numpy(), dtype=np.float32)
    if not len(vectors) or first_not_finite(vectors) is not None:
        return None
    return frame["word"].to_list(), vectors


def _by_lines(data: bytes, path: Path, layout: Layout, first: int) -> tuple[list[str], Vectors]:
    words, rows = [], []
    for line, word, row in _lines(data, path, layout, first):
        if not np.isfinite(row).all():
            raise InvalidFile(f"the vector of '{word}' is not finite", path=path, line=line)
        words.append(word)
        rows.append(row)
    return words, np.reshape(rows, (len(rows), layout.dimensions)).astype(np.float32, copy=False)


def _lines(
    data: bytes, path: Path, layout: Layout, first: int
) -> Iterator[tuple[int, str, Vectors]]:
    d = layout.dimensions
    for line, raw in enumerate(io.BytesIO(data), start=first):
        fields = raw.strip(b"\r\n").rstrip(b" ").split(b" ")
        if fields == [b""]:
            continue  # a blank line
        word = b" ".join(fields[:-d])
        if not word:
            raise InvalidFile(
                f"expected a word and {d} numbers, but the line has {len(fields)} fields",
                path=path,
                line=line,
            )
        try:
            yield line, word.decode(), _row(fields[-d:])
        except UnicodeDecodeError:
            raise InvalidFile("the word is not UTF-8 text", path=path, line=line) from None
        except ValueError as error:
            raise InvalidFile(
                f"expected a word and {d} numbers ({error})", path=path, line=line
            ) from None


def _row(fields: list[bytes]) -> Vectors:
    if any(b"_" in field for field in fields):
        raise ValueError("a number has an underscore")
    with np.errstate(over="ignore"):  # too large for float32: reported as not finite
        return np.array([float(field) for field in fields]).astype(np.float32)


def _open(path: Path, layout: Layout) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path) if layout.gzipped else path.open("rb"))
