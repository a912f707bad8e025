"""Usefulness: accuracy of a linear classifier of texts by their vectors.

The protocol is that of SentEval's classification tasks: logistic regression on fixed vectors. It
says nothing about other classifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats, Mask, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric

from .statistics import intervals
from .statistics.senteval import (
    Codes,
    accuracy,
    codes,
    pair_features,
    seen,
    too_few_texts,
)

GRID = (0.1, 1.0, 10.0, 100.0)
FEWEST = 4  # texts of a label, so that each inner fold has one


@metric(
    "linear-probe",
    scores={
        "accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the texts that a linear classifier labels correctly",
        )
    },
)
def linear_probe(
    texts_1: Reals,
    labels: Floats,
    texts_2: Reals | None = None,
    test_1: Reals | None = None,
    test_labels: Floats | None = None,
    test_2: Reals | None = None,
    *,
    grid: Sequence[float] = GRID,
    folds: int = 10,
    inner_folds: int = 3,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> Score:
    """Accuracy of a logistic regression on texts that it was not trained on.

    The regression is multinomial, with an L2 penalty and a free intercept. Vectors are set to
    length 1; a pair of vectors (u, v) has the features |u − v| and u·v, entry by entry.

    Without a test set, the accuracy is that of a stratified cross-validation over all texts. C is
    chosen by an inner cross-validation on the training texts only. Copies of a text are in the
    same fold, so that no text is both trained on and tested.

    Parameters
    ----------
    texts_1
        (n, d) vectors of the texts, or of the first texts of pairs.
    labels
        (n,) class of each text, any numbers.
    texts_2
        (n, d) vectors of the second texts of pairs.
    test_1, test_labels, test_2
        (m, d) vectors and (m,) classes of the test set, if the data set has one.
    grid
        Values of C, the inverse weight of the penalty; of equally good values, the smallest is
        chosen.
    folds
        Number of folds of the cross-validation; unused with a test set.
    inner_folds
        Number of folds of the inner cross-validation.
    confidence, resamples
        Level of the interval over the tested texts, and the most of these to leave out.
        It covers the choice of these texts, not that of the training texts.
    rng
        Random number generator of the folds and resamples.
    texts
        Texts by input name, which identify copies.

    Returns
    -------
    Score
        Accuracy, in [0, 1], higher is better. `n` is the number of tested texts. Details:
        `majority`, the share of the most frequent label, which a constant answer reaches;
        `labels`, the number of classes; `c`, the chosen C of each training; in a cross-validation
        `folds`, the accuracy on each fold; with a test set `seen`, the number of its texts that
        are also trained on. Samples: each tested text with its `label` and the `predicted` one.
        There is no p-value.

    Raises
    ------
    InvalidOption
        If `folds` or `inner_folds` is below 2, `grid` is empty or has a value that is not above 0,
        or `confidence` is not between 0 and 1.

    References
    ----------
    Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence
    representations.
    """
    if min(folds, inner_folds) < 2 or not grid or min(grid) <= 0:
        raise InvalidOption(
            f"linear-probe: folds={folds}, inner_folds={inner_folds}, grid={list(grid)}: "
            "folds must be at least 2; grid needs one or more values, all above 0"
        )
    x, groups = _features(texts_1, texts_2), codes(texts, "texts")
    classes, y = np.unique(labels, return_inverse=True)
    counts = [len(np.unique(groups[y == k])) for k in range(len(classes))]
    needed = max(folds, FEWEST) if test_1 is None else inner_folds
    if reason := too_few_texts(counts, needed):
        return Score(float("nan"), n=len(y), reason=reason)
    details: dict[str, Any]
    if test_1 is None or test_labels is None:
        predicted, details = _cross_validated(x, y, groups, folds, inner_folds, grid, rng)
        truth, part = labels, "texts"
    else:
        inner = [deal(groups, y, inner_folds, rng)]
        weights, chosen = _fitted(x, y, np.ones((1, len(y)), dtype=bool), inner, grid)
        predicted = _classes(weights, _features(test_1, test_2))[0]
        truth, part = test_labels, "test"
        details = {"c": chosen, "seen": seen(texts)}
    return accuracy(
        truth,
        classes[predicted],
        part=part,
        texts=texts,
        details=details | {"labels": len(classes)},
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )


def _cross_validated(
    x: Floats,
    y: Codes,
    groups: Codes,
    folds: int,
    inner_folds: int,
    grid: Sequence[float],
    rng: np.random.Generator,
) -> tuple[Codes, dict[str, Any]]:
    """Return the (n,) predicted class of each text, and the details by fold."""
    parts = deal(groups, y, folds, rng)
    trained = parts != np.arange(folds)[:, None]
    inner = []
    for rows in trained:
        inner.append(np.full(len(y), -1))
        inner[-1][rows] = deal(groups[rows], y[rows], inner_folds, rng)
    weights, chosen = _fitted(x, y, trained, inner, grid)
    predicted = _classes(weights, x)[parts, np.arange(len(y))]
    by_fold = [float((predicted == y)[parts == fold].mean()) for fold in range(folds)]
    return predicted, {"c": chosen, "folds": by_fold}


def deal(groups: Codes, y: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return the (n,) fold of each item: groups stay together, classes are spread evenly.

    Parameters
    ----------
    groups
        (n,) group code of each item; a group has the class of its first item.
    y
        (n,) class of each item.
    folds
        Number of folds; the shuffled groups of each class are assigned to them in turn.
    rng
        Random number generator of the shuffle.
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    order = order[np.argsort(y[first][order], kind="stable")]
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = np.arange(len(first)) % folds
    return fold[inverse]


def _fitted(
    x: Floats, y: Codes, trained: Mask, inner: Sequence[Codes], grid: Sequence[float]
) -> tuple[Floats, list[float]]:
    """Return classifiers, each with the C of the highest accuracy over its inner folds.

    Parameters
    ----------
    x, y
        (n, d) features and (n,) classes.
    trained
        (b, n) rows that each classifier is trained on.
    inner
        For each classifier the (n,) inner fold of its rows; −1 for the others.
    grid
        Values of C.

    Returns
    -------
    (b, k, d + 1) weights, and the b chosen values of C.
    """
    grid = sorted(grid)
    # All inner trainings of all classifiers: one batch for each C.
    folds = [np.unique(parts[parts >= 0]) for parts in inner]
    tested = [parts == of[:, None] for parts, of in zip(inner, folds, strict=True)]
    used = [rows & ~test for rows, test in zip(trained, tested, strict=True)]
    rows, owner = np.concatenate(used), np.repeat(np.arange(len(inner)), list(map(len, folds)))
    hits = np.zeros((len(inner), len(grid)))
    weights: Floats | None = None
    for i, c in enumerate(grid):
        weights = regressions(x, y, rows, c, start=weights)
        right = (_classes(weights, x) == y) & np.concatenate(tested)
        np.add.at(hits[:, i], owner, right.sum(axis=1))
    best = hits.argmax(axis=1)
    fitted: list[Floats] = [np.empty(0)] * len(inner)
    for i in np.unique(best):
        of_c = np.flatnonzero(best == i)
        for place, own in zip(of_c, regressions(x, y, trained[of_c], grid[i]), strict=True):
            fitted[place] = own
    return np.stack(fitted), [float(grid[i]) for i in best]


# Penalised logistic regressions on different rows of one array, all trained at once.


CLOSE = 1e-5
"""A training ends where no entry of the gradient of the mean loss is larger. scikit-learn's default
is 1e-4."""
STEPS = 1_000  # most steps; a dozen are needed here
HALVINGS = 30  # most halvings of a step that does not decrease the loss
DECREASE = 1e-4  # share of the decrease that the slope promises (Armijo's condition)
REMEMBERED = 10  # steps that estimate the curvature
CELLS = 4_000_000  # logits held at once: 32 MB


def regressions(
    x: Floats,
    y: Codes,
    used: Mask,
    c: float,
    *,
    start: Floats | None = None,
    close: float = CLOSE,
) -> Floats:
    """Return the weights of logistic regressions, each trained on some of the rows.

    Each minimises ‖w‖²/2 + C Σ loss over its rows, with the logistic loss of two classes, and the
    softmax loss of more; the intercept has no penalty. This is what scikit-learn's
    `LogisticRegression` minimises. All are trained together by L-BFGS: its products of a step are
    one product of matrices. The first estimate of the inverse Hessian is that of its upper bound
    (Böhning and Lindsay 1988), which all trainings share.

    Parameters
    ----------
    x
        (n, d) rows.
    y
        (n,) classes from 0, at least two.
    used
        (b, n) rows that each regression is trained on.
    c
        C, the weight of the loss.
    start
        (b, k, d + 1) weights to start from; by default 0.
    close
        A training ends where no entry of the gradient of the mean loss is larger.

    Returns
    -------
    (b, k, d + 1)
        Weights; the last is the intercept. k is 1 for two classes, of which it favours the second;
        else the number of classes.

    References
    ----------
    Nocedal and Wright (2006), Numerical optimization, algorithms 7.4 and 7.5. Böhning and Lindsay
    (1988), Monotonicity of quadratic-approximation algorithms.
    """
    k = int(y.max()) + 1
    k = 1 if k == 2 else k
    # A mean of 0 changes the intercepts only, and the training takes fewer steps.
    middle = x.mean(axis=0)
    rows = np.hstack([x - middle, np.ones((len(x), 1))])
    inverse = _inverse_bound(rows, c * used.sum(axis=1).mean())
    weights = np.zeros((len(used), k, rows.shape[1])) if start is None else start.copy()
    weights[:, :, -1] += weights[:, :, :-1] @ middle
    together = max(1, CELLS // (k * len(x)))
    for first in range(0, len(used), together):
        part = slice(first, first + together)
        weights[part] = _minimum(weights[part], rows, y, used[part], c, inverse, close)
    weights[:, :, -1] -= weights[:, :, :-1] @ middle
    return weights


def _inverse_bound(rows: Floats, weight: float) -> Floats:
    """Return the inverse of an upper bound of the Hessian of the mean loss and its penalty."""
    single = rows.astype(np.float32)  # an estimate: its error costs steps, not exactness
    bound = single.T @ single / (4 * len(rows))
    penalised = np.arange(len(bound) - 1)
    bound[penalised, penalised] += 1 / weight
    inverse = np.linalg.inv(bound).astype(np.float64)
    return (inverse + inverse.T) / 2


def _minimum(
    w: Floats, rows: Floats, y: Codes, used: Mask, c: float, inverse: Floats, close: float
) -> Floats:
    """Return the weights where the gradient vanishes, by L-BFGS from (b, k, d + 1) weights."""
    value, gradient = _objective(w, rows, y, used, c)
    past: list[tuple[Floats, Floats, Floats]] = []  # steps, changes of gradients, 1 / products
    for _ in range(STEPS):
        busy = np.abs(gradient).max(axis=(1, 2)) > close
        if not busy.any():
            break
        direction = _direction(gradient, past, inverse)
        slope = _products(gradient, direction)
        size = busy.astype(np.float64)
        for _ in range(HALVINGS):
            new = w - size[:, None, None] * direction
            new_value, new_gradient = _objective(new, rows, y, used, c)
            rounding = 1e-14 * np.abs(value)
            worse = new_value > value - DECREASE * size * slope + rounding
            if not worse.any():
                break
            size[worse] /= 2
        step, change = new - w, new_gradient - gradient
        product = _products(step, change)
        curved = product > 0  # not where a training has ended
        past = [*past, (step, change, curved / np.where(curved, product, 1.0))][-REMEMBERED:]
        w, value, gradient = new, new_value, new_gradient
    return w


def _direction(
    gradient: Floats, past: Sequence[tuple[Floats, Floats, Floats]], inverse: Floats
) -> Floats:
    """Return the estimated inverse Hessian times the gradient (algorithm 7.4)."""
    direction, shares = gradient.copy(), []
    for step, change, factor in reversed(past):
        share = factor * _products(step, direction)
        shares.append(share)
        direction -= share[:, None, None] * change
    direction = direction @ inverse
    if past:
        _, change, factor = past[-1]
        curvature = factor * _products(change, change @ inverse)
        scale = np.where(curvature > 0, 1 / np.where(curvature > 0, curvature, 1.0), 1.0)
        direction *= scale[:, None, None]
    for (step, change, factor), share in zip(past, reversed(shares), strict=True):
        direction += (share - factor * _products(change, direction))[:, None, None] * step
    return direction


def _products(first: Floats, second: Floats) -> Floats:
    products: Floats = np.einsum("bkd,bkd->b", first, second)
    return products


def _objective(w: Floats, rows: Floats, y: Codes, used: Mask, c: float) -> tuple[Floats, Floats]:
    """Return the (b,) mean losses with their penalties, and the gradients."""
    z = _logits(w, rows)
    if len(z[0]) == 1:
        small = np.exp(-np.abs(z))  # cannot overflow
        losses = (np.log1p(small) + np.maximum(z, 0) - y * z)[:, 0]
        residuals = np.where(z > 0, 1.0, small) / (1 + small) - y
    else:
        place = np.arange(len(rows))
        losses = -z[:, y, place]
        largest = z.max(axis=1, keepdims=True)
        residuals = np.exp(z - largest)
        total = residuals.sum(axis=1, keepdims=True)
        losses += (np.log(total) + largest)[:, 0]
        residuals /= total
        residuals[:, y, place] -= 1
    sizes = used.sum(axis=1)
    shares = used / sizes[:, None]
    residuals *= shares[:, None]
    penalised = w.copy()
    penalised[:, :, -1] = 0
    penalised /= (c * sizes)[:, None, None]
    gradients = (residuals.reshape(-1, len(rows)) @ rows).reshape(w.shape) + penalised
    return (shares * losses).sum(axis=1) + _products(penalised, w) / 2, gradients


def _classes(weights: Floats, x: Floats) -> Codes:
    """Return the (b, n) classes of (n, d) rows by (b, k, d + 1) weights."""
    z = logits_of(weights, x)
    classes: Codes = z.argmax(axis=1) if len(weights[0]) > 1 else (z[:, 0] > 0).astype(np.int64)
    return classes


def logits_of(weights: Floats, x: Floats) -> Floats:
    """Return the (b, k, n) logits of (n, d) rows by (b, k, d + 1) weights."""
    return _logits(weights, np.hstack([x, np.ones((len(x), 1))]))


def _logits(weights: Floats, rows: Floats) -> Floats:
    b, k, d = weights.shape
    z: Floats = (weights.reshape(b * k, d) @ rows.T).reshape(b, k, len(rows))
    return z


def _features(first: Reals, second: Reals | None) -> Floats:
    u = unit_rows(first)
    return u if second is None else pair_features(u, unit_rows(second))
