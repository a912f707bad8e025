"""Usefulness: accuracy of a linear classifier of texts by their vectors.

The protocol is that of SentEval's classification tasks: logistic regression on fixed vectors. It
says nothing about other classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
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

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

GRID = (0.1, 1.0, 10.0, 100.0)
FEWEST = 4  # texts of a label, so that each inner fold has one
MAX_ITERATIONS = 1_000  # of L-BFGS, which needs a few dozen here


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
    if test_1 is None or test_labels is None:
        predicted, details = _cross_validated(x, y, groups, folds, inner_folds, grid, rng)
        truth, part = labels, "texts"
    else:
        inner = deal(groups, y, inner_folds, rng)
        classifier, c = _fitted(x, y, inner, inner_folds, grid)
        predicted = classifier.predict(_features(test_1, test_2))
        truth, part = test_labels, "test"
        details = {"c": [c], "seen": seen(texts)}
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
    predicted = np.zeros_like(y)
    chosen = []
    for train, test in _splits(parts, folds):
        inner = deal(groups[train], y[train], inner_folds, rng)
        classifier, c = _fitted(x[train], y[train], inner, inner_folds, grid)
        predicted[test] = classifier.predict(x[test])
        chosen.append(c)
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


def _splits(parts: Codes, folds: int) -> Iterator[tuple[Codes, Codes]]:
    """Yield the rows outside each fold, and those in it."""
    for fold in range(folds):
        yield np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)


def _fitted(
    x: Floats, y: Codes, parts: Codes, folds: int, grid: Sequence[float]
) -> tuple[LogisticRegression, float]:
    """Return the classifier of all rows with the C of the highest accuracy over the folds."""
    grid = sorted(grid)
    hits = np.zeros(len(grid))
    for train, test in _splits(parts, folds):
        for i, classifier in enumerate(_along(x[train], y[train], grid)):
            hits[i] += (classifier.predict(x[test]) == y[test]).sum()
    best = int(np.argmax(hits))
    *_, classifier = _along(x, y, grid[: best + 1])
    return classifier, float(grid[best])


def _along(x: Floats, y: Codes, grid: Sequence[float]) -> Iterator[LogisticRegression]:
    """Yield the classifier fitted at each C; each fit starts from the solution of the last."""
    from sklearn.linear_model import LogisticRegression  # it takes a second to import
    from threadpoolctl import threadpool_limits

    classifier = LogisticRegression(max_iter=MAX_ITERATIONS, warm_start=True)
    with threadpool_limits(
        1
    ):  # small fits would wait for threads 20 times longer than they compute
        for c in grid:
            yield classifier.set_params(C=c).fit(x, y)


def _features(first: Reals, second: Reals | None) -> Floats:
    u = unit_rows(first)
    return u if second is None else pair_features(u, unit_rows(second))
