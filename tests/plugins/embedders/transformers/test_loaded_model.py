"""A SentenceTransformer in memory: the model of its folder if it equals that, else its own."""

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from harness.embedder import ranks_by
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.registry.registry import Registry
from harness.run import evaluation

TEXTS = ["the nurse is a woman", "hello", "the man is good the woman is bad hello world"]


def load(folder):
    return SentenceTransformer(str(folder), device="cpu")


def adapted(model):
    return evaluation.embedder_of(model, Registry())


def of_folder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def fingerprint(embedder):
    return embedder.info.fingerprint


def test_a_loaded_model_has_the_fingerprint_and_vectors_of_its_folder(model):
    loaded = load(model)
    loaded.encode(["before"])  # sets padding and truncation of its tokenizer
    embedder = adapted(loaded)
    assert fingerprint(embedder) == fingerprint(of_folder(model))
    for role in ("text", "query", "document"):
        expected = of_folder(model).encode(TEXTS, role=role)
        assert np.array_equal(embedder.encode(TEXTS, role=role), expected)


def test_its_name_is_that_of_the_folder_without_the_path_or_the_one_it_states(model):
    loaded = load(model)
    assert adapted(loaded).info.name == model.name
    loaded.name = "mine"
    assert adapted(loaded).info.name == "mine"


def test_settings_that_are_options_of_the_folder_keep_its_fingerprint(model):
    loaded = load(model)
    loaded.max_seq_length = 8
    assert fingerprint(adapted(loaded)) == fingerprint(of_folder(model, max_length=8))
    half = load(model).half()
    assert fingerprint(adapted(half)) == fingerprint(of_folder(model, precision="float16"))
    prompted = load(model)
    prompted.prompts = {"query": "hello : ", "document": "world : "}
    options = {"query_prompt": "hello : ", "document_prompt": "world : "}
    assert fingerprint(adapted(prompted)) == fingerprint(of_folder(model, **options))
    for role in ("text", "query", "document"):
        expected = of_folder(model, **options).encode(TEXTS, role=role)
        assert np.allclose(adapted(prompted).encode(TEXTS, role=role), expected, atol=1e-6)


def test_a_changed_model_keeps_its_prompts(model):
    loaded = load(model)
    weights_changed(loaded)
    embedder = adapted(loaded)
    assert embedder.info.role_prompts == of_folder(model).info.role_prompts
    assert np.array_equal(
        embedder.encode(TEXTS, role="query"), loaded.encode(TEXTS, prompt_name="query")
    )


def weights_changed(model):
    with torch.no_grad():
        next(model.parameters())[0, 0] += 1


def pooling_changed(model):
    model[1] = type(model[1])(16, pooling_mode="max")


def dimensions_changed(model):
    model.truncate_dim = 4


def tokenizer_changed(model):
    model.tokenizer.add_tokens(["zebra"])


@pytest.mark.parametrize(
    "change", [weights_changed, pooling_changed, dimensions_changed, tokenizer_changed]
)
def test_a_changed_model_has_a_fingerprint_of_its_own_that_lasts(model, change):
    loaded, again = load(model), load(model)
    change(loaded)
    change(again)
    embedder = adapted(loaded)
    assert fingerprint(embedder) == fingerprint(adapted(again)) != fingerprint(of_folder(model))
    assert np.array_equal(embedder.encode(TEXTS), loaded.encode(TEXTS))
    assert embedder.info.name == model.name


def with_adapters(folder):
    """Return a model with two adapters."""
    peft = pytest.importorskip("peft")
    loaded = load(folder)
    for seed, name in enumerate(("plain", "debiased")):
        torch.manual_seed(seed)
        config = peft.LoraConfig(
            r=2, lora_alpha=99, target_modules=["dense", "value"], init_lora_weights=False
        )
        loaded.add_adapter(config, adapter_name=name)
    return loaded


def scaled(loaded):
    for part in loaded.modules():
        if hasattr(part, "lora_alpha"):
            part.scaling["debiased"] *= 2


def test_each_active_adapter_has_a_fingerprint_of_its_own_that_lasts(model):
    changes = {
        "plain": lambda loaded: loaded.set_adapter("plain"),
        "debiased": lambda loaded: loaded.set_adapter("debiased"),
        "none": lambda loaded: loaded.disable_adapters(),
        "scaled": scaled,
    }
    found, vectors = {}, {}
    for name, change in changes.items():
        embedders = []
        for _ in range(2):
            loaded = with_adapters(model)
            change(loaded)
            embedders.append(adapted(loaded))
        assert fingerprint(embedders[0]) == fingerprint(embedders[1])
        assert embedders[0].notes == ()
        found[name], vectors[name] = fingerprint(embedders[0]), embedders[0].encode(TEXTS)
    assert len(set(found.values())) == len(found)
    assert np.allclose(vectors["none"], of_folder(model).encode(TEXTS), atol=1e-6)
    assert not np.allclose(vectors["plain"], vectors["debiased"], atol=1e-3)


def test_a_model_that_nothing_identifies_keeps_its_name_and_prompts(model):
    loaded, lock = load(model), iter([1])
    loaded[0].model.register_forward_hook(lambda m, a, o: o if lock else None)
    embedder = adapted(loaded)
    assert embedder.info.name == model.name
    assert embedder.info.role_prompts == of_folder(model).info.role_prompts
    assert fingerprint(embedder) != fingerprint(adapted(loaded))
    assert "nothing identifies" in embedder.notes[0]


def test_a_model_in_memory_states_its_precision_for_the_admission_check(model):
    loaded = load(model)
    with torch.no_grad():  # else it is the model of its folder
        next(loaded.parameters()).mul_(2)
    assert adapted(loaded).precision == "float32"
    assert adapted(loaded.bfloat16()).precision is None


def test_a_stated_similarity_is_that_of_the_folder_and_of_the_model_in_memory(model, tmp_path):
    loaded = SentenceTransformer(str(model), device="cpu", similarity_fn_name="dot")
    loaded.save(str(tmp_path / "dot"), create_model_card=False)
    folder = SentenceTransformersEmbedder(str(tmp_path / "dot"))
    assert (ranks_by(folder), ranks_by(adapted(loaded))) == ("dot", "dot")
    assert ranks_by(SentenceTransformersEmbedder(str(model))) is None
