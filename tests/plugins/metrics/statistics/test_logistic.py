"""Many penalised logistic regressions at once equal those of liblinear, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from harness.plugins.metrics.statistics import separability


@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize(("n", "d"), [(16, 50), (50, 3), (600, 20)])
def test_each_labelling_has_the_classifier_of_liblinear(n, d, length):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, d)) + 0.5
    x *= length / np.linalg.norm(x, axis=1, keepdims=True)
    labels = rng.permuted(np.tile(np.arange(n) % 3 == 0, (5, 1)), axis=1).astype(int)
    weights = separability.logistic_weights(x, labels, weight=0.8)
    for row, own in zip(labels, weights, strict=True):
        model = LogisticRegression(solver="liblinear", C=0.8, tol=1e-9, max_iter=10_000)
        model.fit(x, row)
        assert own == pytest.approx([*model.coef_[0], *model.intercept_], abs=0.02)


def test_shuffled_labels_keep_the_share_of_each_label_and_say_nothing_on_average():
    rng = np.random.default_rng(0)
    x, others = rng.standard_normal((40, 10)), rng.standard_normal((4, 10))
    p = separability.with_shuffled_labels(x, np.arange(40) % 2, others, draws=2000, rng=rng)
    assert p.shape == (2000, 4)
    assert p.mean(axis=0) == pytest.approx(0.5, abs=0.03)


def test_without_draws_there_is_nothing():
    rng = np.random.default_rng(0)
    assert separability.with_shuffled_labels(
        np.ones((4, 2)), np.array([0, 0, 1, 1]), np.ones((3, 2)), draws=0, rng=rng
    ).shape == (0, 3)
