"""How probable it is that a method is better than the baseline: the Bayesian correlated t-test.

Arrays in, dataclasses out; like `significance`, it knows no files, methods or metrics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import InvalidOption
from harness.study.differences import summarised


@dataclass(frozen=True)
class Posterior:
    """The posterior distribution of a mean difference: Student's t.

    Parameters
    ----------
    left, rope, right
        Probabilities that it lies below, within and above the region of practical equivalence.
    mean, scale, df
        Parameters of Student's t.
    n
        Number of finite differences; others are ignored.
    reason
        Why the probabilities are NaN; else empty.
    """

    left: float
    rope: float
    right: float
    mean: float
    scale: float
    df: int
    n: int
    reason: str = ""


def bayesian_correlated_t(
    differences: npt.ArrayLike,
    *,
    correlation: float,
    rope: float,
    resolution: float = 0.0,
) -> Posterior:
    """Return the probabilities that the mean difference is negative, negligible or positive.

    With n differences of variance s² (n − 1) and correlation ρ, and a flat prior, the posterior of
    the mean is Student's t with n − 1 degrees of freedom around the mean difference, with scale
    sqrt(s² (1/n + ρ/(1 − ρ))). With ρ = n_test/(n_test + n_train), ρ/(1 − ρ) = n_test/n_train: it
    has the standard error of `corrected_t_test`, and for `rope` 0, `left` or `right` is half its
    p-value.

    Parameters
    ----------
    differences
        (n,) method minus baseline, by repeat and fold. Those that are not finite are ignored.
    correlation
        ρ, from 0 to below 1: 1/10 for ten folds.
    rope
        Half the width of the region of practical equivalence, in the measure's unit.
    resolution
        As in `corrected_t_test`. If all differences are 0, the probability of `rope` is 1. If all
        are equal but not 0, the probabilities are NaN.

    Raises
    ------
    InvalidOption
        If an option is out of its range.

    References
    ----------
    Corani and Benavoli (2015), A Bayesian approach for comparing cross-validated algorithms on
    multiple data sets: the correlated t-test.
    """
    if not 0 <= correlation < 1:
        raise InvalidOption(f"correlation={correlation}: from 0 to below 1 is needed, such as 1/10")
    if not 0 <= rope < np.inf:
        raise InvalidOption(f"rope={rope}: at least 0 is needed")
    d = summarised(differences, resolution)
    df = max(d.n - 1, 0)
    scale = d.sd * float(np.sqrt(1 / max(d.n, 1) + correlation / (1 - correlation)))
    if d.reason:
        return Posterior(np.nan, np.nan, np.nan, d.mean, scale, df, d.n, d.reason)
    if d.sd == 0:
        return Posterior(0.0, 1.0, 0.0, d.mean, scale, df, d.n)
    from scipy import stats

    left = float(stats.t.cdf((-rope - d.mean) / scale, df))
    right = float(stats.t.sf((rope - d.mean) / scale, df))
    return Posterior(left, max(0.0, 1 - left - right), right, d.mean, scale, df, d.n)
