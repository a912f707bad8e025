"""Correlations, ranks and AUC of items with multiplicities, for many resamples at once.

The same formulas serve the sample itself (every item counts once) and its resamples.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from harness.arrays import Floats

ROUNDING = 1e-12
"""Relative difference below which two values are equal: the order of summation may cause it."""


def pearson(x: Floats, y: Floats, counts: Floats | None = None) -> Floats:
    """Return the (b,) Pearson correlations of x and y; NaN where one of them is constant.

    Parameters
    ----------
    x, y
        (n,) finite values, or (b, n) if they differ by resample.
    counts
        (b, n) number of times that each item counts; by default once, with b = 1.

    Returns
    -------
    (b,) float64
        In [−1, 1].
    """
    w = np.ones((1, np.shape(x)[-1])) if counts is None else counts
    total = w.sum(axis=1, keepdims=True)
    dx = _centred(np.atleast_2d(x), w, total)
    dy = _centred(np.atleast_2d(y), w, total)
    xx, yy = (w * dx * dx).sum(axis=1), (w * dy * dy).sum(axis=1)
    defined = (xx > 0) & (yy > 0)
    scale = np.sqrt(np.where(defined, xx, 1.0)) * np.sqrt(np.where(defined, yy, 1.0))
    rho: Floats = np.where(defined, (w * dx * dy).sum(axis=1) / scale, np.nan)
    return np.clip(rho, -1.0, 1.0)


def spearman(x: Floats, y: Floats, counts: Floats | None = None) -> Floats:
    """Return the (b,) Spearman correlations of (n,) x and y; arguments as for `pearson`."""
    w = np.ones((1, len(x))) if counts is None else counts
    return pearson(midranks(x, w), midranks(y, w), w)


def correlation_p_value(r: float, n: int) -> float:
    """Return the two-sided p-value of a correlation r of n items under independence.

    This is the t test with t = r·√((n − 2)/(1 − r²)) and n − 2 degrees of freedom. For Spearman's
    correlation it is an approximation.
    """
    return float(betainc(n / 2 - 1, 0.5, 1 - r * r))


def auc(
    positives: Floats, negatives: Floats, counts: tuple[Floats, Floats] | None = None
) -> Floats:
    """Return the (b,) areas under the ROC curve: P(positive > negative) + ½ P(equal).

    Parameters
    ----------
    positives, negatives
        (n,) and (m,) scores.
    counts
        (b, n) and (b, m) number of times that each item counts; by default once, with b = 1.

    Returns
    -------
    (b,) float64
        In [0, 1]; NaN where all items of one side count 0 times.
    """
    if counts is None:
        counts = np.ones((1, len(positives))), np.ones((1, len(negatives)))
    w = np.hstack(counts)
    p, n = counts[0].sum(axis=1), counts[1].sum(axis=1)
    ranks = midranks(np.concatenate([positives, negatives]), w)
    rank_sum = (counts[0] * ranks[:, : len(positives)]).sum(axis=1)
    defined = p * n > 0
    area: Floats = (rank_sum - p * (p + 1) / 2) / np.where(defined, p * n, 1.0)
    return np.where(defined, area, np.nan)


def aucs(
    positives: Floats, negatives: Floats, counts: tuple[Floats, Floats] | None = None
) -> Floats:
    """Return the (b,) areas of b samples whose scores differ; as `auc` otherwise.

    Parameters
    ----------
    positives, negatives
        (b, n) and (b, m) scores. Only equal ones count as equal.
    counts
        (b, n) and (b, m) number of times that each item counts; by default once.
    """
    if counts is None:
        counts = np.ones_like(positives), np.ones_like(negatives)
    kept, zeros = np.hstack([counts[0], np.zeros_like(counts[1])]), np.zeros_like(counts[0])
    below = np.hstack([zeros, counts[1]])
    values = np.hstack([positives, negatives])
    # a stable sort puts equal positives first, or last if it is of the reversed items
    area = np.zeros(len(values))
    for step in (1, -1):
        order = np.argsort(values[:, ::step], axis=1, kind="stable")
        ahead = np.cumsum(np.take_along_axis(below[:, ::step], order, axis=1), axis=1)
        area += (np.take_along_axis(kept[:, ::step], order, axis=1) * ahead).sum(axis=1) / 2
    pairs = counts[0].sum(axis=1) * counts[1].sum(axis=1)
    return np.where(pairs > 0, area / np.where(pairs > 0, pairs, 1.0), np.nan)


def midranks(values: Floats, counts: Floats) -> Floats:
    """Return the (b, n) ranks, from 1, of items that count `counts` times in b samples.

    Values that are equal up to rounding share the mean of their ranks.

    Parameters
    ----------
    values
        (n,) values to rank.
    counts
        (b, n) number of times that each item counts.
    """
    scale = np.abs(values).max(initial=0.0) or 1.0
    rounded = np.round(values / (scale * ROUNDING))
    order = np.argsort(rounded, kind="stable")
    ascending = rounded[order]
    first = np.ones(len(order), dtype=bool)  # first of its group of equal values
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    sizes = np.add.reduceat(counts[:, order], np.flatnonzero(first), axis=1)
    group = np.empty_like(order)
    group[order] = np.cumsum(first) - 1
    ranks: Floats = np.cumsum(sizes, axis=1) - (sizes - 1) / 2
    return ranks[:, group]


def _centred(values: Floats, w: Floats, total: Floats) -> Floats:
    """Return values minus their mean; a difference that is only rounding becomes 0."""
    mean = (w * values).sum(axis=1, keepdims=True) / total
    centred = values - mean
    scale = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    zeroed: Floats = np.where(np.abs(centred) <= ROUNDING * scale, 0.0, centred)
    return zeroed
