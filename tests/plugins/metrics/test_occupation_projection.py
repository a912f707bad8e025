"""Projections of occupations against ratings, compared with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group, spearmanr

from harness.plugins.metrics.occupation_projection import occupation_projection

SHE, HE = np.array([[1.0, 0]]), np.array([[-1.0, 0]])  # g = (−1, 0)
NURSE, WRITER, MINER = [0.5, 1.0], [0.0, 1.0], [-2.0, 1.0]


def run(*arrays, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return occupation_projection(*arrays, **options)


def test_stereotypes_are_positive_and_their_reverse_is_negative():
    occupations, ratings = np.array([NURSE, WRITER, MINER]), np.array([-0.9, 0.1, 0.8])
    assert run(SHE, HE, occupations, ratings).value == pytest.approx(1.0)
    assert run(HE, SHE, occupations, ratings).value == pytest.approx(-1.0)


@given(st.integers(0, 2**32 - 1))
def test_values_and_p_values_equal_scipy_under_any_rotation(seed):
    rng = np.random.default_rng(seed)
    occupations, ratings = rng.standard_normal((20, 4)), rng.integers(-3, 4, 20) / 10
    she, he = rng.standard_normal((2, 1, 4))
    g = he / np.linalg.norm(he) - she / np.linalg.norm(she)
    peer = spearmanr(occupations @ g[0] / np.linalg.norm(occupations, axis=1), ratings)
    turn = ortho_group.rvs(4, random_state=seed)
    score = run(she @ turn, 2 * he @ turn, 3 * occupations @ turn, ratings, sides="labels")
    assert score.value == pytest.approx(peer.statistic, abs=1e-9)
    assert score.p_value == pytest.approx(peer.pvalue, abs=1e-9)


def test_rounding_errors_are_not_ranked():
    ratings = np.linspace(-1, 1, 9)
    occupations = np.column_stack([-1e-8 * ratings, np.ones(9)])
    score = run(SHE, HE, occupations, ratings)
    assert score.value == 0
    assert score.details["off"] == 9


def test_random_pairs_are_significant_as_often_as_they_may():
    """Occupations that differ along few directions follow any of them with their ratings."""
    rng = np.random.default_rng(2)
    spread, rejected = np.linspace(2, 0.1, 12), {"both": 0, "labels": 0}
    for _ in range(200):
        occupations = rng.normal(size=(60, 12)) * spread
        ratings = occupations @ rng.normal(size=12) + rng.normal(size=60)
        words = rng.normal(size=(2, 1, 12)) * spread
        for sides in rejected:
            score = run(*words, occupations, ratings, sides=sides, null_draws=199)
            rejected[sides] += score.p_value <= 0.05
    assert rejected["labels"] > 60
    assert rejected["both"] <= 20
