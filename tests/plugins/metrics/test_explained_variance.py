"""Explained variance of pairs, and its null of random pairs."""

from __future__ import annotations

import numpy as np
import pytest

from harness.plugins.metrics.explained_variance import explained_variance


def run(*arrays, **options):
    return explained_variance(*arrays, **{"draws": 100, "rng": np.random.default_rng(0)} | options)


def test_orthogonal_differences_have_equal_shares_and_parallel_ones_share_one():
    first, second = np.eye(6)[:3], np.eye(6)[3:]
    score = run(first, second)
    assert score.details["explained"] == pytest.approx([1 / 3] * 3)
    assert score.p_value == 1.0
    shared = np.array([[1.0, 0, 0], [1.0, 0, 0.0]])
    assert run(shared, shared[:, ::-1]).value == pytest.approx(1.0)


def test_pairs_that_share_a_direction_stand_out_from_random_pairs():
    rng = np.random.default_rng(0)
    words = rng.standard_normal((500, 30))
    first = rng.standard_normal((10, 30))
    second = first + 6 * np.eye(30)[0] + rng.standard_normal((10, 30))
    score = run(first, second, words)
    sums = {name: sum(shares) for name, shares in score.details.items()}
    assert sums == pytest.approx(
        {"explained": 1, "random_unit_vectors": 1, "random_word_pairs": 1}, abs=1e-3
    )
    assert score.value > 0.4
    assert score.p_value == pytest.approx(1 / 101)
    for null in ("random_unit_vectors", "random_word_pairs"):
        assert sum(score.details[null]) == pytest.approx(1.0)
        assert score.details[null][0] < 0.3


def test_words_along_one_axis_are_a_stricter_null_than_random_vectors():
    rng = np.random.default_rng(1)
    words = rng.standard_normal((200, 20)) * np.array([30.0] + [1.0] * 19)
    score = run(words[:20:2], words[1:20:2], words[20:])
    assert score.p_value > 0.05, "no more than words of that vocabulary do"
    assert score.details["random_word_pairs"][0] > score.details["random_unit_vectors"][0]
