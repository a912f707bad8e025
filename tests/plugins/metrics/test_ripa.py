"""RIPA by hand, its symmetries, and its pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from harness.plugins.metrics.ripa import ripa

EAST, WEST, NORTH = [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]
seeds = st.integers(0, 2**32 - 1)


def run(*sets, **options):
    options = {"resamples": 0, "rng": np.random.default_rng(0)} | options
    return ripa(*[np.asarray(rows, dtype=float) for rows in sets], **options)


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def test_an_attribute_is_projected_on_differences_of_length_one():
    # the pairs span the east and the north; (3, 4) projects on them at 3 and 4
    score = run([[5.0, 0.0], [0.0, 1.0]], [WEST, [0.0, 0.0]], [[3.0, 4.0]])
    assert score.value == pytest.approx(3.5)
    assert score.details["sd_pairs"] == pytest.approx(np.std([3, 4], ddof=1))
    assert score.n == 2


def test_unit_length_is_set_before_differences_are_taken():
    pairs = [[2.0, 0.0]], [[0.0, 1.0]]
    direction = np.array([1.0, -1.0]) / np.sqrt(2)
    score = run(*pairs, [[0.0, 5.0]], unit_length=True)
    assert score.value == pytest.approx(direction @ NORTH)
    assert score.details["unit_length"]


@given(seeds, st.booleans())
def test_ripa_is_invariant_under_rotation_and_flips_with_the_targets(seed, unit_length):
    x, y, a = draw(seed, 4, 4, 6)
    rotation = ortho_group.rvs(5, random_state=seed)
    value = run(x, y, a, unit_length=unit_length).value
    turned = run(x @ rotation, y @ rotation, a @ rotation, unit_length=unit_length).value
    assert turned == pytest.approx(value, abs=1e-9)
    assert run(y, x, a, unit_length=unit_length).value == pytest.approx(-value, abs=1e-12)


@given(seeds)
def test_at_unit_length_lengths_have_no_effect_and_scores_are_at_most_one(seed):
    sets = draw(seed, 4, 4, 6)
    rng = np.random.default_rng(seed)
    longer = [s * rng.uniform(0.5, 2, (len(s), 1)) for s in sets]
    value = run(*sets, unit_length=True).value
    assert run(*longer, unit_length=True).value == pytest.approx(value)
    assert abs(value) <= 1


@given(seeds, st.permutations(range(4)))
def test_the_order_of_pairs_has_no_effect_but_the_pairing_has(seed, order):
    x, y, a = draw(seed, 4, 4, 6)
    score = run(x, y, a)
    assert run(x[order], y[order], a).value == pytest.approx(score.value)
    if list(order) != [0, 1, 2, 3]:
        assert run(x, y[order], a).value != pytest.approx(score.value)


def test_a_word_may_be_in_several_pairs_and_on_both_sides():
    score = run([EAST, EAST, NORTH], [WEST, NORTH, EAST], [EAST])
    expected = [1, np.sqrt(0.5), -np.sqrt(0.5)]
    assert score.value == pytest.approx(np.mean(expected))
    assert score.n == 3


def test_a_pair_of_equal_vectors_spans_no_direction_and_is_left_out():
    clusters = {"targets_1": np.array([0, 1, 2]), "attributes": np.array([0])}
    score = run([EAST, NORTH, EAST], [WEST, NORTH, NORTH], [EAST], resamples=50, clusters=clusters)
    assert score.value == pytest.approx(np.mean([1, np.sqrt(0.5)]))
    assert score.n == 2
    assert score.details["pairs_without_direction"] == 1
    assert score.interval is None  # of two pairs and one attribute
    none = run([EAST], [EAST], [NORTH])
    assert np.isnan(none.value)
    assert "equal" in none.reason


def test_sides_of_different_lengths_have_no_score():
    score = run([EAST, NORTH], [WEST], [EAST])
    assert np.isnan(score.value)
    assert all(fact in score.reason for fact in ("2", "1", "one table"))


def test_the_interval_over_pairs_and_attributes_contains_the_value():
    score = run(*draw(1, 10, 10, 12), resamples=500)
    assert score.interval.low < score.value < score.interval.high
    assert run([EAST], [WEST], [NORTH], resamples=50).interval is None
