"""WEAT's test statistic: difference of the target sets' associations, not standardised."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Reals, unit_rows
from harness.metrics import metric
from harness.scores import Samples, Scale, Score

from .statistics import association
from .statistics.association import (
    association_samples,
    differential_association,
)
from .statistics.intervals import to_difference

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
        `association` s(w, A, B), and each attribute with its mean, or summed, cosines with X less
        those with Y. There is no p-value and no interval: see `weat`.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases: test statistic of WEAT.
    """
    arrays = (targets_1, targets_2, attributes_1, attributes_2)
    n = len(targets_1) + len(targets_2)
    if reason := association.empty(dict(zip(INPUTS, arrays, strict=True))):
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
