"""`last-token:` models: their vectors equal a computation text by text."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.embedder import Card, Embedder, TokenStatesEmbedder
from harness.errors import InvalidOption
from harness.plugins.embedders.transformers.last_token import POOLINGS, LastTokenEmbedder, pool
from harness.registry.registry import Registry

WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad", "query", "hello", "world"]
TEXTS = ["the nurse is a good woman", "hello", "a bad man is a man", "unheard", "world"]


@pytest.fixture(scope="session")
def built_llama(tmp_path_factory):
    """A Llama of two layers with random weights; read-only."""
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("llama")
    known = {word: i for i, word in enumerate(["<pad>", "<unk>", "<s>", "</s>", *WORDS])}
    tokenizer = Tokenizer(WordLevel(known, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=32,
    ).save_pretrained(folder)
    torch.manual_seed(2)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(known),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=64,
            initializer_range=0.5,  # so that the layers matter
        )
    ).save_pretrained(folder)
    return folder


@pytest.fixture
def llama(built_llama, tmp_path) -> Path:
    """A copy of the tiny model that a test may change."""
    return Path(shutil.copytree(built_llama, tmp_path / "llama"))


def embedder(folder, **options):
    return LastTokenEmbedder(str(folder), device="cpu", **options)


def by_hand(folder, texts, *, pooling="lasttoken", end=(), dtype="float32"):
    """Run the causal model of transformers on one text at a time, without any padding."""
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
    vectors = []
    for text in texts:
        ids = torch.tensor([[*tokenizer(text)["input_ids"], *end]])
        with torch.inference_mode():
            states = model(ids, output_hidden_states=True).hidden_states[-1][0].float().numpy()
        weights = {
            "lasttoken": [0] * (len(states) - 1) + [1],
            "mean": [1] * len(states),
            "weightedmean": range(1, len(states) + 1),
        }[pooling]
        vectors.append(np.average(states, axis=0, weights=weights))
    return np.array(vectors)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_batch_of_unequal_texts_equals_a_computation_text_by_text(built_llama, pooling):
    found = embedder(built_llama, pooling=pooling).encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_hand(built_llama, TEXTS, pooling=pooling), atol=1e-5)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_half_precision_applies_to_weights_and_arithmetic(built_llama, precision):
    found = embedder(built_llama, precision=precision).encode(TEXTS)
    assert found.dtype == np.float32
    one_by_one = by_hand(built_llama, TEXTS, dtype=precision)
    step = {"float16": 2**-10, "bfloat16": 2**-7}[precision]
    np.testing.assert_allclose(found, one_by_one, atol=8 * step)
    whole = embedder(built_llama).encode(TEXTS)
    assert not np.array_equal(found, whole)
    np.testing.assert_allclose(found, whole, atol=64 * step)


def test_eos_puts_the_end_of_sequence_token_behind_a_text(built_llama):
    found = embedder(built_llama, eos=True).encode(TEXTS)
    np.testing.assert_allclose(found, by_hand(built_llama, TEXTS, end=[3]), atol=1e-5)


def test_a_tokenizer_that_adds_the_end_of_sequence_token_gets_no_second_one(llama):
    tokenizer = json.loads((llama / "tokenizer.json").read_text())
    single = tokenizer["post_processor"]["single"]
    single.append({"SpecialToken": {"id": "</s>", "type_id": 0}})
    tokenizer["post_processor"]["special_tokens"]["</s>"] = {
        "id": "</s>",
        "ids": [3],
        "tokens": ["</s>"],
    }
    (llama / "tokenizer.json").write_text(json.dumps(tokenizer))
    np.testing.assert_allclose(
        embedder(llama, eos=True).encode(TEXTS), embedder(llama).encode(TEXTS), atol=1e-6
    )


def test_a_truncated_text_keeps_the_end_of_sequence_token(built_llama):
    encoder = embedder(built_llama, eos=True, max_length=4)
    assert encoder.truncated(["the nurse", "the nurse is"]) == [False, True]
    np.testing.assert_allclose(
        encoder.encode(["the nurse is good"]),
        by_hand(built_llama, ["the nurse"], end=[3]),
        atol=1e-5,
    )


def test_a_tokenizer_that_pads_on_the_left_changes_no_vector(llama):
    settings = json.loads((llama / "tokenizer_config.json").read_text())
    (llama / "tokenizer_config.json").write_text(json.dumps(settings | {"padding_side": "left"}))
    np.testing.assert_allclose(embedder(llama).encode(TEXTS), by_hand(llama, TEXTS), atol=1e-5)


def test_pooling_is_the_same_on_both_sides_of_padding():
    import torch

    states = torch.arange(12, dtype=torch.float32).reshape(1, 4, 3)
    nothing = torch.full((1, 2, 3), float("nan"))
    ones, zeros = torch.ones(1, 4), torch.zeros(1, 2)
    for pooling, expected in [
        ("lasttoken", states[:, 3]),
        ("mean", states.mean(dim=1)),
        ("weightedmean", (states * torch.tensor([1, 2, 3, 4.0])[:, None]).sum(dim=1) / 10),
    ]:
        right = pool(torch.cat([states, nothing], 1), torch.cat([ones, zeros], 1), pooling)
        left = pool(torch.cat([nothing, states], 1), torch.cat([zeros, ones], 1), pooling)
        np.testing.assert_allclose(right, expected, atol=1e-6)
        np.testing.assert_allclose(left, expected, atol=1e-6)


def test_a_language_model_reads_each_role_behind_its_prompt(built_llama):
    prompts = {"query": "query a ", "document": "good "}
    card = Card(name="x", kind="text", prompts=prompts)
    encoder = embedder(built_llama, card=card)
    for role, prompt in {**prompts, "text": ""}.items():
        plain = embedder(built_llama, prompt=prompt)
        np.testing.assert_array_equal(encoder.encode(TEXTS, role=role), plain.encode(TEXTS))


def test_the_first_dimensions_are_kept_and_normalized_on_demand(built_llama):
    whole = by_hand(built_llama, TEXTS)
    cut = embedder(built_llama, dimensions=6)
    assert cut.info.dimensions == 6
    np.testing.assert_allclose(cut.encode(TEXTS), whole[:, :6], atol=1e-5)
    unit = embedder(built_llama, dimensions=6, normalize=True).encode(TEXTS)
    np.testing.assert_allclose(
        unit, whole[:, :6] / np.linalg.norm(whole[:, :6], axis=1, keepdims=True), atol=1e-5
    )
    with pytest.raises(InvalidOption, match=r"dimensions=17.*16"):
        embedder(built_llama, dimensions=17)


def test_an_empty_text_has_the_vector_of_the_start_token(built_llama):
    found = embedder(built_llama).encode(["hello", "", "  \n"])
    expected = by_hand(built_llama, [""])[0]
    np.testing.assert_allclose(found[1:], [expected, expected], atol=1e-5)


def test_pooled_states_equal_the_vector_and_tokens_have_words(built_llama):
    encoder = embedder(built_llama, pooling="mean", eos=True, prompt="query a ")
    assert isinstance(encoder, TokenStatesEmbedder)
    found = encoder.token_states(TEXTS)
    for states, vector in zip(found, encoder.encode(TEXTS), strict=True):
        np.testing.assert_allclose(states.states.mean(axis=0), vector, atol=1e-5)
    assert found[1].words == ("hello",)
    np.testing.assert_array_equal(found[1].word_of, [-1, -1, -1, 0, -1])


def test_a_folder_with_options_is_loaded_by_its_name(built_llama):
    name = f"last-token:{built_llama}?pooling=mean&eos=true&precision=bfloat16"
    encoder = Registry().embedder(name, device="cpu")
    assert isinstance(encoder, Embedder)
    label = f"last-token:{built_llama.name}?pooling=mean&eos=true&precision=bfloat16"
    assert (encoder.info.name, encoder.info.dimensions, encoder.info.max_tokens) == (label, 16, 32)
    expected = embedder(built_llama, pooling="mean", eos=True, precision="bfloat16")
    assert encoder.info.fingerprint == expected.info.fingerprint
    np.testing.assert_array_equal(encoder.encode(TEXTS), expected.encode(TEXTS))


def test_stated_defaults_keep_the_fingerprint_and_weights_change_it(built_llama, llama):
    same = embedder(llama, pooling="lasttoken", prompt="", dimensions=16, max_length=32)
    assert same.info.fingerprint == embedder(built_llama).info.fingerprint
    content = (llama / "model.safetensors").read_bytes()
    (llama / "model.safetensors").write_bytes(content[:-2] + bytes([content[-2] ^ 1, content[-1]]))
    assert embedder(llama).info.fingerprint != same.info.fingerprint


def test_a_device_map_changes_no_vector(built_llama):
    pytest.importorskip("accelerate")
    mapped = LastTokenEmbedder(str(built_llama), device_map="auto")
    assert mapped.info.fingerprint == embedder(built_llama).info.fingerprint
    np.testing.assert_allclose(mapped.encode(TEXTS), by_hand(built_llama, TEXTS), atol=1e-4)
