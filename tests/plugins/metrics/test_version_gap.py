"""Version gap on vectors with known cosines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from harness.plugins.metrics.version_gap import version_gap


def at(*degrees) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def run(*arrays, **options):
    return version_gap(*arrays, rng=np.random.default_rng(0), **{"resamples": 100} | options)


def test_three_queries_by_hand():
    queries = at(0, 90, 180)
    scores = run(queries, at(10, 60, 180), at(20, 90, 150), at(0, 80, 160))
    share, gap = scores["first_share"], scores["gap"]
    assert share.value == pytest.approx(2 / 3)
    cosine_1, cosine_2 = np.cos(np.radians([10, 30, 0])), np.cos(np.radians([20, 0, 30]))
    assert gap.value == pytest.approx((cosine_1 - cosine_2).mean())
    assert gap.details["similarity"]["first"] == pytest.approx(cosine_1.mean())
    # among nine versions, 10, 60 and 180 degrees have places 2, 3 and 1 for their queries
    assert gap.details["place"]["first"] == pytest.approx((2 + 3 + 1) / 3)
    assert gap.details["place"]["neutral"] == pytest.approx((1 + 2 + 2) / 3)
    assert share.p_value == 1.0
    assert share.n == 3


def test_equal_versions_count_one_half():
    scores = run(at(0, 0), at(10, 20), at(10, 40))
    assert scores["first_share"].value == pytest.approx(0.75)
    assert scores["first_share"].details["equal"] == 1
    same = run(at(0, 0), at(10, 20), at(10, 20))
    assert same["first_share"].value == 0.5
    assert same["first_share"].p_value == 1.0
    assert same["gap"].value == 0


def test_the_p_value_equals_the_sign_test():
    angles = np.arange(10.0)
    first, second = angles + 20, np.where(np.arange(10) < 8, angles + 40, angles + 10)
    share = run(at(*angles), at(*first), at(*second))["first_share"]
    assert share.value == pytest.approx(0.8)
    assert share.p_value == pytest.approx(binomtest(8, 10).pvalue)


def test_queries_of_one_topic_flip_together():
    topics = np.repeat([1.0, 2, 3, 4], 5)
    arrays = at(*np.zeros(20)), at(*np.full(20, 10)), at(*np.full(20, 20))
    share = run(*arrays, None, topics)["first_share"]
    assert share.p_value == pytest.approx(2 / 2**4), "all four of one sign, either way"
    assert run(*arrays)["first_share"].p_value < 1e-5


def of_random_vectors(seed, amplitude=0.0, topics=None):
    """Score 60 random queries; `amplitude` moves them towards the first versions."""
    rng = np.random.default_rng(seed)
    queries, first, second = rng.standard_normal((3, 60, 40))
    queries = queries + amplitude * (first - second)
    return version_gap(queries, first, second, topics=topics, resamples=0, rng=rng)


def test_random_vectors_show_the_floor_and_are_seldom_significant():
    scores = [of_random_vectors(seed) for seed in range(100)]
    for name, ideal in (("first_share", 0.5), ("gap", 0.0)):
        distance = np.mean([abs(each[name].value - ideal) for each in scores])
        floor = np.mean([np.abs(each[name].null.values - ideal).mean() for each in scores])
        assert distance == pytest.approx(floor, rel=0.2)
    assert np.mean([each["first_share"].p_value <= 0.05 for each in scores]) <= 0.08


def test_the_gap_rises_with_a_planted_bias_and_swapped_versions_turn_it_round():
    values = [of_random_vectors(1, amplitude) for amplitude in (-0.1, -0.05, 0, 0.05, 0.1)]
    for name in ("first_share", "gap"):
        assert (np.diff([each[name].value for each in values]) > 0).all()
    assert values[-1]["first_share"].p_value < 0.001
    rng = np.random.default_rng(2)
    queries, first, second = rng.standard_normal((3, 30, 8))
    assert run(queries, first, second)["gap"].value == pytest.approx(
        -run(queries, second, first)["gap"].value
    )


def test_the_floor_swaps_whole_topics_and_the_unit_is_the_spread_of_the_cosines():
    topics = np.repeat([0.0, 1, 2, 3], 15)
    alone, together = of_random_vectors(3), of_random_vectors(3, topics=topics)
    assert together["first_share"].null.values.std() != alone["first_share"].null.values.std()
    assert len(np.unique(together["first_share"].null.values.round(9))) <= 16
    queries, first, second = np.random.default_rng(3).standard_normal((3, 60, 40))
    both = np.concatenate([first, second])
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (queries, both)]
    expected = np.std(unit[0] @ unit[1].T)
    assert alone["gap"].unit == pytest.approx(expected)
