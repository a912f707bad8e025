"""Writes word vectors to a file, block by block, so that they never have to fit in memory.

Formats: word2vec's text and binary formats, gensim's own `KeyedVectors`, and safetensors. Nothing
is read here: the embedder `vectors:PATH` reads all formats but gensim's, which is a pickle.

The file is written in a hidden folder beside its path, synced, and renamed, so that a reader sees
the old file or the new one. gensim's format has two files: `NAME.vectors.npy` is renamed first.

A safetensors file has three tensors: `words`, (bytes,) uint8, all words in UTF-8 one after another;
`word_ends`, (n,) int64, the position in `words` at which each word ends; and `vectors`, (n, d)
float32.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import numpy as np

from harness.errors import DiskError, HarnessError, InvalidOption, UsageError, suggestion

if TYPE_CHECKING:
    from harness.arrays import Vectors

Format: TypeAlias = Literal["word2vec", "word2vec-binary", "gensim", "safetensors"]
Blocks: TypeAlias = "Iterable[tuple[Sequence[str], Vectors]]"
SUFFIXES: Mapping[str, Format] = {
    ".txt": "word2vec",
    ".vec": "word2vec",
    ".bin": "word2vec-binary",
    ".kv": "gensim",
    ".safetensors": "safetensors",
}
"""Format by the suffix of the file."""
_SEPARATOR = re.compile(r"[ \n\r]|\A\Z")  # what no word of word2vec's formats may have or be
_ALIGNMENT = 64  # bytes; the tensors of a safetensors file begin at a multiple of it


def format_of(path: Path, format: str | None = None) -> Format:  # noqa: A002 -- what users call it
    """Return the format to write: `format` if it is given, or else that of the suffix.

    Raises
    ------
    InvalidOption
        If the format or suffix is unknown.
    """
    if format is not None:
        if format not in get_args(Format):
            near = suggestion(format, get_args(Format))
            raise InvalidOption(f"unknown format '{format}' of word vectors{near}")
        return cast("Format", format)
    by_suffix = SUFFIXES.get(path.suffix.lower())
    if by_suffix is None:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise InvalidOption(f"'{path.name}': unknown suffix of word vectors; known are {known}")
    return by_suffix


def refuse_to_replace(path: Path) -> None:
    """Raise UsageError if a path exists."""
    if path.exists():
        raise UsageError(f"'{path}' exists already; overwrite replaces it")


def write(
    path: Path,
    format: Format,  # noqa: A002 -- as above
    words: Sequence[str],
    dimensions: int,
    blocks: Blocks,
    *,
    about: Mapping[str, str] | None = None,
) -> int:
    """Write words and their vectors, replace an existing file, and return the size in bytes.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    format
        Format of the file.
    words
        All words, distinct.
    dimensions
        Length of a vector, d.
    blocks
        The same words in the same order, in blocks, with their (size, d) float32 vectors.
    about
        Metadata for a safetensors file; the other formats have none.

    Raises
    ------
    UsageError
        If the format cannot hold one of the words.
    HarnessError
        If a number is NaN or infinite, which readers refuse.
    DiskError
        If the disk is full or cannot be written to. Nothing is left behind; the old file stays.
    """
    _check(words, format)
    writer = _WRITERS[format]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _folder_beside(path) as folder:
            writer(folder / path.name, words, dimensions, _finite(blocks), dict(about or {}))
            return _put_in_place(folder, path)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None


def _write_text(
    path: Path, words: Sequence[str], d: int, blocks: Blocks, _: Mapping[str, str]
) -> None:
    import polars as pl

    columns = [str(k) for k in range(d)]
    with path.open("wb") as file:
        file.write(b"%d %d\n" % (len(words), d))
        for block, vectors in blocks:
            # polars prints the shortest digits that read as the same number.
            frame = pl.DataFrame(vectors, schema=columns)
            frame.insert_column(0, pl.Series("word", block, dtype=pl.String))
            frame.write_csv(file, include_header=False, separator=" ", quote_style="never")


def _write_binary(
    path: Path, words: Sequence[str], d: int, blocks: Blocks, _: Mapping[str, str]
) -> None:
    with path.open("wb") as file:
        file.write(b"%d %d\n" % (len(words), d))
        for block, vectors in blocks:
            with _little_endian(vectors).data.cast("B") as view:
                parts: Iterator[Any] = itertools.chain.from_iterable(
                    (word.encode() + b" ", view[4 * d * i : 4 * d * (i + 1)])
                    for i, word in enumerate(block)
                )
                file.write(b"".join(parts))


def _write_gensim(
    path: Path, words: Sequence[str], d: int, blocks: Blocks, _: Mapping[str, str]
) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(d)
    keyed.index_to_key = list(words)
    keyed.key_to_index = {word: row for row, word in enumerate(keyed.index_to_key)}
    # gensim writes the words and an empty array, which needs no memory for the vectors. Then the
    # file of the array is replaced: gensim reads the array's shape only when it loads it.
    keyed.save(str(path), separately=["vectors"])
    with Path(f"{path}.vectors.npy").open("wb") as file:
        shape = {"descr": "<f4", "fortran_order": False, "shape": (len(words), d)}
        np.lib.format.write_array_header_1_0(file, shape)
        _write_rows(file, blocks)


def _write_safetensors(
    path: Path, words: Sequence[str], d: int, blocks: Blocks, about: Mapping[str, str]
) -> None:
    ends = np.cumsum(np.fromiter((len(word.encode()) for word in words), "<i8", len(words)))
    first, second = ends.nbytes, ends.nbytes + 4 * d * len(words)
    third = second + int(ends[-1])
    header: dict[str, Any] = {
        "__metadata__": {"format": "word-vectors", **about},
        "word_ends": {"dtype": "I64", "shape": [len(words)], "data_offsets": [0, first]},
        "vectors": {"dtype": "F32", "shape": [len(words), d], "data_offsets": [first, second]},
        "words": {"dtype": "U8", "shape": [int(ends[-1])], "data_offsets": [second, third]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)  # the format allows spaces at the end
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.write(ends.astype("<i8", copy=False).data)
        _write_rows(file, blocks)
        for start in range(0, len(words), 2**16):
            file.write("".join(words[start : start + 2**16]).encode())


_WRITERS = {
    "word2vec": _write_text,
    "word2vec-binary": _write_binary,
    "gensim": _write_gensim,
    "safetensors": _write_safetensors,
}


def _write_rows(file: IO[bytes], blocks: Blocks) -> None:
    for _, vectors in blocks:
        file.write(_little_endian(vectors).data)


def _little_endian(vectors: Vectors) -> Vectors:
    return np.ascontiguousarray(vectors, dtype="<f4")


def _finite(blocks: Blocks) -> Iterator[tuple[Sequence[str], Vectors]]:
    for words, vectors in blocks:
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            word = words[int(np.argmin(finite))]
            raise HarnessError(f"the vector of '{word}' is not finite, so it cannot be written")
        yield words, vectors


def _check(words: Sequence[str], format: Format) -> None:  # noqa: A002 -- as above
    if not words:
        raise UsageError("no words to write")
    if not format.startswith("word2vec"):
        return
    for word in words:
        if _SEPARATOR.search(word):
            raise UsageError(
                f"word2vec's formats cannot hold the word {word!r}: they separate words from "
                "numbers by spaces and ends of lines; write a .safetensors or .kv file"
            )


@contextlib.contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_in_place(folder: Path, path: Path) -> int:
    """Sync the files and rename them, `path` last; return their size in bytes."""
    files = sorted(folder.iterdir(), key=lambda file: file.name == path.name)
    for file in files:
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())
    size = sum(file.stat().st_size for file in files)
    for file in files:
        file.replace(path.parent / file.name)
    return size
