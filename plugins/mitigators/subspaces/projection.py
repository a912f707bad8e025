"""The linear algebra of hard debiasing: a concept's subspace, neutralise, equalise.

Knows vectors alone: which words they belong to is for the mitigators to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, Vectors, unit_rows
from harness.errors import InvalidOption

Solver = Literal["full", "randomized", "arpack"]
SOLVERS = ("full", "randomized", "arpack")
CACHE = 2**16  # numbers that stay in a processor's cache beside others: 256 kB
NOTHING = 1e-6  # of a length: what float32 vectors leave where nothing should be


@dataclass(frozen=True)
class Axes:
    """Principal axes.

    Parameters
    ----------
    components
        (k, d) orthonormal rows.
    strengths
        (k,) singular values, largest first.
    shares
        (k,) share of the rows' sum of squares along each, in [0, 1].
    """

    components: Floats
    strengths: Floats
    shares: Floats

    @property
    def rank(self) -> int:
        """How many of them carry more than rounding."""
        return int((self.strengths > NOTHING * self.strengths[0]).sum())


def principal_axes(
    rows: Floats, k: int, *, towards: Floats, solver: Solver = "full", seed: int = 0
) -> Axes:
    """Return the `k` axes along which `rows`, (m, d), are longest; rows are not centred.

    Parameters
    ----------
    rows
        (m, d) vectors, with m and d at least `k`.
    k
        How many axes.
    towards
        (d,) vector to which no axis is opposed: the sign of an axis is else arbitrary.
    solver
        As scikit-learn's PCA names them: `full`, all of them by LAPACK; `randomized` and
        `arpack` approach only the first k, which pays with thousands of rows.
    seed
        Of the random start of the last two.

    Raises
    ------
    InvalidOption
        If there is no such solver, or it cannot find as many axes.
    """
    if solver == "full":
        _, strengths, components = np.linalg.svd(rows, full_matrices=False)
    elif solver == "randomized":
        from sklearn.utils.extmath import randomized_svd

        _, strengths, components = randomized_svd(rows, k, random_state=seed)
    elif solver == "arpack":
        from scipy.sparse.linalg import svds

        fewest = min(rows.shape)
        if k >= fewest:
            raise InvalidOption(f"solver=arpack finds fewer than {fewest} directions here, not {k}")
        start = np.random.default_rng(seed).uniform(-1.0, 1.0, fewest)
        _, strengths, components = svds(rows, k, v0=start, solver="arpack")
        strengths, components = strengths[::-1], components[::-1]
    else:
        raise InvalidOption(f"solver={solver}: there are {', '.join(SOLVERS)}")
    strengths, components = strengths[:k], components[:k]
    signs = np.where(components @ towards < 0, -1.0, 1.0)
    return Axes(components * signs[:, None], strengths, strengths**2 / (rows**2).sum())


def set_centred(sets: Sequence[Floats]) -> Floats:
    """Return the words of all `sets`, (m_i, d) each, less the mean of their set: (Σ m_i, d)."""
    return np.concatenate([words - words.mean(axis=0) for words in sets])


def in_blocks(array: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Yield the rows of `array`, (n, d), in blocks that stay in a processor's cache.

    Yields
    ------
    (int, (b, d))
        The place of a block's first row, and a view of the block.
    """
    size = max(1, CACHE // max(1, array.shape[1]))
    for start in range(0, len(array), size):
        yield start, array[start : start + size]


def take_out(rows: Vectors, axes: Vectors) -> Vectors:
    """Take the components along orthonormal `axes`, (k, d), out of `rows`, (n, d), in place.

    Returns
    -------
    (n, k) what was taken
    """
    from scipy.linalg.blas import sgemm  # C ← C − BA in place, which numpy does not offer

    inside: Vectors = rows @ axes.T
    sgemm(-1.0, axes.T, inside.T, 1.0, rows.T, overwrite_c=True)
    return inside


def neutralized(vectors: Reals, subspace: Floats, *, unit: bool) -> Vectors:
    """Return `vectors`, (n, d), without their components in the subspace (step 2a), in float32.

    Besides the answer little memory is used. Float32, half the traffic of float64, is as good:
    what rounding leaves in the subspace is some 1e-7 of a row's length, and the few rows of which
    the subspace holds half or more, where that would count, are done over in float64. A row of NaN
    stays NaN.

    Parameters
    ----------
    vectors
        (n, d).
    subspace
        (k, d) orthonormal rows.
    unit
        Whether what is left comes to length 1; where nothing is left, it is zero.
    """
    vectors = np.asarray(vectors)
    axes = subspace.astype(np.float32)
    out = np.empty(vectors.shape, dtype=np.float32)
    for start, rows in in_blocks(out):
        rows[:] = vectors[start : start + len(rows)]
        inside = take_out(rows, axes)
        left = np.einsum("ij,ij->i", rows, rows)
        within = np.flatnonzero(np.einsum("ij,ij->i", inside, inside) >= left)
        if unit:
            with np.errstate(divide="ignore", invalid="ignore"):  # nothing left: done over below
                rows *= (1.0 / np.sqrt(left))[:, None]
        if len(within):
            rows[within] = _neutralized_exactly(vectors[start + within], subspace, unit=unit)
    return out


def _neutralized_exactly(vectors: Reals, subspace: Floats, *, unit: bool) -> Floats:
    """Return what `neutralized` does, in float64."""
    rows = np.asarray(vectors, dtype=np.float64)
    left = rows - (rows @ subspace.T) @ subspace
    left -= (left @ subspace.T) @ subspace  # what rounding left of the first
    nothing = (left**2).sum(axis=1) <= NOTHING**2 * (rows**2).sum(axis=1)
    if unit:
        left = unit_rows(left)
        left[nothing] = 0
    return left


def equalized(words: Floats, subspace: Floats) -> Floats:
    """Return the words of one equalize set, (m, d), made equal outside the subspace (step 2a).

    w = ν + √(r² − ‖ν‖²) (w_B − μ_B)/‖w_B − μ_B‖, with μ the set's mean, ν its part outside B and r
    the root mean square length of the words: 1 for unit vectors, as in the paper. A word without
    any component of its own in B becomes ν at length r.

    Parameters
    ----------
    words
        (m, d) vectors.
    subspace
        (k, d) orthonormal rows of B.

    References
    ----------
    Bolukbasi et al. (2016), section 6, step 2a; Manzini et al. (2019).
    """
    inside = words @ subspace.T  # w_B, (m, k)
    mean = words.mean(axis=0)
    nu = mean - (subspace @ mean) @ subspace
    own = inside - inside.mean(axis=0)  # w_B − μ_B
    r_squared = (words**2).sum(axis=1).mean()
    lengths = np.sqrt((own**2).sum(axis=1, keepdims=True))
    has_own = lengths > 1e-12 * np.sqrt(r_squared)
    directions = own / np.where(has_own, lengths, 1.0)
    apart = nu + np.sqrt(max(r_squared - nu @ nu, 0.0)) * directions @ subspace
    same: Floats = np.where(has_own, apart, unit_rows(nu[None]) * np.sqrt(r_squared))
    return same
