"""Reads fastText's binary format, whose words without a row have a vector made of their parts.

A word's vector is the mean of its own row, if the vocabulary has it, and of the rows of its
n-grams: Bojanowski, Grave, Joulin and Mikolov (2017), Enriching word vectors with subword
information. The rows are mapped: gensim copies all of the file, 7 GB for the vectors of 157
languages, and computes all words. Here a word is computed when it is asked for.

The format is that of fastText 0.1 to 0.9 (versions 11 and 12). Compressed models (`.ftz`) have
other rows and are refused.
"""

from __future__ import annotations

import functools
import mmap
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.embedder import BLOCK, ModelInfo, Vocabulary
from harness.errors import InvalidFile, ModelError

from .table_builder import OnBad, TableBuilder
from .word_vectors import ComposedVectors, Table

if TYPE_CHECKING:
    from harness.arrays import Vectors

_ARGUMENTS = struct.Struct("<2i12id")  # magic, version, args.cc: dim … lrUpdateRate, t
_COUNTS = struct.Struct("<3i2q")  # dictionary.cc: size, nwords, nlabels, ntokens, pruneidx_size
_ENTRY = 9  # bytes after a word: how often it was seen, and its type
_SHAPE = struct.Struct("<?2q")  # whether the matrix is quantised, rows and columns
_SUPERVISED = 3
_END_OF_SENTENCE = "</s>"  # it has no n-grams
LONGEST_WORD = 10_000


def dimensions(path: Path) -> int:
    """Return the length of a vector.

    Raises
    ------
    InvalidFile
        If the header is malformed.
    """
    with path.open("rb") as file:
        return _arguments(file.read(_ARGUMENTS.size), path).dimensions


class _Arguments(NamedTuple):
    """The sizes in a header: of vectors, of the table of n-grams, and of n-grams in characters."""

    dimensions: int
    buckets: int
    shortest: int
    longest: int


@dataclass(frozen=True)
class Model:
    """What a file has.

    Parameters
    ----------
    words
        The vocabulary.
    rows
        (len(words),) the row of each word.
    matrix
        (n, d) rows, mapped: those of words first, then those of n-grams.
    n_words
        Number of rows of words.
    arguments
        Sizes in its header.
    """

    words: Sequence[str]
    rows: np.ndarray[Any, np.dtype[np.intp]]
    matrix: Vectors
    n_words: int
    arguments: _Arguments

    def vector(self, word: str, row: int | None = None) -> Vectors | None:
        """Return the vector of a word; None if it has neither a row nor an n-gram.

        Raises
        ------
        ModelError
            If it is not finite.
        """
        rows = [] if row is None else [row]
        sizes = self.arguments
        if word != _END_OF_SENTENCE and sizes.buckets:
            parts = hashes(word, sizes.shortest, sizes.longest)
            rows += [self.n_words + part % sizes.buckets for part in parts]
        if not rows:
            return None
        vector: Vectors = self.matrix[rows].mean(axis=0, dtype=np.float64).astype(np.float32)
        if not np.isfinite(vector).all():
            raise ModelError(f"the vector of '{word}' is not finite")
        return vector


class FastTextFile(ComposedVectors):
    """The word vectors of a file of fastText.

    Parameters
    ----------
    info
        Facts of the vocabulary.
    path
        The file.
    on_bad
        What becomes of words that are not UTF-8 text.
    """

    def __init__(self, info: ModelInfo, path: Path, on_bad: OnBad | None = None) -> None:
        super().__init__(info, self._whole, self._compose)
        self._path, self._on_bad = path, on_bad
        self._read_notes: tuple[str, ...] = ()

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, in the order of the file."""
        return self._model.words

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, whose vectors are computed block by block."""
        return Vocabulary(self.words, self._vectors_of)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know: words that are left out, and those without a row."""
        return (*self._read_notes, *super().notes)

    @functools.cached_property
    def _model(self) -> Model:
        table = TableBuilder(self._path, self.info.dimensions or 0, self._on_bad)
        model = read(self._path, table)
        self._read_notes = table.notes
        return model

    @property
    def _aliases(self) -> Mapping[str, int]:
        return {}

    def _known(self, rows: Sequence[int]) -> Vectors:
        model = self._model
        vectors = np.empty((len(rows), model.matrix.shape[1]), dtype=np.float32)
        for i, row in enumerate(rows):
            vectors[i] = model.vector(model.words[row], int(model.rows[row]))
        return vectors

    def _vectors_of(self, start: int, stop: int) -> Vectors:
        table = self.__dict__.get("_table")  # all vectors, if they were computed
        if isinstance(table, Table):
            return np.array(table.vectors[start:stop])
        return self._known(range(start, min(stop, len(self.words))))

    def _compose(self, text: str) -> Vectors | None:
        return self._model.vector(text)

    def _whole(self) -> Table:
        table = TableBuilder(self._path, self._model.matrix.shape[1])
        for start in range(0, len(self.words), BLOCK):
            table.add(self.words[start : start + BLOCK], self._vectors_of(start, start + BLOCK))
        return table.table()


def read(path: Path, table: TableBuilder) -> Model:
    """Return what a file has; words that are not UTF-8 text are reported to `table`.

    Raises
    ------
    InvalidFile
        If the file is malformed, truncated or quantised.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        arguments = _arguments(data[: _ARGUMENTS.size], path)
        at = _ARGUMENTS.size
        if len(data) < at + _COUNTS.size:
            raise _truncated(path)
        n_entries, n_words, n_labels, _, n_pruned = _COUNTS.unpack_from(data, at)
        at += _COUNTS.size
        if min(n_entries, n_words, n_labels) < 0 or n_entries != n_words + n_labels:
            raise InvalidFile("its dictionary has impossible numbers of words", path=path)
        if n_entries * (_ENTRY + 1) > len(data):
            raise _truncated(path)
        words: list[str] = []
        rows: list[int] = []
        for i in range(n_entries):
            end = data.find(b"\0", at, at + LONGEST_WORD)
            if end < 0 or end + 1 + _ENTRY > len(data):
                raise _truncated(path)
            if i < n_words:
                word = table.word(data[at:end], f"word {i + 1}")
                if word is not None:
                    words.append(word)
                    rows.append(i)
            at = end + 1 + _ENTRY
        at += 8 * max(n_pruned, 0)
        if len(data) < at + _SHAPE.size:
            raise _truncated(path)
        is_quantised, n, d = _SHAPE.unpack_from(data, at)
        size = len(data)
    if is_quantised or n_pruned >= 0:
        raise InvalidFile(
            "this is a compressed fastText model (.ftz); give the .bin or .vec file it was made of",
            path=path,
        )
    at += _SHAPE.size
    has_buckets = arguments.longest == 0 or n - n_words == arguments.buckets
    if d != arguments.dimensions or n < n_words or not has_buckets or not words:
        raise InvalidFile("its matrix does not have the shape that its header states", path=path)
    if at + 4 * n * d + _SHAPE.size > size:
        raise _truncated(path)
    matrix = np.memmap(path, "<f4", mode="r", offset=at, shape=(n, d)).view(np.ndarray)
    with path.open("rb") as file:  # the matrix of outputs follows, which no vector needs
        file.seek(at + 4 * n * d)
        is_quantised, n, d = _SHAPE.unpack(file.read(_SHAPE.size))
    if not is_quantised and at + matrix.nbytes + _SHAPE.size + 4 * n * d > size:
        raise _truncated(path)
    return Model(words, np.array(rows, dtype=np.intp), matrix, n_words, arguments)


def hashes(word: str, shortest: int, longest: int) -> Iterator[int]:
    """Yield the hash of each n-gram of a word, between `<` and `>`, as fastText's dictionary.cc.

    The hash is FNV-1a over bytes that are extended as signed numbers. A single `<` or `>` is no
    n-gram.
    """
    letters = [letter.encode("utf-8", "surrogatepass") for letter in f"<{word}>"]
    for start in range(len(letters)):
        value = 2166136261
        for n, letter in enumerate(letters[start : start + longest], start=1):
            for byte in letter:
                value ^= byte if byte < 128 else byte | 0xFFFFFF00
                value = value * 16777619 & 0xFFFFFFFF
            if n >= shortest and not (n == 1 and start in (0, len(letters) - 1)):
                yield value


def _arguments(data: bytes, path: Path) -> _Arguments:
    if len(data) < _ARGUMENTS.size:
        raise _truncated(path)
    _, version, dim, *_, model, bucket, minn, maxn, _, _ = _ARGUMENTS.unpack(
        data[: _ARGUMENTS.size]
    )
    if version not in (11, 12):
        raise InvalidFile(
            f"this is a fastText model of version {version}, and only 11 and 12 are read; use the "
            ".vec file that comes with it",
            path=path,
        )
    if not 0 < dim < 2**18 or min(bucket, minn, maxn) < 0:
        raise InvalidFile("its header states impossible sizes", path=path)
    # Classifiers of version 11 have no n-grams, whatever they state (fasttext.cc, loadModel).
    longest = 0 if version == 11 and model == _SUPERVISED else maxn
    return _Arguments(dim, bucket, minn, longest)


def _truncated(path: Path) -> InvalidFile:
    return InvalidFile("the fastText model is cut off", path=path)
