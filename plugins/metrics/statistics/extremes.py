"""The words farthest to each side of a direction: figure 1 of Bolukbasi et al. (2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats

EXTREMES = 12  # words on each side of Bolukbasi et al. (2016), figure 1


def extremes(words: Sequence[str], projections: Floats) -> list[dict[str, Any]]:
    """Return the words with the most extreme projections, a row for each place.

    Parameters
    ----------
    words
        The n words.
    projections
        (n,) projections on a direction from a first side to a second.

    Returns
    -------
    list of dict
        `place`, from 1; `first`, the word that lies farthest towards the first side, with
        `projection_1`; `second` and `projection_2`. A word on the other half is no extreme of a
        side, so a side may end early, with None.
    """
    order = np.argsort(projections, kind="stable")
    sides = [
        [(words[i], float(projections[i])) for i in most[:EXTREMES] if sign * projections[i] > 0]
        for sign, most in ((-1, order), (1, order[::-1]))
    ]
    for side in sides:
        side += [("", float("nan"))] * (max(map(len, sides)) - len(side))
    return [
        {
            "place": place,
            "first": first or None,
            "projection_1": None if np.isnan(low) else low,
            "second": second or None,
            "projection_2": None if np.isnan(high) else high,
        }
        for place, ((first, low), (second, high)) in enumerate(zip(*sides, strict=True), start=1)
    ]
