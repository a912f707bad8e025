"""`vectors:PATH`: word vectors from a file.

Formats: GloVe's and word2vec's text, word2vec's binary format, fastText's binary format, and the
safetensors that `harness debias` writes. Text and word2vec's binary format may be compressed.
Nothing is unpickled: gensim's own `.kv` and `.model` files are refused, with a hint on how to
convert them. This module recognises the format, and parses text and word2vec's binary
format; `fasttext_file.py` and `safetensors_file.py` parse the others.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from harness import folders, names
from harness.digest import digest, remembered_sha256
from harness.embedder import Card
from harness.errors import InvalidFile, InvalidOption, unreadable

from .. import cards
from . import compression, safetensors_file
from .compression import Compression
from .table_builder import OnBad, TableBuilder
from .word_vectors import Table, WordVectors, first_not_finite

if TYPE_CHECKING:
    import numpy.typing as npt

    from harness.arrays import Vectors

    from .compression import Readable


Format: TypeAlias = Literal[
    "auto", "glove", "word2vec", "word2vec-binary", "fasttext-binary", "safetensors"
]

HEAD = 2**20  # bytes read to recognise a format: more than any first two lines
MOST_DIMENSIONS = 2**18
"""A vector of more numbers takes over 1 MB: its header is wrong."""
_FIRST_LINES = 20  # lines that say how long a vector is, if no header does
_HEADER = re.compile(
    rb"\s*(\d{1,18})[ \t]+(\d{1,18})\s*"
)  # word2vec's first line: words, dimensions
_SEPARATORS = (
    (b"\t", b" "),
    (b" ", b" "),
    (b" ", b"\t"),
    (b"\t", b"\t"),
    (b" ", b","),
    (b"\t", b","),
    (b",", b","),
)
"""What stands after the word and between the numbers."""
_DECIMAL_COMMA = re.compile(rb"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_FASTTEXT = b"\xba\x16\x4f\x2f"
_CONVERT = (
    "convert it on the machine where it was made, with "
    "KeyedVectors.load(PATH).save_word2vec_format('vectors.bin', binary=True)"
)
_AS_TEXT = "save its words and vectors in word2vec's format"
_REFUSED = (
    (b"\x80", f"this is a pickle, which can run code when it is loaded; {_CONVERT}"),
    (b"PK\x03\x04", "this is a ZIP archive; unpack it and give the file with the vectors"),
    (b"\x93NUMPY", "this is a NumPy array without words; save it in word2vec's format"),
    (b"\x89HDF\r\n\x1a\n", f"this is an HDF5 file; {_AS_TEXT} (Numberbatch: the .txt.gz file)"),
    (b"SQLite format 3\0", f"this is a database, as of Magnitude; {_AS_TEXT}"),
    (b"PAR1", f"this is a Parquet file; {_AS_TEXT}"),
    (b"ARROW1", f"this is an Arrow file; {_AS_TEXT}"),
    (b"7z\xbc\xaf\x27\x1c", "this is a 7z archive; unpack it and give the file with the vectors"),
    (b"Rar!\x1a", "this is a RAR archive; unpack it and give the file with the vectors"),
    (b"\x28\xb5\x2f\xfd", "this is compressed with zstd; unpack it"),
    (b"\x04\x22\x4d\x18", "this is compressed with lz4; unpack it"),
    (b"version https://git-lfs", "this is a pointer of Git LFS: download the file, git lfs pull"),
    (b"<", "this is a web page and no word vectors: download the file itself"),
)


@dataclass(frozen=True)
class Layout:
    """The layout of a file.

    Parameters
    ----------
    format
        Never `auto`.
    dimensions
        Length of a vector.
    n_words
        The header's number; None without a header.
    start
        Bytes before the first word: the header, or the byte order mark that some editors write.
    compression
        How the file is compressed.
    after_word, between
        In a text file, what stands after the word and between the numbers.
    """

    format: Format
    dimensions: int
    n_words: int | None
    start: int
    compression: Compression | None = None
    after_word: bytes = b" "
    between: bytes = b" "


def vectors_file(
    reference: str,
    *,
    format: Format = "auto",  # noqa: A002 -- what users call it
    on_bad: OnBad | None = None,
    language: str | None = None,
    name: str | None = None,
    card: Card | None = None,
) -> WordVectors:
    """Return the word vectors of a file as an embedder.

    Parameters
    ----------
    reference
        Path of the file; `~` is the home folder.
    format
        `glove` (lines of a word and its numbers), `word2vec` (the same below a line with the
        numbers of words and dimensions), `word2vec-binary`, `fasttext-binary` (a `.bin` of
        fastText, with vectors for words that it does not list), `safetensors`, or `auto` to
        recognise the format by the first bytes.
    on_bad
        What becomes of a word that is empty or not UTF-8 text, and of a vector that is malformed or
        not finite. `error`: the file is refused. `skip`: it is left out, and `notes` say how many.
        `replace`: bytes of a word that are not UTF-8 text become U+FFFD; a vector that cannot be
        read is left out. By default it is an error, but a word that ends inside a character is left
        out: word2vec's own program cuts long words.
    language
        Language of the words to read from a file in which they are named `/c/LANGUAGE/WORD`, as in
        ConceptNet Numberbatch.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidFile
        If the file does not exist or does not have the format; when the vectors are loaded, if a
        line is malformed, or a vector is NaN or infinite.

    Notes
    -----
    The fingerprint covers the SHA-256 of the file, the format it is read in, and `on_bad` and
    `language` if they are given.
    """
    file = folders.typed(reference)
    layout = inspect(file, format)
    if language is not None and layout.format in ("fasttext-binary", "safetensors"):
        raise InvalidOption(f"language={language}: not for files of the format {layout.format}")
    fingerprint = {"sha256": remembered_sha256(file), "format": layout.format}
    if (layout.after_word, layout.between) != (b" ", b" "):  # once read as other words
        fingerprint["separators"] = (layout.after_word + layout.between).decode()
    if on_bad in ("skip", "replace"):
        fingerprint["on_bad"] = on_bad
    if language is not None:
        fingerprint["language"] = language
    info = cards.describe(
        card,
        name=name or names.reference_label(reference),
        kind="word",
        fingerprint=f"vectors-{digest(fingerprint)}",
        fitted_on=cards.fitted_on(file.with_name(f"{file.name}.md")),
        dimensions=layout.dimensions,
        n_parameters=None if layout.n_words is None else layout.n_words * layout.dimensions,
    )
    if language is not None:
        info = replace(info, languages=(language,))
    if layout.format == "fasttext-binary":
        from .fasttext_file import FastTextFile

        return FastTextFile(info, file, on_bad)
    return WordVectors(info, lambda: load(file, layout, on_bad, language))


def recognises(reference: str) -> bool:
    """Return whether a text is the path of a file of word vectors.

    Raises
    ------
    InvalidFile
        If it is a file in another format.
    """
    path = folders.typed(reference)
    return folders.is_file(path) and bool(inspect(path))


def inspect(path: Path, format: Format = "auto") -> Layout:  # noqa: A002 -- as above
    """Return the layout of a file, from its first lines.

    Raises
    ------
    InvalidFile
        If it has no word vectors, or not the named format.
    """
    folders.check(path)
    head, packed = _head(path)
    _check_magic(path, head, packed, format)
    if safetensors_file.begins(head):
        shape = safetensors_file.shape(path)
        return Layout("safetensors", shape.d, shape.n, shape.start)
    if head.startswith(_FASTTEXT):
        from . import fasttext_file

        return Layout("fasttext-binary", fasttext_file.dimensions(path), None, 0)
    mark = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    first, _, rest = head[mark:].partition(b"\n")
    header = _HEADER.fullmatch(first)
    if header is None or format == "glove":
        if format in ("word2vec", "word2vec-binary"):
            raise InvalidFile(
                "the first line is not a header of two numbers, words and dimensions, as in "
                "word2vec's formats; use format=glove for a file without a header",
                path=path,
                line=1,
            )
        return _glove(path, head, mark, packed)
    n_words, dimensions = int(header[1]), int(header[2])
    if not n_words or not dimensions:
        raise InvalidFile("the header states no vectors", path=path, line=1)
    if dimensions > MOST_DIMENSIONS or (not packed and 2 * dimensions > path.stat().st_size):
        raise InvalidFile(
            f"the header states vectors of {dimensions} numbers, more than the file can hold",
            path=path,
            line=1,
        )
    layout = Layout("word2vec", dimensions, n_words, mark + len(first) + 1, packed)
    if format == "word2vec-binary":
        return replace(layout, format=format)
    stated = {_separators(line) for line in rest.split(b"\n", _FIRST_LINES)[:-1] if line.strip()}
    own = stated.pop() if len(stated) == 1 and rest.strip().count(b"\n") else None
    if own is not None and own.dimensions > dimensions + 1:  # by 1: words may end in a number
        raise InvalidFile(
            f"the line has a word and {own.dimensions} numbers, the header states {dimensions}",
            path=path,
            line=2,
        )
    separators = _separators(rest.partition(b"\n")[0], dimensions)
    if separators is not None:
        return replace(layout, after_word=separators.after_word, between=separators.between)
    is_text = format == "word2vec" or _is_malformed_text(rest, dimensions)
    return layout if is_text else replace(layout, format="word2vec-binary")


def load(
    path: Path, layout: Layout, on_bad: OnBad | None = None, language: str | None = None
) -> Table:
    """Return the words and vectors of a file; of equal words the first is kept."""
    prefix = f"/c/{language}/" if language is not None else ""
    table = TableBuilder(path, layout.dimensions, on_bad, prefix)
    if layout.format == "safetensors":
        return safetensors_file.read(path, table)
    read = read_binary if layout.format == "word2vec-binary" else read_text
    read(path, layout, table)
    return table.table()


def _head(path: Path) -> tuple[bytes, Compression | None]:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        packed = compression.of(head)
        if packed:
            with compression.opened(path, packed) as stream:
                head = stream.read(HEAD)
    except OSError as error:
        raise unreadable(path, error) from None
    return head, packed


def _check_magic(path: Path, head: bytes, packed: Compression | None, format_: Format) -> None:
    """Raise InvalidFile if a file's first bytes are those of a format that is not read."""
    if safetensors_file.begins(head) and format_ not in ("auto", "safetensors"):
        raise InvalidFile(f"this is a safetensors file, not format '{format_}'", path=path)
    if not safetensors_file.begins(head) and format_ == "safetensors":
        raise InvalidFile("this is not a safetensors file", path=path)
    if head.startswith(_FASTTEXT) and format_ not in ("auto", "fasttext-binary"):
        raise InvalidFile(f"this is a fastText model, not format '{format_}'", path=path)
    if not head.startswith(_FASTTEXT) and format_ == "fasttext-binary":
        raise InvalidFile("this is not a fastText model", path=path)
    if packed and (safetensors_file.begins(head) or head.startswith(_FASTTEXT)):
        raise InvalidFile(f"files of this format are read unpacked; unpack the {packed}", path=path)
    for magic, problem in _REFUSED:
        if head.startswith(magic) and (magic != b"<" or _is_page(head)):
            raise InvalidFile(problem, path=path)
    if head[257:262] == b"ustar":
        raise InvalidFile("this is a tar archive; unpack it and give the vectors", path=path)
    if not head.strip():
        raise InvalidFile("the file is empty", path=path)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(head) > 8 and _is_utf16(head[:200])):
        raise InvalidFile("the file is UTF-16 text; save it as UTF-8", path=path)


def _is_page(head: bytes) -> bool:
    return re.match(rb"<(?:!doctype|html|\?xml)\b", head, re.IGNORECASE) is not None


def _is_utf16(head: bytes) -> bool:
    return not any(head[1::2]) or not any(head[::2])


class _Separators(NamedTuple):
    """What stands after the word and between the numbers of a line, and how many numbers it has."""

    after_word: bytes
    between: bytes
    dimensions: int


def _glove(path: Path, head: bytes, mark: int, packed: Compression | None) -> Layout:
    """Return the layout of a text file without a header, from its first lines."""
    lines = head[mark:].split(b"\n")
    if len(head) == HEAD and len(lines) == 1:
        if b"\r" in head:
            raise _no_vectors(path, head)
        raise InvalidFile(f"the line is longer than {HEAD:,} bytes", path=path, line=1)
    if len(head) == HEAD:
        lines.pop()  # it may go on
    texts = [(i, line) for i, line in enumerate(lines, start=1) if line.strip()][:_FIRST_LINES]
    found = {i: layout for i, line in texts if (layout := _separators(line))}
    most = Counter(found.values()).most_common(1)
    if not most or (texts[0][0] not in found and 2 * most[0][1] < len(texts)):
        raise _no_vectors(path, head[mark:])
    common, n = most[0]
    first = found.get(texts[0][0], common)
    if first != common and n > 1 and n == len(found) - 1:
        if first.dimensions >= common.dimensions:
            raise InvalidFile(
                f"the line has {first.dimensions} numbers, the lines below it have "
                f"{common.dimensions}, or their numbers are separated in another way",
                path=path,
                line=texts[0][0],
            )
        first = common  # the reader finds the line too short
    if _numbers_columns(texts[0][1], first):
        raise InvalidFile(
            "the first line numbers the columns and has no vector; remove it", path=path, line=1
        )
    return Layout("glove", first.dimensions, None, mark, packed, first.after_word, first.between)


def _no_vectors(path: Path, head: bytes) -> InvalidFile:
    """Return the error for a text file in which no line has a word and its numbers."""
    if b"\r" in head and b"\n" not in head:
        problem = "its lines end in a carriage return alone; convert them, as with: tr '\\r' '\\n'"
        return InvalidFile(problem, path=path, line=1)
    fields = head.partition(b"\n")[0].split()[1:]
    if fields and all(map(_DECIMAL_COMMA.fullmatch, fields)):
        problem = "its numbers have a decimal comma; write them with a point"
        return InvalidFile(problem, path=path, line=1)
    problem = "expected a word and its numbers, as in the formats of GloVe and word2vec"
    return InvalidFile(problem, path=path, line=1)


def _separators(line: bytes, dimensions: int | None = None) -> _Separators | None:
    """Return what stands between the fields of a line of text; None if it is malformed.

    Parameters
    ----------
    line
        The line.
    dimensions
        How many numbers it has; None if nothing says so, then all after its first field.
    """
    line = line.strip(b"\r").rstrip(b" ")
    for after, between in _SEPARATORS:
        if dimensions is not None and after == between:
            fields = line.rstrip(between).split(between)
            word, numbers = fields[:-dimensions], fields[-dimensions:]
            is_right = any(word) or len(word) > 1
        else:
            start, _, rest = line.partition(after)
            numbers = rest.strip(b" ").rstrip(between).split(between)
            is_right = bool(start) and dimensions in (None, len(numbers))
        if is_right and all(map(_is_number, numbers)):
            return _Separators(after, between, len(numbers))
    return None


def _numbers_columns(line: bytes, separators: _Separators) -> bool:
    """Return whether a line has 0, 1, 2 … for its numbers, as tables begin that were exported."""
    if separators.dimensions < 8:
        return False
    numbers = line.partition(separators.after_word)[2].strip().split(separators.between)
    return any(
        numbers == [b"%d" % (start + i) for i in range(separators.dimensions)] for start in (0, 1)
    )


def _is_malformed_text(rest: bytes, dimensions: int) -> bool:
    """Whether the data after word2vec's header are text, though their first line is malformed.

    That must be reported, and not be read as binary. So a line of printable characters is text, if
    it is longer than could happen by chance.
    """
    line = rest.partition(b"\n")[0].strip(b" \r")
    numbers = re.split(rb"[ \t]", line, maxsplit=1)[-1] if line else b""
    printable = re.fullmatch(rb"[\x20-\x7e\t]*", numbers) is not None
    return printable and len(numbers) >= min(max(dimensions, 8), 10_000)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


# Reads word2vec's binary format: each word, a space, and its float32 numbers, little-endian.
#
# Words differ in length, so their positions are found one after the other; the numbers of a whole
# block of the file are then copied together. 400,000 words of 50 numbers take about 1 s, half as
# long as in gensim, and no more memory than `table_builder.py` needs.
#
# The first space ends a word, so the format cannot hold a word with a space; some programs write
# such words nevertheless. If each vector is followed by a line end, as word2vec's own program
# writes it, they are found and read. Otherwise the bytes after such a word are read at the wrong
# place. That is seen by the words and numbers that come out, and the file is refused.


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


def read_binary(path: Path, layout: Layout, table: TableBuilder) -> None:
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


# Reads word vectors in text files: each line has a word and its numbers, separated by spaces.
#
# Tabs and commas may stand for spaces; `vectors_file.py` finds out from the first lines. Regular
# files go through polars' parser: 400,000 words of 50 numbers take about 1 s; gensim takes 16 s. A
# block that this parser rejects is read again line by line: it may still be valid (GloVe 840B has
# words with spaces), and if it is not, the error names the line.


LONGEST_LINE = 2**20
"""Bytes of a line; 50,000 numbers have less."""
_WIDE = 5_000  # numbers in a line, from which on polars takes longer than Python
_FRACTION = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_SEPARATOR = re.compile(rb"[ \t,]")
_CUT = "the file ends without a line end: it may be cut off"


def read_text(path: Path, layout: Layout, table: TableBuilder) -> None:
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
