"""Facts about exported transformers: their vectors are those of torch."""

import json
import shutil
import warnings

import numpy as np
import pytest

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.transformers import hub
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder
from harness.registry.registry import Registry

TEXTS = ["the nurse is a woman", "hello", "", "a good man is a bad man unheard"]
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@pytest.fixture(scope="session")
def built_exported(built_model, tmp_path_factory):
    """The tiny model with its transformer exported to both formats; read-only."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    openvino = pytest.importorskip("openvino")
    import torch
    from transformers import BertModel

    folder = tmp_path_factory.mktemp("exported") / "model"
    shutil.copytree(built_model, folder)
    (folder / "onnx").mkdir()
    (folder / "openvino").mkdir()

    class States(torch.nn.Module):
        def __init__(self, bert):
            super().__init__()
            self.bert = bert

        def forward(self, input_ids, attention_mask, token_type_ids):
            given = {"attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.bert(input_ids, **given).last_hidden_state

    ids = torch.tensor([[2, 5, 6, 3], [2, 5, 3, 0]])
    dynamic = {name: {0: "n", 1: "t"} for name in (*INPUTS, "last_hidden_state")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            States(BertModel.from_pretrained(folder)).eval(),
            (ids, (ids > 0).long(), torch.zeros_like(ids)),
            str(folder / "onnx" / "model.onnx"),
            input_names=list(INPUTS),
            output_names=["last_hidden_state"],
            dynamic_axes=dynamic,
            dynamo=False,
        )
    converted = openvino.convert_model(str(folder / "onnx" / "model.onnx"))
    openvino.save_model(
        converted, folder / "openvino" / "openvino_model.xml", compress_to_fp16=False
    )
    return folder


@pytest.fixture
def exported(built_exported, tmp_path):
    return shutil.copytree(built_exported, tmp_path / "exported")


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pooling": "max"},
        {"pooling": "cls", "normalize": True},
        {"prompt": "query"},
        {"max_length": 4},
        {"dimensions": 6},
    ],
    ids=str,
)
def test_vectors_are_those_of_torch(built_exported, backend, options):
    made = embedder(built_exported, backend=backend, **options)
    plain = embedder(built_exported, **options)
    np.testing.assert_allclose(made.encode(TEXTS), plain.encode(TEXTS), atol=1e-4)
    assert made.info.dimensions == plain.info.dimensions
    assert made.info.fingerprint != plain.info.fingerprint


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_states_of_tokens_are_those_of_torch(built_exported, backend):
    made = embedder(built_exported, backend=backend, prompt="query").token_states(TEXTS)
    plain = embedder(built_exported, prompt="query").token_states(TEXTS)
    for found, expected in zip(made, plain, strict=True):
        assert found.words == expected.words
        np.testing.assert_array_equal(found.word_of, expected.word_of)
        np.testing.assert_allclose(found.states, expected.states, atol=1e-4)


def test_a_model_that_pools_without_its_prompt_does_so_exported_too(exported):
    pooling = json.loads((exported / "1_Pooling" / "config.json").read_text())
    (exported / "1_Pooling" / "config.json").write_text(
        json.dumps(pooling | {"include_prompt": False})
    )
    made = embedder(exported, backend="onnx", prompt="query")
    plain = embedder(exported, prompt="query")
    np.testing.assert_allclose(made.encode(TEXTS), plain.encode(TEXTS), atol=1e-4)
    states = made.token_states(["nurse"])[0]
    np.testing.assert_allclose(states.states.mean(axis=0), plain.encode(["nurse"])[0], atol=1e-4)


def test_a_plain_folder_is_pooled_by_the_mean(exported):
    for file in ("modules.json", "config_sentence_transformers.json"):
        (exported / file).unlink()
    np.testing.assert_allclose(
        embedder(exported, backend="onnx").encode(TEXTS),
        embedder(exported).encode(TEXTS),
        atol=1e-4,
    )


def test_the_weights_of_torch_are_not_needed(exported):
    expected = embedder(exported).encode(TEXTS)
    fingerprint = embedder(exported, backend="onnx").info.fingerprint
    (exported / "model.safetensors").unlink()
    made = Registry().embedder(f"sentence-transformers:{exported}?backend=onnx", device="cpu")
    np.testing.assert_allclose(made.encode(TEXTS), expected, atol=1e-4)
    assert made.info.fingerprint == fingerprint


def test_another_export_has_another_fingerprint(exported):
    before = embedder(exported, backend="onnx").info.fingerprint
    with (exported / "onnx" / "model.onnx").open("ab") as file:
        file.write(b"\0")
    assert embedder(exported, backend="onnx").info.fingerprint != before


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_a_model_that_was_not_exported_is_refused(model, backend):
    pytest.importorskip({"onnx": "onnxruntime"}.get(backend, backend))
    with pytest.raises(ModelError, match=f"not exported for backend={backend}"):
        embedder(model, backend=backend)


def test_a_damaged_file_is_refused_in_one_line(exported):
    (exported / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        embedder(exported, backend="onnx").encode(TEXTS)
    assert "\n" not in str(caught.value)


def test_a_backend_that_is_not_installed_says_what_to_install(model, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"pip install .*\[onnx\]"):
        embedder(model, backend="onnx")


@pytest.mark.parametrize(
    ("options", "told"), [({"precision": "float16"}, "backend=torch"), ({"device": "mps"}, "mps")]
)
@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_what_a_backend_cannot_do_is_refused(built_exported, backend, options, told):
    with pytest.raises(InvalidOption, match=told):
        SentenceTransformersEmbedder(str(built_exported), backend=backend, **options).encode(["a"])


def test_exported_weights_of_the_hub_are_had_where_they_are_asked_for():
    files = ["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"]
    files += ["onnx/model_O2.onnx", "onnx/model.onnx_data", "openvino/openvino_model.bin"]
    files += ["openvino/openvino_model.xml"]
    plain = ["config.json", "model.safetensors"]
    assert hub.needed(files) == plain
    assert hub.needed(files, "onnx") == [*plain, "onnx/model.onnx", "onnx/model.onnx_data"]
    assert hub.needed(files, "openvino") == [*plain, *files[-2:]]
