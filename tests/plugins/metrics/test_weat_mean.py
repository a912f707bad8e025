"""Metric `weat-mean`: the mean association of several tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.metrics.statistics.gaps import association_gap
from harness.plugins.metrics.weat import weat
from harness.plugins.metrics.weat_mean import _codes, _linked, mean_association_gap, weat_mean

E1, E2 = np.eye(2)
SETS = ("targets_1", "targets_2", "attributes_1", "attributes_2")


def rng(seed=0):
    return np.random.default_rng(seed)


def random_tests(seed, *sizes):
    """Return the inputs of tests of these sizes: vectors, and the number of each word's test."""
    draw, arrays = rng(seed), {}
    for name in SETS:
        arrays[name] = draw.normal(size=(sum(sizes), 6)) + 0.2
        arrays[f"tests_of_{name}"] = np.repeat(np.arange(len(sizes)), sizes).astype(float)
    return arrays


def of_test(arrays, test):
    return [arrays[name][arrays[f"tests_of_{name}"] == test] for name in SETS]


def test_two_tests_by_hand():
    # Test 1: s(E1) = 1, s(E2) = −1, so 2. Test 2: both targets are the same, so 0.
    score = weat_mean(
        np.array([E1, E1]), np.array([E2, E1]), np.array([E1, E1]), np.array([E2, E2]),
        *[np.array([1.0, 2.0])] * 4, rng=rng(),
    )  # fmt: skip
    assert score.value == pytest.approx(1.0)
    assert [row["association"] for row in score.tables["tests"]] == pytest.approx([2.0, 0.0])
    assert [row["test"] for row in score.tables["tests"]] == [1.0, 2.0]
    assert score.tables["tests"][1]["effect_size"] is None
    assert score.interval is None, "fewer than five words"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(4, 9), min_size=1, max_size=3))
def test_the_score_is_the_mean_of_what_weat_says_of_each_test(seed, sizes):
    arrays = random_tests(seed, *sizes)
    score = weat_mean(**arrays, rng=rng(), null_draws=10, resamples=0)
    single = [
        weat(*of_test(arrays, test), rng=rng(), permutations=9, exact_limit=1, resamples=0)
        for test in range(len(sizes))
    ]
    assert score.value == pytest.approx(np.mean([one["association"].value for one in single]))
    assert score.unit == pytest.approx(np.mean([one["association"].unit for one in single]))
    sizes_d = [row["effect_size"] for row in score.tables["tests"]]
    assert sizes_d == pytest.approx([one["effect_size"].value for one in single])


def test_one_test_is_weat():
    arrays = [rng(i).normal(size=(8, 5)) for i in range(4)]
    mine, theirs = weat_mean(*arrays, rng=rng()), weat(*arrays, rng=rng())["association"]
    assert mine.value == pytest.approx(theirs.value)
    assert mine.p_value == pytest.approx(theirs.p_value, abs=0.03)
    assert (mine.interval.low, mine.interval.high) == pytest.approx(
        (theirs.interval.low, theirs.interval.high)
    )
    assert mine.details["without_one"] == pytest.approx(theirs.details["without_one"])
    floors = [np.abs(score.null.values).mean() for score in (mine, theirs)]
    assert floors[0] == pytest.approx(floors[1], rel=0.1)


def test_a_word_that_two_tests_share_keeps_its_side_in_both():
    arrays = random_tests(4, 5, 5)
    arrays["targets_2"][5:] = arrays["targets_2"][:5]
    texts = {name: [f"{name} {i}" for i in range(10)] for name in SETS}
    texts["targets_2"] = [f"shared {i % 5}" for i in range(10)]
    members = [[arrays[f"tests_of_{name}"] == test for name in SETS] for test in (0, 1)]
    codes = [_codes(10, texts[name]) for name in SETS]
    unit = np.concatenate([codes[0], codes[1] + 10])
    groups = list(_linked(unit, [np.concatenate(m[:2]) for m in members]))
    assert len(groups) == 1
    assert groups[0].all()
    apart = weat_mean(**arrays, rng=rng())
    score = weat_mean(**arrays, rng=rng(), texts=texts)
    assert score.value == pytest.approx(apart.value)
    assert score.interval.high - score.interval.low != pytest.approx(
        apart.interval.high - apart.interval.low, rel=0.01
    )


def test_tests_without_a_common_word_are_shuffled_apart():
    units = np.arange(12)
    of_tests = [np.arange(12) < 4, (np.arange(12) >= 4) & (np.arange(12) < 8), np.arange(12) >= 8]
    assert len(list(_linked(units, of_tests))) == 3
    chained = units.copy()
    chained[4], chained[8] = chained[0], chained[5]
    assert len(list(_linked(chained, of_tests))) == 1


def test_p_values_are_even_without_a_bias():
    values = [
        [
            weat_mean(
                **random_tests(seed, 6, 6), sides=sides, rng=rng(seed), null_draws=199, resamples=0
            ).p_value
            for sides in ("targets", "both")
        ]
        for seed in range(200)
    ]
    targets, both = np.mean(np.array(values) <= 0.1, axis=0)
    assert targets == pytest.approx(0.1, abs=0.05)
    assert both <= targets


def test_a_planted_bias_is_found_and_a_reversed_one_is_marked():
    arrays = random_tests(5, 8, 8)
    direction = rng(6).normal(size=6)
    for name, sign in zip(SETS, (1, -1, 1, -1), strict=True):
        arrays[name] = arrays[name] + sign * direction
    score = weat_mean(**arrays, rng=rng())
    assert score.value > np.abs(score.null.values).mean() * 3
    assert score.p_value < 0.01
    assert score.interval.low > 0
    arrays["attributes_1"], arrays["attributes_2"] = arrays["attributes_2"], arrays["attributes_1"]
    assert weat_mean(**arrays, rng=rng()).details["reversed"]


def test_a_test_without_a_set_gives_no_score():
    arrays = random_tests(7, 5, 5)
    arrays["attributes_2"] = arrays["attributes_2"][:5]
    arrays["tests_of_attributes_2"] = arrays["tests_of_attributes_2"][:5]
    score = weat_mean(**arrays, rng=rng())
    assert np.isnan(score.value)
    assert score.reason == "attributes_2 of test 1 is empty"
    empty = weat_mean(np.empty((0, 6)), *[arrays[name] for name in SETS[1:]], rng=rng())
    assert empty.reason == "targets_1 is empty"


def test_the_gap_is_the_mean_of_the_gaps_of_the_tests_and_a_shared_word_is_one_unit():
    arrays = random_tests(0, 4, 4)
    words = {name: [f"{name} {i}" for i in range(4)] for name in SETS}
    units = {name: words[name] * 2 for name in SETS}
    gap = mean_association_gap(**arrays, units=units).gap
    first, second = (
        association_gap(**{name: arrays[name][rows] for name in SETS}, units=words).gap
        for rows in (slice(4), slice(4, 8))
    )
    assert gap.value == pytest.approx((first.value + second.value) / 2)
    assert gap.value == pytest.approx(weat_mean(**arrays, rng=rng(), null_draws=0).value)
    assert gap.deviations == pytest.approx(
        {word: (first.deviations[word] + second.deviations[word]) / 2 for word in gap.deviations}
    )
    arrays["tests_of_targets_1"] = np.zeros(8)
    assert np.isnan(mean_association_gap(**arrays, units=units).gap.value)
