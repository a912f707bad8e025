"""Pooled scores have their sign until they are averaged; their floor is that of all pairs."""

import itertools

import numpy as np
import pytest

from harness.study.cells import pooled, pooled_floor


def test_the_mean_over_folds_is_the_size_of_the_mean_score():
    scores = [[0.3], [-0.1], [0.1]]
    assert pooled(scores) == pytest.approx([0.3, -0.1, 0.1])
    assert pooled(-np.array(scores)) == pytest.approx([0.3, -0.1, 0.1])


def test_scenarios_are_averaged_after_their_sizes_are_taken():
    assert pooled([[0.3, -0.2], [0.1, -0.4]]).mean() == pytest.approx(0.25)


def test_a_fold_with_an_undefined_scenario_is_undefined_and_has_no_say_in_the_direction():
    result = pooled([[0.3, None], [-0.1, 0.2], [-0.1, 0.4]])
    assert np.isnan(result[0])
    assert result[1:] == pytest.approx([0.15, 0.25])


def test_scores_of_both_signs_cancel_where_their_sizes_would_not():
    scores = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert pooled(scores).mean() == 0
    assert np.abs(scores).mean() == 1


def test_the_floor_is_the_mean_size_over_all_assignments_of_sides():
    shares = np.random.default_rng(0).normal(size=(3, 4))  # of four pairs in each of three folds
    signs = np.array(list(itertools.product([1, -1], repeat=12))).reshape(-1, 3, 4)
    exact = np.abs((signs * shares).mean(axis=(1, 2))).mean()
    spreads = np.sqrt((shares**2).sum(axis=1)) / 4
    assert pooled_floor(spreads.reshape(1, 3, 1)) == pytest.approx(exact, rel=0.05)


def test_repeats_do_not_lower_the_floor():
    spreads = np.full((1, 5, 2), 0.3)
    assert pooled_floor(np.tile(spreads, (4, 1, 1))) == pytest.approx(pooled_floor(spreads))
