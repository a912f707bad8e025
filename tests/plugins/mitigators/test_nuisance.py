"""Nuisances: what each adds, and that it depends on the text alone."""

from __future__ import annotations

import numpy as np

from harness.arrays import unit_rows
from harness.plugins.mitigators.nuisance import Nuisance

TEXTS = ["This is a cat.", "That is a cat.", "a dog"]
VECTORS = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)


def test_noise_has_its_length_and_is_the_same_for_the_same_text():
    result = Nuisance("noise", 2.0).transform(VECTORS, TEXTS)
    np.testing.assert_allclose(np.linalg.norm(result - unit_rows(VECTORS), axis=1), 2.0, rtol=1e-5)
    again = Nuisance("noise", 2.0).transform(VECTORS[1:], TEXTS[1:])
    np.testing.assert_array_equal(again, result[1:])
    assert not np.allclose(Nuisance("noise", 2.0, seed=1).transform(VECTORS, TEXTS), result)


def test_a_coin_is_one_more_dimension():
    by_text = Nuisance("coin", 0.5).transform(VECTORS, TEXTS)
    assert set(np.abs(by_text[:, -1])) == {0.5}
    by_word = Nuisance("word-coin", 1.0).transform(VECTORS, TEXTS)
    assert by_word[0, -1] == by_word[1, -1], "both end with 'cat'"
    np.testing.assert_allclose(by_word[:, :-1], unit_rows(VECTORS), rtol=1e-6)
    constant = Nuisance("constant", 3.0).transform(VECTORS, TEXTS)
    assert constant[:, -1].tolist() == [3.0, 3.0, 3.0]


def test_four_bits_leave_fifteen_steps_and_most_of_a_cosine():
    result = Nuisance("bits", 4).transform(VECTORS, TEXTS)
    assert len(np.unique(np.round(result * 7, 4))) <= 15
    cosines = (unit_rows(result) * unit_rows(VECTORS)).sum(axis=1)
    assert (cosines > 0.95).all()
