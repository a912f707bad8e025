"""Accuracy of single pairs by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.pair_accuracy import pair_accuracy

SHE, HE, THEY = [1.0, 0, 1], [-1.0, 0, 1], [0.0, 0, 1]
AUNT, QUEEN, UNCLE = [0.5, 1, 0], [-0.1, 1, 0], [-2.0, 1, 0]


def run(*sides, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return pair_accuracy(*(np.array(side) for side in sides), **options)


def test_one_pair_by_hand():
    score = run([SHE], [HE], [AUNT, QUEEN], [UNCLE])
    assert score.value == 0.75, "half of the women's words, and all of the men's"
    assert score.details["words"] == 3
    assert score.n == 1


def test_a_pair_of_equal_words_is_at_chance():
    texts = {"pairs_1": ["she", "they"], "pairs_2": ["he", "they"]}
    score = run([SHE, THEY], [HE, THEY], [AUNT], [UNCLE], texts=texts)
    assert score.value == 0.75
    assert score.tables["pairs"] == [
        {"first": "she", "second": "he", "accuracy": 1.0},
        {"first": "they", "second": "they", "accuracy": 0.5},
    ]


@given(st.integers(0, 2**32 - 1))
def test_the_accuracy_is_the_same_under_rotation_and_scale_and_its_complement_if_swapped(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, 3, 4))
    first, second = rng.standard_normal((7, 4)), rng.standard_normal((5, 4))
    turn = ortho_group.rvs(4, random_state=seed)
    score = run(x, y, first, second)
    turned = run(2 * x @ turn, y @ turn, 3 * first @ turn, second @ turn)
    assert turned.value == pytest.approx(score.value)
    assert run(y, x, first, second).value == pytest.approx(1 - score.value)
    for samples in (score.samples[:1], score.samples[1:]):
        assert np.mean(np.concatenate([part.contribution for part in samples])) == pytest.approx(
            score.value
        )


def test_the_interval_is_over_words():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 40, 3))
    score = run([SHE], [HE], first + np.eye(3)[0], second - np.eye(3)[0], resamples=200)
    assert 0.5 < score.interval.low < score.value < score.interval.high


def test_an_empty_side_has_no_accuracy():
    assert "empty" in run([SHE], [HE], [AUNT], np.empty((0, 3))).reason
