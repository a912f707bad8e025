"""Exposure of groups among retrieved documents: shares per query, their means, gap and null.

The share of a document is what it has of the exposure of a query: these functions work on shares.
A mean over queries takes (b, q) counts of how often each query was drawn, so that it serves the
sample and its resamples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.plugins.metrics.statistics.ranking import Ranked

Codes = npt.NDArray[np.int64]


def discounts(ranked: Ranked) -> Floats:
    """Return (q, n) 1/log₂(1 + place) of each document, places from 1: how much of it is seen."""
    of_place = 1 / np.log2(np.arange(2, ranked.order.shape[1] + 2))
    weights = np.empty(ranked.order.shape)
    np.put_along_axis(weights, ranked.order, of_place[None], axis=1)
    return weights


def count_by_group(weights: Floats | Mask, member: Mask) -> Floats:
    """Return the (q, g) sums over the documents of each group.

    Parameters
    ----------
    weights
        (q, n) weight of a document for a query, or whether it counts.
    member
        (g, n) whether a document belongs to a group.
    """
    counts: Floats = weights.astype(np.float64) @ member.T.astype(np.float64)
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

    Both means are over the same queries: those that retrieve a relevant document.

    Parameters
    ----------
    exposure
        (q, g) shares of the groups of the relevant documents that are retrieved.
    fair
        (q, g) shares of the groups among all relevant documents.
    counts
        (b, q) number of times that each query counts.

    Returns
    -------
    (b,) float64
        In [0, 1]; 0 is fair. NaN without such a query.
    """
    gap: Floats = np.abs(mean_over_queries(exposure - fair, counts)).sum(axis=1) / 2
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
        NaN for a query that retrieves no relevant document.
    """
    once = np.ones((1, len(exposure)))
    sign = np.sign(mean_over_queries(exposure - fair, once)[0])
    contributions: Floats = (exposure - fair) @ sign / 2
    return contributions


def shuffled_gaps(
    of_documents: Floats, fair: Floats, codes: Codes, topics: Floats, *, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Return the (draws,) gaps with the groups of the documents of each topic shuffled.

    Parameters
    ----------
    of_documents
        (n,) mean over the queries of each document's share.
    fair
        (g,) mean over the same queries of the fair exposure.
    codes
        (n,) group of each document, from 0.
    topics
        (n,) topic number of each document.
    draws
        Number of shuffles.
    rng
        Random number generator of the shuffles.
    """
    shuffled = np.tile(codes, (draws, 1))
    for topic in np.unique(topics[of_documents > 0]):
        of_topic = np.flatnonzero(topics == topic)
        shuffled[:, of_topic] = rng.permuted(shuffled[:, of_topic], axis=1)
    exposure = np.stack([(shuffled == code) @ of_documents for code in range(len(fair))], axis=1)
    gaps: Floats = np.abs(exposure - fair).sum(axis=1) / 2
    return gaps
