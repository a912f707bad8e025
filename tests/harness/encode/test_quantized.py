"""Quantised vectors: the codes of sentence-transformers, as numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sentence_transformers import quantize_embeddings

from harness.embedder import Embedder, MockEmbedder
from harness.encode.quantized import TEXTS as CALIBRATION
from harness.encode.quantized import Quantized
from harness.errors import InvalidOption

TEXTS = [f"a text about thing {i}" for i in range(200)]


class Skewed(MockEmbedder):
    """Dimensions of different scales and means, one of them constant; counts its calls."""

    calls = 0

    def encode(self, texts):
        self.calls += 1
        vectors = super().encode(texts) * np.logspace(-3, 3, 16, dtype=np.float32)
        vectors = (vectors + np.arange(16) - 8).astype(np.float32)
        vectors[:, 5] = 0.25
        return vectors

    def lengths(self, texts):
        return [len(text) for text in texts]


def test_int8_has_the_codes_of_the_library():
    encoder = Skewed()
    calibration = encoder.encode(CALIBRATION)
    ranges = np.stack([calibration.min(axis=0), calibration.max(axis=0)])
    vectors = encoder.encode(TEXTS)
    expected = quantize_embeddings(vectors, "int8", calibration_embeddings=calibration)
    quantized = Quantized(encoder, "int8")
    assert isinstance(quantized, Embedder)
    found = quantized.encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(quantize_embeddings(found, "int8", ranges=ranges), expected)


def test_an_int8_value_is_within_half_a_step_of_the_value_inside_the_ranges():
    encoder = Skewed()
    calibration = encoder.encode(CALIBRATION)
    low, high = calibration.min(axis=0), calibration.max(axis=0)
    vectors, found = encoder.encode(TEXTS), Quantized(encoder, "int8").encode(TEXTS)
    inside = (vectors >= low) & (vectors <= high)
    assert inside.mean() > 0.95
    steps = (high - low) / 255
    assert (np.abs(found - vectors) <= 0.51 * steps + 1e-6)[inside].all()
    assert (found[:, 5] == 0.25).all()


def test_binary_has_the_bits_of_the_library_and_cosines_of_hamming_distances():
    vectors = Skewed().encode(TEXTS)
    found = Quantized(Skewed(), "binary").encode(TEXTS)
    expected = quantize_embeddings(vectors, "ubinary")
    np.testing.assert_array_equal(np.packbits(found > 0, axis=-1), expected)
    assert set(np.unique(found)) == {-1, 1}
    hamming = (found[0] != found[1]).sum()
    cosine = found[0] @ found[1] / np.linalg.norm(found[0]) / np.linalg.norm(found[1])
    assert cosine == pytest.approx(1 - 2 * hamming / 16)


@pytest.mark.parametrize("precision", ["int8", "binary"])
def test_a_text_without_a_vector_stays_without_one(precision):
    class Partial(MockEmbedder):
        def encode(self, texts):
            vectors = super().encode(texts)
            vectors[[not text for text in texts]] = np.nan
            return vectors

    found = Quantized(Partial(), precision).encode(["a", "", "b"])
    assert np.isnan(found).all(axis=1).tolist() == [False, True, False]


def test_the_vector_of_a_text_does_not_depend_on_the_others():
    quantized = Quantized(Skewed(), "int8")
    together = quantized.encode(TEXTS)
    np.testing.assert_array_equal(Quantized(Skewed(), "int8").encode(TEXTS[7:8]), together[7:8])


def test_published_scores_are_not_those_of_quantised_vectors():
    encoder = MockEmbedder()
    encoder.info = dataclasses.replace(encoder.info, scores={"MTEB": 56.3}, licence="MIT")
    info = Quantized(encoder, "binary").info
    assert (info.scores, info.licence) == ({}, "MIT")


def test_any_model_of_text_takes_the_option(registry):
    plain = registry.embedder("toy-letters?scale=2")
    quantized = registry.embedder("toy-letters?quantize=binary&scale=2")
    assert quantized.info.name == f"{plain.info.name}&quantize=binary"
    assert plain.info.fingerprint != quantized.info.fingerprint
    assert set(np.unique(quantized.encode(["a"]))) == {-1, 1}
    with pytest.raises(InvalidOption, match="binary"):
        registry.embedder("toy-letters?quantize=int4")
    with pytest.raises(InvalidOption, match="text encoder"):
        registry.embedder("toy-words?quantize=int8")
    with pytest.raises(InvalidOption, match="did you mean 'quantize'"):
        registry.embedder("toy-letters?quantise=int8")
