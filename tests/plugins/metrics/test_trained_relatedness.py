"""Relatedness of text pairs, learnt from rated pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group, pearsonr, spearmanr

from harness.errors import InvalidOption
from harness.plugins.metrics.statistics.senteval import Schedule, train
from harness.plugins.metrics.trained_relatedness import (
    distributions,
    squared_error,
    trained_relatedness,
)


def run(train, dev, test, **options):
    options = {"resamples": 0} | options
    rng = np.random.default_rng(0)
    return trained_relatedness(*train, *dev, *test, rng=rng, **options)


def rated(n=120, d=6, noise=0.1, seed=0, planted=True):
    """Return pairs of vectors and ratings from 1 to 5 that depend on how near the pairs are."""
    rng = np.random.default_rng(seed)
    ratings = rng.uniform(1, 5, n)
    u = rng.standard_normal((n, d))
    spread = (5.5 - (ratings if planted else rng.permutation(ratings))) / 3
    return u, u + spread[:, None] * rng.standard_normal((n, d)) * (1 + noise), ratings


def three(**options):
    return [rated(seed=seed, **options) for seed in range(3)]


def test_a_rating_is_spread_over_its_two_nearest_levels():
    shares = distributions(np.array([1.0, 3.7, 5.0, 0.4, 0.0]), np.arange(1.0, 6))
    np.testing.assert_allclose(
        shares,
        [[1, 0, 0, 0, 0], [0, 0, 0.3, 0.7, 0], [0, 0, 0, 0, 1], [0.4, 0, 0, 0, 0], [0] * 5],
        atol=1e-12,
    )
    whole = distributions(np.linspace(0, 5, 51), np.arange(6.0))
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    np.testing.assert_allclose(whole @ np.arange(6), np.linspace(0, 5, 51))


def test_planted_relatedness_is_learnt_and_noise_is_not():
    learnt = run(*three())
    assert learnt["pearson"].value > 0.6
    assert learnt["spearman"].value > 0.6
    assert abs(run(*three(planted=False))["pearson"].value) < 0.25


def test_trained_to_the_end_each_kind_of_pair_gets_the_mean_rating_of_its_kind():
    # With a feature for each kind the softmax can equal the mean shares of the kind, which is the
    # optimum of the squared error: a direct solution.
    kind, levels = np.arange(120) % 2, np.arange(1.0, 6)
    ratings = np.where(kind, 4.0, 1.5) + np.repeat([0.5, 0, -0.5], 40)
    rows = np.arange(120)
    trained = train(
        4 * np.eye(2)[kind], distributions(ratings, levels), [(rows, rows)], np.zeros((1, 1)),
        lambda p, dev: np.zeros(1), loss=squared_error, seed=0,
        schedule=Schedule(epochs=3000, most_epochs=2000),
    )  # fmt: skip
    shares = np.array([distributions(ratings[kind == k], levels).mean(axis=0) for k in (0, 1)])
    learnt_shares = trained.probabilities(4 * np.eye(2), 0)
    np.testing.assert_allclose(learnt_shares, shares, atol=0.02)
    np.testing.assert_allclose(learnt_shares @ levels, [1.5, 4.0], atol=0.06)


def test_the_scores_are_the_correlations_of_the_samples():
    scores = run(*three())
    (part,) = scores["pearson"].samples
    predicted, ratings = part.columns["prediction"], part.columns["rating"]
    assert scores["pearson"].value == pytest.approx(pearsonr(predicted, ratings)[0])
    assert scores["spearman"].value == pytest.approx(spearmanr(predicted, ratings)[0])
    assert part.inputs == ("test_1", "test_2")
    assert ((predicted >= 1) & (predicted <= 5)).all()
    assert scores["pearson"].n == 120
    assert scores["pearson"].details["epochs"] % 50 == 0


def test_signs_of_dimensions_do_not_matter_and_a_rotation_changes_features():
    parts = three()
    flip = np.array([1, -1, 1, -1, 1, -1])
    flipped = run(*[(u * flip, v * flip, ratings) for u, v, ratings in parts])
    assert flipped["pearson"].value == pytest.approx(run(*parts)["pearson"].value, abs=1e-6)
    turn = ortho_group.rvs(6, random_state=0)
    turned = run(*[(u @ turn, v @ turn, ratings) for u, v, ratings in parts])
    assert turned["pearson"].value > 0.6


@pytest.mark.parametrize("levels", [(), (1,), (1, 3, 5), (5, 4)])
def test_levels_are_in_steps_of_one(levels):
    with pytest.raises(InvalidOption, match="levels"):
        run(*three(), levels=levels)
