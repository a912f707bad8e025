"""Confidence intervals of statistics over items, or over the clusters that items share.

A statistic is vectorised over resamples. It takes one array of counts per set of items (how
often each item counts) and returns one value per resample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import metrics
from harness.arrays import Floats
from harness.errors import InvalidOption
from harness.metrics import Interval

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""(n,) cluster code of each item."""
CONFIDENCE = 0.95
RESAMPLES = 1_000
MAX_CELLS = 2_000_000  # counts held at once: 16 MB
BLOCK_CELLS = 100_000  # 800 kB: a processor's cache holds what is computed of them


def jackknife_interval(
    statistic: Callable[..., Floats],
    sizes: Sequence[int],
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    bounds: tuple[float, float] | None = None,
) -> Interval | None:
    """Return the confidence interval of a statistic of one or several sets of items.

    It is Student's interval by the jackknife: each item is left out in turn, or each cluster of
    items; `harness.metrics` has the formula. Items of all sets count as drawn at random from
    more items like them.

    What nominal 95 % intervals cover in simulations stands in docs/using.md.

    Parameters
    ----------
    statistic
        Takes one (b, n) array of counts per set (how often each of its n items counts in each of
        b resamples) and returns (b,) values; NaN where a resample leaves it undefined.
    sizes
        Number of items of each set.
    rng
        Random number generator. It joins units, where there are more than `resamples`.
    clusters
        For each set, the (n,) cluster codes of its items; None where each item is its own
        cluster.
    resamples
        Most units to leave out, over all sets; more are joined at random into so many groups. 0
        for no interval.
    confidence
        Level of the interval, between 0 and 1.
    bounds
        Lowest and highest possible value of a statistic that may be near them, such as a
        correlation or a share: the interval stays inside, and is not symmetric. None for others.

    Returns
    -------
    Interval or None
        In the unit of the statistic. None if `resamples` is 0, if a set has fewer than five items
        or clusters, or if the statistic is undefined, or the same, without each of them.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise InvalidOption(f"confidence={confidence}: must be between 0 and 1, such as 0.95")
    if resamples <= 0:
        return None
    codes = [None] * len(sizes) if clusters is None else clusters
    units = [units_of(size, of_set) for size, of_set in zip(sizes, codes, strict=True)]
    clustered = any(n < size for (n, _), size in zip(units, sizes, strict=True))
    if min(n for n, _ in units) < metrics.FEWEST:
        return None
    most = max(metrics.FEWEST, resamples // len(sizes))
    groups = [_joined(n, members, most, rng) for n, members in units]
    value, left_out = _left_out(statistic, groups)
    if not np.isfinite(value):
        return None
    ends = metrics.t_interval(value, left_out, confidence=confidence, bounds=bounds)
    if ends is None:
        return None
    scale = "" if bounds is None else " on Fisher's z"
    method = f"jackknife t of {'clusters' if clustered else 'items'}{scale}"
    return Interval(ends.low, ends.high, confidence, method)


def lowest_over_highest(
    sums: Floats, counts: Floats, *, confidence: float = CONFIDENCE
) -> Interval | None:
    """Return the confidence interval of the lowest over the highest of several rates.

    Items of a cluster are alike, so that n_g items of a group count as n_g/φ::

        φ = Σ_g n_g · (variance of S_g over clusters) / Σ_g S_g (1 − S_g)

    One φ for all groups, since that of a group with few hits says little. Each rate has Wilson's
    interval [l, u], and the ratio of two rates a and b that of MOVER-R::

        low = (ab − √(a²b² − l_a(2a − l_a) · u_b(2b − u_b))) / (u_b(2b − u_b))
        high = (ab + √(a²b² − u_a(2a − u_a) · l_b(2b − l_b))) / (l_b(2b − l_b))

    The intervals of all pairs hold at once, by Bonferroni: which rate is the lowest and which the
    highest is an estimate, too. The lowest over the highest is the lowest of all ratios, so it is
    between the lowest of the low ends and the lowest of the high ends. A rate of 0 has an interval.

    Parameters
    ----------
    sums, counts
        (k, g) number of hits and of items of each cluster in each group; a cluster may have none.
    confidence
        Level of the interval.

    Returns
    -------
    Interval or None
        In [0, 1]; None with fewer than five clusters of a group, or if the clusters of each group
        are alike: the spread is then unknown, not 0.

    References
    ----------
    McCullagh and Nelder (1989), Generalized linear models, section 4.5: φ. Donner and Zou (2012),
    Closed-form confidence intervals for functions of the normal mean and standard deviation:
    MOVER-R.
    """
    clusters = (counts > 0).sum(axis=0)
    if clusters.min() < metrics.FEWEST:
        return None
    total = counts.sum(axis=0)
    rate = sums.sum(axis=0) / total
    deviation = (sums - counts * rate) / total
    variance = (deviation**2).sum(axis=0) * clusters / (clusters - 1)
    spread = rate * (1 - rate)
    if not variance.sum() > metrics.NEGLIGIBLE_SPREAD:
        return None
    inflation = float((variance * total).sum() / spread.sum())
    pairs = len(rate) * (len(rate) - 1) / 2
    t = metrics.t_quantile(1 - (1 - confidence) / pairs, float((clusters - 1).sum()))
    shift = t * t * inflation / total
    half = np.sqrt(shift * (spread + shift / 4)) / (1 + shift)
    middle = (rate + shift / 2) / (1 + shift)
    below, above = (end * (2 * rate - end) for end in (np.maximum(middle - half, 0), middle + half))
    products = np.outer(rate, rate)
    different = ~np.eye(len(rate), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = (products - np.sqrt(products**2 - np.outer(below, above))) / above
        high = (products + np.sqrt(products**2 - np.outer(above, below))) / below
    ends = [float(np.nan_to_num(of, nan=1.0)[different].min()) for of in (low, high)]
    return Interval(
        max(min(ends[0], 1.0), 0.0), min(ends[1], 1.0), confidence, "MOVER-R of Wilson's"
    )


def inside(interval: Interval | None, low: float, high: float) -> Interval | None:
    """Return an interval cut off at the bounds of a statistic, such as one whose fair value is one.

    On Fisher's z, as `bounds` of `jackknife_interval` has it, no interval reaches a bound.
    """
    if interval is None:
        return None
    first, last = (min(max(end, low), high) for end in (interval.low, interval.high))
    return Interval(first, last, interval.level, interval.method)


def codes_of(
    clusters: Mapping[str, Codes] | None, names: Sequence[str]
) -> list[Codes | None] | None:
    """Return the cluster codes of the inputs `names`; None for inputs without clusters."""
    return None if clusters is None else [clusters.get(name) for name in names]


def units_of(size: int, codes: Codes | None) -> tuple[int, Codes]:
    """Return the number of clusters of a set, and the cluster of each of its items from 0."""
    if codes is None:
        return size, np.arange(size)
    distinct, inverse = np.unique(np.asarray(codes), return_inverse=True)
    return len(distinct), inverse


def _joined(units: int, members: Codes, most: int, rng: np.random.Generator) -> Codes:
    """Return the group of each item: its unit, or one of `most` groups of about as many units."""
    if units <= most:
        return members
    groups: Codes = rng.permutation(np.arange(units) % most)[members]
    return groups


def _left_out(statistic: Callable[..., Floats], groups: Sequence[Codes]) -> tuple[float, Any]:
    """Return the statistic of all items, and for each set what it is without each group."""
    counts = [int(of_items.max()) + 1 for of_items in groups]
    first = np.cumsum([0, *counts])  # the row of the first group of each set; row -1 keeps all
    rows = np.arange(-1, first[-1])
    step = max(1, MAX_CELLS // sum(map(len, groups)))
    values = np.concatenate(
        [
            statistic(
                *(
                    (rows[start : start + step, None] != of_items + offset).astype(np.float64)
                    for of_items, offset in zip(groups, first, strict=False)
                )
            )
            for start in range(0, len(rows), step)
        ]
    )
    return float(values[0]), np.split(values[1:], first[1:-1])


# Correlations, ranks and AUC of items with multiplicities, for many resamples at once.
#
# The same formulas serve the sample itself (every item counts once) and its resamples.


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
    if np.ndim(x) == 1 and np.ndim(y) == 1:
        return _in_blocks(lambda of: _pearson(x, y, of), w)
    return _pearson(x, y, w)


def _pearson(x: Floats, y: Floats, w: Floats) -> Floats:
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
    return _in_blocks(lambda of: _pearson(midranks(x, of), midranks(y, of), of), w)


def _in_blocks(statistic: Callable[[Floats], Floats], counts: Floats) -> Floats:
    """Return the (b,) values of a statistic that computes each row of (b, n) counts by itself."""
    step = max(1, BLOCK_CELLS // counts.shape[1])
    if len(counts) <= step:
        return statistic(counts)
    starts = range(0, len(counts), step)
    return np.concatenate([statistic(counts[start : start + step]) for start in starts])


def correlation_p_value(r: float, n: int) -> float:
    """Return the two-sided p-value of a correlation r of n items under independence.

    This is the t test with t = r·√((n − 2)/(1 − r²)) and n − 2 degrees of freedom. For Spearman's
    correlation it is an approximation.
    """
    if abs(r) >= 1:
        return 0.0
    return float(metrics.t_p_value(r * np.sqrt((n - 2) / (1 - r * r)), n - 2))


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
    sizes = counts.take(order, axis=1)  # faster than counts[:, order]
    if not first.all():
        sizes = np.add.reduceat(sizes, np.flatnonzero(first), axis=1)
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


# What each item contributes to a statistic: values whose mean over the items is the statistic.
#
# Each is what the statistic would be if every item were like this one.


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


# Range of a statistic when one word is left out: how much hangs on a single word.


MOST_WORDS = 5_000
"""Words of all sets of which each is left out in turn: the work grows with their square, and what
hangs on a single one falls."""
_BLOCK = 4_000_000  # counts at a time


def without_one(
    statistic: Callable[..., Floats],
    value: float,
    sizes: Sequence[int],
    *,
    resamples: int,
    clusters: Sequence[Codes | None] | None = None,
    texts: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return the least and the greatest value of a statistic without one word of a set.

    All items that share a cluster, such as the sentences of a word, are left out together. The
    only word of a set stays.

    Parameters
    ----------
    statistic
        As for an interval: takes one (b, n) array of counts per set, and returns (b,) values.
    value
        The statistic with all words.
    sizes
        Number of items of each set.
    resamples
        The option of the metric: 0 leaves nothing out. A study asks for 0, since leaving out each
        word of a long list takes most of the time of a score.
    clusters
        For each set, the (n,) cluster codes of its items; None where each item is its own
        cluster.
    texts
        Texts of the items of each set.

    Returns
    -------
    dict
        Details of a score: `low`, `high`, the first text of the word that each lacks (`low_text`,
        `high_text`), and whether the sign changes without some word (`changes_sign`). Empty if
        nothing is left out, no set has two words, there are more than 5,000, or the statistic is
        undefined without each.

    References
    ----------
    Ethayarajh, Duvenaud and Hirst (2019), Understanding undesirable word embedding associations:
    WEAT's result hangs on the choice of single words.
    """
    if not resamples:
        return {}
    unit_of_items, left_out, k = [], [], 0  # k words can be left out
    for i, size in enumerate(sizes):
        codes = clusters[i] if clusters else None
        distinct, first, unit = np.unique(
            np.arange(size) if codes is None else np.asarray(codes),
            return_index=True,
            return_inverse=True,
        )
        is_only = len(distinct) < 2
        unit_of_items.append(np.full(size, -1) if is_only else unit + k)
        if not is_only:
            k += len(distinct)
            left_out += [texts[i][row] for row in first.tolist()] if texts else []
    if not 0 < k <= MOST_WORDS:
        return {}
    step = max(1, _BLOCK // sum(sizes))
    blocks = (np.arange(i, min(i + step, k))[:, None] for i in range(0, k, step))
    values = np.concatenate(
        [
            statistic(*((rows != unit).astype(np.float64) for unit in unit_of_items))
            for rows in blocks
        ]
    )
    known = np.flatnonzero(np.isfinite(values))
    if len(known) == 0:
        return {}
    low, high = known[values[known].argmin()], known[values[known].argmax()]
    words = {"low_text": left_out[low], "high_text": left_out[high]} if texts else {}
    return {
        "low": float(values[low]),
        "high": float(values[high]),
        **words,
        "changes_sign": bool((value * values[known] < 0).any()),
    }
