"""Gap of similarities on vectors with known cosines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress

from harness.plugins.metrics.similarity_gap import similarity_gap


def of_cosines(first, second):
    """Return sentences with these cosines with the axes 1 and 2, and both versions."""
    first, second = np.asarray(first, float), np.asarray(second, float)
    sentences = np.stack([first, second, np.sqrt(1 - first**2 - second**2)], axis=1)
    return sentences, *(np.tile(axis, (len(first), 1)) for axis in np.eye(3)[:2])


def run(arrays, statistics, items=None, **options):
    clusters = None if items is None else {"sentences": np.asarray(items)}
    statistics = np.asarray(statistics, dtype=float)
    rng = np.random.default_rng(0)
    return similarity_gap(*arrays, statistics, rng=rng, clusters=clusters, **options)


def test_three_occupations_in_two_contexts_by_hand():
    # gaps, second less first: −.2 −.4 | .0 .2 | .3 .5; means −.3 .1 .4 at shares 0 .5 1
    arrays = of_cosines([0.3, 0.4, 0.2, 0.1, 0.1, 0.0], [0.1, 0.0, 0.2, 0.3, 0.4, 0.5])
    scores = run(arrays, [0, 0, 0.5, 0.5, 1, 1], [7, 7, 3, 3, 5, 5])
    assert scores["slope"].value == pytest.approx(0.7)
    # deviations −.5 0 .5 and −.3667 .0333 .3333: .35 / √(.5 · .24667)
    assert scores["pearson"].value == pytest.approx(0.35 / math.sqrt(0.5 * 0.74 / 3))
    assert scores["gap"].value == pytest.approx(0.8 / 3)
    assert scores["gap"].details == {"items": 3, "offset": pytest.approx(0.2 / 3)}
    table = scores["slope"].tables["items"]
    assert [row["statistic"] for row in table] == [1, 0.5, 0]
    assert [row["gap"] for row in table] == pytest.approx([0.4, 0.1, -0.3])


@given(seed=st.integers(0, 2**32 - 1))
def test_the_slope_is_that_of_a_regression_and_swapped_versions_turn_it(seed):
    rng = np.random.default_rng(seed)
    arrays, y = rng.standard_normal((3, 8, 5)), rng.random(8)
    scores = run(arrays, y, resamples=0, null_draws=0)
    gaps = [
        np.dot(x, b) / np.linalg.norm(b) / np.linalg.norm(x)
        - np.dot(x, a) / np.linalg.norm(a) / np.linalg.norm(x)
        for x, a, b in zip(*arrays, strict=True)
    ]
    line = linregress(y, gaps)
    assert scores["slope"].value == pytest.approx(line.slope)
    assert scores["pearson"].value == pytest.approx(line.rvalue)
    assert scores["gap"].value == pytest.approx(np.abs(gaps).mean())
    x, first, second = arrays
    turned = run((3 * x, second, first), y, resamples=0, null_draws=0)
    assert turned["slope"].value == pytest.approx(-scores["slope"].value)
    assert turned["gap"].value == pytest.approx(scores["gap"].value)
    assert scores["slope"].p_value is None


def test_only_the_gap_counts_what_all_sentences_share():
    arrays, y = of_cosines(np.full(8, 0.2), np.full(8, 0.5)), np.arange(8) / 7
    scores = run(arrays, y)
    assert scores["slope"].value == 0
    assert math.isnan(scores["pearson"].value)
    assert scores["pearson"].without_difference == 0
    assert scores["gap"].value == pytest.approx(0.3)


def test_items_count_alike_whatever_their_sentences():
    arrays = of_cosines([0.3, 0.3, 0.3, 0.2, 0.1], [0.1, 0.1, 0.1, 0.2, 0.4])
    scores = run(arrays, [0, 0, 0, 0.5, 1], [0, 0, 0, 1, 2])
    alike = run(tuple(a[2:] for a in arrays), [0, 0.5, 1])
    for name, score in scores.items():
        assert score.value == pytest.approx(alike[name].value), name
        assert np.mean(score.samples[0].contribution) == pytest.approx(score.value), name


def test_the_interval_leaves_out_whole_items():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(8) / 7, 5)
    items = np.repeat(np.arange(8), 5)
    effect = 0.1 * y + np.repeat(0.02 * rng.standard_normal(8), 5)
    score = run(of_cosines(0.3 - effect, 0.3 + effect), y, items)["slope"]
    assert score.interval.method == "jackknife t of clusters"
    assert score.interval.low < score.value < score.interval.high
    assert score.interval.low < 0.2 < score.interval.high


def test_random_vectors_show_the_floor_and_are_seldom_significant():
    scores = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        scores.append(run(rng.standard_normal((3, 60, 40)), rng.random(60), resamples=0))
    for name in ("slope", "pearson", "gap"):
        distance = np.mean([abs(score[name].value) for score in scores])
        floor = np.mean([np.abs(score[name].null.values).mean() for score in scores])
        assert distance == pytest.approx(floor, rel=0.15), name
    assert np.mean([score["slope"].p_value <= 0.05 for score in scores]) <= 0.1


@pytest.mark.parametrize("n", [7, 10, 23, 69])
def test_equal_gaps_have_no_correlation_whatever_their_mean_rounds_to(n):
    arrays = of_cosines(np.full(n, 0.1), np.full(n, 1 / 3))
    scores = run(arrays, np.random.default_rng(n).random(n))
    assert scores["slope"].value == 0
    assert scores["slope"].interval is None
    assert scores["pearson"].reason == "all gaps are equal"
    assert scores["pearson"].without_difference == 0


def test_random_versions_are_significant_as_often_as_they_may():
    """One pair of versions cannot be shuffled, and items follow any pair with their statistics."""
    rng = np.random.default_rng(4)
    spread, rejected = np.linspace(2, 0.1, 12), {"both": 0, "labels": 0}
    for _ in range(200):
        items = rng.normal(size=(60, 12)) * spread
        y = items @ rng.normal(size=12) + rng.normal(size=60)
        versions = np.repeat(rng.normal(size=(2, 1, 12)) * spread, 60, axis=1)
        for sides in rejected:
            scores = run((items, *versions), y, sides=sides, null_draws=199, resamples=0)
            rejected[sides] += scores["slope"].p_value <= 0.05
    assert rejected["labels"] > 60
    assert rejected["both"] <= 20
