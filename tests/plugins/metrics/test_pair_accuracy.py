"""Accuracy of single pairs by hand, and its invariances."""

from __future__ import annotations

import numpy as np

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
