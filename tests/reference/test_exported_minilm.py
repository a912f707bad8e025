"""all-MiniLM-L6-v2 under mitigators as models of their own: the same vectors and records."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.registry.registry import Registry

pytestmark = pytest.mark.long

MODEL = "all-MiniLM-L6-v2"
TASKS = [
    *("residual-bias-sentences", "retrieval-army", "gender-direction-words", "weathub-india-en"),
    *("ws-353", "book-genres", "gender-in-sentences", "name-sentences", "name-stories"),
    *("rag-gender-answers", "retrieval-grep-biasir", "screening-gender", "seat-c9-published"),
    *("yardstick-choices", "yardstick-contexts", "yardstick-groups", "yardstick-quotes"),
]
"""The shortest task of each metric of text encoders but for those of SentEval and SummEval, which
take minutes."""
CHAINS = {"leace+whitening": TASKS, "context-injection+inlp": TASKS[:2]}
TEXTS = ["The nurse asked the doctor.", "plumber", "A very long text " * 60, "Ärzte, müde!"]
LOADING = """
import sys
sys.modules["harness"] = None  # an import of it fails
import numpy as np
from sentence_transformers import SentenceTransformer
np.save(sys.argv[2], SentenceTransformer(sys.argv[1], device="cpu").encode({texts!r}))
"""


@pytest.mark.parametrize("mitigator", CHAINS)
def test_records_of_the_folder_are_those_of_the_base_under_the_mitigator(mitigator, tmp_path):
    entry = harness.debias(MODEL, mitigator, tmp_path / "model")
    assert entry.difference < 1e-6
    tasks = CHAINS[mitigator]
    before = harness.evaluate(MODEL, tasks, mitigator)
    after = harness.evaluate(str(tmp_path / "model"), tasks)
    assert {record.task.name for record in before} == set(tasks)
    values = {key(record): record.value for record in after}
    assert {key(record) for record in before} == set(values)
    for record in before:
        value = values[key(record)]
        assert value == pytest.approx(record.value, rel=1e-6, abs=1e-6), key(record)


def key(record):
    return record.task.name, record.scenario, record.metric, record.score


def test_a_process_without_the_harness_and_the_graph_have_the_vectors(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    from sentence_transformers import SentenceTransformer

    folder = tmp_path / "model"
    entry = harness.debias(MODEL, "leace", folder, onnx=True)
    code = LOADING.format(texts=TEXTS)
    command = [sys.executable, "-I", "-c", code, str(folder), str(tmp_path / "vectors.npy")]
    subprocess.run(command, check=True)
    embedder = Registry().embedder(MODEL)
    chain = Registry().mitigator("leace").fit(embedder, Registry().concept("gender"))
    expected = chain.transform(embedder.encode(TEXTS), TEXTS)
    np.testing.assert_allclose(np.load(tmp_path / "vectors.npy"), expected, atol=1e-6)
    tokens = SentenceTransformer(str(folder), device="cpu").preprocess(TEXTS)
    session = onnxruntime.InferenceSession(str(entry.onnx))
    arrays = {put.name: tokens[put.name].numpy() for put in session.get_inputs()}
    (found,) = session.run(["sentence_embedding"], arrays)
    np.testing.assert_allclose(found, expected, atol=1e-5)
