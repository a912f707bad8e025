"""WEAT's test statistic: difference of the target sets' associations, not standardised."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.arrays import Reals
from harness.metrics import metric
from harness.plugins.metrics.statistics import word_sets
from harness.plugins.metrics.statistics.association import differential_association
from harness.plugins.metrics.statistics.contributions import to_difference
from harness.scores import Samples, Scale, Score

INPUTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")
Over = Literal["sum", "mean"]


@metric(
    "weat-association",
    scores={
        "association": Scale(
            ideal=0, help="associations of the first targets minus those of the second"
        )
    },
    disjoint=(("targets_1", "targets_2"),),
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
        `association` s. There is no p-value and no interval: see `weat`.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases: test statistic of WEAT.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := word_sets.empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason, details={"over": over})
    s_1 = differential_association(targets_1, attributes_1, attributes_2)
    s_2 = differential_association(targets_2, attributes_1, attributes_2)
    total = np.sum if over == "sum" else np.mean
    parts = (s_1 * n, -s_2 * n) if over == "sum" else to_difference(s_1, s_2)
    samples = [
        Samples(name, contribution, {"association": s})
        for name, contribution, s in zip(INPUTS[:2], parts, (s_1, s_2), strict=True)
    ]
    return Score(float(total(s_1) - total(s_2)), n=n, details={"over": over}, samples=samples)
