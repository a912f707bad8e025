"""Exported transformers: their vectors equal those of torch."""

import json
import shutil
import warnings
from importlib.metadata import version

import numpy as np
import pytest

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.transformers import exported_backend
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

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
            masks = {"attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.bert(input_ids, **masks).last_hidden_state

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
def test_vectors_equal_those_of_torch(built_exported, backend):
    for options in (
        {},
        {"pooling": "cls", "normalize": True},
        {"prompt": "query", "max_length": 4, "dimensions": 6},
    ):
        encoder = embedder(built_exported, backend=backend, **options)
        plain = embedder(built_exported, **options)
        np.testing.assert_allclose(encoder.encode(TEXTS), plain.encode(TEXTS), atol=1e-4)
        assert encoder.info.dimensions == plain.info.dimensions
        assert encoder.info.fingerprint != plain.info.fingerprint


def test_auto_runs_a_graph_that_is_made_once_and_has_the_vectors_of_torch(
    model, tmp_path, monkeypatch
):
    options = {"prompt": "query", "pooling": "cls", "max_length": 4}
    pytest.importorskip("openvino")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    plain, encoder = embedder(model, **options), embedder(model, backend="auto", **options)
    np.testing.assert_allclose(encoder.encode(TEXTS), plain.encode(TEXTS), atol=1e-5)
    vectors = encoder.begin(encoder.token_ids(TEXTS))()
    np.testing.assert_allclose(vectors, plain.encode(TEXTS), atol=1e-5)
    assert encoder.info.fingerprint != plain.info.fingerprint
    (folder,) = (tmp_path / "cache" / "graphs").iterdir()
    assert folder.name.endswith(f"-openvino-{version('openvino')}")
    graphs = list(folder.rglob("*.*"))
    encoder.close()
    encoder.encode(TEXTS)
    times = [path.stat().st_mtime_ns for path in folder.rglob("*.*")]
    assert [path.stat().st_mtime_ns for path in graphs] == times
    monkeypatch.setattr(exported_backend, "version", lambda _: "2030.1.0")
    encoder.close()
    encoder.encode(TEXTS)
    assert len(list((tmp_path / "cache" / "graphs").iterdir())) == 2


def test_auto_is_torch_in_another_precision_and_on_a_gpu(model):
    for options in ({"precision": "bfloat16"}, {"device": "cuda:0"}):
        encoder = SentenceTransformersEmbedder(str(model), backend="auto", **options)
        plain = SentenceTransformersEmbedder(str(model), **options)
        assert encoder.info.fingerprint == plain.info.fingerprint


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_token_states_equal_those_of_torch(built_exported, backend):
    exported = embedder(built_exported, backend=backend, prompt="query").token_states(TEXTS)
    plain = embedder(built_exported, prompt="query").token_states(TEXTS)
    for found, expected in zip(exported, plain, strict=True):
        assert found.words == expected.words
        np.testing.assert_array_equal(found.word_of, expected.word_of)
        np.testing.assert_allclose(found.states, expected.states, atol=1e-4)


def test_an_exported_model_leaves_its_prompt_out_of_the_pooling_as_torch_does(exported):
    pooling = json.loads((exported / "1_Pooling" / "config.json").read_text())
    (exported / "1_Pooling" / "config.json").write_text(
        json.dumps(pooling | {"include_prompt": False})
    )
    encoder = embedder(exported, backend="onnx", prompt="query")
    plain = embedder(exported, prompt="query")
    np.testing.assert_allclose(encoder.encode(TEXTS), plain.encode(TEXTS), atol=1e-4)
    states = encoder.token_states(["nurse"])[0]
    np.testing.assert_allclose(states.states.mean(axis=0), plain.encode(["nurse"])[0], atol=1e-4)


def test_a_damaged_file_is_refused_in_one_line(exported):
    (exported / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=str(exported)) as caught:
        embedder(exported, backend="onnx").encode(TEXTS)
    assert "\n" not in str(caught.value)


def test_a_backend_that_is_not_installed_says_how_to_install_it(model, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"pip install .*\[onnx\]"):
        embedder(model, backend="onnx")


def test_an_option_that_a_backend_does_not_support_is_refused(built_exported):
    for options, fact in (({"precision": "float16"}, "backend=torch"), ({"device": "mps"}, "mps")):
        with pytest.raises(InvalidOption, match=fact):
            SentenceTransformersEmbedder(str(built_exported), backend="onnx", **options).encode(
                ["a"]
            )
