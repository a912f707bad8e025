"""Cosines and distances of the pairs of vectors within groups, such as perturbations of a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Coordinates, Floats, Reals, both_sides

MAX_CELLS = 8_000_000  # numbers held at once: 64 MB

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class PairMeans:
    """Mean similarity of the pairs of each group, and sums over all pairs.

    Parameters
    ----------
    means
        (g,) mean over the pairs of each group.
    pairs
        Number of pairs of all groups.
    squares
        Sum over all pairs of the squared deviation from their mean.
    """

    means: Floats
    pairs: int
    squares: float

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean over groups; None for a single group."""
        n = len(self.means)
        return float(self.means.std(ddof=1) / np.sqrt(n)) if n > 1 else None

    @property
    def standard_error_of_pairs(self) -> float | None:
        """Standard error of the mean over pairs as if they were independent; None for one."""
        if self.pairs < 2:
            return None
        return float(np.sqrt(self.squares / (self.pairs - 1) / self.pairs))


@dataclass(frozen=True)
class Groups:
    """Rows by group.

    Parameters
    ----------
    codes
        (m,) code of each group, ascending.
    sizes
        (m,) number of rows of each group.
    rows
        (n,) row numbers, group by group, in ascending order within each.
    """

    codes: Floats
    sizes: Indices
    rows: Indices

    @property
    def starts(self) -> Indices:
        """(m,) first position of each group in `rows`."""
        starts: Indices = np.cumsum(self.sizes) - self.sizes
        return starts


@dataclass(frozen=True)
class WithinGroups:
    """Pairwise similarities within groups.

    Parameters
    ----------
    groups
        (g,) index of each group with two or more rows, ascending.
    cosine, distance
        Cosines, and Euclidean distances in the unit of the vectors, by these groups. Distances of
        `Coordinates` are NaN.
    """

    groups: Indices
    cosine: PairMeans
    distance: PairMeans


def group_rows(codes: Floats) -> Groups:
    """Return the rows of each group, from the (n,) code of each row."""
    distinct, members, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    return Groups(distinct, sizes, np.argsort(members, kind="stable"))


def within_groups(e: Reals, groups: Groups) -> WithinGroups:
    """Return the cosines and distances of all pairs of rows within each group.

    Parameters
    ----------
    e
        (n, d) vectors.
    groups
        Groups of the rows; at least one has two rows.
    """
    indices, cosines, distances, counts = [], [], [], []
    spread = np.zeros((2, len(groups.sizes)))  # squared deviations from the mean of the group
    for block, k in _blocks(groups.sizes, e.shape[1]):
        v = e[groups.rows[groups.starts[block][:, None] + np.arange(k)]]
        cosine, distance = _pair_cosines(v), _pair_distances(v)
        indices.append(block)
        cosines.append(cosine.mean(axis=1))
        distances.append(distance.mean(axis=1))
        counts.append(np.full(len(block), cosine.shape[1]))
        spread[0, block] = ((cosine - cosines[-1][:, None]) ** 2).sum(axis=1)
        spread[1, block] = ((distance - distances[-1][:, None]) ** 2).sum(axis=1)
    chosen = np.concatenate(indices)
    order = np.argsort(chosen)
    n_pairs = np.concatenate(counts)[order]

    def pair_means(means: list[Floats], within: Floats) -> PairMeans:
        m = np.concatenate(means)[order]
        mean = np.average(m, weights=n_pairs)
        squares = float(within.sum() + n_pairs @ (m - mean) ** 2)
        return PairMeans(m, int(n_pairs.sum()), squares)

    return WithinGroups(
        chosen[order], pair_means(cosines, spread[0]), pair_means(distances, spread[1])
    )


def mean_between(e: Reals, groups: Groups) -> float | None:
    """Return the mean cosine of two rows of different groups; None if there is one group.

    Parameters
    ----------
    e
        (n, d) vectors.
    groups
        Groups of the rows.
    """
    first, second = (
        np.add.reduceat(side, groups.starts, axis=0) for side in both_sides(e[groups.rows])
    )
    pairs = float(groups.sizes.sum() ** 2 - (groups.sizes**2).sum())
    total = float(first.sum(axis=0) @ second.sum(axis=0))
    return float((total - np.einsum("gd,gd->", first, second)) / pairs) if pairs else None


def _pair_cosines(v: Reals) -> Floats:
    """Return the (b, p) cosines of the p pairs within each of b groups of vectors, (b, k, d)."""
    first, second = both_sides(v)
    cosine = np.asarray(first @ second.transpose(0, 2, 1))
    if not isinstance(v, Coordinates):
        cosine = np.clip(cosine, -1, 1)
    return cosine[:, *np.triu_indices(v.shape[1], 1)]


def _pair_distances(v: Reals) -> Floats:
    """Return the (b, p) distances of the p pairs within each of b groups of vectors, (b, k, d)."""
    if isinstance(v, Coordinates):
        return np.full((len(v), v.shape[1] * (v.shape[1] - 1) // 2), np.nan)
    # Centred by group, for groups that are far from the origin and close together.
    v = v - v.mean(axis=1, keepdims=True)
    gram = v @ v.transpose(0, 2, 1)
    squares = np.diagonal(gram, axis1=1, axis2=2)
    between = squares[:, :, None] + squares[:, None, :] - 2 * gram
    distance: Floats = np.sqrt(np.maximum(between, 0)[:, *np.triu_indices(v.shape[1], 1)])
    return distance


def _blocks(sizes: Indices, d: int) -> Iterator[tuple[Indices, int]]:
    """Yield groups of equal size, as many as `MAX_CELLS` allows, and their size."""
    for k in np.unique(sizes[sizes > 1]).tolist():
        alike = np.flatnonzero(sizes == k)
        step = max(1, MAX_CELLS // (k * max(d, k)))
        for start in range(0, len(alike), step):
            yield alike[start : start + step], k
