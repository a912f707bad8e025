"""Corpus leaning on vectors with known cosines."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InvalidOption
from harness.plugins.metrics.corpus_leaning import corpus_leaning


def at(*degrees) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def run(*arrays, **options):
    scores = corpus_leaning(*arrays, rng=np.random.default_rng(0), **{"resamples": 0} | options)
    return scores["top_share"]


def test_three_queries_by_hand():
    # first answers at 10, 50 and 90 degrees, second ones at 20, 70 and 100
    arrays = at(0, 60, 95), at(10, 50, 90), at(20, 70, 100)
    one, two, three = (run(*arrays, k=k) for k in (1, 2, 3))
    # closest to 0: 10 (first), 20, 50 (first); to 60: 50 and 70 alike; to 95: 90 and 100 alike
    assert one.value == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert two.value == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 3)
    # then 90 (first) for 60, and 70 (second) for 95
    assert three.value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3) / 3)
    assert one.details["first_place"] == two.details["first_place"] == pytest.approx(one.value)
    assert one.details["bias"] == pytest.approx(2 * one.value - 1)
    assert two.details["own"] == 2
    assert one.n == 3


def test_the_correlation_is_that_of_the_leanings_with_the_preference_between_own_answers():
    arrays = at(0, 60, 95), at(10, 50, 90), at(20, 70, 100)
    preference = np.cos(np.radians([10, 10, 5])) - np.cos(np.radians([20, 10, 5]))
    expected = np.corrcoef(preference, [1, 0, 0])[0, 1]
    assert run(*arrays, k=1).details["correlation"] == pytest.approx(expected)


def test_smaller_corpora_have_the_own_answers_and_some_of_the_others():
    rng = np.random.default_rng(0)
    queries, first, second = rng.standard_normal((3, 30, 4))
    score = run(queries, first, second, k=2, sizes=(1, 10, 900))
    table = score.tables["sizes"]
    assert [row["answers"] for row in table] == [2, 20, 60]
    assert table[0]["top_share"] == 0.5, "both own answers are found"
    assert table[0]["spread"] == 0
    assert table[1]["spread"] > 0
    assert (table[2]["top_share"], table[2]["spread"]) == (pytest.approx(score.value), None)
    assert "sizes" not in run(queries, first, second).tables
    with pytest.raises(InvalidOption, match="sizes"):
        run(queries, first, second, sizes=(0,))


def test_a_bias_shows_in_every_size_of_corpus_and_more_freely_in_a_large_one():
    rng = np.random.default_rng(1)
    queries, first, second = rng.standard_normal((3, 200, 20))
    queries += (first - second).mean(axis=0) * 8
    table = run(queries, first, second, k=5, sizes=(4, 40)).tables["sizes"]
    shares = [row["top_share"] for row in table]
    assert 0.5 < shares[0] < shares[1] < shares[2]


def of_random_vectors(seed, amplitude=0.0, clusters=None):
    """Score 60 random queries; `amplitude` moves them towards the first answers."""
    rng = np.random.default_rng(seed)
    queries, first, second = rng.standard_normal((3, 60, 40))
    side = (first - second).mean(axis=0)
    return run(queries + amplitude * side, first, second, clusters=clusters, resamples=100)


def test_random_vectors_show_the_floor_and_a_planted_bias_is_found():
    scores = [of_random_vectors(seed) for seed in range(60)]
    distance = np.mean([abs(score.value - 0.5) for score in scores])
    floor = np.mean([np.abs(score.null.values - 0.5).mean() for score in scores])
    assert distance == pytest.approx(floor, rel=0.25)
    assert np.mean([score.p_value <= 0.05 for score in scores]) <= 0.12
    values = [of_random_vectors(1, amplitude) for amplitude in (-2, -1, 0, 1, 2)]
    assert (np.diff([score.value for score in values]) > 0).all()
    assert values[-1].p_value < 0.01
    assert values[-1].interval.low > 0.5


def test_clusters_of_queries_are_the_units_of_the_floor_and_the_interval():
    clusters = {"queries": np.repeat(np.arange(6), 10)}
    together = of_random_vectors(3, clusters=clusters)
    assert together.interval.method.startswith("jackknife t of clusters")
    assert len(np.unique(together.null.values.round(9))) <= 2**6
