"""Usefulness: whether the cosine of two texts follows how similar people say they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.weighted import correlation_p_value, pearson, spearman


@metric(
    "similarity-correlation",
    scores={
        "spearman": Scale(
            ideal="higher", bounds=(-1, 1), help="rank correlation of cosines and ratings"
        ),
        "pearson": Scale(ideal="higher", bounds=(-1, 1), help="correlation of cosines and ratings"),
    },
)
def similarity_correlation(
    texts_1: Reals,
    texts_2: Reals,
    ratings: Floats,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> dict[str, Score]:
    """Correlation of the cosines of pairs of texts with people's ratings of their similarity.

    Parameters
    ----------
    texts_1, texts_2
        (n, d) vectors of the pairs.
    ratings
        (n,) people's ratings, higher for more similar, in any unit.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over pairs.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of pairs that share a text or source; those of `texts_1` are used.

    Returns
    -------
    dict of Score
        `spearman` and `pearson`, each in [-1, 1], higher is better, with the two-sided p-value
        of no correlation.

    References
    ----------
    Agirre et al. (2012), SemEval-2012 task 6; Reimers et al. (2016), Task-oriented intrinsic
    evaluation of semantic textual similarity, on why Spearman comes first.
    """
    cosines = paired_cosines(texts_1, texts_2)
    y = np.asarray(ratings, dtype=np.float64)
    scores = {}
    for name, correlation in (("spearman", spearman), ("pearson", pearson)):
        if len(y) < 3:
            scores[name] = Score(float("nan"), n=len(y), reason="fewer than three pairs")
            continue
        value = float(correlation(cosines, y)[0])
        if np.isnan(value):
            reason = "all ratings or all cosines are equal"
            scores[name] = Score(value, n=len(y), reason=reason)
            continue
        interval = bootstrap.percentile_interval(
            partial(correlation, cosines, y),
            [len(y)],
            rng=rng,
            clusters=bootstrap.codes_of(clusters, ["texts_1"]),
            resamples=resamples,
            confidence=confidence,
        )
        p_value = correlation_p_value(value, len(y))
        scores[name] = Score(value, p_value=p_value, interval=interval, n=len(y))
    return scores
