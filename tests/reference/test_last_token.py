"""The providers `last-token:` and `sentence-transformers:` give the same vectors for one model."""

import numpy as np
import pytest

from harness import folders
from harness.plugins.embedders.transformers import minilm
from harness.registry.registry import Registry

TEXTS = [
    "This person is a nurse.",
    "This person is a nurse. It could be a man or a woman.",
    "Überall – 王!",
    "",
    "The policeman's mother-in-law doesn't yodel " * 40,
]


@pytest.fixture(scope="module")
def folder():
    package = folders.of_package(minilm.PACKAGE)
    if package is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    return package / "model"


def load(folder, provider, **options):
    query = "&".join(f"{key}={value}" for key, value in options.items())
    return Registry().embedder(f"{provider}:{folder}?{query}", device="cpu")


@pytest.mark.parametrize("pooling", ["mean", "weightedmean", "lasttoken"])
def test_both_providers_give_the_same_vectors_and_states(folder, pooling):
    ours = load(folder, "last-token", pooling=pooling, normalize="true")
    theirs = load(folder, "sentence-transformers", pooling=pooling)
    assert (ours.info.dimensions, ours.info.max_tokens) == (384, 256)
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-5)
    assert ours.lengths(TEXTS) == theirs.lengths(TEXTS)
    assert ours.truncated(TEXTS) == theirs.truncated(TEXTS) == [False] * 4 + [True]
    for a, b in zip(ours.token_states(TEXTS), theirs.token_states(TEXTS), strict=True):
        assert a.words == b.words
        np.testing.assert_array_equal(a.word_of, b.word_of)
        np.testing.assert_allclose(a.states, b.states, atol=1e-4)


def test_matryoshka_dimensions_are_those_of_sentence_transformers(folder):
    theirs = load(folder, "sentence-transformers")._model.encode(
        TEXTS, truncate_dim=64, normalize_embeddings=True
    )
    for provider in ("last-token", "sentence-transformers"):
        options = {"pooling": "mean", "normalize": "true"} if provider == "last-token" else {}
        result = load(folder, provider, dimensions=64, **options).encode(TEXTS)
        np.testing.assert_allclose(result, theirs, atol=1e-5)
