"""The vocabulary of a word embedder, read in blocks, so that it need not fit into memory.

For mitigators that learn from many words, and for commands that change all words. Knows no file
format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from harness.embedder import Embedder, WordEmbedder
from harness.errors import NotApplicable

if TYPE_CHECKING:
    from harness.arrays import Vectors

BLOCK = 65_536
"""Number of words in a block: 13 MB of float32 with 50 dimensions, 79 MB with 300."""


class Vocabulary:
    """Words and their vectors, in the order of the source: usually the most frequent word first.

    Parameters
    ----------
    words
        The words.
    rows
        Returns the (stop − start, d) float32 vectors of `words[start:stop]`.
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
        """Yield all words in order, in blocks of `size`, with their (size, d) vectors."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield list(self.words[start:stop]), self.rows(start, stop)


def vocabulary_of(embedder: Embedder) -> Vocabulary:
    """Return the vocabulary of a word embedder, with the vectors that the embedder returns.

    Raises
    ------
    NotApplicable
        If the embedder has no vocabulary: it is a text encoder.
    """
    view = getattr(embedder, "vocabulary", None)
    if isinstance(view, Vocabulary):
        return view
    if embedder.info.kind == "word" and isinstance(embedder, WordEmbedder):
        vectors = embedder.vectors
        return Vocabulary(embedder.words, lambda start, stop: vectors[start:stop])
    raise NotApplicable(f"'{embedder.info.name}' has no vocabulary; a word embedder is required")
