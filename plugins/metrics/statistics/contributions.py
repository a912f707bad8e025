"""What each item contributes to a statistic: values whose mean over the items is the statistic.

Each is what the statistic would be if every item were like this one.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics.weighted import midranks


def to_pearson(x: Floats, y: Floats) -> Floats:
    """Return the (n,) contributions to the Pearson correlation of (n,) x and y.

    These are the products of the standard scores: positive where x and y are on the same side of
    their means. NaN where x or y is constant.
    """
    dx, dy = x - x.mean(), y - y.mean()
    scale = np.sqrt((dx @ dx) * (dy @ dy)) / len(x)
    products: Floats = dx * dy / (scale or np.nan)
    return products


def to_spearman(x: Floats, y: Floats) -> Floats:
    """Return the (n,) contributions to the Spearman correlation: those of the ranks to Pearson's.

    Values that are equal up to rounding share a rank.
    """
    once = np.ones((1, len(x)))
    return to_pearson(midranks(x, once)[0], midranks(y, once)[0])


def to_auc(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return the contributions of (n,) positives and of (m,) negatives to the area of `auc`.

    That of a positive is the share of the negatives below it, that of a negative the share of the
    positives above it; equal values count one half. Each of the two means is the area.
    """
    n, m = len(positives), len(negatives)
    ranks = midranks(np.concatenate([positives, negatives]), np.ones((1, n + m)))[0]
    within_positives = midranks(positives, np.ones((1, n)))[0]
    within_negatives = midranks(negatives, np.ones((1, m)))[0]
    below: Floats = (ranks[:n] - within_positives) / m
    above: Floats = 1 - (ranks[n:] - within_negatives) / n
    return below, above


def to_difference(first: Floats, second: Floats, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Return the contributions of (n,) and (m,) values to the difference of their means / scale.

    A value contributes by its distance from the mean of all values, since a constant that is added
    to all changes nothing.

    Returns
    -------
    (n,) and (m,) float64
        Their mean over all n + m values is the difference of the means, divided by `scale`.
    """
    n, m = len(first), len(second)
    middle = np.concatenate([first, second]).mean()
    of_first: Floats = (first - middle) * (n + m) / (n * scale)
    of_second: Floats = (middle - second) * (n + m) / (m * scale)
    return of_first, of_second
