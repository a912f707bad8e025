"""MAC by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.mac import mac

EAST, WEST, NORTH = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
seeds = st.integers(0, 2**32 - 1)


def run(targets, attributes, **options):
    sets = {f"targets_{i}": np.asarray(rows) for i, rows in enumerate(targets, start=1)}
    sets |= {f"attributes_{i}": np.asarray(rows) for i, rows in enumerate(attributes, start=1)}
    return mac(**sets, **{"resamples": 0, "rng": np.random.default_rng(0)} | options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_targets_have_equal_weights_and_so_have_attribute_sets():
    # distances of the three targets from east: 0, 1, 1; from north: 1, 0, 0; from south: 1, 2, 2
    score = run([[EAST], [NORTH, NORTH]], [[EAST], [NORTH, [0.0, -1.0], NORTH]])
    to_north = np.mean([1, 2 / 3, 2 / 3])
    assert score.value == pytest.approx(np.mean([np.mean([0, 1, 1]), to_north]))
    assert score.n == 3
    assert score.details["attribute_sets"] == 2


def test_target_sets_are_pooled():
    x, y, a = draw(0, 4, 3, 6)
    assert run([x, y], [a]).value == pytest.approx(run([np.vstack([x, y])], [a]).value)


@given(seeds)
def test_mac_does_not_change_under_rotation_or_with_the_vectors_lengths(seed):
    x, y, a, b = draw(seed, 4, 3, 5, 2)
    rotation = ortho_group.rvs(5, random_state=seed)
    rng = np.random.default_rng(seed)
    turned = [s @ rotation * rng.uniform(0.5, 2, (len(s), 1)) for s in (x, y, a, b)]
    value = run([x, y], [a, b]).value
    assert run(turned[:2], turned[2:]).value == pytest.approx(value, abs=1e-12)
    assert run([y, x], [b, a]).value == pytest.approx(value, abs=1e-12)
    assert 0 <= value <= 2


def test_the_interval_over_all_sets_contains_the_value():
    x, a, b = draw(1, 12, 9, 7)
    score = run([x], [a, b], resamples=500)
    assert score.interval.low < score.value < score.interval.high


def test_zero_vectors_are_at_distance_one():
    assert run([[[0.0, 0.0]]], [[EAST, WEST]]).value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("targets", "attributes", "reason"),
    [
        ([np.empty((0, 2))], [[EAST]], "targets_1"),
        ([[EAST]], [[EAST], np.empty((0, 2))], "attributes_2"),
    ],
)
def test_an_empty_set_has_no_distance(targets, attributes, reason):
    score = run(targets, attributes)
    assert np.isnan(score.value)
    assert reason in score.reason
