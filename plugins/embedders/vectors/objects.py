"""Word vectors that are in memory already: gensim's objects, a mapping, words and an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.encode.adapters import name_of
from harness.errors import ModelError
from harness.plugins.embedders.vectors.word_vectors import WordVectors

NAME = "word-vectors"
"""Name in records of vectors that have no name of their own."""


def of_keyed_vectors(vectors: Any) -> WordVectors:
    """Return the words of a gensim `KeyedVectors`; its attribute `name` is its name in records."""
    named = isinstance(getattr(vectors, "name", None), str)
    return WordVectors.of_keyed_vectors(vectors, name=name_of(vectors) if named else NAME)


def of_word2vec(model: Any) -> WordVectors:
    """Return the words of a gensim `Word2Vec` or `FastText`: its `wv`."""
    return of_keyed_vectors(model.wv)


def of_mapping(vectors: Mapping[Any, Any]) -> WordVectors:
    """Return the words of a mapping from word to vector.

    Raises
    ------
    ModelError
        If a key is no text, or the vectors differ in length.
    """
    return _of(list(vectors), list(vectors.values()))


def of_pair(pair: tuple[Any, ...]) -> WordVectors | None:
    """Return words and an (n, d) array as word vectors; None for any other tuple."""
    if len(pair) != 2 or isinstance(pair[0], str) or not isinstance(pair[1], list | np.ndarray):
        return None
    return _of(list(pair[0]), pair[1])


def _of(words: list[Any], vectors: Any) -> WordVectors:
    if not words or not all(isinstance(word, str) for word in words):
        raise ModelError("word vectors need words, which are texts, and a vector for each")
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except ValueError:
        raise ModelError("the vectors of the words differ in length, or are no numbers") from None
    return WordVectors.of(words, array, name=NAME)
