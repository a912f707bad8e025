"""Word vectors in memory: gensim's objects, a mapping, a data frame, words and an array."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.digest import SIZE, digest
from harness.encode.adapters import name_of
from harness.errors import ModelError, UsageError

from .word_vectors import ComposedVectors, WordVectors

if TYPE_CHECKING:
    from harness.arrays import Vectors

NAME = "word-vectors"
"""Name in records of vectors that have no name of their own."""


def of_keyed_vectors(vectors: Any) -> WordVectors:
    """Return the words of a gensim `KeyedVectors`; its attribute `name` is its name in records.

    Words that fastText's vectors lack have the vector that gensim makes of their parts.
    """
    named = isinstance(getattr(vectors, "name", None), str)
    words = WordVectors.of_keyed_vectors(vectors, name=name_of(vectors) if named else NAME)
    ngrams = getattr(vectors, "vectors_ngrams", None)
    if ngrams is None or not getattr(vectors, "bucket", 0):
        return words
    numbers = np.ascontiguousarray(ngrams).reshape(-1).view(np.uint8)
    parts = hashlib.blake2b(numbers.data, digest_size=SIZE).hexdigest()
    fingerprint = digest([words.info.fingerprint, parts, vectors.min_n, vectors.max_n])
    info = dataclasses.replace(words.info, fingerprint=f"words-{fingerprint}")

    def compose(word: str) -> Vectors | None:
        vector: Vectors = vectors.get_vector(word)
        return vector

    return ComposedVectors(info, words.load, compose)


def of_word2vec(model: Any) -> WordVectors:
    """Return the words of a gensim `Word2Vec` or `FastText`: its `wv`."""
    return of_keyed_vectors(model.wv)


def of_frame(frame: Any) -> WordVectors:
    """Return the rows of a `DataFrame` of pandas or polars; words are its first column or index.

    Raises
    ------
    ModelError
        If neither has words, or the other columns have no numbers.
    """
    words, columns = list(getattr(frame, "index", ())), list(frame.columns)
    if columns and not all(isinstance(word, str) for word in words or [None]):
        words, frame = list(frame[columns[0]]), frame[columns[1:]]
    if not words or not all(isinstance(word, str) for word in words):
        raise ModelError(
            "a DataFrame of word vectors has the words as its index or first column, and a column "
            "for each dimension"
        )
    return _of(words, frame.to_numpy())


def of_mapping(vectors: Mapping[Any, Any]) -> WordVectors:
    """Return the words of a mapping from word to vector.

    Raises
    ------
    ModelError
        If a key is no text, or the vectors differ in length.
    UsageError
        If its values are models.
    """
    if any(callable(getattr(value, "encode", None)) for value in vectors.values()):
        raise UsageError(
            "a dictionary of models; give a list of them, each with an attribute 'name'"
        )
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
    except (TypeError, ValueError):
        raise ModelError("the vectors of the words differ in length, or are no numbers") from None
    return WordVectors.of(words, array, name=NAME)
