"""Spearman's and Pearson's correlation of predictions with ratings, as scores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from harness.arrays import Floats
from harness.metrics import Samples, Score

from . import intervals
from .intervals import (
    correlation_p_value,
    pearson,
    spearman,
    to_pearson,
    to_spearman,
)


def correlation_scores(
    predicted: Floats,
    ratings: Floats,
    *,
    name: str,
    inputs: tuple[str, ...],
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None,
    resamples: int,
    confidence: float,
) -> dict[str, Score]:
    """Return the scores `spearman` and `pearson` of predictions and ratings.

    Parameters
    ----------
    predicted, ratings
        (n,) values of the items.
    name
        What is predicted, in the singular: the column of the samples, and for the reason.
    inputs
        Names of the inputs whose rows are the items.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of the first input count.
    resamples, confidence
        Number of resamples and level of the intervals.
    """
    n = len(ratings)
    scores = {}
    columns = {name: predicted, "rating": ratings}
    for score, correlation, contribution in (
        ("spearman", spearman, to_spearman),
        ("pearson", pearson, to_pearson),
    ):
        if n < 3:
            scores[score] = Score(float("nan"), n=n, reason="fewer than three pairs")
            continue
        value = float(correlation(predicted, ratings)[0])
        if np.isnan(value):
            reason = f"all ratings or all {name}s are equal"
            scores[score] = Score(value, n=n, reason=reason)
            continue
        interval = intervals.jackknife_interval(
            partial(correlation, predicted, ratings),
            [n],
            rng=rng,
            clusters=intervals.codes_of(clusters, inputs[:1]),
            resamples=resamples,
            confidence=confidence,
            bounds=(-1, 1),
        )
        p_value = correlation_p_value(value, n)
        samples = [Samples(inputs, contribution(predicted, ratings), columns)]
        scores[score] = Score(value, p_value=p_value, interval=interval, n=n, samples=samples)
    return scores
