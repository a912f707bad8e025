"""Places of rows in rankings, and means of rows by group with the groups exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics.intervals import Codes

EQUAL = 1e-6  # values that differ by less are equal: the batch size changes cosines by 2e-7


@dataclass(frozen=True, eq=False)
class Places:
    """Where each of n rows stands in its ranking; equal values share their places.

    Parameters
    ----------
    percentile
        (n,) in (0, 1), the highest value the highest; 1/2 on average over a ranking.
    selected
        (n,) part of the row in the first places, in [0, 1].
    first
        (n,) part of the row in the first place.
    """

    percentile: Floats
    selected: Floats
    first: Floats


def places(values: Floats, rankings: Codes, top: float) -> Places:
    """Return the places of (n,) values in the rankings that they belong to, by (n,) codes.

    The first places are the share `top` of a ranking, rounded, and at least one.
    """
    percentile, selected, first = (np.empty(len(values)) for _ in range(3))
    for rows in np.split(np.argsort(rankings, kind="stable"), _starts(rankings)):
        m = len(rows)
        ascending = rows[np.argsort(values[rows], kind="stable")]
        tie = np.concatenate([[0], np.cumsum(np.diff(values[ascending]) > EQUAL)])
        sizes = np.bincount(tie)
        ends = np.cumsum(sizes)  # number of rows up to each value
        percentile[ascending] = ((ends - sizes / 2) / m)[tie]
        for part, k in ((selected, max(1, round(top * m))), (first, 1)):
            part[ascending] = np.clip((k - (m - ends)) / sizes, 0, 1)[tie]
    return Places(percentile, selected, first)


def _starts(codes: Codes) -> Codes:
    """Return where each code but the first begins among the sorted codes."""
    starts: Codes = np.cumsum(np.unique(codes, return_counts=True)[1])[:-1]
    return starts


@dataclass(frozen=True, eq=False)
class UnitMeans:
    """Means of rows by group, where all rows of a unit are of one group.

    Parameters
    ----------
    unit
        (n,) code of the unit of each row, from 0 to u − 1.
    label
        (u,) code of the group of each unit, from 0 to g − 1.
    """

    unit: Codes
    label: Codes

    def exchanged(self, a: int, b: int, draws: int, rng: np.random.Generator) -> Codes:
        """Return (draws, u) labels: the units of two groups exchanged at random, others as is."""
        labels = np.tile(self.label, (draws, 1))
        of_both = np.flatnonzero((self.label == a) | (self.label == b))
        labels[:, of_both] = rng.permuted(labels[:, of_both], axis=1)
        return labels

    def of(
        self,
        values: Floats,
        *,
        rows: Floats | None = None,
        labels: Codes | None = None,
        counts: Floats | None = None,
    ) -> Floats:
        """Return the (b, g) means of (n,) values; NaN for a group without a row.

        Parameters
        ----------
        values
            (n,) values.
        rows
            (n,) how often each row counts; all count once by default.
        labels
            (b, u) groups of the units in place of their own.
        counts
            (b, u) how often each unit counts.
        """
        u = len(self.label)
        weights = np.ones(len(values)) if rows is None else rows
        sums = np.bincount(self.unit, weights * values, minlength=u)
        sizes = np.bincount(self.unit, weights, minlength=u)
        of_group = self.label[None] if labels is None else labels
        means = []
        for group in range(int(self.label.max()) + 1):
            member = (of_group == group) * (1.0 if counts is None else counts)
            with np.errstate(invalid="ignore"):
                means.append((member @ sums) / (member @ sizes))
        stacked: Floats = np.stack(means, axis=-1)
        return stacked
