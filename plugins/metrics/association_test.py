"""Association of attributes with two target sets (Uriot 2024, section 2.1.2).

`association` and `auc` contrast the attribute sets; `proportion` is the paper's count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Compares, Contrast, Interval, Samples, Scale, Score, metric

from .statistics import intervals
from .statistics.association import SIGNIFICANT, AttributeContrast, association_samples
from .statistics.concept_scores import NO_OVERLAP
from .statistics.gaps import association_gap
from .statistics.intervals import to_auc
from .statistics.nulls import SHUFFLES

Scenario = Literal["neutral", "debiasing", "positive", "negative"]
Reading = Literal["table-1", "printed"]
Alternative = Literal["greater", "less", "two-sided"]
FAIR = {"proportion": 0.5, "association": 0.0, "auc": 0.5}
"""Ideal of each score."""
NO_DIFFERENCE = "every attribute is as close to one target set as to the other, up to rounding"


@metric(
    "association-test",
    scores={
        "proportion": Scale(
            ideal=FAIR["proportion"],
            bounds=(0, 1),
            help="share of attributes that are closer to the expected target set, as published",
        ),
        "association": Scale(
            ideal=FAIR["association"],
            bounds=(-4, 4),
            in_cosines=True,
            help="mean difference of the first attributes minus that of the second, in cosines",
        ),
        "auc": Scale(
            ideal=FAIR["auc"],
            bounds=(0, 1),
            help="probability that an attribute of the first set is the nearer to its targets",
        ),
    },
    disjoint=(("attributes_1", "attributes_2"),),
    contrast=Contrast(sides=("attributes_1", "attributes_2"), towards=("targets_1", "targets_2")),
    later_options=("paired_targets", "permutations", "resamples"),
    gap=association_gap,
    compares=Compares(("targets_1", "targets_2"), ("attributes_1", "attributes_2")),
)
def association_test(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    *,
    test: Scenario = "neutral",
    reading: Reading = "table-1",
    confidence: float = intervals.CONFIDENCE,
    paired_targets: bool = False,
    permutations: int = SHUFFLES,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Association of two attribute sets with two target sets: its size, its AUC and a count.

    With s_ij the mean cosines of the attributes of A_j with the targets T_i (equation 4), every
    attribute has a difference s_1j − s_2j: by how much it is closer to T_1 than to T_2.

    - `association` is the mean difference over A_1 minus that over A_2: how much closer each
      attribute set is to its own targets. It is a magnitude.
    - `auc` is the probability that an attribute of A_1 has a larger difference than one of A_2. It
      says how well the sets are separated, however small the difference is.
    - `proportion`, the score of the paper, counts attributes by the sign of the difference.

    A context that moves all attributes towards one target set, such as a sentence that names the
    group, changes `proportion`, and neither `association` nor `auc`: the association of the sets
    is what the stereotype leaves when the group is unknown (`debiasing`) or stated (`positive`,
    `negative`), and is fair at 0 in every scenario. So `test` and `reading` only concern
    `proportion`. An offset also hides a stereotype from the count: in all-MiniLM-L6-v2 the
    proportion of occupations is .479 although the AUC is .883, and .625 after hard debiasing,
    which leaves an AUC of .572.

    The p-value of `association` and `auc` is two-sided, by the association. It is the larger of
    two: with the targets assigned to the two sides at random, and with the attributes assigned to
    their sets. With `paired_targets` the sides of pairs are swapped, else the members of both sets
    are drawn anew; targets of the same word or cluster move together. Neither takes attributes for
    independent, as the binomial test of `proportion` does: with the sides of 20 target pairs
    swapped at random, that test rejects 11 % at 5 %. The floor of `association` is the larger of
    both assignments, too. The floor of `auc` assigns the attributes: with random targets it would
    rise with the bias, because half of the pairs swapped still point along the same direction,
    only not as far.

    `proportion` is k/N. k1 counts s_11 > s_21 and s_22 > s_12: attributes closer to their own
    targets (equation 5); k2 counts s_11 > s_21 and s_12 > s_22: attributes closer to T_1, the
    group that is discriminated against (equation 6). Its p-value is that of a binomial test:

    ========= ============= ============================== ==================================
    test      k             null and alternative: table-1  null and alternative: printed
    ========= ============= ============================== ==================================
    neutral   k1            p = 1/2, greater               p = 1/2, greater
    debiasing max(k1, k2)   k1: p = 1/2, two-sided;        p = 1/2, two-sided
                            k2: p = |A_1|/N, greater
    positive  k2            p = |A_1|/N, greater           p = |A_1|/N, greater
    negative  k2            p = |A_1|/N, less              p = 1/2, less
    ========= ============= ============================== ==================================

    The paper's table 1 defines the tests of `table-1`; its table 4 shows those of `printed`. Table
    4 has a slip: in rows 3 to 17 the age column under debiasing repeats the neutral column of the
    row above, in 15 of 15 rows (up to the last digit, which is sometimes cut and sometimes
    rounded). So these cells say nothing about debiasing, and no reading gives them.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of T_1 and T_2.
    attributes_1, attributes_2
        (a, d) and (b, d) vectors of A_1 and A_2, N = a + b.
    test
        Scenario of the attributes' texts: `neutral`, `debiasing`, `positive` or `negative`.
    reading
        Definition of the tests of `proportion`: `table-1` or `printed`.
    confidence
        Level of the intervals.
    paired_targets
        Whether the rows of both target sets are pairs, such as she and he.
    permutations
        Number of random assignments; if there are at most as many, all are counted.
    resamples
        Most units to leave out for the jackknife intervals over targets (or pairs) and attributes;
        0 for none.
    rng
        Random number generator of the assignments and resamples.
    clusters
        Cluster codes by input name: items made from one word or template share a code.
    texts
        Texts by input name; targets of the same text move together.

    Returns
    -------
    dict of Score
        `proportion`: k/N, in [0, 1], with Wilson's interval; fair is 1/2. `n` is N. Details: `k1`,
        `k2`; `shown`, which of the two is k; `null` and `alternative` of the p-value; `test`;
        `reading`. With `debiasing` and `table-1` also `p_k1` and `p_k2`, the p-values of both
        tests. `association`, in [−4, 4], fair is 0; its unit is the standard deviation of all
        cosines of targets and attributes. `auc`, in [0, 1], fair is 1/2. Details of both:
        `p_targets` and `p_attributes`, the two p-values; `p_kind` of the larger, `exact` or the
        number of permutations; `shuffled_targets`, what of the targets was assigned at random, and
        `units`, how many of them move on their own; `alternative`; `reversed`, whether the
        association is negative with a p-value below .05. Samples: each attribute
        with the `difference` s_1j − s_2j, and for `association` also each target. If no attribute
        has a difference beyond rounding, all scores are missing; they are fair if a mitigator
        removed the differences.

    Raises
    ------
    InvalidOption
        If `paired_targets` is set and the target sets differ in size, if `permutations` is below 1
        or `confidence` is not between 0 and 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection,
    equations 4–6 and table 1.
    """
    n = len(attributes_1) + len(attributes_2)
    if n == 0 or len(targets_1) == 0 or len(targets_2) == 0:
        return _missing("a target set is empty, or both attribute sets are", n)
    x, y, a, b = (unit_rows(z) for z in (targets_1, targets_2, attributes_1, attributes_2))
    # s_1j − s_2j of equation 4: mean unit vector of T_1 minus that of T_2, along each attribute
    direction = x.mean(axis=0) - y.mean(axis=0)
    differences = a @ direction, b @ direction
    if max(np.abs(part).max(initial=0.0) for part in differences) <= NO_OVERLAP:
        return _missing(NO_DIFFERENCE, n, undone=True)
    scores = {"proportion": _proportion(differences, test, reading, confidence)}
    if len(a) == 0 or len(b) == 0:
        return _missing("an attribute set is empty", n) | scores
    contrast = AttributeContrast.of(
        x, y, a, b, paired=paired_targets, clusters=clusters, texts=texts
    )
    chance = contrast.by_chance(permutations=permutations, rng=rng)
    ends = contrast.intervals(resamples=resamples, confidence=confidence, rng=rng)
    values = {"association": contrast.association, "auc": contrast.auc}
    by_chance = {"association": chance.null, "auc": contrast.areas_by_chance(chance)}
    targets = chance.sides["targets"]
    details = {
        **chance.p_values,
        "p_kind": chance.deciding.test.kind,
        "shuffled_targets": targets.shuffled,
        "units": targets.units,
        "alternative": "two-sided",
        "reversed": contrast.association < 0 and chance.two_sided < SIGNIFICANT,
    }
    samples: dict[str, Callable[[], list[Samples]]] = {
        "association": partial(association_samples, x, y, a, b),
        "auc": partial(_samples, to_auc(*differences), differences),
    }
    for name, value in values.items():
        scores[name] = Score(
            value,
            p_value=chance.p_value,
            interval=ends[name],
            n=n,
            details=details,
            samples=samples[name],
            null=by_chance[name],
            unit=contrast.spread if name == "association" else None,
        )
    return scores


def _missing(reason: str, n: int, *, undone: bool = False) -> dict[str, Score]:
    """Return undefined scores; `undone` if there is no difference to measure."""
    return {
        name: Score(float("nan"), n=n, reason=reason, without_difference=fair if undone else None)
        for name, fair in FAIR.items()
    }


def _samples(
    contributions: tuple[Floats, Floats], differences: tuple[Floats, Floats]
) -> list[Samples]:
    """Return the samples of a score to which each attribute contributes."""
    return [
        Samples(f"attributes_{i}", contribution, {"difference": difference})
        for i, (contribution, difference) in enumerate(
            zip(contributions, differences, strict=True), start=1
        )
    ]


def _proportion(
    differences: tuple[Floats, Floats], test: Scenario, reading: Reading, confidence: float
) -> Score:
    """Return the share k/N of equations 5 and 6 with its binomial test."""
    from scipy.stats import binomtest  # it takes a second to import

    first, second = (part > 0 for part in differences)
    apart = differences[1] < 0
    n = len(first) + len(second)
    k1 = int(np.count_nonzero(first) + np.count_nonzero(apart))
    k2 = int(np.count_nonzero(first) + np.count_nonzero(second))
    share = len(first) / n

    details: dict[str, object] = {"k1": k1, "k2": k2, "test": test, "reading": reading}
    shown, null = "k1", 0.5
    alternative: Alternative = "greater"
    if test == "debiasing":
        shown = "k2" if k2 > k1 else "k1"
        alternative = "two-sided"
        if reading == "table-1":
            details["p_k1"] = _p_value(k1, n, 0.5, "two-sided")
            details["p_k2"] = _p_value(k2, n, share, "greater")
            if shown == "k2":
                null, alternative = share, "greater"
    elif test == "positive":
        shown, null = "k2", share
    elif test == "negative":
        shown, null, alternative = "k2", share if reading == "table-1" else 0.5, "less"
    k = k1 if shown == "k1" else k2
    expected = first.astype(float), (apart if shown == "k1" else second).astype(float)
    ends = binomtest(k, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Score(
        k / n,
        p_value=_p_value(k, n, null, alternative),
        interval=Interval(float(ends.low), float(ends.high), confidence, "Wilson"),
        n=n,
        details=details | {"shown": shown, "null": null, "alternative": alternative},
        samples=_samples(expected, differences),
    )


def _p_value(k: int, n: int, null: float, alternative: Alternative) -> float:
    from scipy.stats import binomtest  # it takes a second to import

    return float(binomtest(k, n, null, alternative=alternative).pvalue)
