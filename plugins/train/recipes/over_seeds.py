"""Statistics over the seeds of training: paired differences, and what the seeds alone give.

Numbers in, dataclasses out; knows no files, models or tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import stdev

from harness.study.cells import RESOLUTION
from harness.study.significance import summarised

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Paired:
    """Differences of values of the same seeds.

    Parameters
    ----------
    n
        Number of seeds that both rows have.
    mean, sd
        Mean and standard deviation of the differences; sd is None with one seed.
    low, high
        Confidence interval of the mean by Student's t with n − 1 degrees of freedom; None with one
        seed, or if all differences are equal but not 0.
    p_value
        Two-sided p-value of the hypothesis that the mean is 0; None likewise.
    """

    n: int
    mean: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Noise:
    """How much two models differ that differ in nothing but chance.

    Parameters
    ----------
    sd
        Standard deviation of their difference, pooled over the rows.
    df
        Its degrees of freedom.
    """

    sd: float
    df: int

    def chance(self, difference: float) -> float:
        """Return how often they differ at least by this, in either direction."""
        from scipy import stats

        if self.sd == 0:
            return float(difference == 0)
        return float(2 * stats.t.sf(abs(difference) / self.sd, self.df))

    def smallest_change(self, n: int) -> float | None:
        """Return the mean change at which an interval over n seeds just excludes 0."""
        from scipy import stats

        if n < 2:
            return None
        quantile = float(stats.t.isf((1 - CONFIDENCE) / 2, n - 1))
        return quantile * self.sd / math.sqrt(n)


def paired(differences: Sequence[float], *, confidence: float = CONFIDENCE) -> Paired | None:
    """Return mean, interval and test of differences, one for each seed; None if there are none.

    The seeds are the only source of chance that the interval covers: it is about these corpora and
    these tests. If all differences are 0, the interval is [0, 0] and p is 1. If all are equal but
    not 0, there is no interval, because it would have no width.

    Parameters
    ----------
    differences
        Value of a row less that of the row that it is compared with, for the same seed.
    confidence
        Level of the interval.
    """
    if not differences:
        return None
    d = summarised(differences, RESOLUTION)
    if d.n < 2:
        return Paired(d.n, d.mean)
    if d.sd == 0:
        return Paired(d.n, d.mean, 0.0) if d.reason else Paired(d.n, 0.0, 0.0, 0.0, 0.0, 1.0)
    from scipy import stats

    error, df = d.sd / math.sqrt(d.n), d.n - 1
    margin = float(stats.t.isf((1 - confidence) / 2, df)) * error
    p_value = float(2 * stats.t.sf(abs(d.mean) / error, df))
    return Paired(d.n, d.mean, d.sd, d.mean - margin, d.mean + margin, p_value)


def of_other_seeds(rows: Iterable[Sequence[float]]) -> Noise | None:
    """Return the noise between two runs on one corpus with different seeds.

    Parameters
    ----------
    rows
        The values of each row, one for each seed.

    Returns
    -------
    Noise or None
        None if no row has two seeds.
    """
    pooled = _pooled(rows)
    return pooled and Noise(pooled.sd * math.sqrt(2), pooled.df)


def of_one_seed(changes: Iterable[Sequence[float]]) -> Noise | None:
    """Return the noise between two rows that share a seed, and so their first weights.

    Parameters
    ----------
    changes
        The changes of each row against another one, one for each seed.

    Returns
    -------
    Noise or None
        None if no row has two seeds.
    """
    return _pooled(changes)


def _pooled(rows: Iterable[Sequence[float]]) -> Noise | None:
    squares, df = 0.0, 0
    for values in rows:
        if len(values) > 1:
            squares += (len(values) - 1) * stdev(values) ** 2
            df += len(values) - 1
    return Noise(math.sqrt(squares / df), df) if df else None
