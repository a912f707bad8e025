"""`last-token:` models in a GGUF file, which the tests write with the library of the format."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ModelError
from harness.plugins.embedders.transformers.gguf_file import header
from harness.plugins.embedders.transformers.last_token import LastTokenEmbedder
from harness.registry.registry import Registry

gguf = pytest.importorskip("gguf")

HEADS, LAYERS, SIZE = 4, 2, 32
TEXTS = ["the nurse is a man", "a good woman", ""]
WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad"]
TOKENS = list(
    dict.fromkeys(
        ["<unk>", "<s>", "</s>"]
        + [f"<0x{i:02X}>" for i in range(256)]
        + [f"▁{word}" for word in WORDS]
        + list("▁thenursiamwogdb")
    )
)


@pytest.fixture(scope="module")
def llama():
    """A Llama of two layers with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(TOKENS),
        hidden_size=SIZE,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=64,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def built_file(llama, tmp_path_factory):
    """That model as a GGUF file; read-only."""
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(64)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(llama.config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * 3 + [-1.0] * (len(TOKENS) - 3))
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (len(TOKENS) - 259))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, LAYERS)
    for key, tensor in llama.state_dict().items():
        weights = tensor.numpy()
        if "q_proj" in key or "k_proj" in key:  # the format has another order of rotary dimensions
            halves = weights.reshape(HEADS, 2, len(weights) // HEADS // 2, -1)
            weights = halves.swapaxes(1, 2).reshape(weights.shape)
        writer.add_tensor(names.get_name(key, (".weight",)), np.ascontiguousarray(weights))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture
def file(built_file, tmp_path):
    """A copy of the file that a test may change."""
    return Path(shutil.copy(built_file, tmp_path / "tiny.gguf"))


def embedder(file, **options):
    return LastTokenEmbedder(str(file), device="cpu", **options)


def test_vectors_are_those_of_the_model_in_the_file(file, llama, capfd):
    import torch

    encoder = embedder(file)
    vectors = encoder.encode(TEXTS)
    for ids, row in zip(encoder._ids(TEXTS, ""), vectors, strict=True):
        with torch.no_grad():
            states = llama.model(torch.tensor([ids])).last_hidden_state
        np.testing.assert_allclose(row, states[0, -1].numpy(), atol=1e-5)
    assert capfd.readouterr() == ("", "")


def test_the_header_states_the_facts(file, llama):
    info = Registry().embedder(f"last-token:{file}").info
    assert (info.kind, info.dimensions, info.max_tokens) == ("text", SIZE, 64)
    weights = sum(tensor.numel() for tensor in llama.state_dict().values())
    assert info.n_parameters == weights
    facts, shapes = header(file)
    assert facts["general.architecture"] == "llama"
    assert facts["tokenizer.ggml.tokens"] is None
    assert facts["tokenizer.ggml.eos_token_id"] == 2
    assert (SIZE, len(TOKENS)) in shapes


def test_a_gguf_file_needs_no_provider(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    names = ("./tiny.gguf", "tiny.gguf", "last-token:tiny.gguf", f"last-token:{file}")
    infos = [Registry().embedder(name).info for name in names]
    assert {info.name for info in infos} == {"tiny"}
    assert len({info.fingerprint for info in infos}) == 1


def test_the_fingerprint_is_of_the_content_and_the_options(file, tmp_path):
    first = embedder(file).info.fingerprint
    renamed = file.rename(tmp_path / "other.gguf")
    assert embedder(renamed).info.fingerprint == first
    assert embedder(renamed, pooling="mean").info.fingerprint != first
    content = bytearray(renamed.read_bytes())
    content[-1] ^= 1
    renamed.write_bytes(content)
    assert embedder(renamed).info.fingerprint != first


def test_a_damaged_file_is_an_error_of_one_line(file):
    content = file.read_bytes()
    for changed, fact in (
        (b"PK" + content[2:], "GGUF"),
        (content[:4] + b"\x09" + content[5:], "version 9"),
        (content[:200], "damaged"),
        (content[:16] + b"\xff" * 8 + content[24:], "damaged"),
        (content[:-1_000], "it ends early"),
        (content[: len(content) // 2], "it ends early"),
    ):
        file.write_bytes(changed)
        with pytest.raises(ModelError, match=fact) as caught:
            embedder(file)
        assert "\n" not in str(caught.value)


def test_one_of_several_parts_is_an_error_that_says_how_to_join_them(tmp_path):
    part = tmp_path / "big-00001-of-00002.gguf"
    writer = gguf.GGUFWriter(part, "llama")
    writer.add_uint16("split.count", 2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ModelError, match="merge"):
        embedder(part)
