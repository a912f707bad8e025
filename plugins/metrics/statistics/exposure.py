"""Exposure of groups among retrieved documents: shares per query, their means and the gap.

All functions work on counts of documents. A mean over queries takes (b, q) counts of how often
each query was drawn, so that it serves the sample and its bootstrap resamples.
"""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics.ranking import Mask


def count_by_group(mask: Mask, member: Mask) -> Floats:
    """Return the (q, g) numbers of documents of each group.

    Parameters
    ----------
    mask
        (q, n) whether a document counts for a query.
    member
        (g, n) whether a document belongs to a group.
    """
    counts: Floats = mask.astype(np.float64) @ member.T.astype(np.float64)
    return counts


def ratio(part: Floats, total: Floats) -> Floats:
    """Return part / total; NaN where the total is 0."""
    quotient: Floats = np.where(total > 0, part / np.where(total > 0, total, 1), np.nan)
    return quotient


def shares(counts: Floats) -> Floats:
    """Return (q, g) counts as shares: rows sum to 1, or are NaN where all counts are 0."""
    return ratio(counts, counts.sum(axis=1, keepdims=True))


def mean_over_queries(values: Floats, counts: Floats) -> Floats:
    """Return the (b, g) means of (q, g) values; NaN values are left out.

    Parameters
    ----------
    values
        (q, g) values of each query.
    counts
        (b, q) number of times that each query counts.
    """
    defined = np.isfinite(values)
    total = counts @ np.where(defined, values, 0.0)
    return ratio(total, counts @ defined.astype(np.float64))


def exposure_gap(exposure: Floats, fair: Floats, counts: Floats) -> Floats:
    """Return the (b,) gaps: half the sum over groups of |mean exposure − mean fair exposure|.

    Parameters
    ----------
    exposure
        (q, g) shares of the groups among the relevant documents that are retrieved.
    fair
        (q, g) shares of the groups among all relevant documents.
    counts
        (b, q) number of times that each query counts.

    Returns
    -------
    (b,) float64
        In [0, 1]; 0 is fair.
    """
    difference = mean_over_queries(exposure, counts) - mean_over_queries(fair, counts)
    gap: Floats = np.abs(difference).sum(axis=1) / 2
    return gap


def gap_contributions(exposure: Floats, fair: Floats) -> Floats:
    """Return the (q,) contributions of the queries to `exposure_gap`; their mean is the gap.

    A query contributes positively where it differs from the fair exposure as the means do.

    Parameters
    ----------
    exposure, fair
        (q, g) as for `exposure_gap`.

    Returns
    -------
    (q,) float64
        NaN for a query without a relevant document.
    """
    once = np.ones((1, len(exposure)))
    sign = np.sign(mean_over_queries(exposure, once)[0] - mean_over_queries(fair, once)[0])
    counts = np.isfinite(exposure).any(axis=1) | np.isfinite(fair).any(axis=1)

    def weighted(values: Floats) -> Floats:
        defined = np.isfinite(values)
        terms: Floats = np.where(defined, values, 0.0) * ratio(counts.sum(), defined.sum(axis=0))
        return terms

    total = (weighted(exposure) - weighted(fair)) @ sign / 2
    contributions: Floats = np.where(counts, total, np.nan)
    return contributions
