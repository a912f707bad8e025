"""`vectors:PATH`: word vectors from a file.

Formats: GloVe's and word2vec's text, word2vec's binary format, and the safetensors that
`harness debias` writes. The first three may be gzipped. Nothing is unpickled: gensim's own `.kv`
and `.model` files are refused, with a hint on how to convert them. This module recognises the
format; `text_file.py`, `binary_file.py` and `safetensors_file.py` parse it.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness import labels, user_files
from harness.digest import digest
from harness.embedder import Card
from harness.errors import InvalidFile, unreadable
from harness.plugins.embedders import file_hashes, model_info
from harness.plugins.embedders.vectors import safetensors_file
from harness.plugins.embedders.vectors.word_vectors import Table, WordVectors

Format: TypeAlias = Literal["auto", "glove", "word2vec", "word2vec-binary", "safetensors"]

HEAD = 2**20  # bytes read to recognise a format: more than any first two lines
_HEADER = re.compile(
    rb"\s*(\d{1,18})[ \t]+(\d{1,18})\s*"
)  # word2vec's first line: words, dimensions
_GZIP = b"\x1f\x8b"
_CONVERT = (
    "convert it on the machine where it was made, with "
    "KeyedVectors.load(PATH).save_word2vec_format('vectors.bin', binary=True)"
)
_REFUSED = (
    (b"\x80", f"this is a pickle, which can run code when it is loaded; {_CONVERT}"),
    (b"PK\x03\x04", "this is a ZIP archive; unpack it and give the file with the vectors"),
    (b"\x93NUMPY", "this is a NumPy array without words; save it in word2vec's format"),
    (b"\xba\x16\x4f\x2f", "this is a fastText model; use the .vec file that comes with it"),
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
    gzipped
        Whether the file is compressed.
    """

    format: Format
    dimensions: int
    n_words: int | None
    start: int
    gzipped: bool


def vectors_file(
    reference: str,
    *,
    format: Format = "auto",  # noqa: A002 -- what users call it
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
        numbers of words and dimensions), `word2vec-binary`, `safetensors`, or `auto` to recognise
        the format by the first bytes.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidFile
        If the file does not exist or does not have the format; when the vectors are loaded, if a
        line is malformed, or a vector is NaN or infinite.

    Notes
    -----
    The fingerprint covers the SHA-256 of the file and the format it is read in.
    """
    file = user_files.typed(reference)
    layout = inspect(file, format)
    fingerprint = {"sha256": file_hashes.sha256(file), "format": layout.format}
    info = model_info.describe(
        card,
        name=name or labels.of_reference(reference),
        kind="word",
        fingerprint=f"vectors-{digest(fingerprint)}",
        dimensions=layout.dimensions,
        n_parameters=None if layout.n_words is None else layout.n_words * layout.dimensions,
    )
    return WordVectors(info, lambda: load(file, layout))


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
    head, gzipped = _head(path)
    if safetensors_file.begins(head):
        if format not in ("auto", "safetensors"):
            raise InvalidFile(f"this is a safetensors file, not format '{format}'", path=path)
        shape = safetensors_file.shape(path)
        return Layout("safetensors", shape.d, shape.n, shape.start, gzipped)
    if format == "safetensors":
        raise InvalidFile("this is not a safetensors file", path=path)
    for magic, problem in _REFUSED:
        if head.startswith(magic):
            raise InvalidFile(problem, path=path)
    if not head.strip():
        raise InvalidFile("the file is empty", path=path)
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
        return Layout("glove", _glove_dimensions(path, first), None, mark, gzipped)
    n_words, dimensions = int(header[1]), int(header[2])
    if not n_words or not dimensions:
        raise InvalidFile("the header states no vectors", path=path, line=1)
    if format == "auto":
        format = "word2vec" if _is_text(rest, dimensions) else "word2vec-binary"  # noqa: A001 -- as above
    return Layout(format, dimensions, n_words, mark + len(first) + 1, gzipped)


def load(path: Path, layout: Layout) -> Table:
    """Return the words and vectors of a file; of equal words the first is kept."""
    from harness.plugins.embedders.vectors import binary_file, text_file

    try:
        if layout.format == "safetensors":
            return safetensors_file.read(path)
        if layout.format == "word2vec-binary":
            return binary_file.read(path, layout)
        return text_file.read(path, layout)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidFile(f"the gzip file is damaged ({error})", path=path) from None


def _head(path: Path) -> tuple[bytes, bool]:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
        if not head.startswith(_GZIP):
            return head, False
        with gzip.open(path) as file:
            return file.read(HEAD), True
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidFile(f"the gzip file is damaged ({error})", path=path) from None
    except OSError as error:
        raise unreadable(path, error) from None


def _glove_dimensions(path: Path, first: bytes) -> int:
    fields = first.strip(b" \r").split(b" ")
    if len(fields) < 2 or not all(map(_is_number, fields[1:])):
        raise InvalidFile(
            "expected a word and its numbers, as in the formats of GloVe and word2vec",
            path=path,
            line=1,
        )
    return len(fields) - 1


def _is_text(rest: bytes, dimensions: int) -> bool:
    """Whether the data after word2vec's header are text, judged by the first vector.

    A malformed line of text must be reported and not be read as binary. So a line of printable
    characters is text too, if it is longer than could happen by chance.
    """
    line = rest.partition(b"\n")[0].strip(b" \r")
    fields = line.split(b" ")
    if len(fields) > dimensions and all(map(_is_number, fields[-dimensions:])):
        return True
    numbers = line.partition(b" ")[2]
    printable = re.fullmatch(rb"[\x20-\x7e]*", numbers) is not None
    return printable and len(numbers) >= max(dimensions, 8)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field
