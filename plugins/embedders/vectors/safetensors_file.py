"""Reads the safetensors files of word vectors that `harness debias` writes; vectors are mapped.

Other safetensors files, such as the weights of a transformer, are refused because they have no
words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from harness.errors import InvalidFile
from harness.store import segment

from .table_builder import TableBuilder
from .word_vectors import Table, first_of_each, free_memory

BLOCK = 2**16  # rows checked at a time


@dataclass(frozen=True)
class Shape:
    """Facts of the header.

    Parameters
    ----------
    n, d
        Numbers of words and of dimensions.
    text
        Bytes of the words' text.
    start
        Position of the first byte of data in the file.
    """

    n: int
    d: int
    text: int
    start: int


def begins(head: bytes) -> bool:
    """Whether a file with this beginning is a safetensors file: a length of 8 bytes and a `{`."""
    return len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**32


def shape(path: Path) -> Shape:
    """Return the facts of the header.

    Raises
    ------
    InvalidFile
        If the file has no word vectors, or is truncated.
    """
    try:
        with path.open("rb") as file:
            _, header, start = segment.parse(file)
        (n, d), (ends,), (text,) = (
            header[name]["shape"] for name in ("vectors", "word_ends", "words")
        )
        layout = [
            (entry["dtype"], *entry["data_offsets"])
            for entry in (header[name] for name in ("word_ends", "vectors", "words"))
        ]
        expected = [
            ("I64", 0, 8 * n),
            ("F32", 8 * n, 8 * n + 4 * n * d),
            ("U8", 8 * n + 4 * n * d, 8 * n + 4 * n * d + text),
        ]
    except (segment.Damaged, KeyError, TypeError, ValueError):
        raise InvalidFile(
            "this safetensors file holds no word vectors with their words, as 'harness debias' "
            "writes them",
            path=path,
        ) from None
    if layout != expected or ends != n or min(n, d, text) < 1:
        raise InvalidFile("its tensors have the wrong types or shapes", path=path)
    if start + expected[-1][-1] != path.stat().st_size:
        raise InvalidFile("the file is truncated, or longer than its header states", path=path)
    return Shape(n, d, text, start)


def read(path: Path, table: TableBuilder) -> Table:
    """Return the table in a file; words and vectors that cannot be read are reported to `table`.

    Raises
    ------
    InvalidFile
        If a word is not UTF-8 text, or a number is NaN or infinite, and such entries are errors.
    """
    header = shape(path)
    n, d = header.n, header.d
    with path.open("rb") as file:
        file.seek(header.start)
        ends = np.frombuffer(file.read(8 * n), dtype="<i8")
        file.seek(4 * n * d, 1)
        text = file.read(header.text)
    starts = np.concatenate([[0], ends[:-1]])
    if (ends < starts).any() or starts[0] < 0 or ends[-1] != header.text:
        raise InvalidFile("the positions of its words are not in order", path=path)
    places = zip(starts.tolist(), ends.tolist(), strict=True)
    words = [table.word(text[a:b], f"word {i}") for i, (a, b) in enumerate(places, start=1)]
    vectors = np.memmap(path, "<f4", mode="r", offset=header.start + 8 * n, shape=(n, d))
    for first in range(0, n, BLOCK):
        finite = np.isfinite(vectors[first : first + BLOCK]).all(axis=1)
        for row in (first + np.flatnonzero(~finite)).tolist():
            if words[row] is not None:
                table.reject(f"the vector of '{words[row]}', word {row + 1}, is not finite")
                words[row] = None
        free_memory(vectors)
    kept = [row for row, word in enumerate(words) if word is not None]
    if len(kept) == n:
        whole = first_of_each([word for word in words if word is not None], vectors)
        return replace(whole, notes=(*table.notes, *whole.notes))
    for first in range(0, len(kept), BLOCK):
        rows = kept[first : first + BLOCK]
        table.add([word for row in rows if (word := words[row]) is not None], vectors[rows])
    return table.table()
