"""Reads word2vec's binary format: each word, a space, and its float32 numbers, little-endian.

Words differ in length, so their positions are found one after the other; the numbers of a whole
block of the file are then copied together. 400,000 words of 50 numbers take about 1 s, half as long
as in gensim, and no more memory than `table_builder.py` needs.

The first space ends a word, so the format cannot hold a word with a space; some programs write such
words nevertheless. If each vector is followed by a line end, as word2vec's own program writes it,
they are found and read. Otherwise the bytes after such a word are read at the wrong place. That is
seen by the words and numbers that come out, and the file is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import InvalidFile
from harness.plugins.embedders.vectors import compression
from harness.plugins.embedders.vectors.table_builder import TableBuilder

if TYPE_CHECKING:
    import numpy.typing as npt

    from harness.arrays import Vectors
    from harness.plugins.embedders.vectors.compression import Readable
    from harness.plugins.embedders.vectors.vectors_file import Layout

LONGEST_WORD = 10_000  # bytes; a longer word means that the file has another format
BLOCK = 2**24
"""Bytes read at a time."""
_CONTROL = re.compile(rb"[\0-\x1f]")
_STRANGE = 1e15
"""Numbers that are read at a wrong place are often greater, or less than 1e-15."""
_MANY = 16  # vectors, of which less than an eighth may be strange
_PARTS = 8  # most words of a phrase


@dataclass
class _Records:
    """Complete records in a piece of the file.

    Parameters
    ----------
    words
        Their words.
    starts
        Where in the piece their numbers start.
    end
        Where the last record ends.
    """

    words: list[bytes]
    starts: list[int]
    end: int


def read(path: Path, layout: Layout, table: TableBuilder) -> None:
    """Read a binary file into a table.

    Raises
    ------
    InvalidFile
        If the file ends early or goes on after the last word, a word is not UTF-8 text or has a
        space, or a number is NaN or infinite. Binary files have no lines: the message counts words
        from 1.
    """
    with compression.opened(path, layout.compression) as file:
        file.read(layout.start)
        _parse(file, path, layout, table)


def _parse(file: Readable, path: Path, layout: Layout, table: TableBuilder) -> None:
    n, size = layout.n_words or 0, 4 * layout.dimensions
    done, rest, before = 0, b"", b""  # before: the numbers of the last record
    separator: bytes | None = None
    while done < n:
        more = file.read(BLOCK)
        data = rest + more
        if separator is None:
            separator = _separator(data, size, is_all=not more)
        records = _Records([], [], 0)
        if separator is not None:
            records = _records(data, n - done, size, separator, is_all=not more)
        if records.words:
            _add(records, data, before, done, table)
            before = data[records.starts[-1] : records.end]
        done += len(records.words)
        rest = data[records.end :]
        stuck = not records.words and len(data) > 2 * LONGEST_WORD + size
        if done < n and (stuck or not more):
            _check_place(before + rest, size, path, done)
            raise InvalidFile(
                f"the header states {n} words of {layout.dimensions} numbers, but the file ends in "
                f"word {done + 1}",
                path=path,
            )
    rest += file.read(LONGEST_WORD)
    if rest[:2].strip(separator or b"\n"):
        _check_place(before + rest, size, path, done)
        raise InvalidFile(f"the header states {n} words, but more data follow", path=path)


def _add(records: _Records, data: bytes, before: bytes, done: int, table: TableBuilder) -> None:
    """Add the records in `data` to a table; `before` are the numbers of the record before them."""
    words, starts, size = records.words, records.starts, 4 * table.dimensions
    with memoryview(data) as view:
        joined = b"".join([view[start : start + size] for start in starts])
    vectors = np.frombuffer(joined, dtype="<f4").reshape(len(words), table.dimensions)
    vectors = vectors.astype(np.float32, copy=False)
    is_finite = np.isfinite(vectors).all(axis=1)
    for i in np.flatnonzero(_strange(vectors) | ~is_finite).tolist():
        _check_place(data[starts[i] :][: _enough(size)], size, table.path, done + i + 1)
    try:
        texts: list[str | None] = [word.decode() for word in words]
        is_clean = not _CONTROL.search(b" ".join(words))
    except UnicodeDecodeError:
        is_clean, texts = False, []
    if not is_clean:
        for i in (i for i, word in enumerate(words) if not _is_text(word)):
            numbers = (
                data[starts[i - 1] :][: _enough(size)] if i else before + data[: _enough(size)]
            )
            _check_place(numbers, size, table.path, done + i)
    if not texts or not is_finite.all():
        texts = [None] * len(words)
        for i, word in enumerate(words):
            text = table.word(word, f"word {done + i + 1}")
            if text is not None and not is_finite[i]:
                table.reject(f"the vector of '{text}', word {done + i + 1}, is not finite")
                text = None
            texts[i] = text
    if None in texts:
        vectors = vectors[[i for i, text in enumerate(texts) if text is not None]]
    table.add([text for text in texts if text is not None], vectors)


def _strange(vectors: Vectors) -> npt.NDArray[np.bool_]:
    """Return which vectors have numbers unlike those of the others, as text or shifted bytes give.

    None, if there are many: then such numbers are usual in the file.
    """
    first = np.abs(vectors[:, 0])
    strange: npt.NDArray[np.bool_] = (first > 0) & (first < 1 / _STRANGE)
    if max(vectors.max(), -vectors.min()) > _STRANGE:
        strange |= np.abs(vectors).max(axis=1) > _STRANGE
    if len(vectors) < _MANY or strange.mean() >= 2 / _MANY:
        strange[:] = False
    return strange


def _enough(size: int) -> int:
    """Return more bytes than `_check_place` reads."""
    return 2 * size + 4 * LONGEST_WORD


def _check_place(data: bytes, size: int, path: Path, number: int) -> None:
    """Raise InvalidFile if a record was read at the wrong place, since its word has a space.

    Parameters
    ----------
    data
        The file from the numbers of that record on.
    size
        Bytes of a vector.
    path
        The file.
    number
        The word's number, for the message.
    """
    at = 0
    for _ in range(_PARTS if number else 0):
        space = data.find(b" ", at, at + min(size, LONGEST_WORD))
        if space <= at or not _is_text(data[at:space]):
            return
        at = space + 1
        following = at + size
        end = data.find(b" ", following, following + LONGEST_WORD)
        is_last = len(data) == following
        if is_last or (end > following and _is_text(data[following:end])):
            part = data[: at - 1].decode()
            raise InvalidFile(
                f"word {number} seems to have a space ('… {part}'), which this format cannot hold: "
                "what follows it cannot be read; save the vectors with '_' for spaces, or as text",
                path=path,
            )


def _is_text(word: bytes) -> bool:
    """Return whether bytes are text without control characters."""
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(word)


def _separator(data: bytes, size: int, *, is_all: bool) -> bytes | None:
    """Return what follows each vector: a line end or nothing; None if `data` end too early."""
    space = data.find(b" ", 0, LONGEST_WORD)
    if space < 0 or (space + 1 + size + 2 > len(data) and not is_all):
        return b"" if is_all or (space < 0 and len(data) > LONGEST_WORD) else None
    while 0 <= space < LONGEST_WORD and _is_text(data[:space]):
        end = data[space + 1 + size : space + 3 + size]
        for separator in (b"\r\n", b"\n"):
            if end.startswith(separator):
                return separator
        space = data.find(b" ", space + 1, LONGEST_WORD)
    return b""


def _records(data: bytes, most: int, size: int, separator: bytes, *, is_all: bool) -> _Records:
    """Return up to `most` complete records.

    Parameters
    ----------
    data
        A piece of the file that begins with a record.
    most
        Most records.
    size
        Bytes of a vector.
    separator
        What follows each vector.
    is_all
        Whether the file ends after `data`.
    """
    words: list[bytes] = []
    starts: list[int] = []
    at, end = 0, len(data)
    strip = separator or b"\n"
    while len(words) < most:
        space = data.find(b" ", at, at + LONGEST_WORD)
        if space < 0 or space + 1 + size > end:
            break
        if separator:
            found = _end_of_word(data, at, space, size, separator, is_all=is_all)
            if found < 0 and not is_all:
                break
            space = max(space, found)
        words.append(data[at:space].lstrip(strip))
        starts.append(space + 1)
        at = space + 1 + size
    return _Records(words, starts, at)


def _end_of_word(
    data: bytes, at: int, space: int, size: int, separator: bytes, *, is_all: bool
) -> int:
    """Return the space after which a vector is followed by a line end; -1 if `data` end too early.

    That of the first space, if there is none. By chance a number has the byte of a line end: then
    another one is in the middle of what would be the next word.
    """
    end, candidate = len(data), space
    while candidate >= 0:
        stop = candidate + 1 + size
        if stop + len(separator) > end:
            return candidate if stop == end and is_all else -1
        if data.startswith(separator, stop):
            following = stop + len(separator)
            next_space = data.find(b" ", following, following + LONGEST_WORD)
            if next_space < 0 or data.find(b"\n", following, next_space) < 0:
                return candidate
        if candidate == space and not _is_text(data[at:space].lstrip(separator)):
            return space
        candidate = data.find(b" ", candidate + 1, at + LONGEST_WORD)
        if candidate >= 0 and not _is_text(data[at:candidate].lstrip(separator)):
            return space
    return space
