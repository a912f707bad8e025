"""The pairs of a vocabulary whose difference is most parallel to a direction, block by block.

No matrix of all pairs is held: 30,000 words have 450 million pairs. Knows no words and no ratings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, Vectors, unit_rows

Repeats = Literal["first", "both"]
Rows: TypeAlias = npt.NDArray[np.int64]

BLOCK = 512, 4096  # pairs multiplied at once: 8 MB, about what a core's cache holds
KEPT = 200_000  # best pairs kept for the choice, of which repeats take most
BUFFER = 2_000_000  # pairs collected before they are cut to the best
ROUNDING = 1e-5  # of a product of float32 unit vectors, generously
EXACT_BELOW = 0.02  # squared distance below which a float32 product says too little
SAME = 1e-10  # squared distance of vectors that are equal


@dataclass(frozen=True)
class Pairs:
    """The chosen pairs, best first.

    Parameters
    ----------
    first, second
        (n,) rows of x and y.
    scores
        (n,) cos(a − b, x − y), above 0.
    within_delta
        How many unordered pairs are no further apart than δ, equal vectors not counted.
    """

    first: Rows
    second: Rows
    scores: Floats
    within_delta: int


def find_pairs(
    vectors: Reals, direction: Floats, *, delta: float, top: int, repeats: Repeats
) -> Pairs:
    """Return the pairs with the largest positive S(x, y) of equation 1, none repeated.

    S(x, y) = cos(a − b, x − y) = (x − y)·u / ‖x − y‖ if ‖x − y‖ ≤ δ, with u the unit vector of
    a − b. Only pairs with x·u > y·u score above 0, so that words are sorted by x·u and half of the
    matrix is multiplied. float32 products screen the pairs; what is returned is scored in float64.

    Repeated words are dropped from the best pairs down. Should the kept pairs not be enough, the
    search goes on among the words that are still free, so that the answer is exact.

    Parameters
    ----------
    vectors
        (n, d), set to length 1; no two equal, or their pairs count nothing.
    direction
        (d,) u.
    delta
        δ, at most 2.
    top
        How many pairs to return, at most.
    repeats
        `first`: a row is x once; `both`: x once and y once.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, equation 1.
    """
    units = unit_rows(vectors)
    heights = units @ direction
    order = np.argsort(-heights, kind="stable")
    units, heights = units[order], heights[order]
    as_first, as_second = np.ones((2, len(units)), dtype=bool)
    chosen: list[tuple[int, int, float]] = []
    within = None
    while len(chosen) < top:
        search = _Search(units, heights, delta, np.flatnonzero(as_first), np.flatnonzero(as_second))
        if within is None:
            within = search.within_delta
        before = len(chosen)
        for x, y, score in zip(*search.best(), strict=True):
            if as_first[x] and as_second[y]:
                chosen.append((int(x), int(y), float(score)))
                as_first[x] = False
                as_second[y] = repeats == "first"
                if len(chosen) == top:
                    break
        if not search.dropped or len(chosen) == before:
            break
    table = np.array(chosen, dtype=np.float64).reshape(-1, 3)
    first, second = order[table[:, 0].astype(np.int64)], order[table[:, 1].astype(np.int64)]
    return Pairs(first, second, table[:, 2], within or 0)


class _Search:
    """One pass over the pairs of free rows; `units` are sorted by falling `heights`."""

    def __init__(
        self, units: Floats, heights: Floats, delta: float, first: Rows, second: Rows
    ) -> None:
        self.units, self.heights, self.delta = units, heights, delta
        self.within_delta = 0
        self.dropped = False
        self._least = 0.0  # no pair below it is among the best
        self._codes: list[Rows] = []
        self._rough: list[Vectors] = []
        self._held = 0
        for rows, columns, products in self._close(first, second):
            self._collect(rows, columns, products)
        self._cut()

    def best(self) -> tuple[Rows, Rows, Floats]:
        """Return the best pairs, x and y and score, best first; ties as the words come."""
        codes = np.concatenate([np.empty(0, np.int64), *self._codes])
        x, y = np.divmod(codes, len(self.units))
        scores = np.empty(len(x))
        for start in range(0, len(x), BLOCK[1]):
            part = slice(start, start + BLOCK[1])
            scores[part] = self._exact(x[part], y[part])
        order = np.lexsort((y, x, -scores))
        order = order[scores[order] > 0]
        return x[order], y[order], scores[order]

    def _close(self, first: Rows, second: Rows) -> Iterator[tuple[Rows, Rows, Vectors]]:
        """Yield x, y and x·y of pairs within δ, but for rounding, with y further down than x."""
        units = self.units.astype(np.float32)
        least = np.float32(1 - self.delta**2 / 2 - ROUNDING)
        x_all, y_all = units[first], units[second]
        for i in range(0, len(first), BLOCK[0]):
            rows = first[i : i + BLOCK[0]]
            start = int(np.searchsorted(second, rows[0], side="right"))
            for j in range(start, len(second), BLOCK[1]):
                columns = second[j : j + BLOCK[1]]
                products = x_all[i : i + BLOCK[0]] @ y_all[j : j + BLOCK[1]].T
                r, c = np.divmod(np.flatnonzero(products >= least), len(columns))
                x, y, values = rows[r], columns[c], products[r, c]
                if columns[0] <= rows[-1]:  # the block lies across the diagonal
                    below = y > x
                    x, y, values = x[below], y[below], values[below]
                yield x, y, values

    def _collect(self, x: Rows, y: Rows, products: Vectors) -> None:
        squares = 2 - 2 * products.astype(np.float64)
        unsure = (squares < EXACT_BELOW) | (np.abs(squares - self.delta**2) < 4 * ROUNDING)
        squares[unsure] = self._squares(x[unsure], y[unsure])
        close = (squares <= self.delta**2) & (squares > SAME)
        self.within_delta += int(np.count_nonzero(close))
        drops = self.heights[x] - self.heights[y]
        close &= drops > self._least * np.sqrt(squares)
        x, y = x[close], y[close]
        self._codes.append(x * len(self.units) + y)
        self._rough.append((drops[close] / np.sqrt(squares[close])).astype(np.float32))
        self._held += len(x)
        if self._held > BUFFER:
            self._cut()

    def _cut(self) -> None:
        """Keep the best `KEPT` pairs of those collected."""
        codes = np.concatenate([np.empty(0, np.int64), *self._codes])
        rough = np.concatenate([np.empty(0, np.float32), *self._rough])
        if len(rough) > KEPT:
            best = np.argpartition(-rough, KEPT - 1)[:KEPT]
            codes, rough = codes[best], rough[best]
            self._least = float(rough.min())
            self.dropped = True
        self._codes, self._rough, self._held = [codes], [rough], len(rough)

    def _exact(self, x: Rows, y: Rows) -> Floats:
        """Return the (n,) scores in float64."""
        lengths = np.sqrt(self._squares(x, y))
        scores: Floats = (self.heights[x] - self.heights[y]) / np.where(lengths > 0, lengths, 1.0)
        return scores

    def _squares(self, x: Rows, y: Rows) -> Floats:
        """Return the (n,) squared distances in float64."""
        squares = np.empty(len(x))
        for start in range(0, len(x), BLOCK[1]):
            part = slice(start, start + BLOCK[1])
            difference = self.units[x[part]] - self.units[y[part]]
            squares[part] = np.einsum("ij,ij->i", difference, difference)
        return squares
