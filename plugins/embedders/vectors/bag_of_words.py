"""`bag-of-words:MODEL`: texts as the mean of their words' vectors, a baseline for text encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.letters import words as words_in

from .. import cards

if TYPE_CHECKING:
    from harness.arrays import Vectors

INSIDE = "'’-׳״"
"""What a word may have inside: don't, anti-semitic, marks of Hebrew."""
_RULES = 2  # version of the way texts are split into words, since that changes vectors


class BagOfWords:
    """A text encoder that pools the vectors of a word embedder.

    A text is split into words: letters and digits, with apostrophes and hyphens inside. A word that
    the vocabulary does not have is split into its parts at apostrophes and hyphens. Unknown words
    are left out. A text without a known word gives a row of NaN, which the harness counts as
    missing.

    Parameters
    ----------
    reference
        Name of a word embedder, such as `glove-6b-50d` or `vectors:./w2v.bin`, or the embedder.
    pooling
        `mean` of the words, repeated words counted repeatedly, or `max` of each dimension.
    name
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the reference is a text encoder.

    Notes
    -----
    The fingerprint covers the fingerprint of the word embedder, the pooling, and the way texts are
    split into words.
    """

    def __init__(
        self,
        reference: str | Embedder,
        *,
        pooling: Literal["mean", "max"] = "mean",
        name: str | None = None,
    ) -> None:
        if isinstance(reference, str):
            from harness.registry.registry import Registry

            reference = Registry().embedder(reference)
        inner = reference.info
        if inner.kind != "word":
            raise InvalidOption(
                f"bag-of-words requires word vectors; '{inner.name}' is a text encoder"
            )
        self._embedder = reference
        self._pooling = np.maximum if pooling == "max" else np.add
        identity = {"words": inner.fingerprint, "pooling": pooling, "rules": _RULES}
        self.info = cards.describe(
            inner,
            name=name or f"bag-of-words:{inner.name}",
            kind="text",
            fingerprint=f"bag-of-words-{digest(identity)}",
            fitted_on=inner.fitted_on,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the word vectors."""
        return tuple(getattr(self._embedder, "notes", ()))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, a row of NaN for each text without a known word."""
        words_of = [words_in(text, INSIDE) for text in texts]
        known = self._look_up({word for words in words_of for word in words})
        rows_of = [[row for word in words for row in known.rows[word]] for words in words_of]
        counts = np.array([len(rows) for rows in rows_of])
        vectors = np.full((len(texts), known.vectors.shape[1]), np.nan, dtype=np.float32)
        has_rows = counts > 0
        if has_rows.any():
            starts = np.concatenate(([0], np.cumsum(counts[has_rows])[:-1]))
            all_rows = [row for rows in rows_of for row in rows]
            pooled = self._pooling.reduceat(known.vectors[all_rows], starts, dtype=np.float64)
            if self._pooling is np.add:
                pooled /= counts[has_rows, None]
            vectors[has_rows] = pooled
        return vectors

    def lacks(self, texts: Sequence[str]) -> list[bool]:
        """Return whether each text has no known word."""
        return [bool(np.isnan(vector).all()) for vector in self.encode(texts)]

    def _look_up(self, words: set[str]) -> _Known:
        """Return the vectors of words, and of the parts of words without a vector."""
        whole = sorted(words)
        parts = sorted({part for word in whole for part in words_in(word)} - words)
        names = whole + parts
        vectors = self._embedder.encode(names)
        row_of = {names[i]: i for i in np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist()}
        rows = {
            word: (row_of[word],)
            if word in row_of
            else tuple(row_of[part] for part in words_in(word) if part in row_of)
            for word in whole
        }
        return _Known(vectors, rows)


class _Known(NamedTuple):
    """The vectors of words and parts, and the rows of each word; none for an unknown word."""

    vectors: Vectors
    rows: dict[str, tuple[int, ...]]
