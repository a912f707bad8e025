"""Word vectors in memory are models: gensim's objects, a mapping, words and an array."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from harness.errors import ModelError, UsageError
from harness.registry.registry import Registry
from harness.run import evaluation

WORDS = ["he", "she", "nurse"]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def keyed(vectors=VECTORS):
    keyed_vectors = KeyedVectors(2)
    keyed_vectors.add_vectors(WORDS, vectors)
    return keyed_vectors


def embedder(model):
    (single,) = evaluation.as_list(model, Registry())
    return evaluation.embedder_of(single, Registry())


@pytest.mark.parametrize(
    "model",
    [keyed(), dict(zip(WORDS, VECTORS, strict=True)), (WORDS, VECTORS), (WORDS, VECTORS.tolist())],
)
def test_word_vectors_are_a_word_embedder_with_one_fingerprint(model):
    made = embedder(model)
    assert made.info.kind == "word"
    assert made.info.name == "word-vectors"
    assert made.info.fingerprint == embedder((WORDS, VECTORS)).info.fingerprint
    assert made.encode(["she", "nurse"]).tolist() == VECTORS[1:].tolist()
    assert np.isnan(made.encode(["absent"])).all()


def test_the_name_and_the_vectors_of_a_gensim_object_count():
    named = keyed()
    named.name = "my-vectors"
    assert embedder(named).info.name == "my-vectors"
    assert embedder(keyed(VECTORS + 1)).info.fingerprint != embedder(keyed()).info.fingerprint


def test_a_trained_word2vec_is_a_model():
    trained = Word2Vec([WORDS, WORDS], vector_size=4, min_count=1, seed=1, workers=1)
    made = embedder(trained)
    assert sorted(made.words) == sorted(WORDS)
    assert made.info.dimensions == 4


@pytest.mark.parametrize(
    "model",
    [{}, {1: [1.0]}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": ["x"]}, (["a"], [[1.0], [2.0]])],
)
def test_word_vectors_that_do_not_fit_are_an_error(model):
    with pytest.raises(ModelError, match="word"):
        embedder(model)


def test_a_pair_of_model_names_is_two_models():
    pair = ("glove-6b-50d", "all-MiniLM-L6-v2")
    assert evaluation.as_list(pair, Registry()) == list(pair)
    with pytest.raises(UsageError):
        embedder(3)
