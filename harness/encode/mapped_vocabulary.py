"""The vocabulary of a word embedder for other processes, which map one file of its vectors.

Vectors that are mapped from a file already stay there. Others are written to a file once.
"""

from __future__ import annotations

import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import numpy as np

from harness.vocabulary import Vocabulary, vocabulary_of

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.embedder import Embedder


@dataclass(frozen=True)
class MappedVocabulary:
    """Words, and where their vectors are.

    Parameters
    ----------
    words
        The file of the n words.
    path, offset
        The file of the vectors, and the byte at which they begin.
    dtype, shape, order
        How they are stored: type, (n, d), and C for row by row or F for column by column.
    """

    words: Path
    path: Path
    offset: int
    dtype: str
    shape: tuple[int, ...]
    order: Literal["C", "F"]

    def open(self) -> Vocabulary:
        """Return the vocabulary; its vectors are read from their file when they are needed.

        Raises
        ------
        OSError
            If the file cannot be opened here.
        """
        vectors: Vectors = np.memmap(
            self.path, self.dtype, "r", self.offset, self.shape, order=self.order
        )

        def rows(start: int, stop: int) -> Vectors:
            return np.array(vectors[start:stop], dtype=np.float32, order="C")

        return Vocabulary(json.loads(self.words.read_text(encoding="ascii")), rows)


def mapped(embedder: Embedder, folder: Path) -> MappedVocabulary | None:
    """Return the vocabulary of a word embedder for other processes; None if it cannot be sent.

    Parameters
    ----------
    embedder
        The embedder.
    folder
        Where the words are written to, and vectors that are not mapped from a file already.

    Raises
    ------
    NotApplicable
        If it has no vocabulary.
    OSError
        If they cannot be written.
    """
    vocabulary = vocabulary_of(embedder)
    if type(vocabulary) is not Vocabulary:
        return None  # it may have more than words and vectors
    words = folder / "words.json"
    words.write_text(json.dumps(list(vocabulary.words)), encoding="ascii")
    vectors = getattr(embedder, "vectors", None)
    if _is_whole_map(vectors) and len(vectors) == len(vocabulary):
        order: Literal["C", "F"] = "C" if vectors.flags.c_contiguous else "F"
        path = Path(vectors.filename or "")
        return MappedVocabulary(
            words, path, vectors.offset, vectors.dtype.str, vectors.shape, order
        )
    path, d = folder / "vectors", 0
    with path.open("wb") as file:
        for _, block in vocabulary.blocks():
            d = block.shape[1]
            file.write(np.ascontiguousarray(block, dtype="<f4").data)
    return MappedVocabulary(words, path, 0, "<f4", (len(vocabulary), d), "C")


def _is_whole_map(vectors: object) -> TypeGuard[np.memmap[Any, Any]]:
    """Return whether vectors are all that is mapped of a file that other processes can open."""
    return (
        isinstance(vectors, np.memmap)
        and isinstance(vectors.base, mmap.mmap)  # a part of a map has the map as its base
        and vectors.filename is not None  # a temporary file has no name
        and Path(vectors.filename).is_file()
    )
