"""Residual bias after debiasing (Gonen and Goldberg 2019).

The most biased words are those before debiasing. The scores say whether they are still together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import EQUAL_SIDES
from .statistics.intervals import pearson, to_pearson
from .statistics.separability import (
    Classifier,
    Indices,
    Shuffle,
    Sides,
    fold_predictions,
    matched_accuracy,
    positive_neighbour_shares,
    two_clusters,
)

SCORES = ("clustering", "neighbours", "recoverability")


@dataclass(frozen=True)
class Spaces:
    """Unit vectors of the same n words, without the words that define the concept.

    Parameters
    ----------
    now
        (n, d) vectors after debiasing.
    before
        (n, e) vectors before debiasing.
    left_out
        Number of words of the vocabulary that define the concept.
    rows
        (n,) rows of the words in the vocabulary.
    """

    now: Floats
    before: Floats
    left_out: int
    rows: Indices


@metric(
    "residual-bias",
    scores={
        "clustering": Scale(
            ideal=0.5,
            bounds=(0.5, 1),
            help="accuracy of two clusters as the two sides of the words most biased before",
        ),
        "neighbours": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="correlation of a word's bias before with the bias before of its neighbours now",
        ),
        "recoverability": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="accuracy of a classifier of the two sides of the words most biased before",
        ),
    },
    later_options=("null_draws",),
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
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]],
) -> dict[str, Score]:
    """Residual bias: words that were biased before debiasing are still found together.

    The bias of a word is its projection, before debiasing, on the mean difference of the
    definitional pairs, with all vectors at length 1. Words that define the concept are left out.
    The `most_biased` words at either end are the two sides.

    - clustering: k-means makes two clusters of the words of both sides. The score is the share of
      words in the cluster of their side, under the better of the two matchings.
    - neighbours: Pearson correlation, over a sample of words, between a word's bias and the share
      of its k nearest neighbours now whose bias is positive.
    - recoverability: cross-validated accuracy of a classifier of the two sides.

    Read the scores after a mitigation. Before it, the sides are the ends of a direction of the same
    vectors, so any vectors, noise too, are near 1. The floors are what the same clusters,
    neighbours and predictions give for sides that are shuffled.

    Parameters
    ----------
    vocabulary
        (m, d) vectors now, after debiasing.
    vocabulary_before
        (m, e) vectors of the same words before debiasing.
    pairs_1, pairs_2
        (p, e) vectors of the definitional pairs before debiasing.
    specific_words
        Words that define the concept. They are left out by their `texts`; the vectors are unused.
    most_biased
        Number of words of each side.
    k
        Number of neighbours of a word.
    sample
        Number of words in the correlation of `neighbours`. Their neighbours are searched among
        all words that are not left out.
    classifier
        `rbf-svm`, as published, or `logistic`, which finds only linear differences.
    folds
        Number of folds of the stratified cross-validation.
    null_draws
        Number of times that the sides are shuffled for the floors; 0 for no floor.
    confidence, resamples
        Level of the interval of `neighbours` over the sampled words, and the most of these to
        leave out.
    rng
        Random number generator of the sample, of the seed of clusters and folds, and of the
        resamples.
    texts
        Words by input name.

    Returns
    -------
    dict of Score
        `clustering`, in [0.5, 1], fair is 0.5; `neighbours`, in [−1, 1], fair is 0;
        `recoverability`, in [0, 1], fair is 0.5. Details of all: `before`, the same score of the
        vectors before debiasing; `left_out`, the number of words that define the concept. Details
        of `recoverability`: `folds`, the accuracy on each fold, and `deviation`, their standard
        deviation. No score has a p-value. Only `neighbours` has an interval: the classifiers of
        the folds share most of their words, and resampled words would need new clusters. Samples:
        the words of both sides with their `side` (0 or 1), and their `cluster`, or the side that is
        `predicted` in their `fold`; of `neighbours`, the sampled words with their `bias` before
        and the share of their `neighbours` whose bias is positive.

    Raises
    ------
    InvalidOption
        If `most_biased`, `k` or `sample` is below 1, `folds` is below 2, `classifier` is unknown,
        or `confidence` is not between 0 and 1.

    References
    ----------
    Gonen and Goldberg (2019), Lipstick on a pig: debiasing methods cover up systematic gender
    biases in word embeddings but do not remove them.
    """
    if min(most_biased, k, sample) < 1 or folds < 2:
        raise InvalidOption(
            f"residual-bias: most_biased={most_biased}, k={k}, sample={sample}, folds={folds}: "
            "folds must be at least 2, the others at least 1"
        )
    if classifier not in ("rbf-svm", "logistic"):
        raise InvalidOption(f"residual-bias: classifier={classifier}: use 'rbf-svm' or 'logistic'")
    kept = _not_about_the_concept(texts)
    n = len(kept)
    reason = _undefined(n, most_biased, k, folds)
    direction = (unit_rows(pairs_2) - unit_rows(pairs_1)).sum(axis=0)
    if reason is None and not np.any(direction):
        reason = EQUAL_SIDES
    if reason is not None:
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    spaces = Spaces(
        now=unit_rows(vocabulary)[kept],
        before=unit_rows(vocabulary_before)[kept],
        left_out=len(texts["vocabulary"]) - n,
        rows=kept,
    )
    bias = spaces.before @ unit_rows(direction[None])[0]
    sides = Sides.of(bias, most_biased)
    sampled = np.sort(rng.choice(n, size=min(sample, n), replace=False))
    seed = int(rng.integers(2**31))
    interval = partial(
        intervals.jackknife_interval, rng=rng, resamples=resamples, confidence=confidence
    )
    shuffle = Shuffle(rng.spawn(1)[0], null_draws)  # leaves the draws of `rng` as they are
    return {
        "clustering": _clustering(spaces, sides, seed, shuffle),
        "neighbours": _neighbours(spaces, bias, sampled, k, interval, shuffle),
        "recoverability": _recoverability(spaces, sides, classifier, folds, seed, shuffle),
    }


def _not_about_the_concept(texts: Mapping[str, Sequence[str]]) -> Indices:
    """Return the rows of the vocabulary without pair words and specific words, in any case."""
    listed = {
        text.lower()
        for name in ("pairs_1", "pairs_2", "specific_words")
        for text in texts.get(name, ())
    }
    return np.flatnonzero([word.lower() not in listed for word in texts["vocabulary"]])


def _undefined(n: int, most_biased: int, k: int, folds: int) -> str | None:
    """Return the reason why n words have no scores; None if they have."""
    if n < 2 * most_biased or n <= k:
        return f"{n} words are too few for two sides of {most_biased} words and {k} neighbours"
    if most_biased < folds:
        return f"two sides of {most_biased} words are too few for {folds} folds"
    return None


def _clustering(spaces: Spaces, sides: Sides, seed: int, shuffle: Shuffle) -> Score:
    """Return the accuracy of two clusters of the sides."""
    clusters, clusters_before = (
        two_clusters(x[sides.rows], seed) for x in (spaces.now, spaces.before)
    )
    now = matched_accuracy(clusters, sides.labels)
    before = matched_accuracy(clusters_before, sides.labels)
    hits = clusters == sides.labels
    if hits.mean() < now:
        hits = ~hits
    return Score(
        now,
        n=len(sides.rows),
        details={"before": before, "left_out": spaces.left_out},
        samples=[_of_sides(spaces, sides, hits.astype(np.float64), {"cluster": clusters})],
        null=shuffle.accuracies(clusters, sides.labels, matched=True),
    )


def _neighbours(
    spaces: Spaces, bias: Floats, sampled: Indices, k: int, interval_of: Any, shuffle: Shuffle
) -> Score:
    """Return the correlation of the sampled words' bias with the bias of their neighbours."""
    shares, shares_before = (
        positive_neighbour_shares(x, bias > 0, sampled, k) for x in (spaces.now, spaces.before)
    )
    now, before = (partial(pearson, share, bias[sampled]) for share in (shares, shares_before))
    value = float(now()[0])
    return Score(
        value,
        interval=interval_of(now, [len(sampled)], bounds=(-1, 1)),
        n=len(sampled),
        reason="the neighbours of all words have the same bias" if np.isnan(value) else None,
        details={"before": float(before()[0]), "left_out": spaces.left_out},
        samples=[
            Samples(
                "vocabulary",
                to_pearson(shares, bias[sampled]),
                {"bias": bias[sampled], "neighbours": shares},
                spaces.rows[sampled],
            )
        ],
        null=shuffle.correlations(shares, bias[sampled]),
    )


def _recoverability(
    spaces: Spaces, sides: Sides, classifier: Classifier, folds: int, seed: int, shuffle: Shuffle
) -> Score:
    """Return the cross-validated accuracy of a classifier of the sides."""
    predictions, predictions_before = (
        fold_predictions(x[sides.rows], sides.labels, classifier, folds, seed)
        for x in (spaces.now, spaces.before)
    )
    now, before = predictions.accuracies, predictions_before.accuracies
    columns = {"predicted": predictions.predicted, "fold": predictions.folds}
    return Score(
        float(now.mean()),
        n=len(sides.rows),
        details={
            "before": float(before.mean()),
            "left_out": spaces.left_out,
            "folds": now.tolist(),
            "deviation": float(now.std(ddof=1)),
        },
        samples=[_of_sides(spaces, sides, predictions.contributions, columns)],
        null=shuffle.accuracies(predictions.predicted, sides.labels),
    )


def _of_sides(
    spaces: Spaces, sides: Sides, contribution: Floats, columns: Mapping[str, Any]
) -> Samples:
    """Return what the most biased words contribute."""
    columns = {"side": sides.labels, **columns}
    return Samples("vocabulary", contribution, columns, spaces.rows[sides.rows])
