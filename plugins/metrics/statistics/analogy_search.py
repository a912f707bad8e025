"""Search for the pairs of words whose difference is most like that of two seed words.

Two equations say what that means: parallel to it within a distance (equation 1 of Bolukbasi et al.
2016), or nearest to it as a vector (their equation 2, the parallelogram). The search goes through
the pairs of a vocabulary in blocks and never holds the matrix of all pairs: 30,000 words have 450
million pairs. It knows vectors only, no words and no ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
        (n,) cos(a − b, x − y), above 0. Of `find_parallelograms`: ‖(a − b) − (x − y)‖.
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
    return _chosen(unit_rows(vectors), direction, _parallel(delta), top, repeats, (None, None))


def find_parallelograms(
    vectors: Reals,
    difference: Floats,
    *,
    top: int,
    repeats: Repeats,
    seeds: tuple[int | None, int | None] = (None, None),
) -> Pairs:
    """Return the pairs with the least ‖(a − b) − (x − y)‖ (equation 2), the best first.

    x lies farther along a − b than y, and the distance is below √2 ‖a − b‖: that of a pair without
    any difference, x = y, is ‖a − b‖.

    Parameters
    ----------
    vectors
        (n, d) vectors, set to length 1. A pair of equal vectors is never returned.
    difference
        (d,) a − b, with a and b at length 1.
    top
        Largest number of pairs to return.
    repeats
        As in `find_pairs`.
    seeds
        Rows of a and b, if they are among the vectors: x is not a, and y is not b.

    References
    ----------
    Bolukbasi et al. (2016), appendix A, equation 2.
    """
    length = float(np.linalg.norm(difference))
    equation = _parallelogram(length)
    pairs = _chosen(unit_rows(vectors), difference / length, equation, top, repeats, seeds)
    distances = np.sqrt(np.maximum(2 * length**2 - pairs.scores, 0.0))
    return Pairs(pairs.first, pairs.second, distances, pairs.within_delta)


@dataclass(frozen=True)
class _Equation:
    """The score of pairs from (x − y)·u and ‖x − y‖²; higher is better, and it must be above 0.

    No pair farther apart than `delta` has such a score.
    """

    score: Callable[[Floats, Floats], Floats]
    delta: float


def _parallel(delta: float) -> _Equation:
    return _Equation(lambda drops, squares: drops / np.sqrt(squares), delta)


def _parallelogram(length: float) -> _Equation:
    """Return equation 2 as 2 ‖a − b‖² − ‖(a − b) − (x − y)‖²; `length` is ‖a − b‖."""
    delta = min((1 + 2**0.5) * length, 2.0)
    return _Equation(lambda drops, squares: length**2 + 2 * length * drops - squares, delta)


def _chosen(
    units: Floats,
    direction: Floats,
    equation: _Equation,
    top: int,
    repeats: Repeats,
    seeds: tuple[int | None, int | None],
) -> Pairs:
    heights = units @ direction
    order = np.argsort(-heights, kind="stable")
    units, heights = units[order], heights[order]
    free = as_first, as_second = np.ones((2, len(units)), dtype=bool)
    for side, seed in zip(free, seeds, strict=True):
        if seed is not None:
            side[order == seed] = False
    chosen: list[tuple[int, int, float]] = []
    within = None
    while len(chosen) < top:
        rows = np.flatnonzero(as_first), np.flatnonzero(as_second)
        search = _Search(units, heights, equation, *rows)
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


def distinct_rows(vectors: Reals) -> list[int]:
    """Return the rows that are not zero and differ from all earlier rows, in order."""
    seen: dict[bytes, int] = {}
    for i, row in enumerate(np.ascontiguousarray(vectors)):
        seen.setdefault(row.tobytes(), i)
    return [i for i in seen.values() if vectors[i].any()]


class _Search:
    """One pass over the pairs of free rows; `units` are sorted by falling `heights`."""

    def __init__(
        self, units: Floats, heights: Floats, equation: _Equation, first: Rows, second: Rows
    ) -> None:
        self.units, self.heights = units, heights
        self.delta, self._score = equation.delta, equation.score
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
        return self._least * (1 + UNSURE) + 2 * ROUNDING if self.dropped else 0.0

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
        x, y, squares = x[close], y[close], squares[close]
        rough = self._score(self.heights[x] - self.heights[y], squares)
        better = rough > self._least
        x, y = x[better], y[better]
        self._codes.append(x * len(self.units) + y)
        self._rough.append(rough[better].astype(np.float32))
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
        return self._score(self.heights[x] - self.heights[y], self._squares(x, y))

    def _squares(self, x: Rows, y: Rows) -> Floats:
        """Return the (n,) squared distances in float64."""
        squares = np.empty(len(x))
        for start in range(0, len(x), BLOCK[1]):
            part = slice(start, start + BLOCK[1])
            difference = self.units[x[part]] - self.units[y[part]]
            squares[part] = np.einsum("ij,ij->i", difference, difference)
        return squares
