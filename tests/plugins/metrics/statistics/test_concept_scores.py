"""Ranks of projections, on which the search for a concept's direction stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from harness.plugins.metrics.statistics.concept_scores import _ranks, along_a_component


def test_equal_values_share_the_mean_of_their_places():
    values = np.array([[2.0, 1.0], [2.0, 3.0], [1.0, 2.0], [2.0, 0.0]])
    np.testing.assert_array_equal(_ranks(values), [[3, 2], [3, 4], [1, 3], [3, 1]])


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 4), st.integers(1, 8))
@settings(deadline=None, max_examples=100)
def test_ranks_are_those_of_scipy_to_the_last_digit(seed, n, k, different):
    values = np.random.default_rng(seed).integers(0, different, (n, k)).astype(np.float64)
    np.testing.assert_array_equal(_ranks(values), rankdata(values, axis=0))


def test_a_word_on_both_sides_counts_half():
    z_1, z_2 = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])  # 3 of 4 larger, one equal
    assert along_a_component(z_1, z_2, np.ones(1)).auc == pytest.approx(3.5 / 4)
