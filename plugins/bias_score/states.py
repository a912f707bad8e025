"""Token states of any embedder: of a text encoder that gives them, or of word vectors.

Batches hold texts of similar length, so that little time is lost on padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from harness.arrays import Floats, Vectors, unit_rows
from harness.embedder import Embedder
from harness.errors import NotApplicable
from harness.token_states import TokenStates, TokenStatesEmbedder, words

TOKENS = 4_096  # at most in a batch, including padding
TEXTS = 64  # at most in a batch


class States(Protocol):
    """Gives the token states of texts."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How token states are pooled into one vector."""
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the token states of each text."""
        ...


class WordStates:
    """Word vectors as token states: each word with a vector is one token; texts are their mean.

    Parameters
    ----------
    embedder
        An embedder of kind `word`.
    """

    poolings: tuple[str, ...] = ("mean",)

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the vectors of the words of each text; words without a vector have no token."""
        words_by_text = [tuple(word.text for word in words(text)) for text in texts]
        vectors = word_vectors(
            self._embedder, [text[w.start : w.end] for text in texts for w in words(text)]
        )
        known = np.asarray(np.isfinite(vectors).all(axis=1))
        states, start = [], 0
        for text_words in words_by_text:
            rows = slice(start, start + len(text_words))
            states.append(
                TokenStates(text_words, np.flatnonzero(known[rows]), vectors[rows][known[rows]])
            )
            start += len(text_words)
        return states


def of(embedder: Embedder) -> States:
    """Return an object that gives the token states of an embedder.

    Raises
    ------
    NotApplicable
        If a text encoder does not give token states; hosted ones cannot.
    """
    if embedder.info.kind == "word":
        return WordStates(embedder)
    if isinstance(embedder, TokenStatesEmbedder):
        return embedder
    raise NotApplicable(
        f"'{embedder.info.name}' gives no token states, which the importance of words needs; "
        "sentence-transformers:, last-token:, infersent: and word vectors give them"
    )


def word_vectors(embedder: Embedder, written: Sequence[str]) -> Vectors:
    """Return (n, d) vectors of words as written, else in lower case; NaN if neither is known."""
    if not written:
        return np.empty((0, embedder.info.dimensions or 0), dtype=np.float32)
    spellings = list(dict.fromkeys([*written, *(word.lower() for word in written)]))
    vectors = embedder.encode(spellings)
    row = {word: i for i, word in enumerate(spellings)}
    result: Vectors = vectors[[row[word] for word in written]]
    missing = np.asarray(~np.isfinite(result).all(axis=1))
    result[missing] = vectors[[row[w.lower()] for w, m in zip(written, missing, strict=True) if m]]
    return result


def in_batches(embedder: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the indices of texts in batches of similar length, longest first."""
    count_tokens = getattr(embedder, "lengths", None)
    lengths = np.asarray(
        count_tokens(texts) if count_tokens else [2 + len(text) // 4 for text in texts]
    )
    batches: list[list[int]] = []
    for i in np.argsort(-lengths, kind="stable").tolist():
        full = batches and (
            len(batches[-1]) >= TEXTS or (len(batches[-1]) + 1) * lengths[batches[-1][0]] > TOKENS
        )
        if not batches or full:
            batches.append([])
        batches[-1].append(i)
    return batches


def pooled(states: States, texts: Sequence[str], how: str) -> Floats:
    """Return (n, d) vectors of length 1: the mean or the maximum of the token states.

    Layers after pooling are not applied, because token states and the direction must lie in the
    same space. A text without token states gives a row of NaN.
    """
    rows: list[Floats] = [np.empty(0)] * len(texts)
    for batch in in_batches(states, texts):
        for i, result in zip(batch, states.token_states([texts[i] for i in batch]), strict=True):
            h = np.asarray(result.states, dtype=np.float64)
            if len(h):
                rows[i] = h.max(axis=0) if how == "max" else h.mean(axis=0)
            else:
                rows[i] = np.full(h.shape[1], np.nan)
    return unit_rows(np.array(rows))
