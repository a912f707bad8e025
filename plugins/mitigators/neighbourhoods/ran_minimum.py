"""The minimum of the objective of RAN-Debias: in closed form where that is exact, else by Adam.

The caller, `ran`, decides which neighbours repel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask, Vectors, unit_rows
from harness.plugins.mitigators.neighbourhoods.neighbours import Neighbours

BATCH = 32  # words optimised together: with 50 dimensions their neighbours fit into a cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # the defaults of Kingma and Ba (2015), Adam
ROUNDING = 1e-6  # share of the weights that is rounding error of float32

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Objective:
    """F(u) = λ₁ Σ over n in S of |u·n| / |S| + λ₂ (1 − u·w) / 2 + λ₃ |u·g| of unit vectors u.

    Except for the constant λ₂/2, F is the support function of the set Z − a, with a = λ₂ w / 2 and
    the zonotope Z = {λ₁ Σ tᵢ nᵢ / |S| + λ₃ t g; all tᵢ and t in [−1, 1]}. Therefore, if a is not in
    Z, the minimum is unique and has the direction of a − z*, with z* the point of Z nearest to a.

    Parameters
    ----------
    repulsion, attraction, neutralisation
        λ₁, λ₂, λ₃ ≥ 0.
    direction
        (d,) unit vector g.
    """

    repulsion: float
    attraction: float
    neutralisation: float
    direction: Floats

    def closed_form(self, w: Floats, near: Neighbours, kept: Mask) -> tuple[Floats, Mask]:
        """Return vectors u, (m, d), and whether each is the minimum, (m,).

        At z*, tᵢ nearly always is the sign of nᵢ·w. Then only t is unknown, and with
        a' = a − λ₁ Σ tᵢ nᵢ / |S|

            u ∝ a' − clip(a'·g, −λ₃, λ₃) g

        Because Z is convex, u is the minimum if and only if every nᵢ·u has the sign tᵢ or is 0.

        Parameters
        ----------
        w
            (m, d) words, of length 1.
        near, kept
            Their neighbours, and whether each is in S, (m, n).
        """
        target = self.attraction / 2 * w - self.repulsion * _means(near, kept)
        along = np.clip(target @ self.direction, -self.neutralisation, self.neutralisation)
        target -= along[:, None] * self.direction
        lengths = np.linalg.norm(target, axis=1)
        weights = self.repulsion + self.attraction + self.neutralisation
        defined = lengths > ROUNDING * weights
        u = target / np.where(defined, lengths, 1.0)[:, None]
        # If the angles from u to w and from w to the farthest of S add up to less than 90°, all
        # nᵢ·u keep their sign. Only other words need the products.
        farthest = np.min(np.abs(near.cosines), axis=1, initial=1.0, where=kept)
        angles = _angles(np.einsum("ij,ij->i", u, w)) + _angles(farthest)
        exact = defined & (angles < np.pi / 2)
        undecided = np.flatnonzero(defined & ~exact)
        for start in range(0, len(undecided), BATCH):
            rows = undecided[start : start + BATCH]
            exact[rows] = _same_signs(u[rows], near, kept, rows)
        return u, exact

    def by_adam(
        self, w: Floats, near: Neighbours, kept: Mask, *, epochs: int, learning_rate: float
    ) -> Floats:
        """Return u, (m, d), found by Adam from `w`, (m, d), with the analytic gradient.

        The step decreases to 0; with a constant step u would oscillate around the corners of F. If
        a lies in Z there may be several minima; one of them is found.

        Parameters
        ----------
        w, near, kept
            As in `closed_form`.
        epochs, learning_rate
            Number of steps, and the first step.
        """
        order = np.argsort(-kept.sum(axis=1), kind="stable")  # sets of similar size share a batch
        u = np.empty_like(w)
        for start in range(0, len(w), BATCH):
            batch = order[start : start + BATCH]
            size = int(kept[batch].sum(axis=1).max())
            first = np.argsort(~kept[batch], axis=1, kind="stable")[:, :size]
            in_s = np.take_along_axis(kept[batch], first, axis=1)[:, :, None]
            s = near.vectors[np.take_along_axis(near.at[batch], first, axis=1)]
            u[batch] = self._adam(w[batch], np.where(in_s, s, 0.0), epochs, learning_rate)
        return u

    def _adam(self, w: Floats, s: Vectors, epochs: int, learning_rate: float) -> Floats:
        """Return u, (m, d), for words w and their sets S, (m, n, d), padded with zero rows."""
        w = w.astype(np.float32)
        g = self.direction.astype(np.float32)
        sizes = np.maximum(s.any(axis=2).sum(axis=1), 1).astype(np.float32)
        repelled = np.ascontiguousarray(s * np.float32(self.repulsion) / sizes[:, None, None])
        anchor = np.float32(self.attraction / 2) * w
        x, first, second = w.copy(), np.zeros_like(w), np.zeros_like(w)
        for step in range(1, epochs + 1):
            length = np.linalg.norm(x, axis=1, keepdims=True)
            u = x / length
            signs = np.sign(repelled @ u[:, :, None])
            pull = (signs.transpose(0, 2, 1) @ repelled)[:, 0] - anchor
            pull += np.float32(self.neutralisation) * np.sign(u @ g)[:, None] * g
            gradient = (pull - (pull * u).sum(axis=1, keepdims=True) * u) / length
            first += (1 - BETA1) * (gradient - first)
            second += (1 - BETA2) * (gradient**2 - second)
            rate = learning_rate * (1 - (step - 1) / epochs)
            corrected = np.sqrt(second / (1 - BETA2**step)) + EPSILON
            x -= np.float32(rate / (1 - BETA1**step)) * first / corrected
        return unit_rows(x)


def _means(near: Neighbours, kept: Mask) -> Floats:
    """Return Σ tᵢ nᵢ / |S|, (m, d), with tᵢ the sign of nᵢ·w; 0 if S is empty."""
    from scipy.sparse import csr_array

    sizes = kept.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    signs = np.sign(near.cosines[kept]).astype(np.float32)
    selection = csr_array((signs, near.at[kept], ends), shape=(len(kept), len(near.vectors)))
    means: Floats = (selection @ near.vectors) / np.maximum(sizes, 1)[:, None]
    return means


def _angles(cosines: Floats) -> Floats:
    angles: Floats = np.arccos(np.clip(cosines, -1.0, 1.0))
    return angles


def _same_signs(u: Floats, near: Neighbours, kept: Mask, rows: Rows) -> Mask:
    """Return (b,) whether each nᵢ·u of S has the sign of nᵢ·w or is 0; `u` belongs to `rows`."""
    products = np.einsum("ijk,ik->ij", near.gathered(rows), u)
    same: Mask = (~kept[rows] | (products * near.cosines[rows] >= 0)).all(axis=1)
    return same
