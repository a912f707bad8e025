"""RNSB by hand, its runs, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from harness.plugins.metrics.rnsb import rnsb


def run(targets, positive, negative, seed=0, **options):
    sets = {f"targets_{i}": np.asarray(rows) for i, rows in enumerate(targets, start=1)}
    sets |= {"attributes_1": np.asarray(positive), "attributes_2": np.asarray(negative)}
    return rnsb(**sets, rng=np.random.default_rng(seed), **options)["divergence"]


def draw(seed, *sizes, d=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for n in sizes]


def lexicon(seed, n=20, d=5):
    a, b = draw(seed, n, n, d=d)
    return a + 1, b - 1


def test_the_classifier_is_penalised_logistic_regression_with_a_penalised_intercept():
    a, b = np.array([[2.0], [1.0], [3.0]]), np.array([[-1.0], [0.5], [-2.0]])
    targets = np.array([[1.0], [-1.0], [0.0]])
    x, y = np.vstack([a, b])[:, 0], np.repeat([-1, 1], 3)

    def loss(w):
        return w @ w / 2 + np.logaddexp(0, -y * (w[0] * x + w[1])).sum()

    w = minimize(loss, [0.0, 0.0]).x
    p = 1 / (1 + np.exp(-(targets[:, 0] * w[0] + w[1])))
    shares = p / p.sum()
    score = run([targets], a, b, holdout=0)
    assert score.value == pytest.approx((shares * np.log(3 * shares)).sum(), rel=1e-3)
    assert score.details["negative"]["targets_1"] == pytest.approx(p.mean(), rel=1e-3)
    assert score.n == 3


def test_target_sets_are_pooled_and_their_means_are_reported():
    a, b = lexicon(0)
    x, y, z = np.full((3, 5), 1.0), np.full((2, 5), -1.0), np.zeros((1, 5))
    several = run([x, y, z], a, b, holdout=0)
    assert several.value == pytest.approx(run([np.vstack([x, y, z])], a, b, holdout=0).value)
    means = several.details["negative"]
    assert means["targets_1"] < means["targets_3"] < means["targets_2"]


def test_one_word_with_all_the_negative_sentiment_has_the_largest_divergence():
    a, b = lexicon(0)
    targets = np.vstack([np.full((7, 5), 100.0), np.full((1, 5), -100.0)])
    assert run([targets], a, b).value == pytest.approx(np.log(8))


def test_without_held_out_words_there_is_one_run_and_no_randomness():
    a, b = lexicon(3)
    (x,) = draw(4, 6)
    score = run([x], a, b, holdout=0, repeats=30)
    assert score == run([x], a, b, seed=1, holdout=0)
    assert score.details["repeats"] == 1
    assert score.details["sd"] is None
    assert score.details["accuracy"] is None


def gap(targets, positive, negative, seed=0, **options):
    sets = {f"targets_{i}": np.asarray(rows) for i, rows in enumerate(targets, start=1)}
    sets |= {"attributes_1": positive, "attributes_2": negative}
    return rnsb(**sets, rng=np.random.default_rng(seed), repeats=3, **options)["gap"]


def test_shuffled_attributes_are_rejected_as_often_as_the_p_value_says():
    # Two groups far apart: any classifier finds a gap, whatever it was trained on.
    rng, p_values = np.random.default_rng(0), []
    apart = 2 * rng.standard_normal(20)
    groups = [rng.standard_normal((10, 20)) + side * apart for side in (-1, 1)]
    for seed in range(60):
        positive, negative = draw(seed, 15, 15, d=20)
        score = gap(groups, positive, negative, seed, null_draws=99, unit_length=True)
        p_values.append((score.p_value, score.details["p_targets"]))
    both, targets_alone = (np.array(p_values) <= 0.05).mean(axis=0)
    assert both <= 0.12
    assert targets_alone > 0.5


def test_the_floor_is_that_of_shuffled_attributes_if_these_show_more():
    positive, negative = draw(1, 15, 15, d=20)
    apart = np.full(20, 2.0)
    groups = [
        group + side * apart for side, group in zip((-1, 1), draw(2, 10, 10, d=20), strict=True)
    ]
    score = gap(groups, positive, negative, unit_length=True)
    assert score.null.shuffled == "members of the attribute sets"
    assert score.p_value == score.details["p_attributes"] >= score.details["p_targets"]
    brute = []
    for seed in range(100):
        order = np.random.default_rng(seed).permutation(30)
        a, b = np.split(np.vstack([positive, negative])[order], 2)
        brute.append(gap(groups, a, b, seed, null_draws=0, unit_length=True).value)
    assert np.mean(score.null.values) == pytest.approx(np.mean(brute), rel=0.25)
