"""What is left of a bias once it was taken out, and could be had back (Gonen and Goldberg 2019).

The most biased words are found before; whether they still keep together is asked after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.weighted import pearson

BLOCK = 512  # words whose cosines with all others are held at once
Classifier = Literal["rbf-svm", "logistic"]
SCORES = ("clustering", "neighbours", "recoverability")


@dataclass(frozen=True)
class Sides:
    """The words that are most biased before.

    Parameters
    ----------
    rows
        (2n,) their rows in the vocabulary.
    labels
        (2n,) 0 for the first side, 1 for the second.
    """

    rows: npt.NDArray[np.intp]
    labels: npt.NDArray[np.intp]


@metric(
    "residual-bias",
    scores={
        "clustering": Scale(
            ideal=0.5,
            bounds=(0.5, 1),
            help="how well two clusters of the once most biased words are the two sides",
        ),
        "neighbours": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="correlation of a word's former bias with the share of neighbours so biased",
        ),
        "recoverability": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="how well a classifier tells the sides of the once most biased words",
        ),
    },
)
def residual_bias(
    vocabulary: Reals,
    vocabulary_before: Reals,
    pairs_1: Reals,
    pairs_2: Reals,
    specific_words: Reals | None = None,
    *,
    most_biased: int = 500,
    k: int = 100,
    sample: int = 1_000,
    classifier: Classifier = "rbf-svm",
    folds: int = 10,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Whether words that were biased before are still found together.

    The bias of a word before is its projection on the mean difference of the pairs, all vectors
    at length 1. Words that define the concept are left out. The `most_biased` words of either end
    are the two sides.

    - clustering: k-means makes two clusters of the sides; the share of words in the cluster that
      is their side's, under the better of the two ways to match them
    - neighbours: Pearson correlation, over a sample of words, of a word's bias before with the
      share of its k nearest neighbours now whose bias before was positive
    - recoverability: accuracy of a classifier that is trained to tell the sides, cross-validated

    Parameters
    ----------
    vocabulary
        (m, d) vectors as they are now.
    vocabulary_before
        (m, e) vectors of the same words before.
    pairs_1, pairs_2
        (p, e) vectors before of pairs that differ in the concept alone.
    specific_words
        Words that are about the concept, to be left out by `texts`; their vectors are not read.
    most_biased
        Words of each side.
    k
        Neighbours of a word.
    sample
        Words whose neighbours are looked up; those they are found among are all that are left.
    classifier
        `rbf-svm`, as published, or `logistic`, which finds what a hyperplane tells apart.
    folds
        Of the stratified cross-validation.
    confidence, resamples
        Level and number of draws of the bootstrap interval of `neighbours` over the sample.
    rng
        Source of the first centres, the sample, the folds and the draws.
    texts
        The words of each input.

    Returns
    -------
    dict of Score
        `clustering`, in [0.5, 1], fair is 0.5; `neighbours`, in [-1, 1], fair is 0;
        `recoverability`, in [0, 1], fair is 0.5. Details: `before`, the same of the vectors
        before; `left_out`, words that define the concept; of `recoverability` also `folds` (the
        accuracy on each) and `deviation` between them: no interval, since the classifiers of the
        folds share most of their words. Nor has `clustering` one: to resample words without
        clustering them anew would hide most of what varies.

    Raises
    ------
    InvalidOption
        If an option is none, such as fewer than two folds.

    References
    ----------
    Gonen and Goldberg (2019), Lipstick on a pig: debiasing methods cover up systematic gender
    biases in word embeddings but do not remove them.
    """
    if min(most_biased, k, sample) < 1 or folds < 2:
        raise InvalidOption(
            f"residual-bias: most_biased={most_biased}, k={k}, sample={sample} and folds={folds}: "
            "at least one word of each is needed, and two folds"
        )
    if classifier not in ("rbf-svm", "logistic"):
        raise InvalidOption(f"residual-bias: classifier={classifier}: 'rbf-svm' or 'logistic'")
    kept = _about_other_things(texts)
    now, before = unit_rows(vocabulary)[kept], unit_rows(vocabulary_before)[kept]
    reason = _undefined(len(kept), most_biased, k, folds)
    g = (unit_rows(pairs_2) - unit_rows(pairs_1)).sum(axis=0)
    if reason is None and not np.any(g):
        reason = "the two sides of all pairs are equal"
    if reason is not None:
        return {name: Score(float("nan"), n=len(kept), reason=reason) for name in SCORES}
    bias = before @ unit_rows(g[None])[0]
    order = np.argsort(bias, kind="stable")
    sides = Sides(
        rows=np.concatenate([order[:most_biased], order[-most_biased:]]),
        labels=np.repeat([0, 1], most_biased),
    )
    sampled = np.sort(rng.choice(len(kept), size=min(sample, len(kept)), replace=False))
    seed = int(rng.integers(2**31))
    spaces = (now, before)
    clustered = [_clustering(x, sides, seed) for x in spaces]
    shares = [_positive_shares(x, bias > 0, sampled, k) for x in spaces]
    correlations = [float(pearson(share, bias[sampled])[0]) for share in shares]
    told = [_recoverability(x, sides, _classifier(classifier), folds, seed) for x in spaces]
    interval = bootstrap.percentile_interval(
        partial(pearson, shares[0], bias[sampled]),
        [len(sampled)],
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )
    left_out = len(texts["vocabulary"]) - len(kept)
    by_fold = {"folds": told[0].tolist(), "deviation": float(told[0].std(ddof=1))}
    return {
        "clustering": Score(
            clustered[0],
            n=2 * most_biased,
            details={"before": clustered[1], "left_out": left_out},
        ),
        "neighbours": Score(
            correlations[0],
            interval=interval,
            n=len(sampled),
            reason="every word has neighbours of one bias" if np.isnan(correlations[0]) else None,
            details={"before": correlations[1], "left_out": left_out},
        ),
        "recoverability": Score(
            float(told[0].mean()),
            n=2 * most_biased,
            details={"before": float(told[1].mean()), "left_out": left_out, **by_fold},
        ),
    }


def _about_other_things(texts: Mapping[str, Sequence[str]]) -> npt.NDArray[np.intp]:
    """Return the rows of the vocabulary that no word on the concept's lists stands in."""
    listed = {
        text.lower()
        for name in ("pairs_1", "pairs_2", "specific_words")
        for text in texts.get(name, ())
    }
    return np.flatnonzero([word.lower() not in listed for word in texts["vocabulary"]])


def _undefined(n: int, most_biased: int, k: int, folds: int) -> str | None:
    if n < 2 * most_biased or n <= k:
        return f"{n} words are too few for two sides of {most_biased} and {k} neighbours"
    if most_biased < folds:
        return f"two sides of {most_biased} are too few for {folds} folds"
    return None


def _clustering(x: Floats, sides: Sides, seed: int) -> float:
    """Return the accuracy of two clusters of the sides, in [0.5, 1]."""
    from sklearn.cluster import KMeans

    clusters = KMeans(2, n_init=10, random_state=seed).fit_predict(x[sides.rows])
    accuracy = float((clusters == sides.labels).mean())
    return max(accuracy, 1 - accuracy)


def _positive_shares(
    x: Floats, positive: npt.NDArray[np.bool_], sampled: npt.NDArray[np.intp], k: int
) -> Floats:
    """Return (s,) of sampled words the share of `positive` ones among their neighbours."""
    rows = x.astype(np.float32)
    shares = np.empty(len(sampled))
    for start in range(0, len(sampled), BLOCK):
        block = sampled[start : start + BLOCK]
        cosines = rows[block] @ rows.T
        cosines[np.arange(len(block)), block] = -np.inf  # no word is its own neighbour
        nearest = np.argpartition(cosines, -k, axis=1)[:, -k:]
        shares[start : start + BLOCK] = positive[nearest].mean(axis=1)
    return shares


def _classifier(name: Classifier) -> Any:
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1_000)
    from sklearn.svm import SVC

    return SVC(kernel="rbf")


def _recoverability(x: Floats, sides: Sides, classifier: Any, folds: int, seed: int) -> Floats:
    """Return (folds,) the accuracy of a classifier of the sides on each fold it was not shown."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    accuracies: Floats = cross_val_score(classifier, x[sides.rows], sides.labels, cv=split)
    return accuracies
