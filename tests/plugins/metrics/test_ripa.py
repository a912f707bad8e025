"""RIPA by hand, its symmetries, and its pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

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


@given(seeds, st.permutations(range(4)))
def test_the_order_of_pairs_has_no_effect_but_the_pairing_has(seed, order):
    x, y, a = draw(seed, 4, 4, 6)
    score = run(x, y, a)
    assert run(x[order], y[order], a).value == pytest.approx(score.value)
    if list(order) != [0, 1, 2, 3]:
        assert run(x, y[order], a).value != pytest.approx(score.value)


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


@pytest.mark.parametrize("unit_length", [False, True])
@pytest.mark.parametrize("constant", [1.0, 2.0, 4.0])
def test_one_more_constant_coordinate_changes_no_value_in_its_unit(constant, unit_length):
    """Over the spread of cosines, whose degree is another one, a constant of 4 quadrupled it."""
    sets = [rows / np.linalg.norm(rows, axis=1)[:, None] for rows in draw(2, 8, 8, 20, 20, d=30)]
    more = [np.pad(rows, ((0, 0), (0, 1)), constant_values=constant) for rows in sets]
    score, padded = (run(*rows, unit_length=unit_length) for rows in (sets, more))
    assert padded.value / padded.unit == pytest.approx(score.value / score.unit)


@given(seeds, st.floats(0.1, 10))
def test_the_value_in_its_unit_does_not_depend_on_an_offset_or_on_the_scale(seed, scale):
    sets = draw(seed, 4, 4, 6, 6)
    offset = 5 * np.random.default_rng(seed).standard_normal(5)
    score, moved = run(*sets), run(*(scale * (rows + offset) for rows in sets))
    assert moved.value / moved.unit == pytest.approx(score.value / score.unit, abs=1e-9)


def test_one_pair_has_the_spread_of_the_attributes_along_it():
    score = run([EAST], [WEST], [[2.0, 7.0], [1.0, 0.0]], [[-1.0, 0.0]])
    assert score.unit == pytest.approx(np.std([2, 1, -1]))


def test_random_sides_of_pairs_are_significant_as_often_as_they_may():
    """The attributes differ along one direction, and random pairs are not orthogonal to it."""
    rng = np.random.default_rng(5)
    rejected = {"both": 0, "attributes": 0}
    for _ in range(200):
        x, y, a, b = (rng.standard_normal((8, 10)) for _ in range(4))
        a, b = a + 2 * np.eye(10)[0], b - 2 * np.eye(10)[0]
        for sides in rejected:
            rejected[sides] += run(x, y, a, b, sides=sides).p_value <= 0.05
    assert rejected["attributes"] > 60
    assert rejected["both"] <= 14


def test_few_pairs_are_tested_by_students_t():
    """Five pairs have 32 swaps, and the smallest two-sided p-value of these is .0625."""
    x, y, a, b = draw(6, 6, 6, 9, 9)
    by_pair = run(x, y, a, b).value, [run(x[[i]], y[[i]], a, b).value for i in range(6)]
    assert by_pair[0] == pytest.approx(np.mean(by_pair[1]))
    five = run(x[:5], y[:5], a, b).details["p_targets"]
    assert five == pytest.approx(ttest_1samp(by_pair[1][:5], 0).pvalue)
    assert run(x, y, a, b).details["p_targets"] * 64 == pytest.approx(
        sum(
            abs(np.dot(signs, by_pair[1])) >= abs(6 * by_pair[0]) - 1e-9
            for signs in itertools.product((1, -1), repeat=6)
        )
    )
    assert run(x[:1], y[:1], a, b).details["p_targets"] == 1
