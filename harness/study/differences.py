"""The differences of a method and the baseline over folds: how many, their mean and their spread.

Decides what is rounding. Tests nothing: that is for `significance`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import InvalidOption

ROUNDING = 1e-12
"""Relative to the largest difference: a range no larger than this is rounding, not spread."""


@dataclass(frozen=True)
class Differences:
    """What is known of n differences.

    Parameters
    ----------
    n
        Those that are finite; others are left out.
    mean
        NaN where there is none.
    sd
        Standard deviation with n − 1: exactly 0 where they differ by rounding alone, NaN where
        there are fewer than two.
    reason
        Why they cannot be tested: too few, or all the same but not 0; else empty.
    """

    n: int
    mean: float
    sd: float
    reason: str = ""


def summarised(differences: npt.ArrayLike, resolution: float) -> Differences:
    """Return how many differences there are, their mean and their spread.

    Parameters
    ----------
    differences
        (n,) one a fold; those that are not finite are left out.
    resolution
        Those no larger than this are 0, and a range no larger is no spread.

    Raises
    ------
    InvalidOption
        If `resolution` is below 0, or `differences` has other than one axis.
    """
    if not 0 <= resolution < np.inf:
        raise InvalidOption(f"resolution={resolution}: at least 0 is needed")
    given = np.asarray(differences, dtype=np.float64)
    if given.ndim != 1:
        raise InvalidOption(f"differences have {given.ndim} axes: one is needed")
    d = given[np.isfinite(given)]
    n = len(d)
    if n < 2:
        reason = f"{n} of {len(given)} differences are defined: 2 are needed"
        return Differences(n, float(d[0]) if n else np.nan, np.nan, reason)
    d = np.where(np.abs(d) <= resolution, 0.0, d)
    size, mean = np.abs(d).max(), float(d.mean())
    if np.ptp(d) > max(resolution, ROUNDING * size):
        return Differences(n, mean, float(size * (d / size).std(ddof=1)))  # 1e-200² would be 0
    alike = f"all {n} differences are {mean:.4g}: without spread there is no test"
    return Differences(n, mean, 0.0, alike if size > 0 else "")
