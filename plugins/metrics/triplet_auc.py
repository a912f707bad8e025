"""Name bias by triplets: the same meaning under other names against the same names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.weighted import auc


@metric(
    "triplet-auc",
    scores={
        "auc": Scale(
            ideal=1,
            bounds=(0, 1),
            help="chance that a pair of one meaning is nearer than a pair of the same names",
        )
    },
)
def triplet_auc(
    queries: Reals,
    positives: Reals,
    negatives: Reals,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Area under the ROC curve of the cosines of (query, positive) against (query, negative).

    All 2n cosines are pooled, so a positive pair is compared with every negative pair and not
    only with that of its own query. Below 1/2 names weigh more than meaning; best is 1.

    Parameters
    ----------
    queries
        (n, d) vectors.
    positives
        (n, d) vectors of texts with the query's meaning and other names.
    negatives
        (n, d) vectors of texts with another meaning and the query's names.
    confidence, resamples
        Level and number of draws of the bootstrap interval over triplets.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of triplets that belong together; those of `queries` are used.

    Returns
    -------
    Score
        AUC in [0, 1]. Details: `positive` and `negative`, the mean cosines; `within`, the share of
        triplets whose positive is nearer than their own negative.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, table 6.
    """
    n = len(queries)
    if n == 0:
        return Score(float("nan"), n=0, reason="there are no triplets")
    positive, negative = paired_cosines(queries, positives), paired_cosines(queries, negatives)

    def areas(counts: Floats) -> Floats:
        return auc(positive, negative, (counts, counts))

    interval = bootstrap.percentile_interval(
        areas,
        [n],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["queries"]),
        resamples=resamples,
        confidence=confidence,
    )
    return Score(
        float(auc(positive, negative)[0]),
        interval=interval,
        n=n,
        details={
            "positive": float(positive.mean()),
            "negative": float(negative.mean()),
            "within": float((positive > negative).mean()),
        },
    )
