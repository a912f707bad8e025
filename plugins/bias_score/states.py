"""The states of tokens, from any embedder: a text encoder that shows them, or word vectors.

Batches texts of about one length, so that no time goes to padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from harness.arrays import Floats, Vectors, unit_rows
from harness.embedder import Embedder
from harness.errors import NotApplicable
from harness.token_states import TokenStates, TokenStatesEmbedder, words

TOKENS = 4_096  # of one batch, padding included
TEXTS = 64


class States(Protocol):
    """What shows the tokens' states of texts."""

    @property
    def poolings(self) -> tuple[str, ...]:
        """How states become one vector."""
        ...

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the states of each text's tokens."""
        ...


class WordStates:
    """Word vectors as states: each word that has a vector is one token, and the text their mean.

    Parameters
    ----------
    embedder
        Of kind `word`.
    """

    poolings: tuple[str, ...] = ("mean",)

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """Return the vectors of each text's words; those without one have no token."""
        found = [tuple(word.text for word in words(text)) for text in texts]
        vectors = word_vectors(
            self._embedder, [text[w.start : w.end] for text in texts for w in words(text)]
        )
        there = np.asarray(np.isfinite(vectors).all(axis=1))
        states, begin = [], 0
        for listed in found:
            here = slice(begin, begin + len(listed))
            states.append(
                TokenStates(listed, np.flatnonzero(there[here]), vectors[here][there[here]])
            )
            begin += len(listed)
        return states


def of(embedder: Embedder) -> States:
    """Return what shows an embedder's states.

    Raises
    ------
    NotApplicable
        If a text encoder does not show them, as hosted ones cannot.
    """
    if embedder.info.kind == "word":
        return WordStates(embedder)
    if isinstance(embedder, TokenStatesEmbedder):
        return embedder
    raise NotApplicable(
        f"'{embedder.info.name}' does not show its tokens' states, which the importance of words "
        "rests on: sentence-transformers:, last-token:, infersent: and word vectors do"
    )


def word_vectors(embedder: Embedder, written: Sequence[str]) -> Vectors:
    """Return (n, d) vectors of words, as written, else in lower case; a row of NaN for neither."""
    if not written:
        return np.empty((0, embedder.info.dimensions or 0), dtype=np.float32)
    asked = list(dict.fromkeys([*written, *(word.lower() for word in written)]))
    vectors = embedder.encode(asked)
    row = {word: i for i, word in enumerate(asked)}
    found: Vectors = vectors[[row[word] for word in written]]
    missing = np.asarray(~np.isfinite(found).all(axis=1))
    found[missing] = vectors[[row[w.lower()] for w, m in zip(written, missing, strict=True) if m]]
    return found


def in_batches(embedder: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the places of texts in batches of about one length, the longest first."""
    known = getattr(embedder, "lengths", None)
    lengths = np.asarray(known(texts) if known else [2 + len(text) // 4 for text in texts])
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
    """Return (n, d) vectors of length 1: the mean or the maximum of the tokens' states.

    Those of an encoder's own, but for what it does after pooling: states and the direction must
    lie in one space. A text without any state gives a row of NaN.
    """
    found: list[Floats] = [np.empty(0)] * len(texts)
    for batch in in_batches(states, texts):
        for i, made in zip(batch, states.token_states([texts[i] for i in batch]), strict=True):
            h = np.asarray(made.states, dtype=np.float64)
            if len(h):
                found[i] = h.max(axis=0) if how == "max" else h.mean(axis=0)
            else:
                found[i] = np.full(h.shape[1], np.nan)
    return unit_rows(np.array(found))
