"""The Bayesian correlated t-test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.errors import InvalidOption
from harness.study.significance import bayesian_correlated_t, corrected_t_test

VALUES = st.floats(-1, 1).map(lambda x: round(x, 6))
SAMPLES = st.integers(2, 30).flatmap(lambda n: arrays(np.float64, n, elements=VALUES))


def spread(d: np.ndarray) -> np.ndarray:
    assume(np.ptp(d) > 1e-5)
    return d


def test_the_posterior_by_hand():
    # mean 2, s² 1, scale sqrt(1/3 + (1/7)/(6/7)) = sqrt(1/2); with 2 degrees of freedom
    # P(T ≤ t) = 1/2 + t / (2 sqrt(t² + 2)), here at (∓1 − 2) / scale: −3 sqrt 2 and −sqrt 2
    found = bayesian_correlated_t([1.0, 2.0, 3.0], correlation=1 / 7, rope=1.0)
    left = 0.5 - 3 / (2 * math.sqrt(10))
    within = 0.5 - 1 / (2 * math.sqrt(2)) - left
    assert (found.mean, found.df, found.n) == (2.0, 2, 3)
    assert found.scale == pytest.approx(math.sqrt(0.5))
    assert (found.left, found.rope) == (pytest.approx(left), pytest.approx(within))
    assert found.right == pytest.approx(1 - left - within)


@given(SAMPLES, st.floats(0, 0.5))
def test_without_a_region_the_smaller_side_is_half_the_p_value(d, rho):
    found = bayesian_correlated_t(spread(d), correlation=rho, rope=0.0)
    test = corrected_t_test(d, test_to_train=max(rho / (1 - rho), 1e-300))
    assert min(found.left, found.right) == pytest.approx(test.p_value / 2, rel=1e-6)
    assert found.rope == pytest.approx(0.0, abs=1e-12)


@given(SAMPLES, st.floats(0, 0.9), st.floats(0, 2))
def test_probabilities_sum_to_1_and_swap_with_the_sign(d, rho, rope):
    found = bayesian_correlated_t(spread(d), correlation=rho, rope=rope)
    assert found.left + found.rope + found.right == pytest.approx(1.0)
    assert min(found.left, found.rope, found.right) >= 0
    flipped = bayesian_correlated_t(-d, correlation=rho, rope=rope)
    assert (flipped.left, flipped.right) == (found.right, found.left)


def test_a_wider_region_and_a_higher_correlation_give_less_certainty():
    d = np.random.default_rng(6).normal(1.0, 1.0, size=10)
    sides = [bayesian_correlated_t(d, correlation=0.1, rope=r).right for r in (0.0, 0.5, 1.0)]
    assert sides == sorted(sides, reverse=True)
    scales = [bayesian_correlated_t(d, correlation=r, rope=0.0).scale for r in (0.0, 0.1, 0.5)]
    assert scales == sorted(scales)


def test_the_posterior_of_equal_differences():
    nothing = bayesian_correlated_t(np.zeros(10), correlation=0.1, rope=0.01)
    assert (nothing.left, nothing.rope, nothing.right, nothing.reason) == (0.0, 1.0, 0.0, "")
    alike = bayesian_correlated_t(np.full(10, 0.2), correlation=0.1, rope=0.01)
    assert np.isnan([alike.left, alike.rope, alike.right]).all()
    assert "10 differences" in alike.reason
    single = bayesian_correlated_t([0.2], correlation=0.1, rope=0.01)
    assert np.isnan(single.right)
    assert "1 of 1 differences" in single.reason


def test_options_out_of_range_are_refused():
    with pytest.raises(InvalidOption, match="correlation=1"):
        bayesian_correlated_t([1.0, 2.0], correlation=1.0, rope=0.0)
    with pytest.raises(InvalidOption, match="rope=-1"):
        bayesian_correlated_t([1.0, 2.0], correlation=0.1, rope=-1.0)
