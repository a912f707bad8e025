"""Search for the pairs of words whose difference is most parallel to a direction.

The search goes through the pairs of a vocabulary in blocks and never holds the matrix of all
pairs: 30,000 words have 450 million pairs. It knows vectors only, no words and no ratings.
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

BLOCK = 512, 4096  # pairs multiplied at once: 8 MB, about the size of a core's cache
KEPT = 200_000  # best pairs kept for the choice; most of them repeat a chosen word
BUFFER = 2_000_000  # pairs collected before they are cut to the best
ROUNDING = 1e-5  # error of a product of float32 unit vectors, a generous bound
EXACT_BELOW = 0.02  # squared distance below which it is computed again in float64
SAME = 1e-10  # squared distance of vectors that are equal
UNSURE = ROUNDING / EXACT_BELOW  # relative error of a score from a float32 squared distance


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
        Number of unordered pairs at a distance of at most δ; pairs of equal vectors do not count.
    """

    first: Rows
    second: Rows
    scores: Floats
    within_delta: int


def find_pairs(
    vectors: Reals, direction: Floats, *, delta: float, top: int, repeats: Repeats
) -> Pairs:
    """Return the pairs with the largest positive S(x, y) of equation 1, without repeated words.

    S(x, y) = cos(a − b, x − y) = (x − y)·u / ‖x − y‖ if ‖x − y‖ ≤ δ, with u the unit vector of
    a − b. Only pairs with x·u > y·u score above 0. The words are therefore sorted by x·u, and only
    half of the matrix is multiplied. float32 products screen the pairs; the returned pairs are
    scored in float64.

    Pairs with a repeated word are dropped, from the best pair down. If the kept pairs are not
    enough, the search goes on among the words that are still free, so that the answer is exact.

    Parameters
    ----------
    vectors
        (n, d) vectors, set to length 1. A pair of equal vectors is never returned.
    direction
        (d,) u.
    delta
        δ, at most 2.
    top
        Largest number of pairs to return.
    repeats
        `first`: a row is x at most once; `both`: x at most once and y at most once.

    Returns
    -------
    Pairs
        At most `top` pairs.

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
            if score < search.safe and len(chosen) > before:
                break  # a dropped pair may be better: the next pass decides
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
        self._least = 0.0  # pairs below this score are not among the best
        self._codes: list[Rows] = []
        self._rough: list[Vectors] = []
        self._held = 0
        for rows, columns, products in self._close(first, second):
            self._collect(rows, columns, products)
        self._cut()

    @property
    def safe(self) -> float:
        """Score that no dropped pair reaches: pairs are cut by scores with a rounding error."""
        return self._least * (1 + UNSURE)

    def best(self) -> tuple[Rows, Rows, Floats]:
        """Return x, y and score of the best pairs, best first; ties in the order of the words."""
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
        """Yield x, y and x·y of pairs within δ, up to rounding, with y below x in the order."""
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
                if columns[0] <= rows[-1]:  # the block crosses the diagonal
                    below = y > x
                    x, y, values = x[below], y[below], values[below]
                yield x, y, values

    def _collect(self, x: Rows, y: Rows, products: Vectors) -> None:
        """Count the pairs of a block within δ and keep those that may be among the best."""
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
        """Keep the best `KEPT` of the collected pairs."""
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
