"""Differences between a method and the baseline over folds: their number, mean and spread.

Decides which differences are rounding errors. The tests are in `significance` and `bayesian`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import InvalidOption

ROUNDING = 1e-12
"""Largest range, relative to the largest difference, that counts as rounding and not as spread."""


@dataclass(frozen=True)
class Differences:
    """Number, mean and spread of differences.

    Parameters
    ----------
    n
        Number of finite differences; others are ignored.
    mean
        NaN if n is 0.
    sd
        Standard deviation with n − 1: exactly 0 if they differ by rounding alone, NaN if there are
        fewer than two.
    reason
        Why they cannot be tested: too few, or all equal but not 0; else empty.
    """

    n: int
    mean: float
    sd: float
    reason: str = ""


def summarised(differences: npt.ArrayLike, resolution: float) -> Differences:
    """Return the number, mean and spread of differences.

    Parameters
    ----------
    differences
        (n,) one for each fold; those that are not finite are ignored.
    resolution
        Differences of at most this size count as 0, and a range of at most this size as no spread.

    Raises
    ------
    InvalidOption
        If `resolution` is below 0, or `differences` does not have one axis.
    """
    if not 0 <= resolution < np.inf:
        raise InvalidOption(f"resolution={resolution}: at least 0 is needed")
    all_ = np.asarray(differences, dtype=np.float64)
    if all_.ndim != 1:
        raise InvalidOption(f"differences have {all_.ndim} axes: one is needed")
    d = all_[np.isfinite(all_)]
    n = len(d)
    if n < 2:
        reason = f"{n} of {len(all_)} differences are defined; 2 are needed"
        return Differences(n, float(d[0]) if n else np.nan, np.nan, reason)
    d = np.where(np.abs(d) <= resolution, 0.0, d)
    size, mean = np.abs(d).max(), float(d.mean())
    if np.ptp(d) > max(resolution, ROUNDING * size):
        return Differences(n, mean, float(size * (d / size).std(ddof=1)))  # 1e-200² would be 0
    equal = f"all {n} differences are {mean:.4g}; without spread no test is possible"
    return Differences(n, mean, 0.0, equal if size > 0 else "")
