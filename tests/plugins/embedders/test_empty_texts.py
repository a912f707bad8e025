"""Texts without a word: they have a vector or a row of NaN, and nothing crashes."""

import numpy as np
import pytest

from harness.encode.stored_embedder import LocalEngine, StoredEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.plugins.embedders.vectors.bag_of_words import BagOfWords
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.progress import Silent
from harness.store.store import Store

EMPTY = ["", " ", "\n\t", "\u00a0", "\u200b"]
TEXTS = [*EMPTY, "the nurse is a good man"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


@pytest.mark.parametrize("pooling", ["mean", "max", "lasttoken", "weightedmean"])
def test_an_encoder_gives_empty_texts_the_vector_of_its_special_tokens(model, pooling):
    encoder = embedder(model, pooling=pooling)
    vectors = encoder.encode(TEXTS)
    assert np.isfinite(vectors).all()
    for vector in vectors[: len(EMPTY)]:
        np.testing.assert_allclose(vector, vectors[0], atol=1e-6)
    assert np.abs(vectors[-1] - vectors[0]).max() > 1e-3
    assert encoder.lengths(EMPTY) == [2] * len(EMPTY)
    assert encoder.truncated(EMPTY) == [False] * len(EMPTY)
    assert {found.words for found in encoder.token_states(EMPTY[:4])} == {()}


def test_static_embeddings_give_empty_texts_a_vector_of_zeros(model, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    library = SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu"
    )
    library.save(str(tmp_path / "static"), create_model_card=False)
    static = embedder(tmp_path / "static")
    assert static.info.dimensions == 8
    vectors = static.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 8)
    np.testing.assert_array_equal(vectors[0], 0)
    assert np.isfinite(vectors).all()


def test_word_vectors_and_bags_of_words_give_empty_texts_rows_of_nan():
    words = WordVectors.of(["good", "man"], np.eye(2, dtype=np.float32))
    for word_model in (words, BagOfWords(words)):
        assert np.isnan(word_model.encode(EMPTY)).all()


def test_an_empty_text_is_stored(model, tmp_path):
    encoder = embedder(model)
    stored = StoredEmbedder(
        encoder, None, LocalEngine(), Store(tmp_path / "store", encoder.info.fingerprint), Silent()
    )
    np.testing.assert_allclose(stored.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)
    assert stored.notices == []
