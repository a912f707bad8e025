"""Logistic regressions on the same rows with shuffled labels, all trained at once."""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals

STEPS = 200
"""Most steps. Rows of length 1 need 5 to 30, long rows more."""
CLOSE = 1e-4
"""A step that moves no weight by more is the last one."""


def with_shuffled_labels(
    x: Floats,
    labels: Reals,
    others: Floats,
    *,
    weight: float = 1.0,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Return what classifiers of shuffled labels say about other rows.

    Parameters
    ----------
    x
        (n, d) rows to train on.
    labels
        (n,) labels, 0 or 1.
    others
        (m, d) rows to classify.
    weight
        Weight of each row of `x`: C of scikit-learn.
    draws
        Number of shuffles.
    rng
        Random number generator of the shuffles.

    Returns
    -------
    (draws, m)
        Probabilities of label 1.
    """
    shuffled = rng.permuted(np.tile(labels, (draws, 1)), axis=1)
    return _probabilities(weights(x, shuffled, weight=weight), _with_intercept(others))


def weights(x: Floats, labels: Reals, *, weight: float = 1.0) -> Floats:
    """Return the weights of penalised logistic regressions, one for each labelling.

    Each minimises ‖w‖²/2 + `weight` Σᵢ log(1 + exp(−zᵢ w·xᵢ)), where zᵢ is 1 or −1 by the label of
    row i and xᵢ ends in 1, so that the intercept is penalised, too (as in liblinear). Each step
    takes for the Hessian its upper bound, which depends on no label: one inverse does for all.

    Parameters
    ----------
    x
        (n, d) rows.
    labels
        (b, n) labels, 0 or 1.
    weight
        Weight of each row.

    Returns
    -------
    (b, d + 1)
        Weights; the last is the intercept.

    References
    ----------
    Böhning and Lindsay (1988), Monotonicity of quadratic-approximation algorithms: the bound.
    """
    rows = _with_intercept(x)
    inverse = np.linalg.inv(np.eye(rows.shape[1]) + weight / 4 * rows.T @ rows)
    w = np.zeros((len(labels), rows.shape[1]))
    for _ in range(STEPS):
        step = (weight * (labels - _probabilities(w, rows)) @ rows - w) @ inverse
        w += step
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    return w


def _with_intercept(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])


def _probabilities(w: Floats, rows: Floats) -> Floats:
    """Return the (b, n) probabilities of label 1, for (b, d + 1) weights and rows that end in 1."""
    p: Floats = 0.5 + 0.5 * np.tanh(w @ rows.T / 2)  # exp would overflow
    return p
