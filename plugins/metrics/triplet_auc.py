"""Name bias by triplets: pairs with the same meaning against pairs with the same names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.contributions import to_auc
from harness.plugins.metrics.statistics.weighted import auc
from harness.scores import Samples, Scale, Score


@metric(
    "triplet-auc",
    scores={
        "auc": Scale(
            ideal=1,
            bounds=(0, 1),
            help="probability that the same meaning is closer than the same names",
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

    The AUC is the probability that a pair with the same meaning and different names has a higher
    cosine than a pair with the same names and different meanings. All 2n cosines are pooled: each
    positive pair is compared with every negative pair, not only with that of its own query.

    Parameters
    ----------
    queries
        (n, d) vectors.
    positives
        (n, d) vectors of texts with the query's meaning and different names.
    negatives
        (n, d) vectors of texts with a different meaning and the query's names.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over triplets.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of `queries`, (n,), define the clusters of triplets.

    Returns
    -------
    Score
        AUC, in [0, 1]; fair is 1. Below 1/2, names count more than meaning. Details: `positive`
        and `negative`, the mean cosines; `within`, the share of triplets whose positive is closer
        than their own negative. Samples: each triplet with its cosines `positive` and
        `negative`. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

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
        samples=[
            Samples(
                ("queries", "positives", "negatives"),
                np.mean(to_auc(positive, negative), axis=0),
                {"positive": positive, "negative": negative},
            )
        ],
    )
