"""Logistic regressions on many parts of the same rows, solved as one.

Cross-validation fits a classifier on the same rows again and again, each time without some. Solved
one by one these fits wait for memory; solved together they are a few products of matrices. Judges
nothing: what the parts are and what is made of the fits is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from harness.arrays import Floats, Reals

Codes: TypeAlias = npt.NDArray[np.int64]
TOLERANCE = 1e-6  # of the gradient's length, a row
MAX_STEPS = 100  # of Newton's method, which here takes some five
MAX_PRODUCTS = 500  # with the Hessian, in a step


@dataclass(frozen=True)
class Fits:
    """The classifiers of p parts at one C.

    Parameters
    ----------
    c
        The inverse weight of the penalty.
    coefficients, intercepts
        (d, p, k) and (p, k), k the number of classes; of two classes, k is 1: for the second.
    values
        (n, p, k) value that each part's classifier gives each row, of the part or not.
    """

    c: float
    coefficients: Floats
    intercepts: Floats
    values: Floats

    @property
    def predicted(self) -> Codes:
        """The (n, p) class of each row, by the classifier of each part."""
        if self.values.shape[2] == 1:
            return (self.values[:, :, 0] > 0).astype(np.int64)
        predicted: Codes = self.values.argmax(axis=2)
        return predicted


def fits(
    x: Reals,
    y: Codes,
    parts: npt.NDArray[np.bool_],
    grid: Sequence[float],
    *,
    tolerance: float = TOLERANCE,
) -> Iterator[Fits]:
    """Yield the logistic regressions on every part of the rows, at each C of the grid in turn.

    Each minimises, over its part, Σ −log p(y) + ‖w‖²/2C with p the logistic function of w·x + b
    for two classes and the softmax for more; b is free. This is what scikit-learn's
    `LogisticRegression` minimises. Newton's method in steps that conjugate gradients find,
    in the basis of the rows' principal components, where the Hessian is nearly diagonal.

    Parameters
    ----------
    x
        (n, d) rows. Those of no part change nothing but get their values.
    y
        (n,) class of each, from 0; of no account where a row is in no part.
    parts
        (n, p) whether a row is in a part. Each part must have every class.
    grid
        Values of C, above 0; each fit starts from the one before it, so they should ascend.
    tolerance
        Length of the gradient, divided by the rows of the part, that is near enough to 0.

    References
    ----------
    Lin, Weng and Keerthi (2008), Trust region Newton method for large-scale logistic regression,
    whose Hessian products these are, here with a line search and for many parts at once.
    """
    mean = x.mean(axis=0, dtype=np.float64)
    centred = x - mean  # moves only the intercept, which is free
    threads = ThreadpoolController()
    # Products of this size gain little from threads, and lose much where cores are shared.
    with threads.limit(limits=1, user_api="blas"):
        squares, basis = _principal_components(centred)
        rows = np.hstack([centred @ basis, np.ones((len(x), 1))])
    squares = np.append(np.maximum(squares / len(x), 0), 1)
    classes = int(y[parts.any(axis=1)].max()) + 1
    one_hot = np.equal.outer(y, np.arange(classes)).astype(np.float64)
    batch = _Batch(
        rows=rows,
        rounded=rows.astype(np.float32),
        squares=squares[:, None, None].astype(np.float32),
        truth=one_hot[:, None, 1 if classes == 2 else 0 :],
        parts=parts[:, :, None].astype(np.float64),
    )
    w = np.zeros((len(squares), parts.shape[1], batch.truth.shape[2]))
    for c in grid:
        with threads.limit(limits=1, user_api="blas"):
            w, values = batch.solve(w, c, tolerance)
            coefficients = _product(basis, w[:-1])
        yield Fits(c, coefficients, w[-1] - _product(mean[None], coefficients)[0], values)


@dataclass(frozen=True)
class _Batch:
    """Regressions in the basis of principal components, with a last column of ones.

    Arrays are (columns or n, p, k). Steps need not be exact, so that they are found in float32.
    """

    rows: Floats
    rounded: npt.NDArray[np.float32]
    squares: npt.NDArray[np.float32]
    truth: Floats
    parts: Floats

    def solve(self, w: Floats, c: float, tolerance: float) -> tuple[Floats, Floats]:
        """Return the optimal weights, starting from `w`, and the rows' values."""
        penalty = np.full((len(w), 1, 1), 1 / c)
        penalty[-1] = 0
        enough = tolerance * self.parts.sum(axis=(0, 2))
        values = _product(self.rows, w)
        loss = self._loss(w, values, penalty)
        for _ in range(MAX_STEPS):
            p = np.exp(values - _log_normaliser(values))
            gradient = _product(self.rows.T, self.parts * (p - self.truth)) + penalty * w
            length = np.sqrt(_dot(gradient, gradient))
            if (length <= enough).all():
                break
            accuracy = np.minimum(0.1, np.sqrt(length / self.parts.sum(axis=(0, 2))))
            step = self._newton_step(p, gradient, penalty, accuracy)
            change = _product(self.rows, step)
            share = np.ones((w.shape[1], 1))
            while True:
                new = w + share * step, values + share * change
                now = self._loss(*new, penalty)
                worse = now > loss + 1e-12 * np.abs(loss)
                if not worse.any():
                    break
                share[worse] /= 2
            (w, values), loss = new, now
        return w, values

    def _loss(self, w: Floats, values: Floats, penalty: Floats) -> Floats:
        """Return the (p,) penalised losses."""
        told = (self.truth * values).sum(axis=2, keepdims=True)
        lost = self.parts * (_log_normaliser(values) - told)
        losses: Floats = lost.sum(axis=(0, 2)) + _dot(w, penalty * w) / 2
        return losses

    def _newton_step(
        self, p: Floats, gradient: Floats, penalty: Floats, accuracy: Floats
    ) -> Floats:
        """Return the steps −H⁻¹ g, H the Hessians, by preconditioned conjugate gradients.

        The preconditioner is H's diagonal if every row had its part's mean weight p(1 − p).
        """
        p, penalty = p.astype(np.float32), penalty.astype(np.float32)
        weights = self.parts.astype(np.float32) * p
        scale = (weights * (1 - p)).sum(axis=0).mean(axis=1)[:, None] * self.squares + penalty
        residual = -gradient.astype(np.float32)
        step = np.zeros_like(residual)
        conditioned = residual / scale
        direction, fit = conditioned, _dot(residual, conditioned)
        enough = accuracy**2 * fit
        for _ in range(MAX_PRODUCTS):
            moved = _product(self.rounded, direction)
            moved -= (p * moved).sum(axis=2, keepdims=True)
            bent = _product(self.rounded.T, weights * moved) + penalty * direction
            share = _ratio(fit, _dot(direction, bent))
            step += share * direction
            residual -= share * bent
            conditioned = residual / scale
            before, fit = fit, _dot(residual, conditioned)
            if (fit <= enough).all():
                break
            direction = conditioned + _ratio(fit, before) * direction
        return step.astype(np.float64)


def _principal_components(centred: Floats) -> tuple[Floats, Floats]:
    """Return the r squared lengths and the (d, r) orthonormal basis, r the smaller of n and d."""
    if len(centred) >= centred.shape[1]:
        squares, basis = np.linalg.eigh(centred.T @ centred)
        return squares, basis
    span, held = np.linalg.qr(centred.T)  # the best weights are sums of rows
    squares, turn = np.linalg.eigh(held @ held.T)
    return squares, span @ turn


def _log_normaliser(values: Floats) -> Floats:
    """Return log Σ exp over the classes, (n, p, 1); one alone stands against a value of 0."""
    if values.shape[2] == 1:
        return np.logaddexp(0, values)
    most = values.max(axis=2, keepdims=True)
    total: Floats = most + np.log(np.exp(values - most).sum(axis=2, keepdims=True))
    return total


def _product(matrix: npt.NDArray[Any], many: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return (m, p, k), `matrix`, (m, l), times each of the p·k columns of (l, p, k) `many`."""
    columns = many.reshape(len(many), -1)
    product: npt.NDArray[Any] = (matrix @ columns).reshape(len(matrix), *many.shape[1:])
    return product


def _dot(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the (p,) inner products of each part's weights."""
    products: npt.NDArray[Any] = np.einsum("dpk,dpk->p", one, other)
    return products


def _ratio(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return (p, 1) ratios, 0 where there is nothing left to divide."""
    ratios: npt.NDArray[Any] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return ratios[:, None]
