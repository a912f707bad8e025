"""The token states of a sentence-transformers model."""

import numpy as np
import pytest

from harness.embedder import TokenStatesEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

TEXTS = ["the nurse is a woman", "hello", "", "zzz  world zzz"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


@pytest.mark.parametrize(
    ("pooling", "pool", "prompt"), [("mean", np.mean, "query"), ("max", np.max, None)]
)
def test_pooled_states_equal_the_vector(model, pooling, pool, prompt):
    encoder = embedder(model, pooling=pooling, prompt=prompt)
    assert isinstance(encoder, TokenStatesEmbedder)
    assert encoder.poolings == (pooling,)
    for found, vector in zip(encoder.token_states(TEXTS), encoder.encode(TEXTS), strict=True):
        assert found.states.dtype == np.float32
        assert len(found.word_of) == len(found.states)
        np.testing.assert_allclose(pool(found.states, axis=0), vector, atol=1e-6)


def test_tokens_have_their_words_and_special_tokens_have_none(model):
    first, _, empty, last = embedder(model).token_states(TEXTS)
    assert first.words == ("the", "nurse", "is", "a", "woman")
    np.testing.assert_array_equal(first.word_of, [-1, 0, 1, 2, 3, 4, -1])
    np.testing.assert_array_equal(empty.word_of, [-1, -1])
    np.testing.assert_array_equal(last.word_of, [-1, 0, 1, 2, -1])


def test_tokens_of_the_prompt_have_no_word(model):
    found = embedder(model, prompt="query").token_states(["nurse"])[0]
    np.testing.assert_array_equal(found.word_of, [-1, -1, -1, 0, -1])


def test_words_behind_the_truncation_have_no_token(model):
    found = embedder(model, max_length=4).token_states(["the nurse is good"])[0]
    assert len(found.words) == 4
    np.testing.assert_array_equal(found.word_of, [-1, 0, 1, -1])
