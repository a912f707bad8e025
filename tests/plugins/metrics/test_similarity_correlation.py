"""Correlation of cosines with ratings, against scipy's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group, pearsonr, spearmanr

from harness.arrays import paired_cosines
from harness.plugins.metrics.similarity_correlation import similarity_correlation


def run(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = {"resamples": 0} | options
        return similarity_correlation(*arrays, rng=np.random.default_rng(0), **options)


def pairs(seed: int, n: int = 30) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    one, other = rng.standard_normal((2, n, 6))
    ratings = (paired_cosines(one, other) + rng.standard_normal(n)).round(1)
    return one, other, ratings


def test_three_pairs_by_hand():
    # cosines 1, 0 and -1 against ratings 5, 3 and 1
    one = np.array([[1.0, 0.0]] * 3)
    other = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    scores = run(one, other, np.array([5.0, 3.0, 1.0]))
    assert scores["pearson"].value == pytest.approx(1.0)
    assert scores["spearman"].value == pytest.approx(1.0)
    assert scores["spearman"].n == 3


@given(st.integers(0, 2**32 - 1))
def test_values_and_p_values_are_those_of_scipy_whatever_the_rotation(seed):
    one, other, ratings = pairs(seed)
    turn = ortho_group.rvs(6, random_state=seed)
    scores = run(one @ turn, 3 * other @ turn, ratings)
    cosines = paired_cosines(one, other)
    for name, test in (("spearman", spearmanr), ("pearson", pearsonr)):
        peer = test(cosines, ratings)
        assert scores[name].value == pytest.approx(peer.statistic, abs=1e-9)
        assert scores[name].p_value == pytest.approx(peer.pvalue, abs=1e-9)


def test_intervals_hold_the_value_and_draw_the_clusters_of_the_first_texts():
    one, other, ratings = pairs(1)
    scores = run(one, other, ratings, resamples=200)
    for score in scores.values():
        assert score.interval.low < score.value < score.interval.high
    clustered = run(
        one, other, ratings, resamples=50, clusters={"texts_1": np.repeat([0, 1, 2], 10)}
    )
    assert "clusters" in clustered["pearson"].interval.method


@pytest.mark.parametrize("case", ["constant ratings", "zero vectors", "equal cosines", "two pairs"])
def test_what_does_not_vary_has_no_correlation_and_says_so(case):
    one, other, ratings = pairs(2)
    if case == "constant ratings":
        ratings = np.full(30, 2.0)
    elif case == "zero vectors":
        one = np.zeros_like(one)
    elif case == "equal cosines":
        other = one
    else:
        one, other, ratings = one[:2], other[:2], ratings[:2]
    for score in run(one, other, ratings, resamples=10).values():
        assert np.isnan(score.value)
        assert score.reason
