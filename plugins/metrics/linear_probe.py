"""Usefulness: whether a linear classifier still finds in vectors what a text says.

The protocol of SentEval's classification tasks: logistic regression on vectors that stay as they
are. Says nothing of what another classifier would find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.plugins.metrics import bootstrap, logistic
from harness.scores import Scale, Score, metric

Codes: TypeAlias = npt.NDArray[np.int64]
GRID = (0.1, 1.0, 10.0, 100.0)
FEWEST = 4  # texts of a label, so that every part of a part has one
UNKNOWN = -1  # code of a label that is not among those learnt from


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
        raise InvalidOption("linear-probe needs two folds or more, and positive values in its grid")
    x, groups = _features(texts_1, texts_2), _codes(texts, "texts_1", "texts_2")
    classes, y = np.unique(labels, return_inverse=True)
    least = min(len(np.unique(groups[y == k])) for k in range(len(classes)))
    needed = max(folds, FEWEST) if test_1 is None else inner_folds
    if len(classes) < 2 or least < needed:
        found = "all labels are equal" if len(classes) < 2 else f"a label has {least} texts"
        reason = f"{found}: there must be two labels, each of {needed} texts or more"
        return Score(float("nan"), n=len(y), reason=reason)
    if test_1 is None or test_labels is None:
        dealt = deal(groups, y, folds, rng)
        splits = [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(folds)]
        right, chosen = _nested(x, y, groups, splits, inner_folds, grid, rng)
        truth, judged = labels, groups
        of_folds = [float(right[judge].mean()) for _, judge in splits]
        details: dict[str, Any] = {"c": chosen, "folds": of_folds}
    else:
        n = len(x)
        x = np.vstack([x, _features(test_1, test_2)])
        place = np.minimum(np.searchsorted(classes, test_labels), len(classes) - 1)
        y = np.append(y, np.where(classes[place] == test_labels, place, UNKNOWN))
        splits = [(np.arange(n), np.arange(n, len(x)))]
        right, chosen = _nested(x, y, groups, splits, inner_folds, grid, rng)
        right = right[n:]
        truth, judged = test_labels, _codes(texts, "test_1", "test_2")
        known = set(_items(texts, "texts_1", "texts_2"))
        seen = sum(item in known for item in _items(texts, "test_1", "test_2"))
        details = {"c": chosen, "seen": seen}
    counts = np.unique(truth, return_counts=True)[1]
    hits = right.astype(np.float64)
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


def _nested(
    x: Floats,
    y: Codes,
    groups: Codes,
    splits: Sequence[tuple[Codes, Codes]],
    inner_folds: int,
    grid: Sequence[float],
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], list[float]]:
    """Return (n,) whether a row is labelled rightly where it is judged, and the C of each split.

    A split has the rows that are learnt from, where the C that is best over inner folds is chosen,
    and those judged. All fits of all splits, for each C, are one batch.
    """
    shape = (len(x), len(splits), inner_folds + 1)  # last the fit on all that is learnt from
    learns, judges = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for i, (learn, judge) in enumerate(splits):
        inner = deal(groups[learn], y[learn], inner_folds, rng)
        judges[learn, i, :-1] = inner[:, None] == np.arange(inner_folds)
        learns[learn, i] = ~judges[learn, i]
        judges[judge, i, -1] = True
    grid = sorted(grid)
    batch = logistic.fits(x, y, learns.reshape(len(x), -1), grid)
    right = np.stack([(fits.predicted == y[:, None]).reshape(shape) for fits in batch]) & judges
    best = right[..., :-1].sum(axis=(1, 3)).argmax(axis=0)  # of equals the first
    whole = right[best, :, np.arange(len(splits)), -1]  # (splits, n)
    rightly: npt.NDArray[np.bool_] = np.logical_or.reduce(whole, axis=0)
    return rightly, [float(grid[i]) for i in best]


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
