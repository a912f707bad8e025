"""The stated length of a vector is the length that comes."""

import json

import numpy as np
import pytest
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sentence_transformer.modules import (
    CNN,
    LSTM,
    Dense,
    Normalize,
    Pooling,
    StaticEmbedding,
    WordEmbeddings,
)
from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer
from tokenizers import Tokenizer

from harness.encode.admission import admit
from harness.errors import ModelError
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.store.store import Store


def words():
    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    return WordEmbeddings(WhitespaceTokenizer(["good", "man", "woman"]), vectors)


def two_ways(model):
    document = [Transformer(str(model)), Pooling(16), Dense(16, 6), Normalize()]
    query = [StaticEmbedding(Tokenizer.from_file(str(model / "tokenizer.json")), embedding_dim=6)]
    return [Router({"query": query, "document": document}, default_route="document")]


STEPS = {
    "pooling": lambda model: [Transformer(str(model)), Pooling(16, "cls")],
    "two poolings": lambda model: [Transformer(str(model)), Pooling(16, ["mean", "max"])],
    "dense": lambda model: [Transformer(str(model)), Pooling(16), Dense(16, 5), Normalize()],
    "dense on tokens": lambda model: [
        Transformer(str(model)),
        Dense(
            16,
            5,
            module_input_name="token_embeddings",
            module_output_name="token_embeddings",
        ),
        Pooling(5),
    ],
    "lstm": lambda _: [words(), LSTM(8, 3), Pooling(6)],
    "cnn": lambda _: [words(), CNN(8, 4, [1, 3, 5]), Pooling(12)],
    "words": lambda _: [words(), Pooling(8, "max")],
    "router": two_ways,
}


@pytest.mark.parametrize(
    ("steps", "kept"), [*((steps, None) for steps in STEPS), ("two poolings", 4), ("router", 4)]
)
def test_the_stated_length_is_that_of_the_vectors(model, tmp_path, steps, kept):
    library = SentenceTransformer(modules=STEPS[steps](model), device="cpu", truncate_dim=kept)
    library.save(str(tmp_path / "saved"), create_model_card=False)
    encoder = SentenceTransformersEmbedder(str(tmp_path / "saved"), device="cpu")
    for role in ("text", "query", "document"):
        vectors = encoder.encode(["good man", "good good woman"], role=role)
        assert vectors.shape == (2, encoder.info.dimensions)
    assert encoder.info.dimensions == (kept or library.get_embedding_dimension())


def test_a_model_that_projects_its_states_states_their_length(model, tmp_path):
    folder = tmp_path / "opt"
    config = transformers.OPTConfig(
        vocab_size=32,
        hidden_size=16,
        word_embed_proj_dim=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        ffn_dim=16,
        max_position_embeddings=32,
        do_layer_norm_before=False,
    )
    transformers.OPTModel(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(str(model)).save_pretrained(folder)
    encoder = SentenceTransformersEmbedder(str(folder), device="cpu")
    assert encoder.encode(["good man"]).shape == (1, 8)
    assert encoder.info.dimensions == 8


def test_a_width_that_the_pooling_declares_and_does_not_have_is_refused(model, tmp_path):
    library = SentenceTransformer(modules=STEPS["pooling"](model), device="cpu")
    library.save(str(tmp_path / "saved"), create_model_card=False)
    (settings,) = tmp_path.glob("saved/*_Pooling/config.json")
    stated = json.loads(settings.read_text())
    settings.write_text(json.dumps(stated | {"embedding_dimension": 32}))
    encoder = SentenceTransformersEmbedder(str(tmp_path / "saved"), device="cpu")
    with pytest.raises(ModelError, match=r"\(5, 16\).* 32 dimensions"):
        admit(encoder, Store(tmp_path / "cache", "model"), ["good man"])
