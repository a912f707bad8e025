"""A linear mixed model with random intercepts, fitted by restricted maximum likelihood.

Variants of one model are not independent, and neither are the models under one mitigator. Each such
grouping is a random intercept, and groupings may be crossed. For tens to hundreds of rows: the
covariance matrix is dense. No random slopes, no other distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats

_STARTS = (0.3, 3.0)
"""Where the search for a ratio of standard deviations begins."""
_LARGEST = 1e3
"""Largest ratio: beyond, a matrix of covariances has no Cholesky root in double precision."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted mixed model.

    Parameters
    ----------
    coefficients, errors
        (p,) fixed effects and their standard errors.
    variances
        Variance of each random intercept, and of the residuals.
    df
        Degrees of freedom for intervals of a fixed effect.
    log_likelihood
        The restricted log-likelihood.
    """

    coefficients: Floats
    errors: Floats
    variances: tuple[float, ...]
    df: int
    log_likelihood: float

    def interval(self, i: int, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of a fixed effect."""
        from scipy.stats import t

        half = float(t.ppf(0.5 + level / 2, self.df)) * float(self.errors[i])
        value = float(self.coefficients[i])
        return value - half, value + half

    def p_value(self, i: int) -> float:
        """Return the two-sided p-value of a fixed effect being 0."""
        from scipy.stats import t

        if self.errors[i] == 0:
            return float(self.coefficients[i] == 0)
        return float(2 * t.sf(abs(self.coefficients[i] / self.errors[i]), self.df))


def fit_mixed_model(y: Floats, x: Floats, groupings: Sequence[Sequence[object]]) -> Fit:
    """Fit fixed effects with a random intercept for each of some groupings.

    ::

        y = X b + sum over k of Z_k u_k + e,  u_k ~ N(0, s_k² I),  e ~ N(0, s² I)

    The ratios s_k / s maximise the restricted likelihood, from which b and s² are profiled out.

    Parameters
    ----------
    y
        (n,) values.
    x
        (n, p) fixed effects, with a column of ones for the intercept.
    groupings
        For each grouping, the group of each of the n rows.

    Returns
    -------
    Fit
        Its degrees of freedom are the fewest groups of a grouping, less one: with few groups, the
        t of more degrees would find too much (Cameron and Miller 2015, section VI). In 300
        simulations each, of 6 models under 6 mitigators, 95 % intervals covered in 95 to 99 %.

    References
    ----------
    Bates, Mächler, Bolker and Walker (2015), "Fitting linear mixed-effects models using lme4",
    Journal of Statistical Software 67, section 3.4. Cameron and Miller (2015), "A practitioner's
    guide to cluster-robust inference", Journal of Human Resources 50.
    """
    from scipy.optimize import minimize

    n, p = x.shape
    products = [_same_group(groups) for groups in groupings]

    def solved(ratios: Floats) -> tuple[float, Floats, Floats, float]:
        """Return the criterion, b, the inverse of X'V⁻¹X, and s²; V is in units of s²."""
        v = np.eye(n) + sum(
            ratio**2 * product for ratio, product in zip(ratios, products, strict=True)
        )
        root = np.linalg.cholesky(v)
        wx, wy = np.linalg.solve(root, x), np.linalg.solve(root, y)
        information = wx.T @ wx
        b = np.linalg.solve(information, wx.T @ wy)
        s2 = max(float(((wy - wx @ b) ** 2).sum()) / (n - p), np.finfo(np.float64).tiny)
        log_determinants = 2 * np.log(np.diag(root)).sum() + np.linalg.slogdet(information)[1]
        criterion = float(log_determinants + (n - p) * (1 + np.log(2 * np.pi * s2)))
        return criterion, b, np.linalg.inv(information), s2

    found = [
        minimize(
            lambda ratios: solved(ratios)[0],
            start,
            method="L-BFGS-B",
            bounds=[(0, _LARGEST)] * len(products),
            options={"ftol": 1e-12, "gtol": 1e-8},
        )
        for start in ([start] * len(products) for start in _STARTS)
    ]
    ratios = min(found, key=lambda result: float(result.fun)).x
    criterion, b, inverse, s2 = solved(ratios)
    return Fit(
        coefficients=b,
        errors=np.sqrt(s2 * np.diag(inverse)),
        variances=(*(float(ratio**2 * s2) for ratio in ratios), s2),
        df=min(len(set(groups)) for groups in groupings) - 1,
        log_likelihood=-criterion / 2,
    )


def _same_group(groups: Sequence[object]) -> Floats:
    """Return the (n, n) matrix of ones where two rows are of one group."""
    places = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    codes = np.array([places[group] for group in groups])
    same: Floats = (codes[:, None] == codes[None, :]).astype(np.float64)
    return same
