"""`bag-of-words:MODEL`: texts as the mean of their words' vectors, the text baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.digest import digest
from harness.embedder import Embedder
from harness.errors import InvalidOption
from harness.plugins.embedders import model_info

if TYPE_CHECKING:
    from harness.arrays import Vectors

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""Letters and digits of any script, with apostrophes and hyphens inside: don't, anti-semitic."""
_PART = re.compile(r"[^\W_]+")
_RULES = 1  # counted up when the way a text is cut into words changes, as that changes vectors


class BagOfWords:
    """A text encoder made of a word embedder.

    A text is cut into words (letters and digits, with apostrophes and hyphens inside); one that
    the vocabulary lacks is looked up in parts. Words that are not found are left out. A text
    without any known word gives a row of NaN, which the harness counts as missing.

    Parameters
    ----------
    reference
        Name of a word embedder (`glove-6b-50d`, `vectors:./w2v.bin`), or the object itself.
    pooling
        `mean`, or `max` of each dimension, over the words of a text, repeated ones repeatedly.
    name
        What the model is reported as.

    Raises
    ------
    InvalidOption
        If the reference is a text encoder.
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
                f"a bag of words needs word vectors, and '{inner.name}' is a text encoder"
            )
        self._embedder = reference
        self._pooling = np.maximum if pooling == "max" else np.add
        made = {"words": inner.fingerprint, "pooling": pooling, "rules": _RULES}
        self.info = model_info.describe(
            inner,
            name=name or f"bag-of-words:{inner.name}",
            kind="text",
            fingerprint=f"bag-of-words-{digest(made)}",
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, a row of NaN for each text without a known word."""
        words = [WORD.findall(text) for text in texts]
        known = self._known({word for found in words for word in found})
        rows = [[row for word in found for row in known.rows.get(word, ())] for found in words]
        counts = np.array([len(found) for found in rows])
        vectors = np.full((len(texts), known.vectors.shape[1]), np.nan, dtype=np.float32)
        full = counts > 0
        if full.any():
            starts = np.concatenate(([0], np.cumsum(counts[full])[:-1]))
            all_rows = [row for found in rows for row in found]
            pooled = self._pooling.reduceat(known.vectors[all_rows], starts, dtype=np.float64)
            if self._pooling is np.add:
                pooled /= counts[full, None]
            vectors[full] = pooled
        return vectors

    def _known(self, words: set[str]) -> _Known:
        whole = sorted(words)
        parts = sorted({part for word in whole for part in _PART.findall(word)} - words)
        every = whole + parts
        vectors = self._embedder.encode(every)
        there = np.flatnonzero(np.isfinite(vectors).all(axis=1)).tolist()
        row = {every[i]: i for i in there}
        return _Known(
            vectors,
            {
                word: (row[word],)
                if word in row
                else tuple(row[part] for part in _PART.findall(word) if part in row)
                for word in whole
            },
        )


class _Known:
    """The vectors of some words, and the rows that each word is made of."""

    def __init__(self, vectors: Vectors, rows: dict[str, tuple[int, ...]]) -> None:
        self.vectors, self.rows = vectors, rows
