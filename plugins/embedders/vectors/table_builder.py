"""Collects words and vectors while a file is read, and what is wrong with some of them.

Large tables are kept on disk. Trade-off: vectors of more than `LARGE` bytes are written to a
temporary file in the cache folder and mapped from there. The file has no name and disappears with
the process. 3 million words of 300 numbers take 3.6 GB of disk, and only the rows in use take
memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from harness import folders
from harness.errors import DiskError, InvalidFile

from .word_vectors import SHOWN, Table, duplicates

if TYPE_CHECKING:
    from harness.arrays import Vectors

OnBad: TypeAlias = Literal["error", "skip", "replace"]
"""What becomes of a word or vector that cannot be read: see `vectors_file`."""

LARGE = 2**26
"""Most bytes of vectors that are kept in memory."""


class TableBuilder:
    """A table under construction; of equal words the first is kept.

    Parameters
    ----------
    path
        The file, for messages.
    dimensions
        Length of a vector.
    on_bad
        What becomes of words and vectors that cannot be read. None is as `error`, but a word that
        ends inside a character is left out: word2vec's own program cuts long words there.
    prefix
        What the words begin with that are kept, without it.

    Attributes
    ----------
    n
        Number of entries of the file so far, with those that are left out.
    """

    def __init__(
        self, path: Path, dimensions: int, on_bad: OnBad | None = None, prefix: str = ""
    ) -> None:
        self.path, self.dimensions, self.on_bad, self.prefix = path, dimensions, on_bad, prefix
        self.n = 0
        self._words: dict[str, None] = {}
        self._blocks: list[Vectors] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._notes: list[str] = []
        # Of each kind of fault: how many, and the first one.
        self._faults: dict[str, tuple[int, str]] = {}
        self._n_duplicates = 0
        self._duplicates: list[str] = []  # the first of them

    def word(self, raw: bytes, place: str, *, line: int | None = None) -> str | None:
        """Return the text of a word; None if it is left out.

        Parameters
        ----------
        raw
            Its bytes in the file.
        place
            Where it stands, such as `word 3`.
        line
            Its line in a text file.

        Raises
        ------
        InvalidFile
            If it is not UTF-8 text, and such words are errors.
        """
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            is_cut = error.end == len(raw) and error.reason == "unexpected end of data"
        shown = raw.decode(errors="replace")
        found = f"line {line}, {shown[:60]!r}" if line else f"{place}, {shown[:60]!r}"
        if self.on_bad == "replace":
            kind = "replaced (on_bad=replace): bytes that are not UTF-8 text became U+FFFD"
            self._count(kind, found)
            return shown
        if self.on_bad is None and is_cut:
            self._count("left out: the word ends inside a UTF-8 character", found)
            return None
        self.reject(f"{place} is not UTF-8 text ({shown[:60]!r})", line=line)
        return None

    def reject(self, problem: str, *, line: int | None = None) -> None:
        """Leave out an entry that cannot be read.

        Parameters
        ----------
        problem
            What is wrong with it.
        line
            Its line in a text file.

        Raises
        ------
        InvalidFile
            If such entries are errors.
        """
        if self.on_bad not in ("skip", "replace"):
            hint = "?on_bad=skip leaves out what cannot be read"
            raise InvalidFile(f"{problem}; {hint}", path=self.path, line=line)
        place = f"line {line}: " if line else ""
        self._count(f"left out (on_bad={self.on_bad})", place + problem)

    def note(self, line: str) -> None:
        """Add a line about the file that the user is shown."""
        self._notes.append(line)

    def add(self, words: Sequence[str], vectors: Vectors) -> None:
        """Add words and their (len(words), d) float32 vectors.

        Raises
        ------
        DiskError
            If the cache folder cannot hold a large table.
        """
        self.n += len(words)
        if self.prefix:
            kept = [row for row, word in enumerate(words) if word.startswith(self.prefix)]
            words, vectors = [words[row][len(self.prefix) :] for row in kept], vectors[kept]
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
        """Return the table of everything added so far.

        Raises
        ------
        InvalidFile
            If there is nothing.
        """
        if not self._words:
            problem = f"no word begins with '{self.prefix}'" if self.prefix else "it has no vectors"
            raise InvalidFile(problem, path=self.path)
        shape = (len(self._words), self.dimensions)
        words = list(self._words)
        if self._file is None:
            vectors = np.concatenate(self._blocks).reshape(shape)
        else:
            self._file.flush()
            vectors = np.memmap(self._file, dtype=np.float32, mode="r", shape=shape)
        return Table(words, vectors, notes=self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the file so far, a line each."""
        lines = list(self._notes)
        for kind, (count, first) in self._faults.items():
            entries = "1 entry is" if count == 1 else f"{count:,} entries are"
            lines.append(f"{entries} {kind}; the first: {first}")
        if self._n_duplicates:
            lines.append(duplicates(self._n_duplicates, self._duplicates))
        return tuple(f"{self.path.name}: {line}" for line in lines)

    def _count(self, kind: str, first: str) -> None:
        self.n += "left out" in kind
        count, earlier = self._faults.get(kind, (0, first))
        self._faults[kind] = count + 1, earlier

    def _new(self, words: Sequence[str], vectors: Vectors, before: int) -> Vectors:
        """Return the vectors of the words that are not among the first `before`."""
        added = set(list(self._words)[before:])
        kept = []
        for row, word in enumerate(words):
            if word in added:
                added.remove(word)
                kept.append(row)
            else:
                self._n_duplicates += 1
                if len(self._duplicates) < SHOWN:
                    self._duplicates.append(word)
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
