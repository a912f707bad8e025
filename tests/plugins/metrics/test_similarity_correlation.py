"""Correlation of cosines with ratings, compared with scipy."""

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
    first, second = rng.standard_normal((2, n, 6))
    ratings = (paired_cosines(first, second) + rng.standard_normal(n)).round(1)
    return first, second, ratings


def test_three_pairs_by_hand():
    # cosines 1, 0 and -1 against ratings 5, 3 and 1
    first = np.array([[1.0, 0.0]] * 3)
    second = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    scores = run(first, second, np.array([5.0, 3.0, 1.0]))
    assert scores["pearson"].value == pytest.approx(1.0)
    assert scores["spearman"].value == pytest.approx(1.0)
    assert scores["spearman"].n == 3


@given(st.integers(0, 2**32 - 1))
def test_values_and_p_values_equal_scipy_under_any_rotation(seed):
    first, second, ratings = pairs(seed)
    turn = ortho_group.rvs(6, random_state=seed)
    scores = run(first @ turn, 3 * second @ turn, ratings)
    cosines = paired_cosines(first, second)
    for name, test in (("spearman", spearmanr), ("pearson", pearsonr)):
        peer = test(cosines, ratings)
        assert scores[name].value == pytest.approx(peer.statistic, abs=1e-9)
        assert scores[name].p_value == pytest.approx(peer.pvalue, abs=1e-9)


@pytest.mark.parametrize("case", ["constant ratings", "zero vectors", "equal cosines", "two pairs"])
def test_constant_values_have_no_correlation_but_a_reason(case):
    first, second, ratings = pairs(2)
    if case == "constant ratings":
        ratings = np.full(30, 2.0)
    elif case == "zero vectors":
        first = np.zeros_like(first)
    elif case == "equal cosines":
        second = first
    else:
        first, second, ratings = first[:2], second[:2], ratings[:2]
    for score in run(first, second, ratings, resamples=10).values():
        assert np.isnan(score.value)
        assert score.reason
