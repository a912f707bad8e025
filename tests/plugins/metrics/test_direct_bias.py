"""Direct bias by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.errors import InvalidOption
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


def test_the_extreme_words_of_each_side_are_a_table():
    neutral = np.array([[0.6, 0.8, 0], [-6.0, 0, 8.0], [-1.0, 0, 0.1], [0, 0, 2.0]])
    texts = {"pairs_1": ["she"], "pairs_2": ["he"], "neutral": ["nurse", "cook", "boss", "clerk"]}
    score = run(SHE, HE, neutral, texts=texts)
    rows = [(row["first"], row["second"]) for row in score.tables["extremes"]]
    assert rows == [("nurse", "boss"), (None, "cook")]
    assert score.tables["extremes"][0]["projection_1"] == pytest.approx(-0.6)
    assert not run(SHE, HE, neutral).tables


def test_words_of_random_direction_have_the_expected_chance_bias():
    rng = np.random.default_rng(0)
    pairs = rng.standard_normal((2, 5, 20))
    for c in (0.5, 1, 2):
        score = run(*pairs, rng.standard_normal((20_000, 20)), c=c)
        assert score.value == pytest.approx(score.details["chance"], rel=0.02)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3))
def test_direct_bias_is_invariant_under_rotation_scale_and_swapped_sides(seed, c):
    rng = np.random.default_rng(seed)
    first, second, neutral = rng.standard_normal((3, 6, 5))
    turn = ortho_group.rvs(5, random_state=seed)
    value = run(first, second, neutral, c=c).value
    assert 0 <= value <= 1
    turned = run(second @ turn, 2 * first @ turn, 3 * neutral @ turn, c=c).value
    assert turned == pytest.approx(value, abs=1e-6)


def test_the_interval_contains_the_value_and_resamples_clusters():
    rng = np.random.default_rng(2)
    first, second, neutral = rng.standard_normal((3, 40, 5))
    score = run(first, second, neutral, resamples=200)
    assert score.interval.low < score.value < score.interval.high
    clusters = {"neutral": np.repeat(np.arange(8), 5)}
    clustered = run(first, second, neutral, resamples=50, clusters=clusters)
    assert "of clusters" in clustered.interval.method


def test_undefined_scores_have_a_reason():
    assert "equal" in run(SHE, SHE, HE).reason
    assert "neutral" in run(SHE, HE, np.empty((0, 3))).reason
    with pytest.raises(InvalidOption, match="c=-1"):
        run(SHE, HE, HE, c=-1)
