"""`sentence-transformers:` models: vectors, fingerprints, options and invalid folders."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

from harness.embedder import Embedder
from harness.errors import InvalidFile, InvalidOption, ModelError
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.registry.registry import Registry

TEXTS = ["the nurse is a woman", "hello", "", "the man is good the woman is bad hello world"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def encoded_by_the_library(folder, texts=TEXTS, **options):
    import torch
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(
        str(folder), device="cpu", model_kwargs={"torch_dtype": torch.float32}
    )
    return library.encode(texts, **options)


def test_vectors_are_those_of_the_library(model):
    encoder = embedder(model)
    assert isinstance(encoder, Embedder)
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, 16)
    np.testing.assert_allclose(vectors, encoded_by_the_library(model), atol=1e-6)


def test_info_has_the_facts_of_the_files(model):
    info = embedder(model).info
    assert info.kind == "text"
    assert (info.dimensions, info.max_tokens) == (16, 32)
    assert info.prompts == {"query": "query : "}
    from transformers import AutoModel

    weights = AutoModel.from_pretrained(model)
    assert info.n_parameters == sum(p.numel() for p in weights.parameters())


def test_info_loads_neither_torch_nor_weights(model):
    code = (
        "import sys\n"
        "from harness.registry.registry import Registry\n"
        f"print(Registry().embedder('sentence-transformers:{model}').info.dimensions)\n"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "16"), done.stderr


DIFFERENT = [
    {"pooling": "cls"},
    {"pooling": "max"},
    {"pooling": "lasttoken"},
    {"pooling": "mean_sqrt_len_tokens"},
    {"pooling": "weightedmean"},
    {"prompt": "query"},
    {"prompt": "hello : "},
    {"precision": "float16"},
    {"precision": "bfloat16"},
    {"max_length": 4},
    {"normalize": True},
]


def test_fingerprints_repeat_and_differ_by_every_option_that_changes_vectors(model):
    prints = [embedder(model, **options).info.fingerprint for options in [{}, *DIFFERENT]]
    assert len(set(prints)) == len(prints)
    assert [embedder(model, **options).info.fingerprint for options in [{}, *DIFFERENT]] == prints


def test_each_option_changes_vectors(model):
    plain = embedder(model).encode(TEXTS)
    for options in DIFFERENT:
        changed = embedder(model, **options).encode(TEXTS)
        assert changed.dtype == np.float32
        assert np.isfinite(changed).all()
        assert not np.array_equal(changed, plain), options


def test_an_option_that_states_the_default_keeps_the_fingerprint_and_the_vectors(model):
    plain = embedder(model)
    for same in ({"pooling": "mean", "max_length": 32}, {"query_prompt": "query"}):
        stated = embedder(model, **same)
        assert stated.info.fingerprint == plain.info.fingerprint
        np.testing.assert_array_equal(stated.encode(TEXTS), plain.encode(TEXTS))


def test_the_folder_and_the_readme_of_a_model_keep_the_fingerprint(model, built_model):
    (model / "README.md").write_text("A model.")
    assert embedder(model).info.fingerprint == embedder(built_model).info.fingerprint


def test_pooling_follows_its_definition(model):
    short = ["hello world"]
    tokens = encoded_by_the_library(model, short, output_value="token_embeddings")[0].numpy()
    for pooling, expected in [
        ("cls", tokens[0]),
        ("lasttoken", tokens[-1]),
        ("max", tokens.max(axis=0)),
        ("mean", tokens.mean(axis=0)),
    ]:
        found = embedder(model, pooling=pooling).encode(short)[0]
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=pooling)


def test_a_prompt_by_name_equals_the_prompt_by_its_text(model):
    named, literal = embedder(model, prompt="query"), embedder(model, prompt="query : ")
    assert named.info.fingerprint == literal.info.fingerprint
    np.testing.assert_allclose(
        named.encode(TEXTS), encoded_by_the_library(model, prompt_name="query"), atol=1e-6
    )
    np.testing.assert_allclose(
        named.encode(["hello"]), embedder(model).encode(["query : hello"]), atol=1e-6
    )


def test_a_plain_transformers_folder_is_pooled_by_the_mean(model):
    (model / "modules.json").unlink()
    (model / "config_sentence_transformers.json").unlink()
    (model / "sentence_bert_config.json").unlink(missing_ok=True)
    encoder = embedder(model)
    assert (encoder.info.dimensions, encoder.info.max_tokens) == (16, 32)
    np.testing.assert_allclose(encoder.encode(TEXTS), encoded_by_the_library(model), atol=1e-6)
    assert encoder.info.fingerprint == embedder(model, pooling="mean").info.fingerprint


def test_an_invalid_option_is_refused(model):
    for options, fact in {
        "precision=float8": "precision",
        "max_length=many": "max_length",
        "max_length=2": "at least 3",
        "max_length=65": "64 tokens",
        "prompt=qury": "did you mean 'query'",
        "pooled=max": "did you mean 'pooling'",
        "revision=main": "revision=main",
        "reference=x": "no option 'reference'",
    }.items():
        with pytest.raises(InvalidOption, match=fact):
            Registry().embedder(f"sentence-transformers:{model}?{options}")


def refused(folder):
    with pytest.raises((InvalidFile, ModelError)) as caught:
        embedder(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_folder_without_a_model_is_refused(tmp_path):
    assert "config.json" in refused(tmp_path)


def test_a_folder_without_weights_is_refused(model):
    (model / "model.safetensors").unlink()
    assert "model.safetensors" in refused(model)


def test_a_missing_shard_is_refused(model):
    (model / "model.safetensors").rename(model / "model-00001-of-00002.safetensors")
    shards = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert "model-00002-of-00002.safetensors" in refused(model)


def test_weights_that_are_damaged_or_a_pointer_are_refused(model):
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert "damaged" in refused(model)
    weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    assert "git lfs pull" in refused(model)


def test_modules_outside_the_folder_are_refused(model):
    modules = [{"type": "sentence_transformers.models.Transformer", "path": "../other"}]
    (model / "modules.json").write_text(json.dumps(modules))
    assert "../other" in refused(model)


def test_weights_that_do_not_fit_the_configuration_are_refused_in_one_line(model):
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "model_type": "no-such-type"}))
    with pytest.raises(ModelError, match="no-such-type") as caught:
        embedder(model).encode(["hello"])
    assert "\n" not in str(caught.value)


def test_code_of_a_model_is_run_only_if_it_is_trusted(model, tmp_path):
    ran = tmp_path / "ran"
    (model / "own.py").write_text(
        "import pathlib\n"
        "from sentence_transformers.base.modules import Transformer\n"
        f"pathlib.Path({str(ran)!r}).touch()\n"
        "class Own(Transformer):\n    pass\n"
    )
    modules = json.loads((model / "modules.json").read_text())
    modules[0]["type"] = "own.Own"
    (model / "modules.json").write_text(json.dumps(modules))
    assert "trust_remote_code=true" in refused(model)
    assert not ran.exists()
    trusted = embedder(model, trust_remote_code=True)
    assert not ran.exists()
    before = trusted.info.fingerprint
    (model / "own.py").write_text((model / "own.py").read_text() + "\n# changed\n")
    assert embedder(model, trust_remote_code=True).info.fingerprint != before


FLASH = {"attention": "flash", "precision": "bfloat16"}


@pytest.fixture
def kernels(monkeypatch):
    """The package of the kernels is there; this machine has no GPU to run them."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: name == "flash_attn" or find(name, package),
    )


def test_a_model_that_the_library_pads_all_the_same_is_refused(model, kernels, monkeypatch):
    import sentence_transformers

    asked = []

    class WithoutKernels(sentence_transformers.SentenceTransformer):
        def __init__(self, *arguments, model_kwargs, **options):
            asked.append(model_kwargs.pop("attn_implementation"))
            super().__init__(*arguments, model_kwargs=model_kwargs, **options)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", WithoutKernels)
    with pytest.raises(ModelError, match=r"flash \(the library pads its texts\)"):
        SentenceTransformersEmbedder(str(model), **FLASH).encode(TEXTS)
    assert asked == ["flash_attention_2"]
