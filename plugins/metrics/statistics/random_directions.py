"""Directions between random words: what a direction of a concept shows by chance.

Uniformly random directions are no yardstick. They point into dimensions that the words hardly use,
so what they show falls with the number of dimensions. Vectors of 50 dimensions with 250 zeros
appended have the same cosines, but uniform directions then overlap with them less than half as
much. A direction from one word to another lies where the words lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.plugins.metrics.statistics.nulls import DRAWS

DIRECTIONS = "directions between two random words"
"""What is drawn at random, for `Null.shuffled`."""
SAME = 1e-6  # squared distance of two unit vectors that count as equal: pruned tables share vectors


@dataclass(frozen=True)
class RandomDirections:
    """Directions between pairs of words.

    Parameters
    ----------
    vectors
        (draws, d) of length 1.
    others
        (draws, n): whether a word's vector is neither of the pair. The words of the pair overlap
        with their direction in any space.
    """

    vectors: Floats
    others: npt.NDArray[np.bool_]


def random_directions(
    words: Reals, *, rng: np.random.Generator, draws: int = DRAWS
) -> RandomDirections | None:
    """Return the directions between random pairs of (n, d) words, at length 1.

    None if fewer than three words have different vectors.

    Parameters
    ----------
    words
        (n, d) vectors; they are set to length 1. Rows of NaN are left out.
    rng
        Random number generator of the pairs.
    draws
        Number of directions.
    """
    units = unit_rows(words)
    known = units[np.isfinite(units).all(axis=1)]
    distinct = known[np.sort(np.unique(np.round(known, 6), axis=0, return_index=True)[1])]
    if len(distinct) < 3:
        return None
    first = rng.integers(len(distinct), size=draws)
    second = (first + rng.integers(1, len(distinct), size=draws)) % len(distinct)
    x, y = distinct[first], distinct[second]
    others = (x @ units.T < 1 - SAME / 2) & (y @ units.T < 1 - SAME / 2)
    return RandomDirections(unit_rows(y - x), others)


def mean_over_others(values: Floats, directions: RandomDirections) -> Floats:
    """Return the (draws,) means of (draws, n) values, without the words of each direction."""
    kept = directions.others
    means: Floats = (values * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1)
    return means
