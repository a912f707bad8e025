"""Random assignments of items to sides: what a score shows without the bias that it measures.

A metric computes its score for each assignment and returns the values as `Score.null`. The mean
of their distances from the ideal is the floor of the score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.arrays import Floats, Mask
from harness.plugins.metrics.statistics.intervals import Codes, units_of
from harness.plugins.metrics.statistics.partitions import TIE

DRAWS = 500
"""Number of assignments: the standard error of a floor is then some 3 % of its value."""
LABELS = "labels of the items"
MEMBERS = "members of the target sets"
ATTRIBUTES = "members of the attribute sets"
SIDES = "sides of the pairs"


def shuffled_members(
    sizes: tuple[int, int],
    *,
    rng: np.random.Generator,
    clusters: Sequence[Codes | None] = (None, None),
    draws: int = DRAWS,
) -> Mask:
    """Return which items of the union of two sets are in the first one, at random.

    Parameters
    ----------
    sizes
        Number of items n and m of both sets.
    rng
        Random number generator of the assignments.
    clusters
        For each set, the cluster codes of its items, which move together; None where each item is
        its own cluster. The same code in both sets means two different clusters. The number of
        clusters of a set stays the same; its number of items may not.
    draws
        Number of assignments.

    Returns
    -------
    (draws, n + m) bool
    """
    units, first = [], 0
    for size, codes in zip(sizes, clusters, strict=True):
        number, unit = units_of(size, codes)
        units.append(unit + first)
        first += number
    unit = np.concatenate(units)
    in_first = int(units[0].max()) + 1 if sizes[0] else 0
    chosen = np.tile(np.arange(first) < in_first, (draws, 1))
    masks: Mask = rng.permuted(chosen, axis=1)[:, unit]
    return masks


def differences_of_means(values: Floats, in_first: Mask) -> Floats:
    """Return the (draws,) means of (n,) values in random first sets, less those of the others."""
    sizes = in_first.sum(axis=1)
    sums = in_first @ values
    differences: Floats = sums / sizes - (values.sum() - sums) / (len(values) - sizes)
    return differences


def shuffled_sides(
    pairs: int,
    *,
    rng: np.random.Generator,
    clusters: Codes | None = None,
    draws: int = DRAWS,
) -> Floats:
    """Return for each pair 1 if its sides stay, or −1 if they are swapped, at random.

    Parameters
    ----------
    pairs
        Number n of pairs.
    rng
        Random number generator of the swaps.
    clusters
        (n,) cluster codes of the pairs; the pairs of a cluster are swapped together.
    draws
        Number of assignments.

    Returns
    -------
    (draws, n) float64
    """
    number, unit = units_of(pairs, clusters)
    signs: Floats = rng.choice([-1.0, 1.0], size=(draws, number))[:, unit]
    return signs


def exchanged_within(codes: Codes, *, rng: np.random.Generator, draws: int = DRAWS) -> Codes:
    """Return (draws, n) rows: at the place of each item a random item of its class.

    Parameters
    ----------
    codes
        (n,) code of the class of each item.
    rng
        Random number generator of the exchanges.
    draws
        Number of exchanges.
    """
    ordered = np.argsort(codes, kind="stable")
    drawn = np.argsort(codes + rng.random((draws, len(codes))), axis=1)
    rows: Codes = np.empty_like(drawn)
    rows[:, ordered] = drawn
    return rows


def shuffled_correlations(
    x: Floats, y: Floats, *, rng: np.random.Generator, draws: int = DRAWS
) -> Floats:
    """Return the (draws,) Pearson correlations of (n,) x with (n,) y in random order.

    NaN if one of them is constant. Of midranks, they are Spearman correlations.
    """
    dx, dy = (np.asarray(values, dtype=np.float64) - np.mean(values) for values in (x, y))
    scale = float(np.sqrt((dx @ dx) * (dy @ dy)))
    if scale == 0:
        return np.full(draws, np.nan)
    correlations: Floats = rng.permuted(np.tile(dy, (draws, 1)), axis=1) @ dx / scale
    return np.clip(correlations, -1.0, 1.0)


def two_sided(value: float, null: Floats, *, ideal: float = 0.0) -> float | None:
    """Return the two-sided p-value of a score: the share of draws as far from its ideal.

    (hits + 1)/(draws + 1), as for any sampled null. None without a draw.

    Parameters
    ----------
    value
        The score.
    null
        (draws,) values of the score with its sides shuffled; those that are NaN do not count.
    ideal
        The fair value.
    """
    far = np.abs(null[np.isfinite(null)] - ideal)
    if len(far) == 0:
        return None
    distance = abs(value - ideal)
    hits = int(np.count_nonzero(far >= distance - TIE * max(1.0, distance)))
    return (hits + 1) / (len(far) + 1)
