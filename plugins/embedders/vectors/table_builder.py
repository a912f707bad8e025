"""Collects words and vectors while a file is read; large tables are kept on disk.

Trade-off: vectors of more than `LARGE` bytes are written to a temporary file in the cache folder
and mapped from there. The file has no name and disappears with the process. 3 million words of 300
numbers take 3.6 GB of disk, and only the rows in use take memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

import numpy as np

from harness import folders
from harness.errors import DiskError
from harness.plugins.embedders.vectors.word_vectors import Table

if TYPE_CHECKING:
    from harness.arrays import Vectors

LARGE = 2**26
"""Most bytes of vectors that are kept in memory."""


class TableBuilder:
    """A table under construction; of equal words the first is kept.

    Parameters
    ----------
    dimensions
        Length of a vector.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._words: dict[str, None] = {}
        self._blocks: list[Vectors] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def add(self, words: Sequence[str], vectors: Vectors) -> None:
        """Add words and their (len(words), d) float32 vectors.

        Raises
        ------
        DiskError
            If the cache folder cannot hold a large table.
        """
        before = len(self._words)
        self._words.update(dict.fromkeys(words))
        if len(self._words) != before + len(words):
            vectors = self._new(words, vectors, before)
        if not len(vectors):
            return
        self._bytes += vectors.nbytes
        if self._file is None and self._bytes > LARGE:
            self._file = self._temporary()
        self._blocks.append(vectors)
        if self._file is not None:
            self._write(self._file, self._blocks)
            self._blocks.clear()

    def table(self) -> Table:
        """Return the table of everything added so far."""
        shape = (len(self._words), self.dimensions)
        words = list(self._words)
        if self._file is None:
            return Table(words, np.concatenate(self._blocks).reshape(shape))
        self._file.flush()
        return Table(words, np.memmap(self._file, dtype=np.float32, mode="r", shape=shape))

    def _new(self, words: Sequence[str], vectors: Vectors, before: int) -> Vectors:
        """Return the vectors of the words that are not among the first `before`."""
        added = set(list(self._words)[before:])
        kept = []
        for row, word in enumerate(words):
            if word in added:
                added.remove(word)
                kept.append(row)
        return vectors[kept]

    def _temporary(self) -> IO[bytes]:
        try:
            return tempfile.TemporaryFile(dir=folders.make(folders.cache()))
        except OSError as error:
            raise self._disk_error(error) from None

    def _write(self, file: IO[bytes], blocks: Sequence[Vectors]) -> None:
        try:
            for vectors in blocks:
                file.write(np.ascontiguousarray(vectors).data)
        except OSError as error:
            raise self._disk_error(error) from None

    def _disk_error(self, error: OSError) -> DiskError:
        return DiskError(
            f"cannot write the vectors of a large file to '{folders.cache()}' ({error.strerror}); "
            "set HARNESS_CACHE to another folder"
        )
