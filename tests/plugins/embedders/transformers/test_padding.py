"""A text has the same vector in a batch as alone, whatever side its tokenizer pads."""

import json

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Router, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, models, pre_tokenizers

from harness.plugins.embedders.transformers import loaded_model, tokens
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

TEXTS = ["the nurse is a woman", "hello", "the man is good the woman is bad hello world"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def change(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def alone(folder):
    library = SentenceTransformer(str(folder), device="cpu")
    return np.concatenate([library.encode([text]) for text in TEXTS])


def without_padding(folder, pooling):
    """Return the vectors of single texts by transformers alone: nothing is padded."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    model = transformers.AutoModel.from_pretrained(str(folder)).eval()
    rows = []
    for text in TEXTS:
        with torch.inference_mode():
            states = model(input_ids=torch.tensor([tokenizer(text)["input_ids"]]))[0][0]
        rows.append((states[-1] if pooling == "lasttoken" else states.mean(0)).numpy())
    return np.stack(rows)


def tokenizer_of(model, **options):
    """Return a tokenizer of words, with the tokens that the options name and no others."""
    words = sorted({word for text in TEXTS for word in text.split()})
    split = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["<end>", *words])}, "<end>"))
    split.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=split, **options)
    tokenizer.save_pretrained(model)
    return tokenizer


def language_model(folder, kind, **options):
    """Save a language model of transformers with random weights; return its folder."""
    torch.manual_seed(0)
    size = {"vocab_size": 16, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.AutoConfig.for_model(kind, **size | options)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("pooling", ["cls", "mean", "lasttoken", "weightedmean"])
def test_padding_on_the_left_changes_no_vector(model, pooling):
    change(model / "tokenizer_config.json", padding_side="left")
    change(model / "1_Pooling" / "config.json", pooling_mode=pooling)
    right = alone(model)
    assert np.abs(SentenceTransformer(str(model), device="cpu").encode(TEXTS) - right).max() > 1e-3
    np.testing.assert_allclose(embedder(model).encode(TEXTS), right, atol=1e-6)


def test_the_side_may_stand_in_the_tokenizer_itself(model):
    file = model / "tokenizer.json"
    direction = {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None}
    pad = {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    tokenizer = json.loads(file.read_text())
    file.write_text(json.dumps({"version": "1.0", "padding": direction | pad} | tokenizer))
    tokenizer["padding"] = direction | pad
    start = {"version": tokenizer.pop("version"), "truncation": tokenizer.pop("truncation")}
    file.write_text(json.dumps(start | {"padding": tokenizer.pop("padding")} | tokenizer))
    settings = json.loads((model / "tokenizer_config.json").read_text())
    settings.pop("padding_side", None)
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    encoder = embedder(model)
    assert encoder._folder.is_padded_anew
    np.testing.assert_allclose(encoder.encode(TEXTS), alone(model), atol=1e-6)


def test_a_model_of_relative_positions_keeps_its_padding_and_its_fingerprint(tmp_path):
    folder = language_model(tmp_path, "gpt_neox", intermediate_size=16)
    tokenizer_of(folder, pad_token="<end>", padding_side="left")
    encoder = embedder(folder)
    assert not encoder._folder.is_padded_anew
    np.testing.assert_allclose(
        encoder.encode(TEXTS), without_padding(folder, "lasttoken"), atol=1e-4
    )
    assert encoder._model.tokenizer.padding_side == "left"


def test_a_tokenizer_without_a_padding_token_pads_with_any_token(tmp_path):
    folder = language_model(tmp_path, "gpt2", n_positions=32)
    for special, side, pooling in (
        ({"eos_token": "<end>"}, "left", "lasttoken"),
        ({"unk_token": "<end>"}, "right", "mean"),
        ({}, "left", "mean"),
        ({}, "right", "lasttoken"),
    ):
        tokenizer_of(folder, padding_side=side, **special)
        vectors = embedder(folder, pooling=pooling).encode(TEXTS)
        np.testing.assert_allclose(vectors, without_padding(folder, pooling), atol=1e-5)


def test_a_padding_token_without_a_vector_is_replaced(tmp_path):
    folder = language_model(tmp_path, "gpt2", n_positions=32, vocab_size=11)
    tokenizer_of(folder, eos_token="<end>", pad_token="<pad>")
    side = json.loads((folder / "tokenizer_config.json").read_text())
    encoder = embedder(folder)
    tokenizer = encoder._model.tokenizer
    assert (side["pad_token"], tokenizer.pad_token) == ("<pad>", "<end>")
    np.testing.assert_allclose(encoder.encode(TEXTS), without_padding(folder, "mean"), atol=1e-5)


def test_an_object_in_memory_is_padded_right_and_stays_as_it_was(tmp_path):
    folder = language_model(tmp_path, "gpt2", n_positions=32)
    tokenizer_of(folder, eos_token="<end>", padding_side="left")
    library = SentenceTransformer(modules=[Transformer(str(folder)), Pooling(16)], device="cpu")
    encoder = loaded_model.LoadedSentenceTransformer(library, "x")
    np.testing.assert_allclose(encoder.encode(TEXTS), without_padding(folder, "mean"), atol=1e-5)
    assert (library.tokenizer.padding_side, library.tokenizer.pad_token) == ("left", None)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_tokenizer_that_makes_no_mask_is_told_to(model, pooling):
    change(model / "tokenizer_config.json", model_input_names=["input_ids"])
    change(model / "1_Pooling" / "config.json", pooling_mode=pooling)
    right = alone(model)
    assert np.abs(SentenceTransformer(str(model), device="cpu").encode(TEXTS) - right).max() > 1e-3
    encoder = embedder(model)
    np.testing.assert_allclose(encoder.encode(TEXTS), right, atol=1e-6)
    assert encoder._folder.is_padded_anew
    library = SentenceTransformer(str(model), device="cpu")
    of_object = loaded_model.LoadedSentenceTransformer(library, "x")
    np.testing.assert_allclose(of_object.encode(TEXTS), right, atol=1e-6)
    assert library.tokenizer.model_input_names == ["input_ids"]


def test_each_route_of_a_router_is_padded_right(model, tmp_path):
    change(model / "tokenizer_config.json", padding_side="left")
    ways = {way: [Transformer(str(model)), Pooling(16, "cls")] for way in ("query", "document")}
    folder = tmp_path / "router"
    SentenceTransformer(modules=[Router(ways)], device="cpu").save(str(folder))
    encoder = embedder(folder)
    right = np.concatenate([encoder.encode([text], role="document") for text in TEXTS])
    np.testing.assert_allclose(encoder.encode(TEXTS, role="document"), right, atol=1e-6)
    assert encoder._folder.is_padded_anew


def test_models_that_count_positions_from_the_start_of_a_row():
    for config, shifts in (
        ({"model_type": "bert", "position_embedding_type": "absolute"}, True),
        ({"model_type": "gpt2"}, True),
        ({"model_type": "bert", "position_embedding_type": "relative_key"}, False),
        ({"model_type": "xlm-roberta"}, False),
        ({"model_type": "llama", "rope_theta": 10000.0}, False),
        ({"model_type": "modernbert", "global_rope_theta": 160000.0}, False),
        ({"model_type": "esm", "use_rotary": False}, False),
        ({"model_type": "x", "use_rotary": False}, True),
        ({"model_type": "x", "text_config": {"rope_parameters": {"rope_theta": 1.0}}}, False),
        ({"model_type": "deberta-v2", "position_biased_input": False}, False),
    ):
        assert tokens.shifts_positions(config) is shifts, config


ODD = [*TEXTS, "", "  The Man ", "hello " * 40, "hellö 日本 😀 [MASK]"]


def test_texts_that_are_split_at_once_have_the_vectors_of_the_library(model):
    for options in ({}, {"prompt": "query"}, {"pooling": "cls", "max_length": 5}):
        encoder = embedder(model, **options)
        ids = encoder.token_ids(ODD)
        assert list(map(len, ids)) == list(encoder.lengths(ODD))
        np.testing.assert_array_equal(encoder.begin(ids)(), encoder.encode(ODD))


def test_a_prompt_that_is_not_pooled_is_left_out_of_texts_that_are_split_at_once(model):
    change(model / "1_Pooling" / "config.json", include_prompt=False)
    encoder = embedder(model, prompt="query")
    np.testing.assert_array_equal(encoder.begin(encoder.token_ids(ODD))(), encoder.encode(ODD))


def test_the_library_splits_texts_where_it_makes_another_input(model):
    encoder = embedder(model)
    own = encoder.model.preprocess

    def other(texts, **options):
        features = own(texts, **options)
        return features | {"position_ids": features["input_ids"] * 0}

    encoder.model.preprocess = other
    assert encoder.token_ids(ODD) is None


def test_tf32_is_another_fingerprint_and_changes_nothing_outside(model):
    plain, encoder = embedder(model), embedder(model, precision="tf32")
    assert encoder.info.fingerprint != plain.info.fingerprint
    np.testing.assert_allclose(encoder.encode(TEXTS), plain.encode(TEXTS), atol=1e-3)
    assert not torch.backends.cuda.matmul.allow_tf32
