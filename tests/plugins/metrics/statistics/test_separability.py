"""Separability of two sides: clusters, neighbours and a classifier, on vectors in known places."""

from __future__ import annotations

import numpy as np
import pytest

from harness.arrays import unit_rows
from harness.plugins.metrics.statistics import separability
from harness.plugins.metrics.statistics.separability import (
    fold_predictions,
    matched_accuracy,
    positive_neighbour_shares,
    two_clusters,
)

LABELS = np.repeat([0, 1], 20)


def sides(distance: float) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal((40, 4))
    x[:, 0] += distance * (2 * LABELS - 1)
    return x


@pytest.mark.parametrize("swapped", [False, True])
def test_two_clusters_match_separated_sides_in_either_order(swapped):
    labels = 1 - LABELS if swapped else LABELS
    assert matched_accuracy(two_clusters(sides(20), seed=0), labels) == 1.0


def test_cluster_accuracy_is_at_least_one_half():
    assert 0.5 <= matched_accuracy(two_clusters(sides(0), seed=0), LABELS) < 0.8


@pytest.mark.parametrize("classifier", ["rbf-svm", "logistic"])
def test_each_fold_has_an_accuracy_and_separated_sides_have_one(classifier):
    predictions = fold_predictions(sides(20), LABELS, classifier, 4, seed=0)
    assert predictions.accuracies.tolist() == [1.0] * 4
    assert np.bincount(predictions.folds).tolist() == [10] * 4


def test_contributions_have_the_mean_of_the_folds_accuracies_where_folds_differ_in_size():
    labels = np.repeat([0, 1], [10, 11])
    predictions = fold_predictions(sides(0.2)[10:31], labels, "logistic", 4, seed=0)
    assert predictions.contributions.mean() == pytest.approx(predictions.accuracies.mean())


def test_neighbours_are_the_nearest_other_words(monkeypatch):
    angles = np.radians([0, 10, 25, 180, 190])
    x = unit_rows(np.column_stack([np.cos(angles), np.sin(angles)]))
    positive = np.array([True, False, True, True, False])
    for block in (512, 2):
        monkeypatch.setattr(separability, "BLOCK", block)
        shares = positive_neighbour_shares(x, positive, np.arange(5), 2)
        # neighbours by hand: 1 2, 0 2, 0 1, 4 2, 3 2
        assert shares.tolist() == [0.5, 1.0, 0.5, 0.5, 1.0]
