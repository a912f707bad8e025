"""Usefulness: accuracy of a classifier of texts by their vectors.

The protocol is that of SentEval's classification tasks: logistic regression on fixed vectors. It
says nothing about other classifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap, penalised_regression, senteval
from harness.plugins.metrics.statistics.classifying import Codes, Predicted, pair_features
from harness.scores import Samples, Scale, Score

Protocol = Literal["exact", "published"]
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
    dev_1: Reals | None = None,
    dev_labels: Floats | None = None,
    dev_2: Reals | None = None,
    *,
    protocol: Protocol = "exact",
    grid: Sequence[float] = GRID,
    folds: int = 10,
    inner_folds: int = 3,
    hidden: int = 0,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> Score:
    """Accuracy of a classifier on texts that it was not trained on.

    A pair of vectors (u, v) has the features |u − v| and u·v, entry by entry. Without a test set,
    the accuracy is that of a stratified cross-validation over all texts. The penalty is chosen by
    an inner cross-validation on the training texts only.

    `exact` is the optimum of a multinomial logistic regression with an L2 penalty and a free
    intercept, on vectors of length 1. Copies of a text are in the same fold, so that no text is
    both trained on and tested.

    `published` is what SentEval's toolkit does: vectors as they are, Adam in minibatches of 64, a
    look at development texts every 4 epochs, an end after the sixth look without a new best value,
    penalties of 1e-5, 1e-4, 1e-3 and 1e-2. It takes minutes where `exact` takes seconds.

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
    dev_1, dev_labels, dev_2
        Vectors and classes of the development set, which replaces the inner cross-validation of
        `published`; it needs a test set.
    protocol
        `exact` or `published`.
    grid
        Values of C, the inverse weight of the penalty of `exact`; of equally good values, the
        smallest is chosen.
    folds
        Number of folds of the cross-validation; for `published`, also of the inner one.
    inner_folds
        Number of folds of the inner cross-validation of `exact`.
    hidden
        Number of hidden units, with a sigmoid, of `published`.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over the tested texts.
        It covers the choice of these texts, not that of the training texts.
    rng
        Random number generator of the folds, first weights and resamples.
    texts
        Texts by input name, which identify copies.

    Returns
    -------
    Score
        Accuracy, in [0, 1], higher is better. `n` is the number of tested texts. Details:
        `majority`, the share of the most frequent label, which a constant answer reaches;
        `labels`, the number of classes; `c`, the chosen C of each training, or for `published` the
        chosen `penalty` and the accuracy that chose it, `development`; in a cross-validation
        `folds`, the accuracy on each fold; with a test set `seen`, the number of its texts that
        are also trained on; for `published` with two labels, `f1` of the higher one. Samples: each
        tested text with its `label` and the `predicted` one. There is no p-value.

    Raises
    ------
    InvalidOption
        If `folds` or `inner_folds` is below 2, `hidden` below 0, `grid` is empty or has a value
        that is not above 0, or `confidence` is not between 0 and 1; if `exact` gets hidden units or
        a development set, or a development set comes without a test set.

    References
    ----------
    Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence
    representations.
    """
    published = protocol == "published"
    if min(folds, inner_folds) < 2 or not grid or min(grid) <= 0 or hidden < 0:
        raise InvalidOption(
            f"linear-probe: folds={folds}, inner_folds={inner_folds}, grid={list(grid)}, "
            f"hidden={hidden}: folds must be at least 2, hidden at least 0; grid needs one or more "
            "values, all above 0"
        )
    if not published and (hidden or dev_1 is not None):
        raise InvalidOption("linear-probe: hidden and dev_1 are for protocol: published")
    if dev_1 is not None and test_1 is None:
        raise InvalidOption("linear-probe: dev_1 needs test_1")
    groups = _codes(texts, "texts_1", "texts_2")
    classes, y = np.unique(labels, return_inverse=True)
    if published:
        needed = folds + 2 if test_1 is None else folds if dev_1 is None else 1
    else:
        needed = max(folds, FEWEST) if test_1 is None else inner_folds
    reason = _too_few(y, np.arange(len(y)) if published else groups, needed)
    if reason:
        return Score(float("nan"), n=len(y), reason=reason)
    x = _features(texts_1, texts_2, published)
    test = None if test_1 is None or test_labels is None else _features(test_1, test_2, published)
    if published:
        dev = None
        if dev_1 is not None and dev_labels is not None:
            dev = _features(dev_1, dev_2, published), _codes_in(classes, dev_labels)
        predicted = _published(x, y, test, dev, folds, hidden, rng)
    else:
        predicted = _exact(x, y, groups, test, folds, inner_folds, grid, rng)
    answers = classes[predicted.classes]
    details = dict(predicted.details)
    if test_labels is None or test is None:
        truth, tested, inputs = labels, groups, ("texts_1", "texts_2")
        parts = predicted.parts
        details["folds"] = [float((answers == truth)[parts == k].mean()) for k in range(folds)]
        if published:
            details["seen"] = _split_copies(groups, parts)
    else:
        truth, tested = test_labels, _codes(texts, "test_1", "test_2")
        inputs = ("test_1", "test_2")
        known = set(_items(texts, "texts_1", "texts_2"))
        details["seen"] = sum(t in known for t in _items(texts, "test_1", "test_2"))
    if published and len(classes) == 2:
        details["f1"] = _f1(truth == classes[1], answers == classes[1])
    hits = np.asarray(answers == truth, dtype=np.float64)
    counts = np.unique(truth, return_counts=True)[1]
    interval = bootstrap.percentile_interval(
        lambda drawn: drawn @ hits / drawn.sum(axis=1),
        [len(hits)],
        rng=rng,
        clusters=[tested],
        resamples=resamples,
        confidence=confidence,
    )
    details |= {"majority": float(counts.max() / len(truth)), "labels": len(classes)}
    columns = {"label": truth, "predicted": answers}
    samples = [Samples(inputs if texts_2 is not None else inputs[0], hits, columns)]
    return Score(
        float(hits.mean()), interval=interval, n=len(hits), details=details, samples=samples
    )


def _exact(
    x: Floats,
    y: Codes,
    groups: Codes,
    test: Floats | None,
    folds: int,
    inner_folds: int,
    grid: Sequence[float],
    rng: np.random.Generator,
) -> Predicted:
    if test is None:
        return penalised_regression.of_folds(
            x, y, groups, folds=folds, inner_folds=inner_folds, grid=grid, rng=rng
        )
    return penalised_regression.of_test(
        x, y, groups, test, inner_folds=inner_folds, grid=grid, rng=rng
    )


def _published(
    x: Floats,
    y: Codes,
    test: Floats | None,
    dev: tuple[Floats, Codes] | None,
    folds: int,
    hidden: int,
    rng: np.random.Generator,
) -> Predicted:
    if test is None:
        return senteval.of_folds(x, y, folds=folds, hidden=hidden, rng=rng)
    if dev is None:
        return senteval.of_test(x, y, test, folds=folds, hidden=hidden, rng=rng)
    return senteval.of_development(x, y, *dev, test, hidden=hidden, rng=rng)


def _too_few(y: Codes, groups: Codes, needed: int) -> str:
    """Return why the labels cannot be learnt; empty if they can."""
    labels = y.max(initial=0) + 1
    least = min((len(np.unique(groups[y == k])) for k in range(labels)), default=0)
    if labels >= 2 and least >= needed:
        return ""
    problem = "all labels are equal" if labels < 2 else f"a label has {least} texts"
    return f"{problem}: two or more labels are needed, each with at least {needed} texts"


def _codes_in(classes: Floats, labels: Floats) -> Codes:
    """Return the index of each label in the sorted classes; -1 for one that is not in them."""
    at = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[at] == labels, at, -1)


def _f1(truth: npt.NDArray[np.bool_], answers: npt.NDArray[np.bool_]) -> float:
    """Return the F1 of the true class; 0 if no answer is a hit."""
    return float(2 * (truth & answers).sum() / (truth.sum() + answers.sum()))


def _split_copies(groups: Codes, parts: Codes) -> int:
    """Return how many texts have a copy in another fold."""
    group_of_part = np.unique(np.stack([groups, parts]), axis=1)[0]
    return int((np.bincount(group_of_part)[groups] > 1).sum())


def _features(first: Reals, second: Reals | None, published: bool) -> Floats:
    """Return the features of texts or pairs; only the published protocol keeps their lengths."""
    u = np.asarray(first, dtype=np.float64) if published else unit_rows(first)
    if second is None:
        return u
    return pair_features(
        u, np.asarray(second, dtype=np.float64) if published else unit_rows(second)
    )


def _items(texts: Mapping[str, Sequence[str]], first: str, second: str) -> list[tuple[str, str]]:
    """Return the text, or pair of texts, of each row of the inputs `first` and `second`."""
    column = texts[first]
    return list(zip(column, texts.get(second) or [""] * len(column), strict=True))


def _codes(texts: Mapping[str, Sequence[str]], first: str, second: str) -> Codes:
    """Return the (n,) codes of the texts, or pairs of texts: equal for copies."""
    codes: dict[tuple[str, str], int] = {}
    return np.array([codes.setdefault(item, len(codes)) for item in _items(texts, first, second)])
