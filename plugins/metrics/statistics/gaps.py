"""Mean gaps of cosines, signed towards the stereotype, and how each unit moves them.

A gap over that of a yardstick is what ranks; see `harness.metrics.Gap`. All are linear in the
cosines, so that noise, scale, offset and common components change a gap and its yardstick alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Gap, Gaps

Units = Mapping[str, Sequence[str]]
"""The name of the unit of each row, by input."""


class _Side(NamedTuple):
    """One set: its units, the mean vector of the texts of each, and its share of the texts."""

    names: list[str]
    vectors: Floats
    weights: Floats

    @property
    def mean(self) -> Floats:
        mean: Floats = self.weights @ self.vectors
        return mean


class Contributions(NamedTuple):
    """What the units of one set add to a gap: the mean by their weights is in the gap."""

    names: Sequence[str]
    values: Floats
    weights: Floats | None = None


class WithoutOne(NamedTuple):
    """A gap without each unit of a set."""

    names: Sequence[str]
    values: Floats


def association_gap(
    targets_1: Reals, targets_2: Reals, attributes_1: Reals, attributes_2: Reals, *, units: Units
) -> Gaps:
    """Return the association of two target sets with two attribute sets.

    With X, Y, A, B the sets, of vectors of length 1::

        N = (mean of X − mean of Y) · (mean of A − mean of B)

    Positive if X is nearer to A, and Y to B. Words vary, in all four sets, with all their texts.
    Two sets with the same units are pairs, whose words vary together.

    Parameters
    ----------
    targets_1, targets_2, attributes_1, attributes_2
        (n, d) vectors of each set.
    units
        The word of each row, by input.

    References
    ----------
    Caliskan et al. (2017): the association. Arvesen (1969), Jackknifing U-statistics: the variance.
    """
    arrays = {
        "targets_1": targets_1,
        "targets_2": targets_2,
        "attributes_1": attributes_1,
        "attributes_2": attributes_2,
    }
    x, y, a, b = (_side(array, units[name]) for name, array in arrays.items())
    targets, attributes = x.mean - y.mean, a.mean - b.mean
    doubled = math.fsum(
        _interaction(first, second) for first in _differences(x, y) for second in _differences(a, b)
    )
    sets = [*_along(x, y, attributes), *_along(a, b, targets)]
    return Gaps(gap_of_sets(float(targets @ attributes), sets, doubled=doubled))


def attribute_gap(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    attributes_2: Reals | None = None,
    *,
    units: Units,
) -> Gaps:
    """Return the association of two attribute sets with two target sets.

    It is `association_gap`, and half of what the mean squared distances of RND differ by. One set
    of attributes has an offset that is no bias, and no gap.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the targets.
    attributes, attributes_2
        (a, d) and (b, d) vectors of both attribute sets; None if there is one.
    units
        The word of each row, by input.
    """
    if attributes_2 is None:
        return Gaps(Gap(math.nan, {}, 1.0))
    units = {**units, "attributes_1": units["attributes"]}
    return association_gap(targets_1, targets_2, attributes, attributes_2, units=units)


def gap_of_sets(
    value: float, sets: Sequence[Contributions], *, doubled: float = 0.0, power: int = 1
) -> Gap:
    """Return a gap from what each unit of several sets adds to it.

    The variance of the mean of a set of k units, with the values g_u and the weights w_u, is
    k/(k − 1) Σ w_u² (g_u − mean)², which is that of the jackknife where the weights are equal.

    Parameters
    ----------
    value
        The gap.
    sets
        What the units of each set add to it.
    doubled, power
        As of `Gap`.
    """
    deviations: dict[str, float] = {}
    variances, squares = [], []
    for names, values, weights in sets:
        k = len(names)
        if k < 2:
            continue
        shares = np.full(k, 1 / k) if weights is None else weights
        own = shares * (shares @ values - values) * math.sqrt(k / (k - 1))
        for unit, deviation in zip(names, own.tolist(), strict=True):
            deviations[unit] = deviations.get(unit, 0.0) + deviation
        variances.append(float(own @ own))
        squares.append(variances[-1] ** 2 / (k - 1))
    df = math.fsum(variances) ** 2 / math.fsum(squares) if math.fsum(squares) > 0 else 1.0
    return Gap(value, deviations, df, doubled=doubled, power=power)


def jackknifed(value: float, sets: Sequence[WithoutOne], *, power: int = 1) -> Gap:
    """Return a gap from its values without each unit of several sets.

    Parameters
    ----------
    value
        The gap.
    sets
        Its values without each unit, by set of units.
    power
        As of `Gap`.
    """
    deviations: dict[str, float] = {}
    variances, squares = [], []
    for names, values in sets:
        k = len(names)
        own = (values - values.mean()) * math.sqrt((k - 1) / k)
        for unit, deviation in zip(names, own.tolist(), strict=True):
            deviations[unit] = deviations.get(unit, 0.0) + deviation
        variances.append(float(own @ own))
        squares.append(variances[-1] ** 2 / (k - 1))
    df = math.fsum(variances) ** 2 / math.fsum(squares) if math.fsum(squares) > 0 else 1.0
    return Gap(float(value), deviations, df, power=power)


def at_least(gap: Gap, variance: float) -> Gap:
    """Return a gap with at least a variance: what its units lack is that of the unit `chance`.

    A square near 0 is moved by no unit, though it is as uncertain as chance.
    """
    lacking = math.sqrt(max(0.0, variance - gap.variance))
    return replace(gap, deviations={**gap.deviations, "chance": lacking})


def means_by_unit(values: Floats, names: Sequence[str]) -> Contributions:
    """Return the mean of the values of each unit, weighted by its number of values."""
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    counts = np.bincount(codes)
    means = np.bincount(codes, values) / counts
    return Contributions(list(places), means, counts / len(codes))


def _side(vectors: Reals, names: Sequence[str]) -> _Side:
    rows = unit_rows(vectors)
    places: dict[str, int] = {}
    codes = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    counts = np.bincount(codes)
    sums = np.zeros((len(places), rows.shape[1]))
    np.add.at(sums, codes, rows)
    return _Side(list(places), sums / counts[:, None], counts / len(codes))


def _are_pairs(first: _Side, second: _Side) -> bool:
    return first.names == second.names and np.array_equal(first.weights, second.weights)


def _along(first: _Side, second: _Side, direction: Floats) -> list[Contributions]:
    """Return what the units of two sets add along a direction; pairs are one set."""
    own, other = first.vectors @ direction, -(second.vectors @ direction)
    if _are_pairs(first, second):
        return [Contributions(first.names, own + other, first.weights)]
    return [
        Contributions(first.names, own, first.weights),
        Contributions(second.names, other, second.weights),
    ]


def _differences(first: _Side, second: _Side) -> list[_Side]:
    """Return two sets; for pairs one set of differences."""
    if _are_pairs(first, second):
        return [first._replace(vectors=first.vectors - second.vectors)]
    return [first, second]


def _interaction(first: _Side, second: _Side) -> float:
    """Return the variance that the units of two sets both count: of their interaction."""
    k, m = len(first.names), len(second.names)
    if k < 2 or m < 2:
        return 0.0
    table = first.vectors @ second.vectors.T
    rows, columns = table @ second.weights, first.weights @ table
    rest = table - rows[:, None] - columns + first.weights @ rows
    squares = first.weights**2 @ rest**2 @ second.weights**2
    return float(squares) * k / (k - 1) * m / (m - 1)
