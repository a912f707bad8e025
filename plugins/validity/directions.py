"""The directions along which a bias is planted: between groups, to rows, between versions.

Of two groups it is the difference of their mean unit vectors, of rows the difference of each from
their mean, and of a text's two versions the difference of these. What is ranked for a row is moved
towards that row itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import HarnessError
from harness.metrics import Contrast


@dataclasses.dataclass(frozen=True, eq=False)
class Direction:
    """The direction between two groups, or from all rows to each of them.

    Parameters
    ----------
    vector
        (d,) of length 1, from the second group to the first; or (n, d), a direction for each row.
    gap
        Half the difference of the groups' mean cosines with `vector`; or the mean distance of the
        rows from their mean; or the standard deviation of the texts between their versions, or of
        the items of a ranking.
    """

    vector: Floats
    gap: float

    def cosines(self, vectors: Reals) -> Floats:
        """Return the (n,) cosines of (n, d) vectors with the direction, or each with its own."""
        products: Floats = (unit_rows(vectors) * self.vector).sum(axis=1)
        return products


def between_groups(group_1: Reals, group_2: Reals) -> Direction:
    """Return the direction from the second group, (m, d), to the first, (n, d).

    Raises
    ------
    HarnessError
        If both groups have the same mean: no direction lies between them.
    """
    mean_1, mean_2 = unit_rows(group_1).mean(axis=0), unit_rows(group_2).mean(axis=0)
    difference = mean_1 - mean_2
    length = float(np.linalg.norm(difference))
    if length < 1e-9:
        raise HarnessError("no bias can be planted: both groups have the same mean vector")
    return Direction(difference / length, length / 2)


def to_each_row(rows: Reals) -> Direction:
    """Return the direction from the mean of all rows, (n, d), to each of them.

    Raises
    ------
    HarnessError
        If all rows are equal.
    """
    units = unit_rows(rows)
    differences = units - units.mean(axis=0)
    gap = float(np.linalg.norm(differences, axis=1).mean())
    if gap < 1e-9:
        raise HarnessError("no bias can be planted: all rows have the same vector")
    return Direction(unit_rows(differences), gap)


def between_versions(texts: Reals, versions_1: Reals, versions_2: Reals) -> Direction:
    """Return the direction from the second version of each of n texts to the first; all (n, d).

    Raises
    ------
    HarnessError
        If no text is nearer to one of its versions than another text to its own.
    """
    differences = unit_rows(versions_1) - unit_rows(versions_2)
    lengths = np.linalg.norm(differences, axis=1, keepdims=True)
    vectors = differences / np.maximum(lengths, 1e-9)  # equal versions have no direction
    gap = float(Direction(vectors, 0.0).cosines(texts).std())
    if gap < 1e-9:
        raise HarnessError("no bias can be planted: no text is nearer to one of its versions")
    return Direction(vectors, gap)


def within_rankings(items: Reals, rows: Reals, rankings: Reals) -> Direction:
    """Return the directions towards (n, d) rows, from (n, d) items in rankings of (n,) numbers.

    Raises
    ------
    HarnessError
        If all items of a ranking are as near to their rows.
    """
    vectors = unit_rows(rows)
    cosines = Direction(vectors, 0.0).cosines(items)
    gap = float((cosines - means_of_groups(cosines, rankings)).std())
    if gap < 1e-9:
        raise HarnessError("no bias can be planted: all items of a ranking are as near to its row")
    return Direction(vectors, gap)


def means_of_groups(values: Floats, groups: Reals) -> Floats:
    """Return for each of (n,) values the mean of its group."""
    codes = np.unique(groups, return_inverse=True)[1]
    means: Floats = (np.bincount(codes, values) / np.bincount(codes))[codes]
    return means


def direction_of(arrays: Mapping[str, Reals], contrast: Contrast) -> Direction:
    """Return the direction along which a contrast moves its sides; arrays as in `planted`."""
    towards = [arrays[name] for name in contrast.towards]
    if contrast.rankings is not None:
        return within_rankings(arrays[contrast.sides[0]], towards[0], arrays[contrast.rankings])
    if contrast.paired:
        return between_versions(arrays[contrast.sides[0]], *towards)
    return to_each_row(*towards) if len(towards) == 1 else between_groups(*towards)
