"""Whether a method differs from the baseline: a t-test, Holm's correction, and its power.

Differences over the folds of a cross-validation are not independent: training sets overlap, and
repeats judge the same items again. The test corrects for that. Arrays in, dataclasses out; knows no
files, methods or metrics.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import metrics
from harness.arrays import Floats

Verdict: TypeAlias = Literal["better", "worse", "equal", "undefined"]
ROUNDING = 1e-12
"""Largest range, relative to the largest difference, that counts as rounding."""


@dataclass(frozen=True)
class Comparison:
    """A test of the differences between a method and the baseline over the folds.

    Parameters
    ----------
    mean
        Mean difference, method minus baseline, in the measure's unit. Fair value 0.
    sd
        Standard deviation of the differences, with n − 1.
    error
        Standard error of the mean.
    t, df
        The mean divided by its standard error, and n − 1 degrees of freedom.
    p_value
        Two-sided p-value of the hypothesis that the mean is 0.
    low, high, confidence
        Confidence interval of the mean by the same standard error, and its level.
    n
        Number of finite differences; others are ignored.
    method
        Name of the test, for the output.
    reason
        Why numbers above are NaN; else empty.
    """

    mean: float
    sd: float
    error: float
    t: float
    df: int
    p_value: float
    low: float
    high: float
    confidence: float
    n: int
    method: str
    reason: str = ""


def corrected_t_test(
    differences: npt.ArrayLike,
    *,
    test_to_train: float,
    confidence: float = 0.95,
    published_folds: int | None = None,
    resolution: float = 0.0,
) -> Comparison:
    """Test whether the mean difference over the folds is 0.

    With s² the variance of the differences (n − 1)::

        t = mean / sqrt(s² (1/n + n_test/n_train)),  n − 1 degrees of freedom

    The second term accounts for items that folds share. Unlike the first term it does not shrink
    with repeats, which judge the same items again. It assumes that the correlation of two folds is
    n_test over the number of all items. This is exact for random splits if a value is a mean over
    held-out items. The folds of a single cross-validation share no held-out items: without repeats
    the test is conservative (with ten folds it rejects 1 % at a level of 5 %). With ten repeats the
    rate is near the level. No test of one study includes the effect of other training sets: its
    conclusions hold for these items, and it rejects too often if methods mostly learn noise.

    If all differences are 0, p is 1 and the interval is [0, 0]. If all are equal but not 0, t is
    infinite, and p and the interval are NaN: p would be 0 even for two differences.

    Parameters
    ----------
    differences
        (n,) method minus baseline, by repeat and fold. Those that are not finite are ignored.
    test_to_train
        n_test / n_train of a fold: 1/9 for ten folds.
    confidence
        Level of the interval, between 0 and 1.
    published_folds
        If given, the number of folds k; the variance is then s² (1/n) (1 + 1/k), as in the
        published code of Zambrano et al. With ten folds and no repeats t is 1.39 times as large.
    resolution
        Precision of the compared values: smaller differences count as 0, and a smaller range as no
        spread. Without this, rounding errors of the same sign in all folds would be significant.

    References
    ----------
    Nadeau and Bengio (1999), Inference for the generalization error: the corrected resampled t.
    Zambrano et al., nested cross-validation of bias mitigation, section III, use it.
    """
    all_ = np.asarray(differences, dtype=np.float64)
    d = all_[np.isfinite(all_)]
    n = len(d)
    added = test_to_train  # to 1/n
    method = f"corrected resampled t-test, n_test/n_train = {test_to_train:.4g}"
    if published_folds is not None:
        added = 1 / (max(n, 1) * published_folds)
        method = f"t-test with the published code's variance, s²/n (1 + 1/{published_folds})"
    mean, reason = float(d[0]) if n else np.nan, ""
    sd = error = t = p_value = margin = np.nan
    if n < 2:
        reason = f"{n} of {len(all_)} differences are defined; 2 are needed"
    else:
        d = np.where(np.abs(d) <= resolution, 0.0, d)
        size, mean = float(np.abs(d).max()), float(d.mean())
        if np.ptp(d) > max(resolution, ROUNDING * size):
            sd = float(size * (d / size).std(ddof=1))  # 1e-200² would be 0
            error = sd * float(np.sqrt(1 / n + added))
            t = mean / error
            p_value = float(metrics.t_p_value(t, n - 1))
            margin = float(metrics.t_quantile(confidence, n - 1)) * error
        elif size > 0:
            sd, error, t = 0.0, 0.0, float(np.copysign(np.inf, mean))
            reason = f"all {n} differences are {mean:.4g}; without spread no test is possible"
        else:
            sd, error, t, p_value, margin = 0.0, 0.0, 0.0, 1.0, 0.0
    return Comparison(
        mean=mean,
        sd=sd,
        error=error,
        t=t,
        df=max(n - 1, 0),
        p_value=p_value,
        low=mean - margin,
        high=mean + margin,
        confidence=confidence,
        n=n,
        method=method,
        reason=reason,
    )


def detectable(comparison: Comparison, *, level: float, power: float) -> float:
    """Return the smallest true difference that a test of this standard error would find.

    The statistic of the test has a noncentral t distribution around the true difference.

    Parameters
    ----------
    comparison
        A test; only its standard error and degrees of freedom are used.
    level
        Level of the test: the first level of Holm's correction.
    power
        Probability with which the difference is found, above `level`.

    Returns
    -------
    float
        A size, in the unit of the differences; NaN without a standard error.
    """
    if comparison.df < 1 or np.isnan(comparison.error):
        return float("nan")
    return comparison.error * _noncentrality(comparison.df, level, power)


@functools.cache
def _noncentrality(df: int, level: float, power: float) -> float:
    """Return the noncentrality at which a two-sided test rejects with a probability of `power`."""
    from scipy import optimize, stats

    critical = float(metrics.t_quantile(1 - level, df))
    # |T| > c if Z + t > c √(χ²/df), for a normal Z; the mean over quantiles of χ² is exact enough.
    quantiles = (np.arange(2_000) + 0.5) / 2_000
    bounds = critical * np.sqrt(stats.chi2.ppf(quantiles, df) / df)

    def missed(true_t: float) -> float:
        found = stats.norm.sf(bounds - true_t) + stats.norm.cdf(-bounds - true_t)
        return power - float(found.mean())

    return float(optimize.brentq(missed, 0.0, 10 * critical + 10))


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust the p-values of one family so that its family-wise error rate is at most the level.

    Step-down: the i-th smallest of m p-values is multiplied by m − i + 1, and is at least the
    adjusted one before it and at most 1. Hypotheses whose adjusted p-value is at most the level are
    rejected. The p-values need not be independent. The family is all comparisons of one table:
    every method, measure and criterion.

    Parameters
    ----------
    p_values
        Of any shape. NaN does not belong to the family, and stays NaN.

    Returns
    -------
    Floats
        The adjusted p-values, in the same shape.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    family = p[known]
    order = np.argsort(family, kind="stable")
    steps = np.arange(len(family), 0, -1) * family[order]
    family[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted = np.full(p.shape, np.nan)
    adjusted[known] = family
    return adjusted


def verdict(
    comparison: Comparison, *, alpha: float = 0.05, p_value: float | None = None
) -> Verdict:
    """Return whether the method is better than the baseline, with a negative difference, or worse.

    `equal` means that they are not significantly different, not that they are shown to be equal.

    Parameters
    ----------
    comparison
        Comparison of the method with the baseline.
    alpha
        The level, between 0 and 1: a p-value of at most this is significant.
    p_value
        Replaces the comparison's own p-value, for example by one that `holm` adjusted. If it is
        NaN, the verdict is `undefined`.
    """
    p = comparison.p_value if p_value is None else p_value
    if np.isnan(p):
        return "undefined"
    if p > alpha or comparison.mean == 0:
        return "equal"
    return "better" if comparison.mean < 0 else "worse"
