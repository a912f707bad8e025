"""Direct bias by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.direct_bias import direct_bias

SHE, HE = np.array([[1.0, 0, 1]]), np.array([[-1.0, 0, 1]])  # g = (−1, 0, 0)


def run(*arrays, **options):
    return direct_bias(*arrays, **{"resamples": 0, "rng": np.random.default_rng(0)} | options)


def test_three_words_by_hand():
    neutral = np.array([[0.6, 0.8, 0], [-6.0, 0, 8.0], [0, 0, 2.0]])  # |cos| .6, .6 and 0
    assert run(SHE, HE, neutral).value == pytest.approx(0.4)
    assert run(SHE, HE, neutral, c=2).value == pytest.approx(0.24)
    score = run(SHE, HE, neutral, c=0)
    assert score.value == pytest.approx(2 / 3), "at c = 0 only a word without overlap is unbiased"
    assert score.details["c"] == 0
    assert score.details["explained"] == pytest.approx(1.0)


def test_words_of_random_direction_have_the_expected_chance_bias():
    rng = np.random.default_rng(0)
    pairs = rng.standard_normal((2, 5, 20))
    for c in (0.5, 1, 2):
        score = run(*pairs, rng.standard_normal((20_000, 20)), c=c)
        assert score.value == pytest.approx(score.details["chance"], rel=0.02)
