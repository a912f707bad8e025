"""Slopes of gaps of cosines, on vectors with known cosines and against leaving out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.metrics import Gap
from harness.plugins.metrics.statistics.slopes import projection_gap, slope_gap, slope_of
from harness.results.ratios import ratio_of


def names(kind, n):
    return [f"{kind} {i}" for i in range(n)]


def units_of(items, sentences=1):
    return {"sentences": [item for item in items for _ in range(sentences)]}


def mean_slope(table, y):
    dy = y - y.mean()
    return float((dy @ table / (dy @ dy)).mean())


def centred(changed):
    """Return the deviations of a jackknife from the values without each unit."""
    n = len(changed)
    return (np.array(changed) - np.mean(changed)) * math.sqrt((n - 1) / n)


def inputs(rng, items=12, frames=4, dimensions=40, strength=0.5):
    """Return sentences that lie towards the second versions by their statistic, and it."""
    x = rng.standard_normal((items, frames, dimensions))
    side = rng.standard_normal((frames, dimensions))
    first, second = np.repeat([side - 1, side + 1], items, axis=0).reshape(
        2, items, frames, dimensions
    )
    y = np.linspace(0, 1, items)
    x += strength * (2 * y[:, None, None] - 1) * np.ones(dimensions)
    rows = [array.reshape(-1, dimensions) for array in (x, first, second)]
    return *rows, np.repeat(y, frames), units_of(names("item", items), frames)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_three_items_in_two_contexts_by_hand():
    # gaps, second less first: −.2 −.4 | .0 .2 | .3 .5; means −.3 .1 .4 at 0 .5 1
    first, second = np.array([[0.3, 0.4, 0.2, 0.1, 0.1, 0.0], [0.1, 0.0, 0.2, 0.3, 0.4, 0.5]])
    sentences = np.stack([first, second, np.sqrt(1 - first**2 - second**2)], axis=1)
    versions = [np.tile(axis, (6, 1)) for axis in np.eye(3)[:2]]
    y = np.array([0, 0, 0.5, 0.5, 1, 1])
    units = units_of("abc", 2)
    gap = slope_gap(sentences, *versions, y, units=units).gap
    assert gap.value == pytest.approx(0.7)
    # without a: .6; without b: .7; without c: .8
    assert [gap.deviations[item] for item in "abc"] == pytest.approx(centred([0.6, 0.7, 0.8]))
    # slopes of the contexts: .5 and .9
    assert gap.deviations["frame 1"] == pytest.approx(centred([0.9, 0.5])[0])
    swapped = slope_gap(sentences, *versions[::-1], y, units=units).gap
    assert swapped.value == pytest.approx(-0.7)


@pytest.mark.parametrize("seed", range(5))
def test_deviations_are_those_of_leaving_out_each_item_and_each_frame(seed):
    rng = np.random.default_rng(seed)
    table, y = rng.standard_normal((9, 4)), rng.random(9)
    items, frames = names("item", 9), names("frame", 4)
    gap = slope_of(table, y, items, frames)
    assert gap.value == pytest.approx(mean_slope(table, y))
    without = [mean_slope(np.delete(table, i, axis=0), np.delete(y, i)) for i in range(9)]
    assert [gap.deviations[item] for item in items] == pytest.approx(centred(without))
    without = [mean_slope(np.delete(table, i, axis=1), y) for i in range(4)]
    assert [gap.deviations[frame] for frame in frames] == pytest.approx(centred(without))


def test_the_variance_counts_the_interaction_of_item_and_frame_once():
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 10)
    values, variances = [], []
    for _ in range(2000):
        table = rng.standard_normal((20, 6))
        table += 0.3 * rng.standard_normal((20, 1)) + 0.5 * y[:, None] * rng.standard_normal(6)
        gap = slope_of(table, y, names("item", 20), names("frame", 6))
        values.append(gap.value)
        variances.append(gap.variance)
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.1)


def test_frames_vary_only_if_all_items_are_compared_with_the_same_versions():
    x, first, second, y, units = inputs(np.random.default_rng(0))
    shared = slope_gap(x, first, second, y, units=units).gap
    assert {f"frame {i}" for i in range(1, 5)} < set(shared.deviations)
    second[5] += 1
    own = slope_gap(x, first, second, y, units=units).gap
    assert set(own.deviations) == set(names("item", 12))
    assert own.doubled == 0


def test_an_order_of_the_rows_changes_nothing_where_versions_are_of_items():
    x, first, second, y, units = inputs(np.random.default_rng(1))
    second += np.random.default_rng(2).standard_normal(second.shape)
    gap = slope_gap(x, first, second, y, units=units).gap
    order = np.random.default_rng(3).permutation(len(x))
    mixed = {"sentences": [units["sentences"][i] for i in order]}
    again = slope_gap(x[order], first[order], second[order], y[order], units=mixed).gap
    assert again.value == pytest.approx(gap.value)
    assert again.deviations == pytest.approx(gap.deviations)


@pytest.mark.parametrize("y", [[0, 1], [1, 1, 1, 1], [0, 0, 0, 1]], ids=["two", "equal", "alone"])
def test_there_is_no_gap_if_one_item_decides_it(y):
    y = np.array(y, dtype=float)
    table = np.random.default_rng(0).standard_normal((len(y), 2))
    assert math.isnan(slope_of(table, y, names("item", len(y)), names("frame", 2)).value)


def test_lengths_and_a_constant_do_not_change_the_ratio():
    rng = np.random.default_rng(4)
    sides = [inputs(rng), inputs(rng, strength=1.0)]

    def ratio(change):
        gaps = [
            slope_gap(*(change(array) for array in (x, first, second)), y, units=units).gap
            for x, first, second, y, units in sides
        ]
        return ratio_of(*gaps, "yardstick")

    plain = ratio(unit)
    for changed in (
        ratio(lambda array: 3 * array),
        ratio(lambda array: np.hstack([unit(array), np.full((len(array), 1), 2.0)])),
    ):
        assert changed.value == pytest.approx(plain.value)
        assert changed.low == pytest.approx(plain.low)
        assert changed.t == pytest.approx(plain.t)


def test_noise_leaves_the_ratio_within_its_interval():
    rng = np.random.default_rng(5)
    bias, yardstick = inputs(rng, items=40), inputs(rng, items=40, strength=1.0)

    def gap(side, length):
        x, first, second, y, units = side

        def noisy(array):
            same = np.unique(array, axis=0, return_inverse=True)[1].ravel()
            noise = unit(rng.standard_normal((same.max() + 1, array.shape[1])))
            return unit(array) + length * noise[same]

        return slope_gap(noisy(x), noisy(first), noisy(second), y, units=units).gap

    plain = ratio_of(gap(bias, 0), gap(yardstick, 0), "yardstick")
    ratios = [ratio_of(gap(bias, 1), gap(yardstick, 1), "yardstick") for _ in range(20)]
    assert all(ratio.gap < 0.7 * plain.gap for ratio in ratios)
    assert sum(ratio.low < plain.value < ratio.high for ratio in ratios) >= 18
    assert np.mean([ratio.value for ratio in ratios]) == pytest.approx(plain.value, rel=0.15)


def test_shuffled_statistics_have_a_slope_of_0_within_its_error():
    rng = np.random.default_rng(6)
    x, first, second, y, units = inputs(rng, items=30, strength=0.0)
    y = y.reshape(30, 4)
    z = []
    for _ in range(200):
        shuffled = y[rng.permutation(30)].ravel()
        gap = slope_gap(x, first, second, shuffled, units=units).gap
        z.append(gap.value / math.sqrt(gap.variance))
    assert abs(np.mean(z)) < 0.25
    assert 0.02 < np.mean(np.abs(z) > 1.96) + 0.02 < 0.12


def test_projections_on_two_pairs_by_hand():
    words = np.eye(4)[[0, 1, 2]] + np.eye(4)[3]
    pairs_1, pairs_2 = np.eye(4)[[0, 0]], np.eye(4)[[2, 1]]
    units = {"occupations": ["a", "b", "c"], "pairs_1": ["p", "q"]}
    gap = projection_gap(pairs_1, pairs_2, words, np.array([-1.0, 0.0, 1.0]), units=units).gap
    # projections times √2: −1 0 1 on the first pair, −1 1 0 on the second
    assert gap.value == pytest.approx((1 + 0.5) / 2 / math.sqrt(2))
    assert set(gap.deviations) == {"a", "b", "c", "p", "q"}
    assert gap.deviations["p"] == pytest.approx(centred([0.5, 1])[0] / math.sqrt(2))


def test_the_mean_of_contrasts_adds_up_frames_that_they_share():
    gaps = [slope_gap(*arrays[:4], units=arrays[4]).gap for arrays in map(_of_seed, (7, 8))]
    mean = Gap.mean(gaps)
    frames = [gap.deviations["frame 1"] for gap in gaps]
    assert mean.deviations["frame 1"] == pytest.approx(sum(frames) / 2)


def _of_seed(seed):
    return inputs(np.random.default_rng(seed))
