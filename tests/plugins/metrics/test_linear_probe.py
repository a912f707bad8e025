"""Linear probe: accuracy, folds and intervals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from harness.plugins.metrics.linear_probe import deal, linear_probe, regressions


def run(x, y, *others, texts=None, **options):
    second, test = (others[i] if i < len(others) else None for i in (0, 1))
    inputs = {"texts_1": x, "texts_2": second, "test_1": test}
    defaults = {k: [f"{k} {i}" for i in range(len(v))] for k, v in inputs.items() if v is not None}
    options = {"resamples": 0, "folds": 5} | options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng = np.random.default_rng(0)
        return linear_probe(x, y, *others, rng=rng, texts=defaults | (texts or {}), **options)


def two_sides(n: int = 60, d: int = 5, gap: float = 3.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.standard_normal((n, d))
    x[:, 0] += gap * (2 * y - 1)
    return x, y.astype(float)


def test_separated_classes_are_found_and_noise_is_not():
    x, y = two_sides(gap=20)
    score = run(x, y)
    assert score.value == 1.0
    assert score.n == 60
    assert score.details["majority"] == 0.5
    assert len(score.details["folds"]) == len(score.details["c"]) == 5
    rng = np.random.default_rng(1)
    assert run(rng.standard_normal((400, 5)), rng.integers(0, 2, 400)).value < 0.6


def test_labels_may_be_any_numbers_and_more_than_two_classes():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = np.eye(3)[y] + 0.05 * rng.standard_normal((90, 3))
    score = run(x, np.array([-1.0, 7.5, 40.0])[y])
    assert score.value == 1.0
    assert score.details["labels"] == 3


def test_a_test_set_is_classified_by_a_regression_on_the_training_set():
    x, y = two_sides(gap=1)
    more, truth = two_sides(gap=1, seed=5)
    score = run(x, y, None, more, truth, grid=(10.0,))
    unit, other = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, more))
    peer = LogisticRegression(C=10).fit(unit, y)
    assert score.value == pytest.approx(peer.score(other, truth))
    assert score.n == len(truth)
    assert score.details["seen"] == 0


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("c", [0.1, 100.0])
def test_regressions_trained_together_are_those_of_scikit_learn(classes, c):
    rng = np.random.default_rng(0)
    y = np.arange(120) % classes
    x = 1 + np.eye(9)[y] + rng.standard_normal((120, 9))  # far from a mean of 0
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    used = rng.random((3, 120)) < 0.7
    for rows, weights in zip(used, regressions(x, y, used, c), strict=True):
        peer = LogisticRegression(C=c, tol=1e-9, max_iter=10_000).fit(x[rows], y[rows])
        ours = 1 / (1 + np.exp(-x @ weights[:, :-1].T - weights[:, -1]))
        if classes > 2:
            z = x @ weights[:, :-1].T + weights[:, -1]
            ours = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        assert ours == pytest.approx(peer.predict_proba(x)[:, -ours.shape[1] :], abs=5e-4)


def test_texts_of_the_test_set_that_were_trained_on_are_counted():
    x, y = two_sides(gap=9)
    texts = {"texts_1": [f"t{i}" for i in range(60)], "test_1": ["t0", "t1", "new"]}
    score = run(x, y, None, x[:3], y[:3], texts=texts)
    assert score.details["seen"] == 2
    assert score.value == 1.0


def test_pairs_are_classified_by_their_difference():
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, 120, 4))
    same = np.arange(120) % 2
    v[same == 1] = u[same == 1] + 0.05 * rng.standard_normal((60, 4))
    assert run(u, same.astype(float), v).value > 0.95
    assert run(u, same.astype(float)).value < 0.7


def test_copies_of_a_text_are_in_the_same_fold():
    # labels are random, so only a copy in another fold can reveal one
    rng = np.random.default_rng(0)
    x, y = (
        np.repeat(rng.standard_normal((60, 100)), 3, axis=0),
        np.repeat(rng.permutation(60) % 2, 3),
    )
    apart = run(x, y, grid=(1e4,))
    together = run(x, y, grid=(1e4,), texts={"texts_1": [str(i // 3) for i in range(180)]})
    assert apart.value > 0.95
    assert together.value < 0.7


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(2, 5), st.integers(0, 99))
def test_groups_stay_together_and_classes_are_spread_evenly(groups, folds, seed):
    groups = np.array(groups)
    y = groups % 3
    parts = deal(groups, y, folds, np.random.default_rng(seed))
    for group in set(groups.tolist()):
        assert len(set(parts[groups == group].tolist())) == 1
    for of_class in (groups[y == k] for k in range(3)):
        sizes = [len(set(of_class[parts[np.isin(groups, of_class)] == f])) for f in range(folds)]
        assert max(sizes) - min(sizes) <= 1


def test_the_interval_contains_the_value_and_is_wider_for_copies():
    x, y = two_sides(gap=0.7)
    score = run(x, y, resamples=300)
    assert score.interval.low < score.value < score.interval.high
    texts = {"texts_1": [str(i // 3) for i in range(180)]}
    copied = run(np.repeat(x, 3, axis=0), np.repeat(y, 3), resamples=300, texts=texts)
    narrow = run(np.repeat(x, 3, axis=0), np.repeat(y, 3), resamples=300)
    assert copied.interval.high - copied.interval.low > narrow.interval.high - narrow.interval.low
    assert "clusters" in copied.interval.method
