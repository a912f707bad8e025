"""Reads word vectors in text files: each line has a word and its numbers, separated by spaces.

Tabs and commas may stand for spaces; `vectors_file.py` finds out from the first lines. Regular
files go through polars' parser: 400,000 words of 50 numbers take about 1 s; gensim takes 16 s. A
block that this parser rejects is read again line by line: it may still be valid (GloVe 840B has
words with spaces), and if it is not, the error names the line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import InvalidFile
from harness.plugins.embedders.vectors import compression
from harness.plugins.embedders.vectors.table_builder import TableBuilder
from harness.plugins.embedders.vectors.word_vectors import first_not_finite

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.plugins.embedders.vectors.vectors_file import Layout

BLOCK = 2**24
"""Bytes read at a time, up to the next end of a line."""
LONGEST_LINE = 2**20
"""Bytes of a line; 50,000 numbers have less."""
_WIDE = 5_000  # numbers in a line, from which on polars takes longer than Python
_FRACTION = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_SEPARATOR = re.compile(rb"[ \t,]")
_CUT = "the file ends without a line end: it may be cut off"


def read(path: Path, layout: Layout, table: TableBuilder) -> None:
    """Read a text file into a table.

    Raises
    ------
    InvalidFile
        If a line is malformed, a number is NaN or infinite, or the number of lines differs from the
        header.
    """
    for line, data in _blocks(path, layout):
        if not data.endswith(b"\n") and _is_cut(data, line, layout, table):
            continue
        words, vectors = _regular(data, layout) or _by_lines(data, layout, line, table)
        table.add(words, vectors)
    if layout.n_words is not None and layout.n_words != table.n:
        problem = f"the header states {layout.n_words} words, but {table.n} follow"
        if table.on_bad not in ("skip", "replace"):
            hint = "the file may be cut off; ?on_bad=skip reads what is there"
            raise InvalidFile(f"{problem}: {hint}", path=path, line=1)
        table.note(problem)


def _blocks(path: Path, layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield the lines after the header in blocks, each with the number of its first line.

    A last line without an end is a block of its own.
    """
    line = 1 if layout.n_words is None else 2
    with compression.opened(path, layout.compression) as file:
        file.read(layout.start)
        while data := file.read(BLOCK):
            end = file.readline(LONGEST_LINE)
            data += end
            whole, newline, rest = data.rpartition(b"\n")
            if len(rest) > LONGEST_LINE or (len(end) == LONGEST_LINE and rest):
                raise too_long(path, line + data.count(b"\n"))
            if newline:
                yield line, whole + newline
                line += whole.count(b"\n") + 1
            if rest:
                yield line, rest


def too_long(path: Path, line: int) -> InvalidFile:
    """Return the error for a line that is too long."""
    return InvalidFile(f"the line is longer than {LONGEST_LINE:,} bytes", path=path, line=line)


def _is_cut(data: bytes, line: int, layout: Layout, table: TableBuilder) -> bool:
    """Return whether a last line without an end is cut inside a number, and is left out.

    If all numbers have as many digits as the others, it is whole. If only the last one has fewer,
    it is cut. Otherwise nobody can tell, and the user is told.
    """
    word, numbers = _fields(data, layout)
    if len(numbers) != layout.dimensions:
        return False  # an error below
    *others, last = (len(number.rpartition(b".")[2]) * (b"." in number) for number in numbers)
    shown = word.decode(errors="replace")[:60]
    if others and set(others) != {last} and len(set(others)) == 1 and last < others[0]:
        if len(others) >= 8:
            table.reject(f"{_CUT} inside the last number of '{shown}'", line=line)
            return True
    elif set(others) == {last} and last:
        return False
    table.note(f"{_CUT} in the last number of '{shown}', which would then be wrong (line {line})")
    return False


def _regular(data: bytes, layout: Layout) -> tuple[list[str], Vectors] | None:
    """Return the words and vectors of lines with one word and `d` finite numbers; else None."""
    import polars as pl

    if layout.dimensions > _WIDE:
        return None
    for separator in {layout.after_word, layout.between} - {b" "}:
        data = data.replace(separator, b" ")
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


def _by_lines(
    data: bytes, layout: Layout, first: int, table: TableBuilder
) -> tuple[list[str], Vectors]:
    words, rows = [], []
    numbered: list[str] = []  # words with a space before a number at their end
    for line, raw in enumerate(io.BytesIO(data), start=first):
        if not raw.strip():
            continue  # a blank line
        if len(raw) > LONGEST_LINE:
            raise too_long(table.path, line)
        fields = _fields(raw, layout)
        problem, row = _row(fields, layout.dimensions)
        if row is None and not raw.endswith(b"\n"):
            problem += f"; {_CUT}"
        if row is None or (b"\r" in fields[0] and _SEPARATOR.search(fields[0])):
            table.reject(problem or "a carriage return stands inside the line", line=line)
            continue
        word = table.word(fields[0], "the word", line=line)
        if word is None:
            continue
        if not np.isfinite(row).all():
            table.reject(f"the vector of '{word}' is not finite", line=line)
            continue
        parts = _SEPARATOR.split(fields[0])
        if len(parts) > 1 and _FRACTION.fullmatch(parts[-1]):
            numbered.append(f"'{word[:60]}' (line {line})")
        words.append(word)
        rows.append(row)
    if numbered:
        end = "1 word ends" if len(numbered) == 1 else f"{len(numbered):,} words end"
        table.note(f"{end} in a number, or the line has a number too many: {numbered[0]}")
    return words, np.reshape(rows, (len(rows), layout.dimensions)).astype(np.float32, copy=False)


def _fields(raw: bytes, layout: Layout) -> tuple[bytes, list[bytes]]:
    """Return the word and the numbers of a line; a word may have spaces."""
    d, after, between = layout.dimensions, layout.after_word, layout.between
    line = raw.strip(b"\r\n").rstrip(b" " + between)
    if after == between:
        fields = line.split(between)
        at = max(1, len(fields) - d)
        return between.join(fields[:at]), fields[at:]
    word, _, numbers = line.rpartition(after)
    return word, numbers.strip(b" ").split(between)


def _row(fields: tuple[bytes, list[bytes]], d: int) -> tuple[str, Vectors | None]:
    """Return the numbers of a line, or what is wrong with them."""
    word, numbers = fields
    if len(numbers) != d:
        n = len(numbers) + bool(word)
        return f"expected a word and {d} numbers, but the line has {n} fields", None
    try:
        if any(b"_" in number for number in numbers):
            raise ValueError("a number has an underscore")
        with np.errstate(over="ignore"):  # too large for float32: reported as not finite
            row = np.array([float(number) for number in numbers]).astype(np.float32)
    except ValueError as error:
        advice = "; write a decimal point" if any(b"," in number for number in numbers) else ""
        return f"expected a word and {d} numbers ({error}{advice})", None
    if not word:
        return f"expected a word and {d} numbers, but the word is empty", None
    return "", row
