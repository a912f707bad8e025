"""A vocabulary with vectors as an embedder, whatever it was read from.

Reads no file: `vectors.py` and `glove.py` do, and hand their loader to `WordVectors`.
"""

from __future__ import annotations

import functools
import hashlib
import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.digest import SIZE, text_keys
from harness.embedder import ModelInfo
from harness.errors import ModelError
from harness.vocabulary import Vocabulary

if TYPE_CHECKING:
    from harness.arrays import Reals, Vectors


@dataclass(frozen=True)
class Table:
    """Distinct words and their vectors, (len(words), d) float32.

    Parameters
    ----------
    words, vectors
        The vocabulary, row `i` of the vectors for word `i`.
    aliases
        Rows of words that have none of their own: they are found, and are not of the vocabulary.
    """

    words: Sequence[str]
    vectors: Vectors
    aliases: Mapping[str, int] = field(default_factory=dict)


class WordVectors:
    """A word embedder.

    A word is looked up as it is; if it is not there, lower-cased; then, for a phrase, both ways
    with `_` for spaces. A word that is not found gives a row of NaN. A zero vector is returned as
    it stands: the harness counts it as missing.

    Parameters
    ----------
    info
        What the vocabulary is.
    load
        Returns the table; called once, when a vector is first asked for.
    """

    def __init__(self, info: ModelInfo, load: Callable[[], Table]) -> None:
        self.info = info
        self._load = load

    @classmethod
    def of(cls, words: Iterable[str], vectors: Reals, *, name: str = "word-vectors") -> WordVectors:
        """Make an embedder of words and an (n, d) array; of equal words the first counts.

        Raises
        ------
        ModelError
            If the shapes do not fit or a value is NaN or infinite.
        """
        table = first_of_each(list(words), np.asarray(vectors, dtype=np.float32))
        strange = not_finite(table.vectors)
        if strange is not None:
            raise ModelError(f"{name}: the vector of '{table.words[strange]}' is not finite")
        content = hashlib.blake2b(text_keys(table.words), digest_size=SIZE)
        content.update(np.ascontiguousarray(table.vectors).tobytes())
        info = ModelInfo(
            name=name,
            kind="word",
            dimensions=table.vectors.shape[1],
            n_parameters=table.vectors.size,
            fingerprint=f"words-{content.hexdigest()}",
        )
        return cls(info, lambda: table)

    @classmethod
    def of_keyed_vectors(cls, keyed_vectors: Any, *, name: str = "keyed-vectors") -> WordVectors:
        """Make an embedder of a gensim `KeyedVectors` object, such as `Word2Vec(…).wv`."""
        return cls.of(keyed_vectors.index_to_key, keyed_vectors.vectors, name=name)

    @property
    def words(self) -> Sequence[str]:
        """The vocabulary, in the order of its source."""
        return self._table.words

    @property
    def vectors(self) -> Vectors:
        """(len(words), d) float32, row i for `words[i]`."""
        return self._table.vectors

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary, one object, so that what is found out about it can be kept with it.

        Of vectors mapped from a file, a block at a time is in memory.
        """
        vectors = self.vectors

        if not isinstance(vectors.base, mmap.mmap):
            return Vocabulary(self.words, lambda start, stop: vectors[start:stop])

        def rows(start: int, stop: int) -> Vectors:
            block = np.array(vectors[start:stop], order="C")  # what works on it goes row by row
            let_go(vectors)
            return block

        return Vocabulary(self.words, rows)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, a row of NaN for each word that is not known."""
        places = [self._row(text) for text in texts]
        rows = np.array(places, dtype=np.intp)
        if -1 not in places:  # the most common case, and calls for a few words are many
            return self._plain[rows]
        found = rows >= 0
        vectors = np.full((len(texts), self._plain.shape[1]), np.nan, dtype=np.float32)
        vectors[found] = self._plain[rows[found]]
        return vectors

    @functools.cached_property
    def _plain(self) -> Vectors:
        """The vectors as a plain array: a memory map is slower to index."""
        return np.asarray(self.vectors, dtype=np.float32).view(np.ndarray)

    @functools.cached_property
    def _table(self) -> Table:
        return self._load()

    @functools.cached_property
    def _rows(self) -> dict[str, int]:
        own = {word: row for row, word in enumerate(self.words)}
        return {**self._table.aliases, **own} if self._table.aliases else own

    def _row(self, text: str) -> int:
        row = self._rows.get(text)
        if row is not None:
            return row
        lower = text.lower()
        for form in (lower, text.replace(" ", "_"), lower.replace(" ", "_")):
            if form in self._rows:
                return self._rows[form]
        return -1


def first_of_each(words: list[str], vectors: Vectors) -> Table:
    """Return a table in which of equal words only the first is left.

    Raises
    ------
    ModelError
        If there is not one vector for each word.
    """
    if vectors.ndim != 2 or len(words) != len(vectors) or not vectors.size:
        raise ModelError(
            f"{len(words)} words do not fit vectors of shape {vectors.shape}: (words, d) is needed"
        )
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    if len(first) == len(words):
        return Table(words, vectors)
    return Table(list(first), vectors[np.fromiter(first.values(), dtype=np.intp)])


def let_go(vectors: Vectors) -> None:
    """Free the memory of vectors that are mapped from a file; they are read again where needed."""
    mapped = vectors.base
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def not_finite(vectors: Vectors) -> int | None:
    """Return the first row that has NaN or infinity, or None."""
    finite = np.isfinite(vectors).all(axis=1)
    return None if finite.all() else int(np.argmin(finite))
