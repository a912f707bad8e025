"""Facts about keeping the first dimensions only."""

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
    made = embedder(model, dimensions=5)
    assert made.info.dimensions == 5
    np.testing.assert_array_equal(made.encode(TEXTS), embedder(model).encode(TEXTS)[:, :5])


def test_a_model_that_normalizes_does_so_after_the_cut(model):
    for made in (embedder(model, dimensions=5, normalize=True), None):
        made = made or embedder(normalizing(model), dimensions=5)
        vectors = made.encode(TEXTS)
        assert vectors.shape == (2, 5)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        whole = embedder(model).encode(TEXTS)[:, :5]
        np.testing.assert_allclose(
            vectors, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-6
        )


def test_dimensions_are_in_the_fingerprint_where_they_cut(model):
    prints = {n: embedder(model, dimensions=n).info.fingerprint for n in (None, 4, 5, 16)}
    assert prints[None] == prints[16]
    assert len(set(prints.values())) == 3


@pytest.mark.parametrize("n", [0, 17])
def test_more_dimensions_than_the_model_has_are_refused(model, n):
    with pytest.raises(InvalidOption, match=f"dimensions={n}: .* has 16"):
        embedder(model, dimensions=n)
