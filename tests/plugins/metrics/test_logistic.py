"""Logistic regressions in one batch: the optimum that fits one by one have, on every part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from harness.arrays import unit_rows
from harness.plugins.metrics.logistic import fits

GRID = (0.1, 1.0, 10.0, 100.0)


def rows(n: int = 120, d: int = 6, classes: int = 2, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.standard_normal((n, d))
    x[:, :classes] += 0.8 * np.eye(classes)[y]
    return unit_rows(x + 0.3), y


def parts_of(n: int, folds: int = 3):
    return (np.arange(n)[:, None] // 7) % folds != np.arange(folds)


def gradient(x, y, c, coefficients, intercepts):
    """Return the length of the gradient of Σ −log p(y) + ‖w‖²/2C."""
    values = x @ coefficients + intercepts
    if values.shape[1] == 1:
        missed = 1 / (1 + np.exp(-values)) - y[:, None]
    else:
        p = np.exp(values - values.max(axis=1, keepdims=True))
        missed = p / p.sum(axis=1, keepdims=True) - np.eye(values.shape[1])[y]
    return np.linalg.norm(np.vstack([x.T @ missed + coefficients / c, missed.sum(axis=0)]))


@pytest.mark.parametrize(("classes", "columns"), [(2, 1), (3, 3), (4, 4)])
def test_every_part_has_the_optimum_that_scikit_learn_finds(classes, columns):
    x, y = rows(classes=classes)
    parts = parts_of(len(x))
    for found in fits(x, y, parts, GRID, tolerance=1e-10):
        assert found.coefficients.shape == (x.shape[1], parts.shape[1], columns)
        for i, part in enumerate(parts.T):
            peer = LogisticRegression(C=found.c, tol=1e-10, max_iter=10_000, solver="newton-cg")
            peer.fit(x[part], y[part])
            assert found.coefficients[:, i] == pytest.approx(peer.coef_.T, abs=1e-6)
            # of more than two classes, intercepts may all move alike
            shift = found.intercepts[i] - peer.intercept_
            assert shift - (shift.mean() if classes > 2 else 0) == pytest.approx(0, abs=1e-6)
            assert np.array_equal(found.predicted[:, i], peer.predict(x))


def test_by_default_the_gradient_is_near_enough_to_none():
    x, y = rows(classes=3)
    parts = parts_of(len(x))
    for found in fits(x, y, parts, GRID):
        for i, part in enumerate(parts.T):
            w, b = found.coefficients[:, i], found.intercepts[i]
            assert gradient(x[part], y[part], found.c, w, b) <= 1.01e-6 * part.sum()


def test_the_values_are_those_of_the_coefficients():
    x, y = rows()
    found = next(fits(x, y, parts_of(len(x)), [1.0]))
    expected = np.einsum("nd,dpk->npk", x, found.coefficients) + found.intercepts
    assert found.values == pytest.approx(expected, abs=1e-10)


def test_more_columns_than_rows_and_columns_that_are_alike_are_solved_too():
    x, y = rows(n=40, d=90)
    x[:, 1] = x[:, 0]
    parts = np.ones((40, 1), dtype=bool)
    found = next(fits(x, y, parts, [10.0], tolerance=1e-10))
    peer = LogisticRegression(C=10, tol=1e-10, max_iter=10_000).fit(x, y)
    assert found.coefficients[:, 0] == pytest.approx(peer.coef_.T, abs=1e-5)
    assert found.coefficients[0] == pytest.approx(found.coefficients[1])


def test_two_points_as_by_hand():
    # ±1 with a free intercept of 0: −σ(−w)·2 + w/C = 0, so that with C = 1/(2σ(−1)) w = 1
    x, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    c = (1 + np.e) / 2
    found = next(fits(x, y, np.ones((2, 1), dtype=bool), [c], tolerance=1e-12))
    assert found.coefficients.item() == pytest.approx(1, abs=1e-9)
    assert found.intercepts.item() == pytest.approx(0, abs=1e-9)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([2, 3]))
def test_rows_of_no_part_change_nothing(seed, classes):
    x, y = rows(n=60, classes=classes, seed=seed)
    parts = parts_of(len(x))
    rng = np.random.default_rng(seed)
    more = np.vstack([x, 5 * rng.standard_normal((9, x.shape[1]))])
    unknown = np.append(y, np.full(9, -1))
    none = np.vstack([parts, np.zeros((9, parts.shape[1]), dtype=bool)])
    alone, beside = (
        list(fits(*of, (1.0,), tolerance=1e-10)) for of in ((x, y, parts), (more, unknown, none))
    )
    for one, other in zip(alone, beside, strict=True):
        assert one.coefficients == pytest.approx(other.coefficients, abs=1e-6)


def test_sides_that_lie_apart_far_from_the_origin_are_solved():
    # values of some hundreds: exp must not overflow, nor a whole step overshoot
    x = np.array([[1000.0], [1001.0], [1010.0], [1011.0]])
    found = list(fits(x, np.array([0, 0, 1, 1]), np.ones((4, 1), dtype=bool), (1.0, 1e4)))
    assert [fit.predicted[:, 0].tolist() for fit in found] == [[0, 0, 1, 1]] * 2
    assert np.isfinite(found[-1].values).all()
