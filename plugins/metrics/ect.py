"""ECT: whether two target sets rank the attributes by similarity in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from harness.arrays import Reals, cosines
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import association, intervals
from .statistics.intervals import spearman, to_spearman

INPUTS = ("targets_1", "targets_2", "attributes")


@metric(
    "ect",
    scores={
        "coherence": Scale(
            ideal=1,
            bounds=(-1, 1),
            help="rank correlation of the attributes' similarities to the two target sets' means",
        )
    },
    disjoint=(("targets_1", "targets_2"),),
    contrast=Contrast(sides=("attributes",), towards=("targets_1", "targets_2")),
)
def ect(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    *,
    unit_length: bool = False,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> Score:
    """Embedding coherence test (ECT).

    ECT = Spearman's correlation, over a in A, of cos(a, μ₁) and cos(a, μ₂), with the mean vectors
    μ of the target sets. It does not show whether one set is closer to all attributes.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the target sets.
    attributes
        (a, d) vectors of A; their lengths have no effect.
    unit_length
        Whether vectors are set to length 1 before targets are averaged. Published: False.
    confidence, resamples
        Level of the interval over attributes, and the most of these to leave out; the means
        are fixed.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    Score
        ECT, in [−1, 1]; fair is 1: both sets rank the attributes in the same order. `n` is |A|;
        at least three attributes are needed. Details: `unit_length`. Samples: each attribute with
        its `cosine_1` and `cosine_2` to the two means. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Dev and Phillips (2019), Attenuating bias in word vectors, embedding coherence test.
    """
    arrays = (targets_1, targets_2, attributes)
    details = {"unit_length": unit_length}
    n = len(attributes)
    reason = association.empty(dict(zip(INPUTS, arrays, strict=True)))
    if reason is None and n < 3:
        reason = "fewer than three attributes"
    if reason:
        return Score(float("nan"), n=n, reason=reason, details=details)
    means = [association.rows(array, unit_length=unit_length).mean(axis=0) for array in arrays[:2]]
    cosines_1, cosines_2 = cosines(np.stack(means), attributes)
    value = float(spearman(cosines_1, cosines_2)[0])
    if np.isnan(value):
        reason = "all attributes are equally similar to a target set"
        return Score(value, n=n, reason=reason, details=details)
    interval = intervals.jackknife_interval(
        partial(spearman, cosines_1, cosines_2),
        [n],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["attributes"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(-1, 1),
    )
    samples = Samples(
        "attributes",
        to_spearman(cosines_1, cosines_2),
        {"cosine_1": cosines_1, "cosine_2": cosines_2},
    )
    return Score(value, interval=interval, n=n, details=details, samples=[samples])
