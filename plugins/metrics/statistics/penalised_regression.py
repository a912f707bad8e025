"""Penalised logistic regression of classes, fitted to its optimum, with C chosen inside.

The regression is multinomial, with an L2 penalty and a free intercept. Copies of a text are in the
same fold, so that no text is both trained on and tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from harness.arrays import Floats
from harness.plugins.metrics.statistics.classifying import Codes, Predicted, deal, splits

MAX_ITERATIONS = 1_000  # of L-BFGS, which needs a few dozen here


def of_folds(
    x: Floats,
    y: Codes,
    groups: Codes,
    *,
    folds: int,
    inner_folds: int,
    grid: Sequence[float],
    rng: np.random.Generator,
) -> Predicted:
    """Predict each text by a regression on the other folds.

    Parameters
    ----------
    x
        (n, d) features.
    y
        (n,) classes from 0.
    groups
        (n,) group code of each text, equal for copies.
    folds, inner_folds
        Number of folds, and of those of the cross-validation that chooses C.
    grid
        Values of C; of equally good values, the smallest is chosen.
    rng
        Random number generator of the folds.
    """
    parts = deal(groups, y, folds, rng)
    predicted = np.zeros_like(y)
    chosen = []
    for train, test in splits(parts, folds):
        inner = deal(groups[train], y[train], inner_folds, rng)
        classifier, c = _fitted(x[train], y[train], inner, inner_folds, grid)
        predicted[test] = classifier.predict(x[test])
        chosen.append(c)
    return Predicted(predicted, {"c": chosen}, parts)


def of_test(
    x: Floats,
    y: Codes,
    groups: Codes,
    test: Floats,
    *,
    inner_folds: int,
    grid: Sequence[float],
    rng: np.random.Generator,
) -> Predicted:
    """Predict the (m, d) `test` by a regression on all others; parameters as for `of_folds`."""
    inner = deal(groups, y, inner_folds, rng)
    classifier, c = _fitted(x, y, inner, inner_folds, grid)
    return Predicted(classifier.predict(test), {"c": [c]})


def _fitted(
    x: Floats, y: Codes, parts: Codes, folds: int, grid: Sequence[float]
) -> tuple[LogisticRegression, float]:
    """Return the classifier of all rows with the C of the highest accuracy over the folds."""
    grid = sorted(grid)
    hits = np.zeros(len(grid))
    for train, test in splits(parts, folds):
        for i, classifier in enumerate(_along(x[train], y[train], grid)):
            hits[i] += (classifier.predict(x[test]) == y[test]).sum()
    best = int(np.argmax(hits))
    *_, classifier = _along(x, y, grid[: best + 1])
    return classifier, float(grid[best])


def _along(x: Floats, y: Codes, grid: Sequence[float]) -> Iterator[LogisticRegression]:
    """Yield the classifier fitted at each C; each fit starts from the solution of the last."""
    classifier = LogisticRegression(max_iter=MAX_ITERATIONS, warm_start=True)
    with threadpool_limits(
        1
    ):  # small fits would wait for threads 20 times longer than they compute
        for c in grid:
            yield classifier.set_params(C=c).fit(x, y)
