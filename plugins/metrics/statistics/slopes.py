"""Slopes of gaps of cosines on a statistic, and how each item and each frame moves them.

They are gaps for `harness.metrics.Gap`, linear in the cosines. `gaps.py` has contrasts of sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines, unit_rows
from harness.metrics import Gap, Gaps

from .gaps import Units
from .intervals import Codes

FEWEST = 3  # items through which a line says something
ROUNDING = 1e-12  # relative differences that are none
UNDEFINED = Gaps(Gap(math.nan, {}, 1.0))


def slope_gap(
    sentences: Reals, versions_1: Reals, versions_2: Reals, statistics: Floats, *, units: Units
) -> Gaps:
    """Return the slope of a gap of cosines on a statistic of the items.

    With the mean gap m_o of the sentences of an item o, and its statistic y_o::

        m_o = mean over sentences i of o of [cos(xᵢ, v₂ᵢ) − cos(xᵢ, v₁ᵢ)]
        N = Σ_o (y_o − ȳ)(m_o − m̄) / Σ_o (y_o − ȳ)²

    Positive if sentences of a higher statistic are nearer to the second version. Items vary, and
    frames do if all items are compared with the same versions.

    Parameters
    ----------
    sentences, versions_1, versions_2
        (n, d) vectors; row i of each belongs together.
    statistics
        (n,) statistic of the item of each sentence, higher for the second version.
    units
        The item of each row, by input.
    """
    names, item = _codes(units["sentences"])
    gaps = paired_cosines(sentences, versions_2) - paired_cosines(sentences, versions_1)
    sizes = np.bincount(item)
    y = np.bincount(item, statistics) / sizes
    if _has_frames(item, sizes, versions_1, versions_2):
        # A frame that all tasks have in the same place is the same unit; of others, the products
        # of deviations are 0 in expectation.
        table = gaps[np.argsort(item, kind="stable")].reshape(len(names), -1)
        return Gaps(slope_of(table, y, names, [f"frame {i + 1}" for i in range(table.shape[1])]))
    return Gaps(slope_of((np.bincount(item, gaps) / sizes)[:, None], y, names))


def projection_gap(
    pairs_1: Reals, pairs_2: Reals, occupations: Reals, ratings: Floats, *, units: Units
) -> Gaps:
    """Return the slope of words' projections on pairs, on a rating of the words.

    With words w_o of length 1 and their ratings y_o, and pairs (a, b) of length 1::

        m_o = mean over pairs of w_o·b − w_o·a
        N = Σ_o (y_o − ȳ)(m_o − m̄) / Σ_o (y_o − ȳ)²

    Positive if words of a higher rating lie towards the second side. Words and pairs vary.

    Parameters
    ----------
    pairs_1, pairs_2
        (p, d) vectors of the pairs.
    occupations
        (n, d) vectors of the words.
    ratings
        (n,) ratings, higher for the second side.
    units
        The word or the pair of each row, by input.
    """
    table = unit_rows(occupations) @ (unit_rows(pairs_2) - unit_rows(pairs_1)).T
    names = units["occupations"], units["pairs_1"]
    return Gaps(slope_of(table, np.asarray(ratings, dtype=np.float64), *names))


def slope_of(table: Floats, y: Floats, items: Sequence[str], frames: Sequence[str] = ()) -> Gap:
    """Return the mean slope of the columns of a table on a statistic of its rows.

    What leaving out an item changes follows from its residual and its leverage. The deviations of
    items and of frames both count the interaction of item and frame, which `doubled` has. The gap
    is not a number for fewer than three items, or if one of them alone has another statistic.

    Parameters
    ----------
    table
        (k, f) gap of each item in each frame.
    y
        (k,) statistic of each item.
    items, frames
        Names of the rows and of the columns. Fewer than two frames do not vary.

    References
    ----------
    Miller (1974), An unbalanced jackknife. Annals of Statistics 2: leaving out a point of a line.
    """
    k, f = table.shape
    dy = y - y.mean()
    if k < FEWEST or np.abs(dy).max() <= ROUNDING * np.abs(y).max():
        return UNDEFINED.gap
    weights = dy / (dy @ dy)
    left = 1 - 1 / k - weights * dy
    if left.min() <= ROUNDING:
        return UNDEFINED.gap
    slopes = weights @ table
    slope = float(slopes.mean())
    residuals = table - table.mean(axis=0) - np.outer(dy, slopes)
    means = residuals.mean(axis=1)
    changes = weights * means / left
    own = (changes.mean() - changes) * math.sqrt((k - 1) / k)
    deviations = dict(zip(items, own.tolist(), strict=True))
    if len(frames) < 2:
        return Gap(slope, deviations, k - 2)
    others = (slope - slopes) / math.sqrt(f * (f - 1))
    interaction = weights**2 @ (residuals - means[:, None]) ** 2
    variances = np.array([own @ own, others @ others])
    squares = float((variances**2 / [k - 2, f - 1]).sum())
    return Gap(
        slope,
        deviations | dict(zip(frames, others.tolist(), strict=True)),
        float(variances.sum()) ** 2 / squares if squares > 0 else float(k - 2),
        doubled=float(interaction.sum()) / (f * (f - 1)) * k / (k - 2),
    )


def _codes(names: Sequence[str]) -> tuple[list[str], Codes]:
    """Return the distinct names, and the place of each name among them."""
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    return list(places), codes


def _has_frames(item: Codes, sizes: Codes, *versions: Reals) -> bool:
    """Whether the sentences of each item are compared with the same versions, in one order."""
    if len(sizes) < 2 or sizes.min() < 2 or sizes.min() < sizes.max():
        return False
    order = np.argsort(item, kind="stable").reshape(len(sizes), -1)
    return all(np.array_equal(side[order[0]], side[row]) for side in versions for row in order[1:])
