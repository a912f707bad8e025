"""The vocabulary of a word embedder, read in blocks so that no size of it has to fit in memory.

For what learns from many words at once, or changes all of them. Knows no file format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from harness.embedder import Embedder, WordEmbedder
from harness.errors import NotApplicable

if TYPE_CHECKING:
    from harness.arrays import Vectors

BLOCK = 65_536
"""Words of a block: 13 MB of float32 at 50 dimensions, 79 MB at 300."""


class Vocabulary:
    """Words and their vectors, most frequent first where the source says so.

    Parameters
    ----------
    words
        The words.
    rows
        Gives the (stop − start, d) float32 vectors of the words from `start` to `stop`.
    """

    def __init__(self, words: Sequence[str], rows: Callable[[int, int], Vectors]) -> None:
        self.words, self.rows = words, rows

    def __len__(self) -> int:
        return len(self.words)

    def head(self, n: int) -> tuple[list[str], Vectors]:
        """Return the first `n` words, or all if there are fewer, and their (n, d) vectors."""
        n = min(n, len(self))
        return list(self.words[:n]), self.rows(0, n)

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[list[str], Vectors]]:
        """Yield all words in order, `size` at a time, with their (size, d) vectors."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield list(self.words[start:stop]), self.rows(start, stop)


def vocabulary_of(embedder: Embedder) -> Vocabulary:
    """Return the vocabulary of a word embedder, with vectors as that embedder gives them.

    Raises
    ------
    NotApplicable
        If it has none, as a text encoder has not.
    """
    view = getattr(embedder, "vocabulary", None)
    if isinstance(view, Vocabulary):
        return view
    if embedder.info.kind == "word" and isinstance(embedder, WordEmbedder):
        vectors = embedder.vectors
        return Vocabulary(embedder.words, lambda start, stop: vectors[start:stop])
    raise NotApplicable(f"'{embedder.info.name}' has no vocabulary, as word embedders have")
