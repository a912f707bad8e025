"""Separability of two sides of words: by clusters, by neighbours and by a classifier.

scikit-learn is imported inside the functions, because it is slow to import.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.metrics import Null

from . import nulls
from .intervals import Codes

BLOCK = 512  # words whose cosines with all other words are held at once

Classifier = Literal["rbf-svm", "logistic"]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Sides:
    """The words at either end of a list of biases.

    Parameters
    ----------
    rows
        (2n,) their places in the list.
    labels
        (2n,) 0 for the first side, 1 for the second.
    """

    rows: Indices
    labels: Indices

    @classmethod
    def of(cls, bias: Floats, size: int) -> Sides:
        """Return the `size` words at either end of (n,) biases."""
        order = np.argsort(bias, kind="stable")
        rows = np.concatenate([order[:size], order[-size:]])
        return cls(rows, np.repeat([0, 1], size))


@dataclass(frozen=True)
class FoldPredictions:
    """Predictions of a cross-validation.

    Parameters
    ----------
    labels
        (n,) side of each word.
    predicted
        (n,) side that the classifier predicts, which was not trained on the word.
    folds
        (n,) fold of each word.
    """

    labels: Indices
    predicted: Indices
    folds: Indices

    @property
    def accuracies(self) -> Floats:
        """(folds,) accuracy on each fold."""
        hits = self.predicted == self.labels
        return np.array([hits[self.folds == fold].mean() for fold in np.unique(self.folds)])

    @property
    def contributions(self) -> Floats:
        """(n,) contributions to the mean accuracy of the folds, which may differ in size."""
        sizes = np.bincount(self.folds)
        weights = len(self.folds) / (len(sizes) * sizes[self.folds])
        contributions: Floats = (self.predicted == self.labels) * weights
        return contributions


@dataclass(frozen=True)
class Shuffle:
    """Draws what clusters, neighbours and predictions show by chance: they stay, sides move.

    Parameters
    ----------
    rng
        Random number generator.
    draws
        Number of times that the sides are shuffled; 0 for no null.
    """

    rng: np.random.Generator
    draws: int = nulls.DRAWS

    def accuracies(
        self,
        answers: Indices,
        labels: Indices,
        *,
        groups: Codes | None = None,
        matched: bool = False,
    ) -> Null | None:
        """Return the accuracies of (n,) answers, 0 or 1, with the (n,) labels shuffled.

        With `groups`, (n,) codes, the labels of a group are swapped together; else single labels
        are permuted. `matched` counts the better of both matchings.
        """
        if not self.draws:
            return None
        if groups is None:
            drawn = self.rng.permuted(np.tile(labels, (self.draws, 1)), axis=1)
            shuffled = nulls.LABELS
        else:
            signs = nulls.shuffled_sides(
                len(labels), rng=self.rng, clusters=groups, draws=self.draws
            )
            drawn, shuffled = np.where(signs > 0, labels, 1 - labels), nulls.SIDES
        accuracies = (drawn == answers).mean(axis=1)
        return Null(np.maximum(accuracies, 1 - accuracies) if matched else accuracies, shuffled)

    def correlations(self, x: Floats, y: Floats) -> Null | None:
        """Return the correlations of (n,) x with shuffled (n,) y."""
        if not self.draws:
            return None
        values = nulls.shuffled_correlations(x, y, rng=self.rng, draws=self.draws)
        return Null(values, nulls.LABELS)


def two_clusters(x: Floats, seed: int) -> Indices:
    """Return the (n,) cluster, 0 or 1, of each word by k-means.

    Parameters
    ----------
    x
        (n, d) vectors.
    seed
        Seed of the first centres.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # small fits would wait for threads longer than they compute
        clusters: Indices = KMeans(2, n_init=10, random_state=seed).fit_predict(x)
    return clusters


def matched_accuracy(clusters: Indices, labels: Indices) -> float:
    """Return the accuracy of (n,) clusters as (n,) sides, 0 or 1: the better of both matchings."""
    accuracy = float((clusters == labels).mean())
    return max(accuracy, 1 - accuracy)


def positive_neighbour_shares(
    x: Floats, positive: npt.NDArray[np.bool_], sampled: Indices, k: int
) -> Floats:
    """Return the (s,) shares of positive words among the k nearest neighbours of sampled words.

    Parameters
    ----------
    x
        (n, d) vectors of length 1, n > k.
    positive
        (n,) whether a word is positive.
    sampled
        (s,) rows of the words whose neighbours are searched. A word is not its own neighbour.
    k
        Number of neighbours.
    """
    rows = x.astype(np.float32)
    shares = np.empty(len(sampled))
    for start in range(0, len(sampled), BLOCK):
        block = sampled[start : start + BLOCK]
        cosines = rows[block] @ rows.T
        cosines[np.arange(len(block)), block] = -np.inf
        nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
        shares[start : start + BLOCK] = positive[nearest].mean(axis=1)
    return shares


def nearest_in_other_groups(x: Floats, groups: Codes, k: int) -> Indices:
    """Return the (n, k) rows of the nearest neighbours of each item in other groups.

    Parameters
    ----------
    x
        (n, d) vectors of length 1.
    groups
        (n,) codes of items that are no neighbours of each other.
    k
        Number of neighbours.
    """
    cosines = x @ x.T
    cosines[groups[:, None] == groups] = -np.inf
    nearest: Indices = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return nearest


def fold_predictions(
    x: Floats,
    labels: Indices,
    classifier: Classifier,
    folds: int,
    seed: int,
    *,
    groups: Codes | None = None,
) -> FoldPredictions:
    """Return the predictions of a classifier for the words that it was not trained on.

    Parameters
    ----------
    x
        (n, d) vectors.
    labels
        (n,) side of each word.
    classifier
        `rbf-svm`: support vector machine with an RBF kernel; `logistic`: logistic regression.
    folds
        Number of folds of the stratified cross-validation.
    seed
        Seed of the folds.
    groups
        (n,) codes of items that are in one fold, such as the sentences of one person; None where
        each item is its own group.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict

    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splits = list(kind(folds, shuffle=True, random_state=seed).split(x, labels, groups))
    predicted = cross_val_predict(_model(classifier), x, labels, cv=splits)
    fold_of = np.empty(len(labels), dtype=np.intp)
    for fold, (_, test) in enumerate(splits):
        fold_of[test] = fold
    return FoldPredictions(labels, predicted, fold_of)


def _model(classifier: Classifier) -> Any:
    if classifier == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1_000)
    from sklearn.svm import SVC

    return SVC(kernel="rbf")


# Logistic regressions on the same rows with shuffled labels, all trained at once.


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
    return _probabilities(logistic_weights(x, shuffled, weight=weight), _with_intercept(others))


def logistic_weights(x: Floats, labels: Reals, *, weight: float = 1.0) -> Floats:
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
