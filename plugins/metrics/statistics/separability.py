"""Separability of two sides of words: by clusters, by neighbours and by a classifier.

scikit-learn is imported inside the functions, because it is slow to import.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats

BLOCK = 512  # words whose cosines with all other words are held at once

Classifier = Literal["rbf-svm", "logistic"]
Indices = npt.NDArray[np.intp]


def cluster_accuracy(x: Floats, labels: Indices, seed: int) -> float:
    """Return the accuracy of two k-means clusters as the two sides.

    Parameters
    ----------
    x
        (n, d) vectors.
    labels
        (n,) 0 or 1, the side of each word.
    seed
        Seed of the first centres.

    Returns
    -------
    float
        In [0.5, 1]: the better of the two matchings of clusters and sides.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # small fits would wait for threads longer than they compute
        clusters = KMeans(2, n_init=10, random_state=seed).fit_predict(x)
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


def fold_accuracies(
    x: Floats, labels: Indices, classifier: Classifier, folds: int, seed: int
) -> Floats:
    """Return the (folds,) accuracies of a classifier on the words that it was not trained on.

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
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    accuracies: Floats = cross_val_score(_model(classifier), x, labels, cv=split)
    return accuracies


def _model(classifier: Classifier) -> Any:
    if classifier == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1_000)
    from sklearn.svm import SVC

    return SVC(kernel="rbf")
