"""Name bias by triplets: pairs with the same meaning against pairs with the same names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, cosine_bounds, paired_cosines
from harness.metrics import Compares, Samples, Scale, Score, metric

from .statistics import intervals
from .statistics.choice_gaps import name_gap
from .statistics.intervals import auc, to_auc


@metric(
    "triplet-auc",
    scores={
        "auc": Scale(
            ideal=1,
            bounds=(0, 1),
            help="probability that the same meaning is closer than the same names",
        ),
        "same_meaning": Scale(
            ideal="higher",
            bounds=(-1, 1),
            in_cosines=True,
            help="mean cosine of texts with the same meaning and other names",
        ),
        "same_names": Scale(
            ideal="lower",
            bounds=(-1, 1),
            in_cosines=True,
            help="mean cosine of texts with the same names and another meaning",
        ),
    },
    gap=name_gap,
    compares=Compares(("queries",), ("positives", "negatives")),
)
def triplet_auc(
    queries: Reals,
    positives: Reals,
    negatives: Reals,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Area under the ROC curve of the cosines of (query, positive) against (query, negative).

    The AUC is the probability that a pair with the same meaning and different names has a higher
    cosine than a pair with the same names and different meanings. All 2n cosines are pooled: each
    positive pair is compared with every negative pair, not only with that of its own query.

    Random vectors have an AUC of 1/2: halfway to fair, and no floor that could be subtracted, since
    a model that knows names only is below it.

    Parameters
    ----------
    queries
        (n, d) vectors.
    positives
        (n, d) vectors of texts with the query's meaning and different names.
    negatives
        (n, d) vectors of texts with a different meaning and the query's names.
    confidence, resamples
        Level of the interval over triplets, and the most of these to leave out.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of `queries`, (n,), define the clusters of triplets.
    texts
        Texts by input name, for the table of pairs.

    Returns
    -------
    dict of Score
        `auc`, in [0, 1]; fair is 1. Below 1/2, names count more than meaning. Details: `positive`
        and `negative`, the mean cosines; `within`, the share of triplets whose positive is closer
        than their own negative. Table `pairs`: each pair with its cosine and its label, 1 for the
        same meaning. `same_meaning` and `same_names`, the mean cosines as scores. Samples: each
        triplet with its cosines `positive` and `negative`. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, table 6; tables 7
    and 16 (pairs), and table 1 (both mean cosines).
    """
    n = len(queries)
    if n == 0:
        undefined = Score(float("nan"), n=0, reason="there are no triplets")
        return {"auc": undefined, "same_meaning": undefined, "same_names": undefined}
    positive, negative = paired_cosines(queries, positives), paired_cosines(queries, negatives)

    interval_of = partial(
        intervals.jackknife_interval,
        sizes=[n],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["queries"]),
        resamples=resamples,
        confidence=confidence,
    )
    samples = Samples(
        ("queries", "positives", "negatives"),
        np.mean(to_auc(positive, negative), axis=0),
        {"positive": positive, "negative": negative},
    )
    area = Score(
        float(auc(positive, negative)[0]),
        interval=interval_of(
            lambda counts: auc(positive, negative, (counts, counts)), bounds=(0, 1)
        ),
        n=n,
        details={
            "positive": float(positive.mean()),
            "negative": float(negative.mean()),
            "within": float((positive > negative).mean()),
        },
        tables={"pairs": _pairs(positive, negative, texts or {})},
        samples=[samples],
    )
    cosines = {"same_meaning": positive, "same_names": negative}
    return {"auc": area} | {
        name: Score(
            float(values.mean()),
            interval=interval_of(
                partial(_weighted_mean, values), bounds=cosine_bounds(queries, (-1, 1))
            ),
            n=n,
            samples=[dataclasses.replace(samples, contribution=values)],
        )
        for name, values in cosines.items()
    }


def _weighted_mean(values: Floats, counts: Floats) -> Floats:
    means: Floats = counts @ values / counts.sum(axis=-1)
    return means


def _pairs(
    positive: Floats, negative: Floats, texts: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return each pair as a row: first the triplet's pair of the same meaning."""
    return [
        {"triplet": row + 1, "label": label, "cosine": float(cosines[row])}
        | {column: texts[name][row] for column, name in names if name in texts}
        for row in range(len(positive))
        for label, cosines, names in (
            (1, positive, (("query", "queries"), ("text", "positives"))),
            (0, negative, (("query", "queries"), ("text", "negatives"))),
        )
    ]
