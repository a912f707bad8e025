"""Arrays: their types, shared linear algebra, and the threads that compute with them."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""(n, d) float32: what an embedder returns. A row of NaN stands for a missing word."""
Floats: TypeAlias = npt.NDArray[np.float64]
"""Any float64 array: statistics are computed in double precision."""
Reals: TypeAlias = npt.NDArray[np.floating[Any]]
"""Any array of floats: what a metric or mitigator accepts."""
Mask: TypeAlias = npt.NDArray[np.bool_]
"""Any array of truth values."""
ROUNDING = float(np.finfo(np.float32).eps)
"""Largest difference of cosines that is rounding, 1.2e-7: vectors are float32. Hard debiasing
leaves 1e-8 of a difference that it removes."""


class Coordinates(npt.NDArray[np.float64]):
    """Rows whose products with other rows are similarities that a model computed itself.

    So a function of cosines computes with any similarity: `unit_rows` leaves these rows as they
    are. Their lengths, directions and differences mean nothing.
    """

    __array_priority__ = 1.0  # joined with others, they stay coordinates

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False, /
    ) -> Any:
        """Return what is computed from coordinates: a single number is a plain one."""
        if array.ndim == 0:
            return array[()]
        return super().__array_wrap__(array, context, return_scalar)


def coordinates(similarities: Floats) -> tuple[Coordinates, Coordinates]:
    """Return (n, k) and (m, k) coordinates whose products are the (n, m) similarities.

    The larger of both sets has its similarities as coordinates, the other one unit vectors. So the
    products are exact.
    """
    n, m = similarities.shape
    first, second = (np.eye(n), similarities.T) if n < m else (similarities, np.eye(m))
    return (
        np.ascontiguousarray(first).view(Coordinates),
        np.ascontiguousarray(second).view(Coordinates),
    )


def own_coordinates(similarities: Floats) -> Coordinates:
    """Return (n, 2n) coordinates of rows that are compared with each other, see `both_sides`.

    Both orders of two texts count alike, and a text is as similar to itself as a cosine says, 1. So
    the product of two rows is 1 less what they lose against the mean of their similarities with
    themselves. For cosines that is the cosine.
    """
    both = (similarities + similarities.T) / 2
    own = np.diagonal(both)
    relative = 1 + (both - (own[:, None] + own) / 2)
    return np.hstack([relative, np.eye(len(own))]).view(Coordinates)


def both_sides(x: Reals) -> tuple[Floats, Floats]:
    """Return the unit rows of `x`, (..., d), as both sides of the products of its rows.

    These are the same rows twice, but not of `own_coordinates`: a similarity of a model need not be
    a product of vectors.
    """
    rows = unit_rows(x)
    if not isinstance(rows, Coordinates):
        return rows, rows
    first, second = np.split(rows, 2, axis=-1)
    return first, second


def unit_rows(x: Reals) -> Floats:
    """Return the rows of `x`, (n, d), scaled to Euclidean length 1, in float64.

    A zero row stays zero: it has no direction, and its cosine with any vector is 0. `Coordinates`
    are not scaled.
    """
    if isinstance(x, Coordinates):
        return x  # still coordinates, so that nothing scales them later
    rows = np.asarray(x, dtype=np.float64)
    # What np.linalg.norm does, which takes longer to decide so than to do it for a set of words.
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=-1, keepdims=True))
    return rows / np.where(lengths == 0, 1.0, lengths)


def cosine_bounds(x: Reals, bounds: tuple[float, float]) -> tuple[float, float] | None:
    """Return bounds that hold for cosines of the rows of `x`; None for other similarities."""
    return None if isinstance(x, Coordinates) else bounds


def has_direction(x: Reals) -> npt.NDArray[np.bool_]:
    """Return (n,) whether each row of `x`, (n, d), is finite and not zero."""
    usable: npt.NDArray[np.bool_] = np.isfinite(x).all(axis=1) & (x != 0).any(axis=1)
    return usable


def cosines(a: Reals, b: Reals) -> Floats:
    """Return the (n, m) cosine similarities of the rows of `a`, (n, d), and `b`, (m, d)."""
    return np.asarray(unit_rows(a) @ unit_rows(b).T)


def paired_cosines(a: Reals, b: Reals) -> Floats:
    """Return the (n,) cosine similarities of row i of `a` with row i of `b`, both (n, d).

    Works by blocks of rows, whose copies in float64 are small.
    """
    if len(a) != len(b):
        raise ValueError(f"rows are compared in pairs, but there are {len(a)} and {len(b)}")
    product = np.empty(len(a), dtype=np.float64)
    for start in range(0, len(a), _BLOCK):
        block = slice(start, start + _BLOCK)
        product[block] = np.einsum("ij,ij->i", unit_rows(a[block]), unit_rows(b[block]))
    return product


_BLOCK = 1_024
"""Rows that are converted at once."""


# Threads of numerical libraries: one in a call, so that sums are the same in every process.


_VARIABLE = "OMP_NUM_THREADS"


class _Limit:
    """Limits BLAS, OpenMP and torch to one thread, from now until it is lifted.

    Only loaded libraries can be limited. All but torch are loaded by now. Importing torch takes
    seconds, so the first task that needs it does so, and torch then reads the environment variable.
    """

    def __init__(self) -> None:
        torch = sys.modules.get("torch")
        self._threads: int | None = torch.get_num_threads() if torch else None
        if torch:
            torch.set_num_threads(1)
        self._variable = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = "1"
        self._libraries = _controller(len(sys.modules)).limit(limits=1)

    def lift(self) -> None:
        self._libraries.restore_original_limits()
        os.environ.pop(_VARIABLE, None)
        if self._variable is not None:
            os.environ[_VARIABLE] = self._variable
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(self._threads or _threads_of_torch(self._variable))


_limits: list[_Limit] = []  # of nested contexts; only the first of them changes anything


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread: for small arrays that is faster, too."""
    _limits.append(_Limit())
    try:
        yield
    finally:
        _limits.pop().lift()


@contextlib.contextmanager
def all_threads() -> Iterator[None]:
    """Lift the limit of `one_thread`, for a model that encodes texts within a limited call."""
    n = len(_limits)
    while _limits:
        _limits.pop().lift()
    try:
        yield
    finally:
        _limits.extend(_Limit() for _ in range(n))


def _threads_of_torch(variable: str | None) -> int:
    """Return the number of threads that torch uses by default, without a limit."""
    if variable and variable.isdecimal() and int(variable):
        return int(variable)
    import joblib

    with warnings.catch_warnings():  # torch warns if it cannot count the cores
        warnings.simplefilter("ignore")
        n: int = joblib.cpu_count(only_physical_cores=True)
    return n


@functools.lru_cache(maxsize=1)  # looking for libraries takes 2 ms, as long as a small call
def _controller(n_modules: int) -> Any:
    """Return the thread limiter of the loaded libraries; another `n_modules` looks for new ones."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
