"""ECT by hand, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group, spearmanr

from harness.arrays import cosines
from harness.plugins.metrics.ect import ect

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]
FAN = [[np.cos(angle), np.sin(angle)] for angle in (0.1, 0.5, 0.9, 1.4)]
seeds = st.integers(0, 2**32 - 1)


def run(*sets, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return ect(*[np.asarray(rows, dtype=float) for rows in sets], **options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_equal_orders_give_one_and_opposite_orders_minus_one():
    assert run([EAST], [[1.0, -0.2]], FAN).value == pytest.approx(1.0)
    assert run([EAST], [NORTH], FAN).value == pytest.approx(-1.0)


def test_ect_is_the_rank_correlation_of_cosines_to_the_mean_vectors():
    x, y, a = draw(0, 4, 3, 9)
    to_x, to_y = (cosines(a, s.mean(axis=0)[None])[:, 0] for s in (x, y))
    score = run(x, y, a)
    assert score.value == pytest.approx(spearmanr(to_x, to_y)[0])
    assert score.n == 9


@given(seeds, st.booleans())
def test_ect_does_not_change_under_rotation_scale_or_swap(seed, unit_length):
    x, y, a = draw(seed, 4, 3, 6)
    rotation = ortho_group.rvs(5, random_state=seed)
    lengths = np.random.default_rng(seed).uniform(0.5, 2, (6, 1))
    value = run(x, y, a, unit_length=unit_length).value
    turned = [3 * x @ rotation, 5 * y @ rotation, lengths * a @ rotation]
    assert run(*turned, unit_length=unit_length).value == pytest.approx(value)
    assert run(y, x, a, unit_length=unit_length).value == pytest.approx(value)
    assert -1 <= value <= 1


@given(seeds)
def test_at_unit_length_the_lengths_of_targets_do_not_matter(seed):
    sets = draw(seed, 4, 3, 6)
    rng = np.random.default_rng(seed)
    longer = [s * rng.uniform(0.5, 2, (len(s), 1)) for s in sets]
    value = run(*sets, unit_length=True).value
    assert run(*longer, unit_length=True).value == pytest.approx(value)


@given(seeds)
def test_equal_target_sets_are_coherent(seed):
    x, a = draw(seed, 4, 6)
    assert run(x, x, a).value == pytest.approx(1.0)


def test_the_interval_over_attributes_contains_the_value():
    score = run(*draw(1, 4, 3, 30), resamples=500)
    assert score.interval.low < score.value < score.interval.high


@pytest.mark.parametrize(
    ("sets", "reason"),
    [
        (([EAST], [NORTH], FAN[:2]), "three attributes"),
        (([EAST], [NORTH], [EAST] * 3), "equally"),
        (([[0.0, 0.0]], [NORTH], FAN), "equally"),
        ((np.empty((0, 2)), [NORTH], FAN), "targets_1"),
    ],
)
def test_undefined_scores_have_a_reason(sets, reason):
    score = run(*sets)
    assert np.isnan(score.value)
    assert reason in score.reason
