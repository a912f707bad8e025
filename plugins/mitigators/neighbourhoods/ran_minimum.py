"""The minimum of RAN-Debias' objective: in closed form where that is exact, else by Adam.

Knows words, their neighbours and which of these repel; which do is for `ran` to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Vectors, unit_rows
from harness.plugins.mitigators.neighbourhoods.neighbours import Neighbours

OPTIMISED = 32  # words optimised at once: at 50 dimensions their neighbours fit a core's cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's own defaults
NOTHING = 1e-6  # of the weights: what float32 vectors leave where nothing should be

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Objective:
    """F(u) = λ₁ Σ over n in S of |u·n| / |S| + λ₂ (1 − u·w) / 2 + λ₃ |u·g| of unit vectors u.

    Up to λ₂/2 it is the support function of the points z − a, with a = λ₂ w / 2 and z any of the
    zonotope Z = {λ₁ Σ tᵢ nᵢ / |S| + λ₃ t g; all tᵢ and t in [−1, 1]}. Therefore, if a is not in Z,
    its minimum is the only one and lies along a − z*, with z* the point of Z nearest to a.

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
        """Return vectors u, (m, d), and which of them, (m,), are the minimum.

        Neighbours are near: nearly always tᵢ is the sign of nᵢ·w at z*, here 1. Then all that is
        left to find is t, and with a' = a − λ₁ Σ tᵢ nᵢ / |S|

            u ∝ a' − clip(a'·g, −λ₃, λ₃) g

        It is the minimum if, and as Z is convex only if, every nᵢ·u has the sign tᵢ or is 0.

        Parameters
        ----------
        w
            (m, d) words, of length 1.
        near, kept
            Their neighbours, and which, (m, n), are in S.
        """
        apart = self.attraction / 2 * w - self.repulsion * _means(near, kept)
        along = np.clip(apart @ self.direction, -self.neutralisation, self.neutralisation)
        apart -= along[:, None] * self.direction
        lengths = np.linalg.norm(apart, axis=1)
        weights = self.repulsion + self.attraction + self.neutralisation
        defined = lengths > NOTHING * weights
        u = apart / np.where(defined, lengths, 1.0)[:, None]
        # From u to w and on to the farthest of S: less than a right angle leaves all on their side.
        farthest = np.min(np.abs(near.cosines), axis=1, initial=1.0, where=kept)
        angles = _angles(np.einsum("ij,ij->i", u, w)) + _angles(farthest)
        exact = defined & (angles < np.pi / 2)
        doubtful = np.flatnonzero(defined & ~exact)
        for start in range(0, len(doubtful), OPTIMISED):
            rows = doubtful[start : start + OPTIMISED]
            exact[rows] = _on_their_sides(u[rows], near, kept, rows)
        return u, exact

    def descended(
        self, w: Floats, near: Neighbours, kept: Mask, *, epochs: int, learning_rate: float
    ) -> Floats:
        """Return u, (m, d), as Adam finds it from `w`, (m, d), by the analytic gradient.

        The step falls to 0, for at a constant one u would swing about the corners of F. Where a
        lies in Z there may be many minima, and it finds one of them.

        Parameters
        ----------
        w, near, kept
            As in `closed_form`.
        epochs, learning_rate
            How many steps, and the first.
        """
        order = np.argsort(-kept.sum(axis=1), kind="stable")  # of a batch, sets have about one size
        u = np.empty_like(w)
        for start in range(0, len(w), OPTIMISED):
            batch = order[start : start + OPTIMISED]
            size = int(kept[batch].sum(axis=1).max())
            first = np.argsort(~kept[batch], axis=1, kind="stable")[:, :size]
            there = np.take_along_axis(kept[batch], first, axis=1)[:, :, None]
            s = near.vectors[np.take_along_axis(near.at[batch], first, axis=1)]
            u[batch] = self._adam(w[batch], np.where(there, s, 0.0), epochs, learning_rate)
        return u

    def _adam(self, w: Floats, s: Vectors, epochs: int, learning_rate: float) -> Floats:
        """Return u, (m, d), for words w and the sets S, (m, n, d), where zero rows are none."""
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
    """Return Σ tᵢ nᵢ / |S|, (m, d), with tᵢ the sign of nᵢ·w; 0 where S is empty."""
    from scipy.sparse import csr_array

    sizes = kept.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    signs = np.sign(near.cosines[kept]).astype(np.float32)
    chosen = csr_array((signs, near.at[kept], ends), shape=(len(kept), len(near.vectors)))
    means: Floats = (chosen @ near.vectors) / np.maximum(sizes, 1)[:, None]
    return means


def _angles(cosines: Floats) -> Floats:
    angles: Floats = np.arccos(np.clip(cosines, -1.0, 1.0))
    return angles


def _on_their_sides(u: Floats, near: Neighbours, kept: Mask, rows: Rows) -> Mask:
    """Return, (b,), whether no nᵢ·u of S has the sign against that of nᵢ·w; u are of `rows`."""
    products = np.einsum("ijk,ik->ij", near.gathered(rows), u)
    sides: Mask = (~kept[rows] | (products * near.cosines[rows] >= 0)).all(axis=1)
    return sides
