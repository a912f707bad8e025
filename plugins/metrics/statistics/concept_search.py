"""Searches for a concept's direction g among the components of its pairs (Uriot 2024, equation 1).

A search takes the projections of both sides of the pairs on the components, so that it can be
repeated cheaply for shuffled pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.stats import rankdata

from harness.arrays import Floats

ROUNDING = 1e-12  # AUCs that differ by less are equal
RIDGE = 1e-9  # of the scatter: it makes the classifier of two pairs unique


@dataclass(frozen=True)
class Found:
    """A direction among k components.

    Parameters
    ----------
    weights
        (k,) coordinates of the unit vector g, towards the second side.
    components
        Indices of the components that it lies in.
    auc
        AUC of the projections of the two sides on g, in [0.5, 1].
    """

    weights: Floats
    components: tuple[int, ...]
    auc: float


Search: TypeAlias = Callable[[Floats, Floats, Floats], Found]
"""Takes (n, k) projections of both sides, and the (k,) shares that the components explain."""


def along_a_component(z_1: Floats, z_2: Floats, explained: Floats) -> Found:
    """Return the component with the highest AUC up to sign."""
    n, k = z_1.shape
    ranks = rankdata(np.vstack([z_1, z_2]), axis=0)
    areas = 0.5 + (ranks[n:] - ranks[:n]).sum(axis=0) / (2 * n * n)
    best = int(np.argmax(np.maximum(areas, 1 - areas)))
    weights = np.zeros(k)
    weights[best] = -1.0 if areas[best] < 0.5 else 1.0
    return Found(weights, (best,), float(max(areas[best], 1 - areas[best])))


def in_a_plane(z_1: Floats, z_2: Floats, explained: Floats) -> Found:
    """Return Fisher's classifier in the plane of two components where its AUC is highest.

    Of planes with the same AUC it is the one that explains most. A single component is the answer
    where there is only one.
    """
    k = z_1.shape[1]
    if k < 2:
        return along_a_component(z_1, z_2, explained)
    i, j = np.triu_indices(k, 1)
    order = np.argsort(-(explained[i] + explained[j]), kind="stable")
    planes = np.stack([i[order], j[order]], axis=1)
    scatter = np.cov(z_1.T, bias=True) + np.cov(z_2.T, bias=True)
    scatter = scatter + RIDGE * max(float(np.trace(scatter)), 1.0) * np.eye(k)
    gap = z_2.mean(axis=0) - z_1.mean(axis=0)
    blocks = scatter[planes[:, :, None], planes[:, None, :]]
    w = np.linalg.solve(blocks, gap[planes][:, :, None])[:, :, 0]
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    w /= np.where(lengths > 0, lengths, 1.0)
    areas = _areas(*((z[:, planes] * w).sum(axis=2) for z in (z_1, z_2)))
    w = np.where(areas[:, None] < 0.5, -w, w)
    areas = np.maximum(areas, 1 - areas)
    best = int(np.flatnonzero(areas >= areas.max() - ROUNDING)[0])
    weights = np.zeros(k)
    weights[planes[best]] = w[best]
    return Found(weights, (int(planes[best, 0]), int(planes[best, 1])), float(areas[best]))


def _areas(first: Floats, second: Floats) -> Floats:
    """Return (p,) AUCs of (n, p) projections: P(second > first) + ½ P(equal)."""
    above = second[:, None, :] - first[None, :, :]
    areas: Floats = (above > 0).mean(axis=(0, 1)) + (above == 0).mean(axis=(0, 1)) / 2
    return areas
