"""Usefulness: whether a linear classifier still finds in vectors what a text says.

The protocol of SentEval's classification tasks: logistic regression on vectors that stay as they
are. Says nothing of what another classifier would find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap

Codes: TypeAlias = npt.NDArray[np.int64]
GRID = (0.1, 1.0, 10.0, 100.0)
FEWEST = 4  # texts of a label, so that every part of a part has one
MAX_ITERATIONS = 1_000  # of L-BFGS, which here takes some dozens


@metric(
    "linear-probe",
    scores={
        "accuracy": Scale(
            ideal="higher", bounds=(0, 1), help="texts that a linear classifier labels rightly"
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
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> Score:
    """Accuracy of a logistic regression on texts that it was not fitted on.

    Multinomial, with an L2 penalty and a free intercept. Vectors are set to length 1; a pair (u, v)
    of vectors has the features |u − v| and u·v, entry by entry. Without a test part the accuracy is
    that of all texts in a stratified cross-validation, each judged by the fold that did not see it.
    Regularisation is chosen by an inner cross-validation on what is learnt from, never by what is
    judged. A text that is there several times is in one fold only, else it would be known.

    Parameters
    ----------
    texts_1
        (n, d) vectors to learn from, or of the first texts of pairs.
    labels
        (n,) class of each, any numbers.
    texts_2
        (n, d) vectors of the second texts of pairs.
    test_1, test_labels, test_2
        The same of m texts to judge by, where the data set comes with a test part.
    grid
        Values of C, the inverse weight of the penalty, to choose from: of equals the smallest.
    folds
        Folds of the cross-validation; of no account where there is a test part.
    inner_folds
        Folds that C is chosen by.
    confidence, resamples
        Level and number of draws of the bootstrap interval over the texts judged. It says what
        other texts would change, not what another training part would.
    rng
        Parts the texts into folds, then draws.
    texts
        The texts of each input's rows.

    Returns
    -------
    Score
        In [0, 1], higher is better. Details: `majority`, the share of the most frequent label among
        those judged, which an answer that never changes would get; the number of `labels`; `c` and,
        in a cross-validation, the accuracy of each of the `folds`; with a test part, `seen`: how
        many of its texts are among those learnt from.

    Raises
    ------
    InvalidOption
        If there are fewer than two folds, or a C is not positive.

    References
    ----------
    Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence
    representations.
    """
    if min(folds, inner_folds) < 2 or not grid or min(grid) <= 0:
        raise InvalidOption(
            f"linear-probe: folds={folds}, inner_folds={inner_folds}, grid={list(grid)}: "
            "at least two folds of either kind and at least one C are needed, each C above 0"
        )
    x, groups = _features(texts_1, texts_2), _codes(texts, "texts_1", "texts_2")
    classes, y = np.unique(labels, return_inverse=True)
    least = min(len(np.unique(groups[y == k])) for k in range(len(classes)))
    needed = max(folds, FEWEST) if test_1 is None else inner_folds
    if len(classes) < 2 or least < needed:
        found = "all labels are equal" if len(classes) < 2 else f"a label has {least} texts"
        reason = f"{found}: there must be two labels, each of {needed} texts or more"
        return Score(float("nan"), n=len(y), reason=reason)
    if test_1 is None or test_labels is None:
        parts = deal(groups, y, folds, rng)
        right = np.zeros(len(y))
        chosen = []
        for learn, judge in _splits(parts, folds):
            inner = deal(groups[learn], y[learn], inner_folds, rng)
            classifier, c = _fitted(x[learn], y[learn], inner, inner_folds, grid)
            right[judge] = classifier.predict(x[judge]) == y[judge]
            chosen.append(c)
        truth, judged = labels, groups
        of_folds = [float(right[parts == fold].mean()) for fold in range(folds)]
        details: dict[str, Any] = {"c": chosen, "folds": of_folds}
    else:
        inner = deal(groups, y, inner_folds, rng)
        classifier, c = _fitted(x, y, inner, inner_folds, grid)
        right = classes[classifier.predict(_features(test_1, test_2))] == test_labels
        truth, judged = test_labels, _codes(texts, "test_1", "test_2")
        known = set(_items(texts, "texts_1", "texts_2"))
        details = {"c": [c], "seen": sum(t in known for t in _items(texts, "test_1", "test_2"))}
    counts = np.unique(truth, return_counts=True)[1]
    hits = np.asarray(right, dtype=np.float64)
    interval = bootstrap.percentile_interval(
        lambda drawn: drawn @ hits / drawn.sum(axis=1),
        [len(hits)],
        rng=rng,
        clusters=[judged],
        resamples=resamples,
        confidence=confidence,
    )
    details |= {"majority": float(counts.max() / len(truth)), "labels": len(classes)}
    return Score(float(hits.mean()), interval=interval, n=len(hits), details=details)


def deal(groups: Codes, y: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return the (n,) fold of each item: groups stay whole, classes are spread evenly.

    Parameters
    ----------
    groups
        (n,) code of the group of each item; a group counts for the class of its first item.
    y
        (n,) class of each item.
    folds
        How many folds: the groups of each class are dealt out one by one.
    rng
        Shuffles the groups.
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = rng.permutation(len(first))
    order = order[np.argsort(y[first][order], kind="stable")]
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = np.arange(len(first)) % folds
    return fold[inverse]


def _splits(parts: Codes, folds: int) -> Iterator[tuple[Codes, Codes]]:
    for fold in range(folds):
        yield np.flatnonzero(parts != fold), np.flatnonzero(parts == fold)


def _fitted(
    x: Floats, y: Codes, parts: Codes, folds: int, grid: Sequence[float]
) -> tuple[LogisticRegression, float]:
    """Return a classifier of all rows with the C that is best over the folds, and that C."""
    grid = sorted(grid)
    hits = np.zeros(len(grid))
    for learn, judge in _splits(parts, folds):
        for i, classifier in enumerate(_along(x[learn], y[learn], grid)):
            hits[i] += (classifier.predict(x[judge]) == y[judge]).sum()
    best = int(np.argmax(hits))
    *_, classifier = _along(x, y, grid[: best + 1])
    return classifier, float(grid[best])


def _along(x: Floats, y: Codes, grid: Sequence[float]) -> Iterator[LogisticRegression]:
    """Yield the classifier fitted at each C in turn, each from where the one before it ended."""
    classifier = LogisticRegression(max_iter=MAX_ITERATIONS, warm_start=True)
    with threadpool_limits(1):  # fits this small wait for threads twenty times as long as they work
        for c in grid:
            yield classifier.set_params(C=c).fit(x, y)


def _features(one: Reals, other: Reals | None) -> Floats:
    u = unit_rows(one)
    if other is None:
        return u
    v = unit_rows(other)
    return np.hstack([np.abs(u - v), u * v])


def _items(texts: Mapping[str, Sequence[str]], one: str, other: str) -> list[tuple[str, str]]:
    """Return the texts, or pairs of texts, of the rows."""
    first = texts[one]
    return list(zip(first, texts.get(other) or [""] * len(first), strict=True))


def _codes(texts: Mapping[str, Sequence[str]], one: str, other: str) -> Codes:
    codes: dict[tuple[str, str], int] = {}
    return np.array([codes.setdefault(item, len(codes)) for item in _items(texts, one, other)])
