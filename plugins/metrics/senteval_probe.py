"""Usefulness: accuracy of a classifier of texts by their vectors, as SentEval's toolkit has it.

It is there to be set beside published results. `linear-probe` is fitted to its optimum, and takes
seconds where this takes minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric

from .statistics import intervals, senteval
from .statistics.senteval import (
    Codes,
    accuracy,
    codes,
    pair_features,
    seen,
    too_few_texts,
)


@metric(
    "senteval-probe",
    scores={
        "accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the texts that SentEval's classifier labels correctly",
        )
    },
)
def senteval_probe(
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
    folds: int = 10,
    hidden: int = 0,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> Score:
    """Accuracy of SentEval's classifier on texts that it was not trained on.

    A softmax regression on the vectors as they are is trained by Adam in minibatches of 64. Every 4
    epochs it is looked at on development texts; it ends after the sixth look without a new best
    accuracy. The weight of its penalty, of 1e-5, 1e-4, 1e-3 and 1e-2, is the one of the highest
    accuracy on development texts. A pair of vectors (u, v) has the features |u − v| and u·v.

    Without a test set, the accuracy is that of a stratified cross-validation over all texts, and
    development texts come from an inner one. With a test set they come from a cross-validation of
    the training texts, or are the development set. As in the toolkit, copies of a text may be in
    different folds.

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
        Vectors and classes of the development set; it needs a test set.
    folds
        Number of folds of each cross-validation.
    hidden
        Number of hidden units, with a sigmoid; 0 for a softmax regression.
    confidence, resamples
        Level of the interval over the tested texts, and the most of these to leave out.
        It covers the choice of these texts, not that of the training texts.
    rng
        Random number generator of the folds, first weights, minibatches and resamples.
    texts
        Texts by input name, which identify copies.

    Returns
    -------
    Score
        Accuracy, in [0, 1], higher is better. `n` is the number of tested texts. Details:
        `majority`, the share of the most frequent label, which a constant answer reaches;
        `labels`, the number of classes; `penalty`, the chosen one of each training, and
        `development`, the accuracy that chose it; in a cross-validation `folds`, the accuracy on
        each fold; `seen`, the number of tested texts that are also trained on; with two labels
        `f1`, that of the higher one. Samples: each tested text with its `label` and the
        `predicted` one. There is no p-value.

    Raises
    ------
    InvalidOption
        If `folds` is below 2, `hidden` below 0, or `confidence` is not between 0 and 1.

    References
    ----------
    Conneau and Kiela (2018), SentEval: an evaluation toolkit for universal sentence
    representations.
    """
    if folds < 2 or hidden < 0:
        raise InvalidOption(
            f"senteval-probe: folds={folds}, hidden={hidden}: folds must be at least 2, and hidden "
            "at least 0"
        )
    has_test = test_1 is not None and test_labels is not None
    has_dev = dev_1 is not None and dev_labels is not None
    classes, y = np.unique(labels, return_inverse=True)
    reason = too_few_texts(
        np.bincount(y), folds + 2 if not has_test else folds if not has_dev else 1
    )
    if reason:
        return Score(float("nan"), n=len(y), reason=reason)
    x = _features(texts_1, texts_2)
    if test_1 is None or test_labels is None:
        predicted = senteval.of_folds(x, y, folds=folds, hidden=hidden, rng=rng)
        truth, part = labels, "texts"
    else:
        test = _features(test_1, test_2)
        truth, part = test_labels, "test"
        if dev_1 is None or dev_labels is None:
            predicted = senteval.of_test(x, y, test, folds=folds, hidden=hidden, rng=rng)
        else:
            dev, dev_y = _features(dev_1, dev_2), _codes_in(classes, dev_labels)
            predicted = senteval.of_development(x, y, dev, dev_y, test, hidden=hidden, rng=rng)
    answers = classes[predicted.classes]
    details: dict[str, Any] = {"penalty": predicted.penalties, "development": predicted.development}
    details |= {"labels": len(classes)}
    if has_test:
        details |= {"seen": seen(texts)}
    else:
        details |= _of_folds(answers == truth, codes(texts, "texts"), predicted.parts)
    if len(classes) == 2:
        details["f1"] = _f1(truth == classes[1], answers == classes[1])
    return accuracy(
        truth,
        answers,
        part=part,
        texts=texts,
        details=details,
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )


def _codes_in(classes: Floats, labels: Floats) -> Codes:
    """Return the index of each label in the sorted classes; -1 for one that is not in them."""
    at = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[at] == labels, at, -1)


def _of_folds(hits: npt.NDArray[np.bool_], groups: Codes, parts: Codes) -> dict[str, Any]:
    """Return the accuracy on each fold, and how many texts have a copy in another fold."""
    group_of_part = np.unique(np.stack([groups, parts]), axis=1)[0]
    return {
        "folds": [float(hits[parts == fold].mean()) for fold in np.unique(parts)],
        "seen": int((np.bincount(group_of_part)[groups] > 1).sum()),
    }


def _f1(truth: npt.NDArray[np.bool_], answers: npt.NDArray[np.bool_]) -> float:
    """Return the F1 of the true class; 0 if neither has a member."""
    return float(2 * (truth & answers).sum() / max(1, truth.sum() + answers.sum()))


def _features(first: Reals, second: Reals | None) -> Floats:
    if second is None:
        return np.asarray(first, dtype=np.float64)
    return pair_features(first, second)
