"""Usefulness: correlation of the cosines of text pairs with human similarity ratings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines
from harness.metrics import Compares, Scale, Score, metric

from .statistics import intervals
from .statistics.correlations import correlation_scores


@metric(
    "similarity-correlation",
    scores={
        "spearman": Scale(
            ideal="higher", bounds=(-1, 1), help="rank correlation of cosines and human ratings"
        ),
        "pearson": Scale(
            ideal="higher", bounds=(-1, 1), help="correlation of cosines and human ratings"
        ),
    },
    compares=Compares(("texts_1",), ("texts_2",), paired=True),
)
def similarity_correlation(
    texts_1: Reals,
    texts_2: Reals,
    ratings: Floats,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> dict[str, Score]:
    """Correlation of the cosines of text pairs with human ratings of their similarity.

    This is the usual measure of semantic textual similarity: an embedding is useful if texts that
    people find similar have a high cosine.

    Parameters
    ----------
    texts_1, texts_2
        (n, d) vectors of the pairs.
    ratings
        (n,) human ratings, higher for more similar texts, in any unit.
    confidence, resamples
        Level of the intervals over pairs, and the most of these to leave out.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of `texts_1`, (n,), define the clusters of pairs that
        share a text or source.

    Returns
    -------
    dict of Score
        `spearman` and `pearson`, in [−1, 1], higher is better. The p-values are those of the
        two-sided t test of no correlation. At least three pairs are needed. Samples: each pair
        with its `cosine` and `rating`.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Agirre et al. (2012), SemEval-2012 task 6: a pilot on semantic textual similarity. Reimers et
    al. (2016), Task-oriented intrinsic evaluation of semantic textual similarity: reasons to
    prefer Spearman's correlation.
    """
    return correlation_scores(
        paired_cosines(texts_1, texts_2),
        np.asarray(ratings, dtype=np.float64),
        name="cosine",
        inputs=("texts_1", "texts_2"),
        rng=rng,
        clusters=clusters,
        resamples=resamples,
        confidence=confidence,
    )
