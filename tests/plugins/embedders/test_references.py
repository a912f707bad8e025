"""The reference models: random vectors and constant vectors, for words and for texts."""

import numpy as np
import pytest

import harness
from harness.registry.registry import Registry

NAMES = ("random-words", "random-texts", "constant-words", "constant-texts")


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_has_a_card_and_needs_no_files(name):
    embedder = Registry().embedder(name)
    assert embedder.info.kind == name.partition("-")[2].removesuffix("s")
    assert embedder.info.dimensions == 300
    assert embedder.info.licence == "MIT"
    assert embedder.encode(["nurse", "a nurse"]).shape == (2, 300)
    assert embedder.encode(["nurse"]).dtype == np.float32


def test_random_vectors_depend_on_the_text_alone():
    first, again = (Registry().embedder("random-words").encode(["he", "she", "he"]) for _ in "ab")
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[0], first[2])
    assert abs(np.corrcoef(first[0], first[1])[0, 1]) < 0.3
    # The numbers are part of the shipped records, so they must not change.
    assert first[0, :3] == pytest.approx([1.23927, 0.78896, 0.76969], abs=1e-5)


def test_random_vectors_are_gaussian():
    vectors = Registry().embedder("random-texts").encode([str(i) for i in range(200)])
    assert vectors.mean() == pytest.approx(0, abs=0.02)
    assert vectors.std() == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("name", ["constant-words", "constant-texts"])
def test_constant_vectors_have_no_value_and_are_never_fair(name):
    tasks = ["weat-6", "rnd-gender", "mac-gender", "rnsb-gender", "ws-353"]
    texts = ["seat-c6", "gender-occupations", "name-sentences", "retrieval-army", "ws-353"]
    records = harness.evaluate(name, tasks if name == "constant-words" else texts, results=None)
    assert {record.value for record in records} == {None}
    assert all(record.reason for record in records)


def test_random_vectors_have_a_value_on_bias_and_none_of_the_usefulness():
    records = harness.evaluate("random-words", ["rnd-gender", "ws-353"], results=None)
    values = {record.task.name: record.value for record in records if record.primary}
    assert all(value is not None for value in values.values())
    assert values["ws-353"] == pytest.approx(0, abs=0.15)
