"""Gender-specific words (Bolukbasi et al. 2016, section 7), found by a linear classifier.

The scores say how well a list of words with a concept in their definition can be extended to a
whole vocabulary. They are no measure of bias: that a queen is a woman is no stereotype.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Samples, Scale, Score, metric

if TYPE_CHECKING:
    from sklearn.svm import LinearSVC

SHOWN = 40  # words of each part of the map, as many as can be read
FREQUENT = 2_000  # words that the map's other words are chosen from
Flags: TypeAlias = npt.NDArray[np.bool_]


@metric(
    "specific-words",
    scores={
        "f1": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="F1 of a linear classifier of the words with the concept in their definition",
        ),
        "balanced_accuracy": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="balanced accuracy of a linear classifier of these words; chance is 0.5",
        ),
        "f1_tuned": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="F1 of that classifier, with the threshold that is best on its training words",
        ),
    },
)
def specific_words(
    seeds: Reals,
    words: Reals,
    rest: Reals | None = None,
    pole_1: Reals | None = None,
    pole_2: Reals | None = None,
    *,
    c: float = 1.0,
    grid: Sequence[float] = (),
    folds: int = 10,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Cross-validated F1 and balanced accuracy of a linear SVM that finds the seed words.

    Among `words`, the seeds are positive and all others negative; all vectors are set to length 1.
    Seeds that are not among `words` are not trained on, as in the paper: in a pruned vocabulary
    they may have the vector of a word that is. F1 is that of an SVM with equal weights for all
    words. Balanced accuracy, the mean recall of the two classes, is that of an SVM with equal
    weights for both classes. Both are means over stratified folds.

    F1 as published is 0 if the classifier finds no word, which costs least with few seeds among
    many words in few dimensions: the words of a class of 0.6 % are ordered well, but all lie on
    the other side of the boundary. `f1_tuned` therefore puts the threshold of each fold where F1
    is greatest on the words that the fold was trained on. In 300 dimensions both are about the
    paper's 0.627.

    Parameters
    ----------
    seeds
        (s, d) vectors of S_0, the words that are known to have the concept in their definition.
    words
        (n, d) vectors of the vocabulary that the seeds were chosen from.
    rest
        (r, d) vectors of further words, which nobody has checked: they are classified, but not
        trained on. Seeds and words of `words` are left out.
    pole_1, pole_2
        (1, d) vectors of two words such as she and he; with them there is the table `map`.
    c
        C of the SVM, the inverse of its regularisation; 1 in the paper.
    grid
        Values of C for the balanced SVM, chosen by a nested cross-validation with the same number
        of folds, as in the paper; empty for `c`. The time grows by folds × values.
    folds
        Number of folds.
    rng
        Random number generator of the folds.
    texts
        Words by input name.

    Returns
    -------
    dict of Score
        `f1`, `f1_tuned` and `balanced_accuracy`, in [0, 1], higher is better; chance is 0.5 for
        balanced accuracy. `n` is the number of words. Details: `seeds`, the number of seeds among
        `words`; `words`; `c`; `grid`; `folds`, the value on each fold; `deviation`, their standard
        deviation. The table `words` of `f1` is the extended list, most specific first: `word`, its
        `margin` (positive: specific) and the input that it is `of`. The paper's S is the words of
        `seeds` and `rest`; those of `words` were checked and rejected by people. Table `map`
        (figure 7): words by their `projection` on the difference of the poles and by their
        `distance` from the boundary, neutral up. Samples: each word of `words`,
        whether it is a `seed`, whether the classifier `found` it, and its `fold`;
        F1 is no mean of words and has no contributions. There is no p-value and no interval.

    Raises
    ------
    InvalidOption
        If `folds` is below 2, or `c` or a value of `grid` is not above 0.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 7.
    """
    from sklearn.metrics import balanced_accuracy_score, f1_score  # it takes a second to import
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    if folds < 2 or min((c, *grid)) <= 0:
        raise InvalidOption(
            f"specific-words: folds={folds}, c={c}, grid={list(grid)}: folds must be at least 2, "
            "c and the values of grid above 0"
        )
    x, known = unit_rows(words), set(texts["seeds"])
    y = np.array([word in known for word in texts["words"]], dtype=bool)
    positives = int(y.sum())
    if min(positives, len(y) - positives) < folds:
        reason = f"{positives} seeds among {len(y)} words are too few for {folds} folds"
        undefined = Score(float("nan"), n=len(y), reason=reason)
        return {"f1": undefined, "balanced_accuracy": undefined, "f1_tuned": undefined}
    parts = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
    svm, balanced = _svm(c, None), _svm(c, "balanced")
    if grid:
        values = {"C": list(grid)}
        balanced = GridSearchCV(balanced, values, scoring="balanced_accuracy", cv=folds)
    f1, accuracy, tuned = [], [], []
    found, found_balanced, found_tuned = np.zeros((3, len(y)), dtype=bool)
    fold_of, contribution = np.zeros(len(y), dtype=np.intp), np.zeros(len(y))
    for fold, (train, test) in enumerate(parts.split(x, y)):
        predicted = svm.fit(x[train], y[train]).predict(x[test])
        f1.append(f1_score(y[test], predicted, zero_division=0))
        found[test], fold_of[test] = predicted, fold
        threshold = _best_threshold(y[train], svm.decision_function(x[train]))
        found_tuned[test] = svm.decision_function(x[test]) >= threshold
        tuned.append(f1_score(y[test], found_tuned[test], zero_division=0))
        predicted = balanced.fit(x[train], y[train]).predict(x[test])
        accuracy.append(balanced_accuracy_score(y[test], predicted))
        found_balanced[test] = predicted
        of_class = np.where(y[test], y[test].sum(), (~y[test]).sum())
        contribution[test] = (predicted == y[test]) * len(y) / (2 * folds * of_class)
    svm.fit(x, y)
    table = _labelled(svm, texts["seeds"], seeds, "seeds", at_least=-np.inf)
    for name, vectors in (("words", words), ("rest", rest)):
        if vectors is not None:
            table += _labelled(svm, texts[name], vectors, name, exclude=known)
            known |= set(texts[name])
    table.sort(key=lambda row: -row["margin"])
    counts = {"seeds": positives, "words": len(y), "c": c, "grid": list(grid)}
    columns = {"seed": y, "fold": fold_of}
    of_f1 = Samples("words", columns=columns | {"found": found})
    of_words = _score(f1, len(y), counts, {"words": table}, of_f1)
    if pole_1 is not None and pole_2 is not None and min(len(pole_1), len(pole_2)) == 1:
        between = unit_rows(unit_rows(pole_2) - unit_rows(pole_1))[0]
        rows = _map(texts["words"], y, x @ between, -svm.decision_function(x))
        of_words = dataclasses.replace(of_words, tables={**of_words.tables, "map": rows})
    of_balanced = Samples("words", contribution, columns | {"found": found_balanced})
    of_tuned = Samples("words", columns=columns | {"found": found_tuned})
    return {
        "f1": of_words,
        "balanced_accuracy": _score(accuracy, len(y), counts, {}, of_balanced),
        "f1_tuned": _score(tuned, len(y), counts, {}, of_tuned),
    }


def _best_threshold(y: Flags, margins: Floats) -> float:
    """Return the margin above which the F1 of (n,) words is greatest, midway between two words."""
    order = np.argsort(-margins, kind="stable")
    hits = np.cumsum(y[order])
    f1 = 2 * hits / (np.arange(1, len(y) + 1) + hits[-1])
    last = int(np.argmax(f1))
    return float(margins[order[last : last + 2]].mean())


def _map(
    words: Sequence[str], seed: Flags, projections: Floats, distances: Floats
) -> list[dict[str, Any]]:
    """Return figure 7: the first seeds, and frequent other words between the poles."""
    others = np.flatnonzero(~seed)[:FREQUENT]
    places = np.linspace(0, len(others) - 1, num=min(SHOWN, len(others))).astype(np.intp)
    spread = others[np.argsort(projections[others], kind="stable")][places]
    return [
        {"word": words[i], "projection": float(projections[i]), "distance": float(distances[i])}
        for i in (*np.flatnonzero(seed)[:SHOWN], *spread)
    ]


def _svm(c: float, weights: str | None) -> LinearSVC:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=c, class_weight=weights, dual=False)


def _labelled(
    svm: LinearSVC,
    words: Sequence[str],
    vectors: Reals,
    of: str,
    *,
    exclude: Collection[str] = (),
    at_least: float = 0.0,
) -> list[dict[str, Any]]:
    """Return rows of the words with a margin above `at_least`, without those to `exclude`."""
    if len(vectors) == 0:
        return []
    margins = svm.decision_function(unit_rows(vectors))
    return [
        {"word": word, "margin": float(margin), "of": of}
        for word, margin in zip(words, margins, strict=True)
        if margin > at_least and word not in exclude
    ]


def _score(
    values: list[float],
    n: int,
    counts: Mapping[str, object],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    samples: Samples,
) -> Score:
    details: dict[str, Any] = {**counts, "folds": [float(value) for value in values]}
    details["deviation"] = float(np.std(values, ddof=1))
    return Score(float(np.mean(values)), n=n, details=details, tables=tables, samples=[samples])
