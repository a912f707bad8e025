"""Binomial association test (Uriot 2024, section 2.1.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import binomtest

from harness.arrays import Reals, unit_rows
from harness.metrics import metric
from harness.plugins.metrics.statistics.bootstrap import CONFIDENCE
from harness.scores import Interval, Samples, Scale, Score

Scenario = Literal["neutral", "debiasing", "positive", "negative"]
Reading = Literal["table-1", "printed"]
Alternative = Literal["greater", "less", "two-sided"]


@metric(
    "association-test",
    scores={
        "proportion": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="share of attributes that are closer to the expected target set",
        )
    },
    disjoint=(("attributes_1", "attributes_2"),),
)
def association_test(
    targets_1: Reals,
    targets_2: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    *,
    test: Scenario = "neutral",
    reading: Reading = "table-1",
    confidence: float = CONFIDENCE,
) -> Score:
    """Share of attributes that are closer to one target set than to the other.

    With s_ij the mean cosines of the attributes of A_j with the targets T_i (equation 4):

    - k1 counts s_11 > s_21 and s_22 > s_12: attributes closer to their own targets (equation 5);
    - k2 counts s_11 > s_21 and s_12 > s_22: attributes closer to T_1, the group that is
      discriminated against (equation 6).

    The score is k/N with k = k1 or k2, and its p-value is that of a binomial test:

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
        Definition of the tests: `table-1` or `printed`.
    confidence
        Level of Wilson's interval of a proportion.

    Returns
    -------
    Score
        k/N, in [0, 1]; fair is 1/2. `n` is N. Details: `k1`, `k2`; `shown`, which of the two is
        k; `null` and `alternative` of the p-value; `test`; `reading`. With `debiasing` and
        `table-1` also `p_k1` and `p_k2`, the p-values of both tests. Samples: each attribute with
        the `difference` s_1j − s_2j; it contributes 1 if k counts it.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection,
    equations 4–6 and table 1.
    """
    n = len(attributes_1) + len(attributes_2)
    if n == 0 or len(targets_1) == 0 or len(targets_2) == 0:
        return Score(float("nan"), n=n, reason="a target set is empty, or both attribute sets are")
    # s_1j − s_2j of equation 4: mean unit vector of T_1 minus that of T_2, along each attribute
    direction = unit_rows(targets_1).mean(axis=0) - unit_rows(targets_2).mean(axis=0)
    difference_1 = unit_rows(attributes_1) @ direction
    difference_2 = unit_rows(attributes_2) @ direction
    k1 = int(np.count_nonzero(difference_1 > 0) + np.count_nonzero(difference_2 < 0))
    k2 = int(np.count_nonzero(difference_1 > 0) + np.count_nonzero(difference_2 > 0))
    share = len(attributes_1) / n

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
    expected = (difference_1 > 0, difference_2 < 0 if shown == "k1" else difference_2 > 0)
    samples = [
        Samples(f"attributes_{i + 1}", expected[i].astype(float), {"difference": difference})
        for i, difference in enumerate((difference_1, difference_2))
    ]
    ends = binomtest(k, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Score(
        k / n,
        p_value=_p_value(k, n, null, alternative),
        interval=Interval(float(ends.low), float(ends.high), confidence, "Wilson"),
        n=n,
        details=details | {"shown": shown, "null": null, "alternative": alternative},
        samples=samples,
    )


def _p_value(k: int, n: int, null: float, alternative: Alternative) -> float:
    return float(binomtest(k, n, null, alternative=alternative).pvalue)
