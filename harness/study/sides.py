"""A metric on held-out pairs, as their sides are and with some of them swapped.

The assignments of sides are the rows of a Hadamard matrix: each pair is swapped in half of them,
and any two pairs in every combination equally often. For a mean over pairs, few assignments have
the exact variance of all 2ⁿ. The first assignment swaps nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals
from harness.study.calls import Codes, Part

Swaps = npt.NDArray[np.bool_]
Texts = tuple[str, ...]
Score = Callable[[Mapping[str, Reals], Mapping[str, Texts]], float]
"""Returns the score of the vectors (or numbers) and the texts of a metric's inputs."""


def assignments(pairs: int) -> Swaps:
    """Return which pairs are swapped in each assignment, (m, pairs); nothing in the first one."""
    from scipy.linalg import hadamard

    order = 1 << pairs.bit_length()  # the power of two above the number of pairs
    return np.asarray(hadamard(order)[:, 1 : pairs + 1] < 0)


def scores_of_swapped(
    score: Score,
    parts: Mapping[str, Part],
    arrays: Mapping[str, Reals],
    texts: Mapping[str, Texts],
    items: Codes,
) -> Floats:
    """Return the scores with the sides of some pairs swapped; none if the pairs have no two sides.

    Parameters
    ----------
    score
        Returns a score.
    parts, arrays, texts
        The inputs of the metric, with the rows of the held-out pairs.
    items
        (pairs,) codes of the held-out pairs.
    """
    sides = [name for name, part in parts.items() if part.held_out]
    if len(sides) != 2:
        return np.array([])
    first, second = sides
    if not np.array_equal(parts[first].codes, parts[second].codes):
        return np.array([])
    pair_of_row = np.searchsorted(np.sort(items), parts[first].codes)
    scores = []
    for swaps in assignments(len(items))[1:]:
        swapped = swaps[pair_of_row]
        scores.append(
            score(
                {**arrays, **_exchanged(arrays, first, second, swapped)},
                {**texts, **_exchanged_texts(texts, first, second, swapped)},
            )
        )
    return np.array(scores)


def _exchanged(
    arrays: Mapping[str, Reals], first: str, second: str, swapped: Swaps
) -> dict[str, Any]:
    x, y = arrays[first], arrays[second]
    rows = swapped.reshape(-1, *(1,) * (x.ndim - 1))
    return {first: np.where(rows, y, x), second: np.where(rows, x, y)}


def _exchanged_texts(
    texts: Mapping[str, Texts], first: str, second: str, swapped: Swaps
) -> dict[str, Texts]:
    if first not in texts:
        return {}
    x, y = texts[first], texts[second]
    both = list(zip(x, y, swapped.tolist(), strict=True))
    return {
        first: tuple(b if is_swapped else a for a, b, is_swapped in both),
        second: tuple(a if is_swapped else b for a, b, is_swapped in both),
    }
