"""How far a measure is from fair, without the floor that few held-out pairs have.

The size of a difference cannot come near 0 on four or five pairs, however fair the vectors are. A
signed score is therefore pooled: its mean over all folds is taken first, and its size after that.
The size of any other score is taken in each fold, less what it is there with the sides of the pairs
swapped at random. In simulated studies without a true difference, where one method only spreads
pairs less, tests of sizes reject 51 %, and of pooled scores 1 %; pooled scores find most true
differences, too (`tests/reference/test_study_floor.py`). Arrays in, arrays out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats


def pooled(signed: Sequence[Sequence[float | None]]) -> Floats:
    """Return what each fold adds to the size of the pooled scores.

    The mean of the result is the mean over scenarios of |mean of the signed scores over folds|.

    Parameters
    ----------
    signed
        (folds, scenarios) scores less their fair value; None where undefined.

    Returns
    -------
    Floats
        (folds,) NaN for a fold in which any scenario is undefined.
    """
    scores = np.asarray(signed, dtype=np.float64)
    defined = np.isfinite(scores).all(axis=1)
    directions = np.sign(scores[defined].sum(axis=0))
    return np.where(defined, (scores * directions).mean(axis=1), np.nan)


def pooled_floor(spreads: npt.ArrayLike) -> float:
    """Return the mean size of the pooled scores if the sides of pairs had no meaning.

    The mean over many folds is nearly normal, and the mean size of a normal variable is √(2/π) of
    its standard deviation.

    Parameters
    ----------
    spreads
        (repeats, folds, scenarios) standard deviation of the scores with the sides of pairs
        swapped at random. Repeats judge the same pairs, so that they do not lower the floor.
    """
    deviations = np.asarray(spreads, dtype=np.float64)
    folds = deviations.shape[1]
    of_mean = np.sqrt((deviations**2).sum(axis=1)) / folds
    return float(np.sqrt(2 / np.pi) * of_mean.mean())
