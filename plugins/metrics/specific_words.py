"""Words that mean gender (Bolukbasi et al. 2016, section 7): whether an SVM finds them, and which.

Says how well a list of words that have a concept in their definition can be grown to a whole
vocabulary. It is no measure of bias: that queen means a woman is no stereotype.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from harness.arrays import Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric


@metric(
    "specific-words",
    scores={
        "f1": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="how well a linear classifier finds words that mean the concept",
        ),
        "balanced_accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="the same, with both classes of equal weight; chance is 0.5",
        ),
    },
)
def specific_words(
    seeds: Reals,
    words: Reals,
    rest: Reals | None = None,
    *,
    c: float = 1.0,
    grid: Sequence[float] = (),
    folds: int = 10,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Cross-validated F1 and balanced accuracy of a linear SVM that finds the seed words.

    Vectors have length 1. Of `words` the seeds are positive and all others negative; seeds that
    are not among them are not learnt from, as in the paper, and could in a pruned vocabulary have
    the vector of one that is. F1 is that of the SVM with all words of equal weight, balanced
    accuracy (the mean of both classes' recall) that of an SVM in which both classes weigh the
    same. Both are means over stratified folds.

    F1 is 0 where the classifier labels nothing: with few seeds among many words and few
    dimensions that costs it least. In 300 dimensions it is the paper's .627.

    Parameters
    ----------
    seeds
        (s, d) vectors of S_0, the words known to have the concept in their definition.
    words
        (n, d) vectors of the vocabulary that the seeds were chosen from.
    rest
        (r, d) vectors of further words, which were not looked through: they are labelled by the
        classifier and not learnt from. Words that are seeds or among `words` are left out.
    c
        Regularisation of the SVM, the larger the weaker; the paper's is 1.
    grid
        Values of `c` among which a nested cross-validation of as many folds chooses for the
        balanced SVM, as in the paper; none: `c`. Multiplies the time by folds × values.
    folds
        Number of folds.
    rng
        Shuffles the words before they are parted into folds.
    texts
        The texts of each input's rows.

    Returns
    -------
    dict of Score
        In [0, 1]. Details: `seeds` (those among `words`), `words`, `folds` (the value of each
        fold) and `deviation` between them. The table `words` of `f1` is the grown list, most
        specific first: `word`, its `margin` (positive: labelled specific) and what it is `of`. The
        paper's S is `seeds` and those of `rest`; those of `words` were looked through and left.

    Raises
    ------
    InvalidOption
        If there are not two folds or more, or a regularisation is not positive.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 7.
    """
    if folds < 2 or min((c, *grid)) <= 0:
        raise InvalidOption("specific-words needs two folds or more, and positive c and grid")
    x, known = unit_rows(words), set(texts["seeds"])
    y = np.array([word in known for word in texts["words"]], dtype=bool)
    positives = int(y.sum())
    if min(positives, len(y) - positives) < folds:
        reason = f"{positives} seeds among {len(y)} words are too few for {folds} folds"
        undefined = Score(float("nan"), n=len(y), reason=reason)
        return {"f1": undefined, "balanced_accuracy": undefined}
    parts = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    svm, balanced = _svm(c, None), _svm(c, "balanced")
    if grid:
        chosen = {"C": list(grid)}
        balanced = GridSearchCV(balanced, chosen, scoring="balanced_accuracy", cv=folds)
    f1, accuracy = [], []
    for train, test in parts.split(x, y):
        found = svm.fit(x[train], y[train]).predict(x[test])
        f1.append(f1_score(y[test], found, zero_division=0))
        found = balanced.fit(x[train], y[train]).predict(x[test])
        accuracy.append(balanced_accuracy_score(y[test], found))
    svm.fit(x, y)
    table = _labelled(svm, texts["seeds"], seeds, "seeds", at_least=-np.inf)
    for name, vectors in (("words", words), ("rest", rest)):
        if vectors is not None:
            table += _labelled(svm, texts[name], vectors, name, but=known)
            known |= set(texts[name])
    table.sort(key=lambda row: -row["margin"])
    counts = {"seeds": positives, "words": len(y), "c": c, "grid": list(grid)}
    return {
        "f1": _score(f1, len(y), counts, {"words": table}),
        "balanced_accuracy": _score(accuracy, len(y), counts, {}),
    }


def _svm(c: float, weights: str | None) -> LinearSVC:
    return LinearSVC(C=c, class_weight=weights, dual=False)


def _labelled(
    svm: LinearSVC,
    words: Sequence[str],
    vectors: Reals,
    of: str,
    *,
    but: Collection[str] = (),
    at_least: float = 0.0,
) -> list[dict[str, Any]]:
    """Return rows of the words `but` some whose margin is above a bound: a seed stays one."""
    if len(vectors) == 0:
        return []
    margins = svm.decision_function(unit_rows(vectors))
    return [
        {"word": word, "margin": float(margin), "of": of}
        for word, margin in zip(words, margins, strict=True)
        if margin > at_least and word not in but
    ]


def _score(
    values: list[float],
    n: int,
    counts: Mapping[str, object],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Score:
    details: dict[str, Any] = {**counts, "folds": [float(value) for value in values]}
    details["deviation"] = float(np.std(values, ddof=1))
    return Score(float(np.mean(values)), n=n, details=details, tables=tables)
