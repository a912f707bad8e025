"""`vectors:PATH`: word vectors from a file.

Formats: GloVe's and word2vec's text, word2vec's binary format, fastText's binary format, and the
safetensors that `harness debias` writes. Text and word2vec's binary format may be compressed.
Nothing is unpickled: gensim's own `.kv` and `.model` files are refused, with a hint on how to
convert them. This module recognises the format; `text_file.py`, `binary_file.py`,
`fasttext_file.py` and `safetensors_file.py` parse it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from harness import labels, user_files
from harness.digest import digest
from harness.embedder import Card
from harness.errors import InvalidFile, InvalidOption, unreadable
from harness.plugins.embedders import file_hashes, model_info
from harness.plugins.embedders.vectors import compression, safetensors_file
from harness.plugins.embedders.vectors.compression import Compression
from harness.plugins.embedders.vectors.table_builder import OnBad, TableBuilder
from harness.plugins.embedders.vectors.word_vectors import Table, WordVectors

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
    file = user_files.typed(reference)
    layout = inspect(file, format)
    if language is not None and layout.format in ("fasttext-binary", "safetensors"):
        raise InvalidOption(f"language={language}: not for files of the format {layout.format}")
    fingerprint = {"sha256": file_hashes.sha256(file), "format": layout.format}
    if (layout.after_word, layout.between) != (b" ", b" "):  # once read as other words
        fingerprint["separators"] = (layout.after_word + layout.between).decode()
    if on_bad in ("skip", "replace"):
        fingerprint["on_bad"] = on_bad
    if language is not None:
        fingerprint["language"] = language
    info = model_info.describe(
        card,
        name=name or labels.of_reference(reference),
        kind="word",
        fingerprint=f"vectors-{digest(fingerprint)}",
        dimensions=layout.dimensions,
        n_parameters=None if layout.n_words is None else layout.n_words * layout.dimensions,
    )
    if language is not None:
        info = replace(info, languages=(language,))
    if layout.format == "fasttext-binary":
        from harness.plugins.embedders.vectors.fasttext_file import FastTextFile

        return FastTextFile(info, file, on_bad)
    return WordVectors(info, lambda: load(file, layout, on_bad, language))


def recognises(reference: str) -> bool:
    """Return whether a text is the path of a file of word vectors.

    Raises
    ------
    InvalidFile
        If it is a file in another format.
    """
    path = user_files.typed(reference)
    return user_files.is_file(path) and bool(inspect(path))


def inspect(path: Path, format: Format = "auto") -> Layout:  # noqa: A002 -- as above
    """Return the layout of a file, from its first lines.

    Raises
    ------
    InvalidFile
        If it has no word vectors, or not the named format.
    """
    user_files.check(path)
    head, packed = _head(path)
    _check_magic(path, head, packed, format)
    if safetensors_file.begins(head):
        shape = safetensors_file.shape(path)
        return Layout("safetensors", shape.d, shape.n, shape.start)
    if head.startswith(_FASTTEXT):
        from harness.plugins.embedders.vectors import fasttext_file

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
    from harness.plugins.embedders.vectors import binary_file, text_file

    prefix = f"/c/{language}/" if language is not None else ""
    table = TableBuilder(path, layout.dimensions, on_bad, prefix)
    if layout.format == "safetensors":
        return safetensors_file.read(path, table)
    read = binary_file.read if layout.format == "word2vec-binary" else text_file.read
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
