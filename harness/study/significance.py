"""Whether a method differs from the baseline: corrected tests, a family of them, posteriors.

Differences of cross-validation are no independent sample: training sets overlap, and repeats judge
the same items again. What is here takes that into account. Arrays in, dataclasses out; knows no
files, methods or metrics, and draws no arrows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.study.differences import summarised

Verdict: TypeAlias = Literal["better", "worse", "equal", "undefined"]


@dataclass(frozen=True)
class Comparison:
    """A method against the baseline, by a test of their differences over the folds.

    Parameters
    ----------
    mean
        Mean difference, method less baseline, in the measure's unit. Fair value 0.
    sd
        Standard deviation of the differences, with n − 1.
    t, df
        Mean over its standard error, and n − 1 degrees of freedom.
    p_value
        Two-sided, for a mean of 0.
    low, high, confidence
        Confidence interval of the mean by the same standard error, and its level.
    n
        Differences that were used; those that are not finite are left out.
    method
        The test, in words for the output.
    reason
        Why numbers above are NaN; else empty.
    """

    mean: float
    sd: float
    t: float
    df: int
    p_value: float
    low: float
    high: float
    confidence: float
    n: int
    method: str
    reason: str = ""


@dataclass(frozen=True)
class Posterior:
    """What is believed of a mean difference.

    Parameters
    ----------
    left, rope, right
        Probabilities that it lies below, within and above the region of practical equivalence.
    mean, scale, df
        Of Student's t, the posterior.
    n
        Differences that were used.
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


def corrected_t_test(
    differences: npt.ArrayLike,
    *,
    test_to_train: float,
    confidence: float = 0.95,
    published: bool = False,
    folds: int | None = None,
    resolution: float = 0.0,
) -> Comparison:
    """Test the mean of the differences of resampled training and judging for 0.

    With s² their variance (n − 1)::

        t = mean / sqrt(s² (1/n + n_test/n_train)),  n − 1 degrees of freedom

    The second term stands for what folds share; unlike the first it does not shrink with repeats,
    which judge the same items again. It takes n_test over all items for the correlation of two
    folds, which is exact for random splits where a value is a mean over held-out items. The folds
    of a single cross-validation share none: without repeats the test is conservative (ten folds:
    it rejects 1 % at 5 %); with ten repeats it is near its level. What training sets have in
    common is seen by no test of one study: conclusions are about these items, and where methods
    learn mostly chance it rejects too often.

    If all differences are 0, p is 1 and the interval [0, 0]. If all are the same but not 0, t is
    infinite; p, which would come out as 0 however few they are, and the interval are NaN.

    Parameters
    ----------
    differences
        (n,) method less baseline, by repeat and fold. Those that are not finite are left out.
    test_to_train
        n_test / n_train of a fold: 1/9 for ten folds.
    confidence
        Of the interval, between 0 and 1.
    published
        Take s² (1/n) (1 + 1/folds) instead, as the published code of Zambrano et al.: with ten
        folds and no repeats t is 1.39 times as large. Nothing else needs `folds`.
    resolution
        Differences no larger are 0, and a range no larger is no spread: the precision of the
        values compared. Rounding may have one sign in all folds, and would be significant.

    Raises
    ------
    InvalidOption
        If an option is out of its range, or `folds` lacks where it is needed.

    References
    ----------
    Nadeau and Bengio (1999), Inference for the generalization error: the corrected resampled t.
    Zambrano et al., nested cross-validation of bias mitigation, section III, employ it.
    """
    if not 0 < test_to_train < np.inf:
        raise InvalidOption(f"test_to_train={test_to_train}: more than 0 is needed, as 1/9")
    _check_share("confidence", confidence)
    if published:
        if folds is None or folds < 2:
            raise InvalidOption(f"folds={folds}: the published variance needs at least 2")
        method = f"t-test with the published code's variance, s²/n (1 + 1/{folds})"
    else:
        method = f"corrected resampled t-test, n_test/n_train = {test_to_train:.4g}"
    d = summarised(differences, resolution)
    t = p_value = margin = np.nan
    if d.sd == 0:
        t = float(np.copysign(np.inf, d.mean)) if d.reason else 0.0
        p_value, margin = (np.nan, np.nan) if d.reason else (1.0, 0.0)
    elif d.n >= 2:
        from scipy import stats

        added = 1 / (d.n * folds) if published and folds else test_to_train
        error = d.sd * float(np.sqrt(1 / d.n + added))
        t = d.mean / error
        p_value = float(2 * stats.t.sf(abs(t), d.n - 1))
        margin = float(stats.t.isf((1 - confidence) / 2, d.n - 1)) * error
    return Comparison(
        mean=d.mean,
        sd=d.sd,
        t=t,
        df=max(d.n - 1, 0),
        p_value=p_value,
        low=d.mean - margin,
        high=d.mean + margin,
        confidence=confidence,
        n=d.n,
        method=method,
        reason=d.reason,
    )


def holm(p_values: npt.ArrayLike) -> Floats:
    """Adjust the p-values of one family so that any false rejection is as rare as the level.

    Step-down: the i-th smallest of m is multiplied by m − i + 1, and is no less than the one
    before it and no more than 1. What is at most the level after that is rejected. It needs no
    independence. The family is all that is printed together and from which one reads off what
    differs: every method, measure and criterion of a table.

    Parameters
    ----------
    p_values
        Of any shape. NaN is none of the family, and stays NaN.

    Returns
    -------
    Floats
        The adjusted ones, in the same shape.

    Raises
    ------
    InvalidOption
        If one is below 0 or above 1.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    family = p[known]
    if np.any((family < 0) | (family > 1)):
        raise InvalidOption("p-values must lie between 0 and 1")
    order = np.argsort(family, kind="stable")
    steps = np.arange(len(family), 0, -1) * family[order]
    family[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted = np.full(p.shape, np.nan)
    adjusted[known] = family
    return adjusted


def bayesian_correlated_t(
    differences: npt.ArrayLike,
    *,
    correlation: float,
    rope: float,
    resolution: float = 0.0,
) -> Posterior:
    """Return how probable it is that the mean difference is negative, negligible or positive.

    With n differences of variance s² (n − 1) and correlation ρ, and a flat prior, the posterior of
    the mean is Student's t with n − 1 degrees of freedom around the mean difference, with scale
    sqrt(s² (1/n + ρ/(1 − ρ))). With ρ = n_test/(n_test + n_train), ρ/(1 − ρ) = n_test/n_train: it
    has the standard error of `corrected_t_test`, and for `rope` 0, `left` or `right` is half its
    p-value.

    Parameters
    ----------
    differences
        (n,) method less baseline, by repeat and fold. Those that are not finite are left out.
    correlation
        ρ, from 0 to below 1: 1/10 for ten folds.
    rope
        A mean difference of at most this size makes no difference in practice, in the measure's
        unit.
    resolution
        As at `corrected_t_test`. If all differences are 0, the probability of `rope` is 1; without
        spread elsewhere the probabilities are NaN.

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
        raise InvalidOption(f"correlation={correlation}: from 0 to below 1 is needed, as 1/10")
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


def verdict(
    comparison: Comparison,
    *,
    alpha: float = 0.05,
    lower_is_better: bool = True,
    p_value: float | None = None,
) -> Verdict:
    """Return what a comparison says of the method at a level; `equal` is: not told apart.

    Parameters
    ----------
    comparison
        Of the method with the baseline.
    alpha
        The level, between 0 and 1: a p-value of at most this is significant.
    lower_is_better
        Whether a negative difference is the better one.
    p_value
        To judge by instead of the comparison's own, as one adjusted by `holm`. Where it is NaN
        the verdict is `undefined`.

    Raises
    ------
    InvalidOption
        If `alpha` is out of its range.
    """
    _check_share("alpha", alpha)
    p = comparison.p_value if p_value is None else p_value
    if np.isnan(p):
        return "undefined"
    if p > alpha or comparison.mean == 0:
        return "equal"
    return "better" if (comparison.mean < 0) == lower_is_better else "worse"


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InvalidOption(f"{name}={value}: a number between 0 and 1 is needed")
