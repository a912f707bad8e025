"""`vectors:PATH`: word vectors from a file.

Formats: GloVe's and word2vec's text, word2vec's binary form, and the safetensors that
`harness debias` writes. The first three may be gzipped. Nothing is ever unpickled, so gensim's own
`.kv` and `.model` files are refused with a word on how to convert them. The formats are parsed in
`text.py`, `binary.py` and `safetensors_file.py`; here they are told apart.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness.digest import digest
from harness.embedder import Card
from harness.errors import InvalidFile
from harness.plugins.embedders import file_hashes, model_info
from harness.plugins.embedders.vectors import safetensors_file
from harness.plugins.embedders.vectors.word_vectors import Table, WordVectors

Format: TypeAlias = Literal["auto", "glove", "word2vec", "word2vec-binary", "safetensors"]

HEAD = 2**20  # bytes that are looked at to tell a format: more than any first two lines
_HEADER = re.compile(rb"\s*(\d+)[ \t]+(\d+)\s*")  # word2vec's first line: words, dimensions
_GZIP = b"\x1f\x8b"
_CONVERT = (
    "convert it where it was made, with "
    "KeyedVectors.load(PATH).save_word2vec_format('vectors.bin', binary=True)"
)
_REFUSED = (
    (b"\x80", f"this is a pickle, which may run code when it is read; {_CONVERT}"),
    (b"PK\x03\x04", "this is a ZIP archive; unpack it and name the file with the vectors"),
    (b"\x93NUMPY", "this is an array without its words; save it in word2vec's format"),
    (b"\xba\x16\x4f\x2f", "this is a fastText model; use the .vec file that comes with it"),
)


@dataclass(frozen=True)
class Layout:
    """How a file is laid out.

    Parameters
    ----------
    format
        Never `auto`.
    dimensions
        Length of a vector.
    n_words
        As the header says; None where there is no header.
    start
        Bytes before the first word: the header, or the mark that some editors put first.
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
    """Return the word embedder that a file holds.

    Parameters
    ----------
    reference
        Path of the file; `~` is the home folder.
    format
        `glove` (lines of a word and its numbers), `word2vec` (the same under a line with the
        numbers of words and dimensions), `word2vec-binary`, `safetensors`; `auto` tells by the
        first bytes.
    name, card
        What the model is reported as.

    Raises
    ------
    InvalidFile
        If the file is not there or not in such a format; when the vectors are loaded, if a line
        is malformed, or a vector is NaN or infinite.
    """
    file = Path(reference).expanduser()
    layout = inspect(file, format)
    fingerprint = {"sha256": file_hashes.sha256(file), "format": layout.format}
    info = model_info.describe(
        card,
        name=name or f"vectors:{reference}",
        kind="word",
        fingerprint=f"vectors-{digest(fingerprint)}",
        dimensions=layout.dimensions,
        n_parameters=None if layout.n_words is None else layout.n_words * layout.dimensions,
    )
    return WordVectors(info, lambda: load(file, layout))


def inspect(path: Path, format: Format = "auto") -> Layout:  # noqa: A002 -- as above
    """Return how a file is laid out, from its first lines.

    Raises
    ------
    InvalidFile
        If it is not a file of word vectors.
    """
    head, gzipped = _head(path)
    if safetensors_file.begins(head):
        if format not in ("auto", "safetensors"):
            raise InvalidFile(f"this is a safetensors file, not '{format}'", path=path)
        found = safetensors_file.shape(path)
        return Layout("safetensors", found.d, found.n, found.start, gzipped)
    if format == "safetensors":
        raise InvalidFile("this is no safetensors file", path=path)
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
                "word2vec's formats start with a line of two numbers, words and dimensions; "
                "without it, name the format 'glove'",
                path=path,
                line=1,
            )
        return Layout("glove", _glove_dimensions(path, first), None, mark, gzipped)
    n_words, dimensions = int(header[1]), int(header[2])
    if not n_words or not dimensions:
        raise InvalidFile("the header promises no vectors", path=path, line=1)
    if format == "auto":
        format = "word2vec" if _is_text(rest, dimensions) else "word2vec-binary"  # noqa: A001 -- as above
    return Layout(format, dimensions, n_words, mark + len(first) + 1, gzipped)


def load(path: Path, layout: Layout) -> Table:
    """Return the words and vectors of a file; of equal words the first counts."""
    from harness.plugins.embedders.vectors import binary, text

    try:
        if layout.format == "safetensors":
            return safetensors_file.read(path)
        if layout.format == "word2vec-binary":
            return binary.read(path, layout)
        return text.read(path, layout)
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
    except FileNotFoundError:
        raise InvalidFile("there is no such file", path=path) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidFile(f"the gzip file is damaged ({error})", path=path) from None
    except OSError as error:
        raise InvalidFile(f"the file cannot be read ({error.strerror})", path=path) from None


def _glove_dimensions(path: Path, first: bytes) -> int:
    fields = first.strip(b" \r").split(b" ")
    if len(fields) < 2 or not all(map(_is_number, fields[1:])):
        raise InvalidFile(
            "this is no line of a word and its numbers, as in GloVe's and word2vec's files",
            path=path,
            line=1,
        )
    return len(fields) - 1


def _is_text(rest: bytes, dimensions: int) -> bool:
    """Whether what follows word2vec's header is text: if the first vector is, or looks like it.

    A malformed text line must be reported as such and not be read as binary, so that printable
    characters do where there are too many for chance.
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
