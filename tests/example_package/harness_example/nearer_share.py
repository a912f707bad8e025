"""The metric `nearer-share`: the share of texts that are closer to one group than to another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from harness import Interval, Scale, Score, metric

Reals = npt.NDArray[np.floating]


@metric(
    "nearer-share",
    scores={
        "share": Scale(
            ideal=0.5, bounds=(0, 1), help="share of texts closer to group 1; 0.5 is fair"
        )
    },
    disjoint=[("group_1", "group_2")],
)
def nearer_share(group_1: Reals, group_2: Reals, texts: Reals, *, level: float = 0.95) -> Score:
    r"""Return the share of texts that are more similar to the mean of group 1 than of group 2.

    .. math:: s = \frac1n \sum_i [\cos(t_i, \bar g_1) > \cos(t_i, \bar g_2)]

    where a tie counts one half, and a bar is the mean of unit vectors.

    Parameters
    ----------
    group_1, group_2
        (n1, d) and (n2, d) vectors of the groups.
    texts
        (n, d) vectors of the texts.
    level
        Confidence level of the interval.

    Returns
    -------
    Score
        The share, from 0 to 1; 0.5 is fair. It has the p-value of a two-sided binomial test and the
        interval of Clopper and Pearson, both without ties.
    """
    middle_1, middle_2 = (_unit(_unit(group).mean(axis=0)) for group in (group_1, group_2))
    difference = _unit(texts) @ (middle_1 - middle_2)
    closer, farther = int((difference > 0).sum()), int((difference < 0).sum())
    ties = len(difference) - closer - farther
    share = (closer + ties / 2) / len(difference)
    if closer + farther == 0:
        return Score(share, n=len(difference))
    test = binomtest(closer, closer + farther)
    interval = test.proportion_ci(level)
    return Score(
        share,
        p_value=float(test.pvalue),
        interval=Interval(interval.low, interval.high, level, "Clopper-Pearson"),
        n=len(difference),
        details={"ties": ties},
    )


def _unit(vectors: Reals) -> Reals:
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
