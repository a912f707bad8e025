"""Tokens are counted as the model counts them, without its weights."""

import json

import numpy as np
import pytest
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sentence_transformer.modules import (
    Pooling,
    StaticEmbedding,
    WordEmbeddings,
)
from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer
from tokenizers import Tokenizer

from harness.errors import ModelError
from harness.plugins.embedders.transformers.last_token import LastTokenEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

LONG = "good " * 40


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def change(file, **changes):
    stated = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps(stated | changes))


def read_by_library(folder, text, **options):
    """Return the number of tokens that the library makes of a text."""
    library = SentenceTransformer(str(folder), device="cpu")
    return int(library.preprocess([text], **options)["attention_mask"].sum())


@pytest.fixture
def saved(tmp_path):
    def save(*modules, **options):
        folder = tmp_path / "saved"
        library = SentenceTransformer(modules=modules, device="cpu", **options)
        library.save(str(folder), create_model_card=False)
        return folder

    return save


@pytest.fixture
def slow(model):
    """A model whose tokenizer has a vocabulary and no tokenizer.json."""
    words = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").write_text("\n".join(sorted(words, key=words.get)))
    change(model / "tokenizer_config.json", tokenizer_class="BertTokenizer")
    return model


def test_a_model_without_a_tokenizer_file_counts_by_its_own_tokenizer(slow):
    encoder = embedder(slow)
    texts = ["hello", "她是一名护士" * 6, "good " * 29, "good " * 30, "good " * 31]
    assert encoder.lengths(texts) == [3, 32, 31, 32, 32]
    assert encoder.truncated(texts) == [False, True, False, False, True]
    assert encoder.lengths(["hello"], role="query") == [5]
    assert "_model" not in vars(encoder)
    assert encoder.lengths(["hello"], role="query") == [
        read_by_library(slow, "hello", prompt="query : ")
    ]


def test_last_token_models_count_by_their_own_tokenizer(slow):
    encoder = LastTokenEmbedder(str(slow), device="cpu", max_length=8)
    assert encoder.lengths(["hello", LONG]) == [3, 8]
    assert encoder.truncated(["她是一名护士", "她是一名护士女"]) == [False, True]


def test_a_text_is_lower_cased_before_it_is_counted(model):
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    tokenizer["normalizer"] = None
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    words = ["wo", "##man"]
    for word in words:
        tokenizer["model"]["vocab"][word] = len(tokenizer["model"]["vocab"])
    change(model / "sentence_bert_config.json", do_lower_case=True)
    encoder = embedder(model)
    assert encoder.lengths(["GOOD man"]) == [read_by_library(model, "GOOD man")] == [4]


def test_an_encoder_of_word_vectors_counts_known_words_up_to_its_limit(saved):
    words = WhitespaceTokenizer(["good", "man", "woman"], do_lower_case=True)
    vectors = np.random.default_rng(0).normal(size=(3, 8))
    folder = saved(WordEmbeddings(words, vectors, max_seq_length=4), Pooling(8))
    encoder = embedder(folder)
    texts = ["good man", "unknown Good", "good " * 4, "good " * 5]
    assert encoder.lengths(texts) == [2, 1, 4, 4]
    assert encoder.truncated(texts) == [False, False, False, True]
    assert encoder.info.max_tokens == 4


@pytest.mark.parametrize("limit", [None, 6])
def test_a_static_embedding_has_no_special_tokens_and_the_limit_of_its_tokenizer(
    model, saved, limit
):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    if limit:
        tokenizer.enable_truncation(limit)
    folder = saved(StaticEmbedding(tokenizer, embedding_dim=8))
    encoder = embedder(folder)
    assert encoder.lengths(["good man"]) == [2]
    assert encoder.truncated([LONG, "good " * 6]) == [bool(limit), False]
    assert encoder.info.max_tokens == limit
    library = SentenceTransformer(str(folder), device="cpu")
    assert len(library.preprocess([LONG])["input_ids"]) == (limit or 40)


def test_each_route_has_the_limit_and_the_tokenizer_of_its_own(model, saved):
    ways = {"query": [Transformer(str(model))], "document": [Transformer(str(model))]}
    for limit, steps in ((8, ways["query"]), (16, ways["document"])):
        steps[0].max_seq_length = limit
        steps.append(Pooling(16))
    folder = saved(Router(ways, default_route="document"))
    encoder, library = embedder(folder), SentenceTransformer(str(folder), device="cpu")
    text = "good bad " * 10
    for role, limit in (("query", 8), ("document", 16), ("text", 16)):
        assert encoder.lengths([text], role=role) == [limit]
        assert encoder.truncated([text, "good " * (limit - 2)], role=role) == [True, False]
    np.testing.assert_allclose(
        encoder.encode([text], role="query"), library.encode_query([text]), atol=1e-6
    )
    assert encoder.info.max_tokens == 16
    short = embedder(folder, max_length=4)
    assert short.lengths([text], role="document") == [4]
    assert short.info.max_tokens == 4
    with pytest.raises(ModelError, match="write 'sentence-transformers:"):
        LastTokenEmbedder(str(folder))


def test_tokens_at_the_ends_that_the_configuration_adds_are_counted(model):
    change(
        model / "tokenizer_config.json",
        tokenizer_class="PreTrainedTokenizerFast",
        add_eos_token=True,
        eos_token="[SEP]",
    )
    right = len(transformers.AutoTokenizer.from_pretrained(str(model))("good man")["input_ids"])
    assert embedder(model).lengths(["good man"]) == [right]


def test_a_chat_template_is_counted(model):
    template = "{% for message in messages %}hello : {{ message['content'] }} : {% endfor %}"
    change(model / "tokenizer_config.json", chat_template=template)
    modalities = {
        "text": {"method": "forward", "method_output_name": "last_hidden_state"},
        "message": {
            "method": "forward",
            "method_output_name": "last_hidden_state",
            "format": "flat",
        },
    }
    change(
        model / "sentence_bert_config.json",
        modality_config=modalities,
        module_output_name="token_embeddings",
    )
    encoder = embedder(model)
    for options in ({}, {"prompt": "query : "}):
        role = "query" if options else "text"
        right = read_by_library(model, "good man", **options)
        assert right > 4
        assert encoder.lengths(["good man"], role=role) == [right]
    assert encoder.truncated([LONG]) == [True]
    assert "_model" not in vars(encoder)
