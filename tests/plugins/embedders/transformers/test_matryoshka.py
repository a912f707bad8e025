"""Vectors shortened to their first dimensions."""

import json

import numpy as np
import pytest

from harness.errors import InvalidOption
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

TEXTS = ["the nurse is a woman", "hello"]


def embedder(folder, **options):
    return SentenceTransformersEmbedder(str(folder), device="cpu", **options)


def normalizing(model):
    modules = json.loads((model / "modules.json").read_text())
    kind = "sentence_transformers.models.Normalize"
    (model / "2_Normalize").mkdir()
    entry = {"idx": 2, "name": "2", "path": "2_Normalize", "type": kind}
    (model / "modules.json").write_text(json.dumps([*modules, entry]))
    return model


def test_the_first_dimensions_are_kept(model):
    encoder = embedder(model, dimensions=5)
    assert encoder.info.dimensions == 5
    np.testing.assert_array_equal(encoder.encode(TEXTS), embedder(model).encode(TEXTS)[:, :5])


def test_normalized_vectors_are_normalized_again_after_they_are_shortened(model):
    by_option = embedder(model, dimensions=5, normalize=True).encode(TEXTS)
    by_module = embedder(normalizing(model), dimensions=5).encode(TEXTS)
    for vectors in (by_option, by_module):
        assert vectors.shape == (2, 5)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        whole = embedder(model).encode(TEXTS)[:, :5]
        np.testing.assert_allclose(
            vectors, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-6
        )


def test_dimensions_change_the_fingerprint_only_if_they_shorten(model):
    prints = {n: embedder(model, dimensions=n).info.fingerprint for n in (None, 4, 5, 16)}
    assert prints[None] == prints[16]
    assert len(set(prints.values())) == 3


@pytest.mark.parametrize("n", [0, 17])
def test_dimensions_out_of_range_are_refused(model, n):
    with pytest.raises(InvalidOption, match=f"dimensions={n}: .*16"):
        embedder(model, dimensions=n)
