"""A concept's direction on data with a known direction."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import kstest, pearsonr, spearmanr

from harness.plugins.metrics.concept_direction import concept_direction, find_direction

FAST = {"projections": 200, "resamples": 0}


def planted(seed: int, strength: float = 1.0, d: int = 12) -> tuple[np.ndarray, ...]:
    """Return pairs that differ on the first axis, and attributes on it by their labels."""
    rng = np.random.default_rng(seed)
    base, axis = rng.standard_normal((10, d)), np.eye(d)[0]
    first = base - 4 * axis + 0.1 * rng.standard_normal((10, d))
    second = base + 4 * axis + 0.1 * rng.standard_normal((10, d))
    labels = rng.uniform(0, 1, 30)
    attributes = rng.standard_normal((30, d)) + strength * np.outer(labels - 0.5, axis) * 10
    return first, second, attributes, labels


def run(*arrays, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return concept_direction(*arrays, rng=np.random.default_rng(0), **FAST | options)


def test_a_planted_direction_is_found_and_points_to_the_second_side():
    first, second, attributes, labels = planted(0)
    g = find_direction(first, second)
    assert g.vector @ np.eye(12)[0] > 0.99
    assert (g.auc, g.component) == (1.0, 0)
    scores = run(first, second, attributes, labels, unit_length=False)
    correlation = scores["correlation"]
    assert correlation.value == pytest.approx(pearsonr(attributes @ g.vector, labels).statistic)
    assert correlation.details["spearman"] == pytest.approx(
        spearmanr(attributes @ g.vector, labels).statistic
    )
    assert correlation.value > 0.8
    assert correlation.details["p_isotropic"] == pytest.approx(1 / 201)
    assert correlation.p_value < 0.1


def test_two_pairs_by_hand():
    # both differences are along the first axis: one component explains all variance
    x_1, x_2 = np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([[1.0, 1.0], [3.0, 2.0]])
    g = find_direction(x_1, x_2)
    assert g.vector == pytest.approx([1.0, 0.0])
    assert g.explained == pytest.approx(1.0)
    labels = np.array([0.0, 1.0, 0.5])
    attributes = np.array([[-1.0, 5.0], [1.0, -7.0], [0.0, 3.0]])
    scores = run(x_1, x_2, attributes, labels, unit_length=False)
    assert scores["correlation"].value == pytest.approx(1.0)
    assert scores["auc"].value == pytest.approx(1.0)


def test_the_component_with_the_highest_auc_wins_whatever_its_variance():
    rng = np.random.default_rng(1)
    base = rng.standard_normal((20, 2)) * [30, 0]
    noise = rng.choice([-5.0, 5.0], 20)  # larger differences, but in both directions
    second = base + np.stack([noise, np.full(20, 1.0)], axis=1)
    g = find_direction(base, second)
    assert g.component == 1
    assert abs(g.vector[1]) > 0.9


def test_p_values_are_uniform_for_unrelated_attributes():
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(100):
        first, second = rng.standard_normal((2, 6, 10))
        attributes = rng.standard_normal((20, 10)) @ np.diag(np.arange(1.0, 11.0))
        scores = run(first, second, attributes, rng.uniform(0, 1, 20), unit_length=False)
        p_values.append([scores["correlation"].details["p_isotropic"], scores["auc"].p_value])
        p_values[-1].append(scores["correlation"].p_value)
    isotropic, of_sides, of_pairs = np.array(p_values).T
    for uniform in (isotropic, of_pairs):
        assert kstest(uniform, "uniform").pvalue > 0.005
    # An AUC of six pairs has few values; the bound is 2.4 standard errors above.
    assert np.mean(of_sides <= 0.1) <= 0.172


def test_the_null_spread_of_independent_attributes_is_that_of_independent_items():
    first, second, _, labels = planted(9)
    correlation = run(first, second, np.eye(30, 12) + 1e-9, labels, projections=2_000)[
        "correlation"
    ]
    assert 0.1 < correlation.details["null_spread"] < 0.3  # 1/√29 = .19


def test_the_floor_of_the_auc_is_that_of_the_whole_search_on_pairs_with_swapped_sides():
    rng = np.random.default_rng(10)
    first, second = rng.standard_normal((2, 8, 30))
    scores = run(first, second, *planted(10, d=30)[2:], unit_length=False, null_draws=400)
    swapped = []
    for _ in range(400):
        swap = rng.random((8, 1)) < 0.5
        swapped.append(
            find_direction(np.where(swap, second, first), np.where(swap, first, second)).auc
        )
    assert scores["auc"].details["floor"] == pytest.approx(np.mean(swapped), abs=0.01)
    share = np.mean(np.array(swapped) >= scores["auc"].value - 1e-12)
    assert scores["auc"].p_value == pytest.approx(share, abs=0.07)


def test_the_null_of_the_correlation_is_that_of_the_whole_search_on_words_paired_anew():
    rng = np.random.default_rng(11)
    first, second = rng.standard_normal((2, 8, 30))
    _, _, attributes, labels = planted(11, d=30)
    score = run(first, second, attributes, labels, unit_length=False, null_draws=400)["correlation"]
    words, found = np.vstack([first, second]), []
    for _ in range(400):
        order = rng.permutation(16)
        g = find_direction(words[order[:8]], words[order[8:]])
        found.append(pearsonr(attributes @ g.vector, labels).statistic)
    assert score.null.shuffled == "words of the pairs"
    assert np.abs(score.null.values).mean() == pytest.approx(np.abs(found).mean(), rel=0.15)


def test_pairs_held_out_are_the_right_way_round_for_a_concept_and_half_of_them_for_none():
    concept = run(*planted(12))["auc"].details["held_out"]
    rng = np.random.default_rng(12)
    unrelated = [
        run(*rng.standard_normal((2, 10, 20)), *planted(12, d=20)[2:], projections=0)["auc"].details
        for _ in range(20)
    ]
    assert concept == 1.0
    assert np.mean([details["held_out"] for details in unrelated]) == pytest.approx(0.5, abs=0.1)
