"""Bias along the best direction in a plane of a concept (Uriot 2024, section 2.1.1).

The paper says that "2 dimensions (eigenvectors) often significantly outperforms using a single
dimension", and gives no formula. This is ours: `concept_direction` with two components for one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import metric
from harness.plugins.metrics.concept_direction import find_direction
from harness.plugins.metrics.statistics import bootstrap, concept_scores
from harness.plugins.metrics.statistics.concept_scores import Direction
from harness.plugins.metrics.statistics.pair_components import (
    Components,
    components_of,
)
from harness.scores import Score

ROUNDING = 1e-12  # AUCs that differ by less are equal
RIDGE = 1e-9  # of the scatter: it makes the classifier of two pairs unique


@metric("concept-plane", scores=concept_scores.SCALES)
def concept_plane(
    pairs_1: Reals,
    pairs_2: Reals,
    attributes: Reals,
    labels: Floats,
    *,
    unit_length: bool = True,
    projections: int = 10_000,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Correlation of projections with labels, along a direction in a plane of two components.

    The plane is spanned by two right singular vectors of ΔX = X_2 − X_1. In each plane g is the
    direction of Fisher's linear classifier of the two sides, w = (S_1 + S_2)⁻¹ (m_2 − m_1), with
    the means m and covariances S of the sides' projections on the plane. The plane is the one
    where AUC(g) is highest (equation 1 for planes). Everything else is as in `concept-direction`,
    which has one component for a plane.

    Two components separate the pairs better than one even if the pairs have nothing in common:
    there are n(n − 1)/2 planes to choose from. Of 100 sets of 20 pairs of random words (GloVe 6B,
    50 dimensions), 42 have an AUC of .8 or more, and 7 along one component. So compare
    `held_out`, not the AUC: the share of pairs that are the right way round along a g that was
    found without them.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors X_1 and X_2 of the definitional pairs, the group that is discriminated
        against first.
    attributes
        (m, d) vectors A.
    labels
        (m,) human labels y, low for the first side and high for the second, in any unit.
    unit_length
        Whether all vectors are set to length 1 first.
    projections
        Number of random directions for the p-value of equation 3; 0 for no p-value.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over attributes; g is
        fixed.
    rng
        Random number generator of the resamples and random directions.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Texts by input name, for tables and figures.

    Returns
    -------
    dict of Score
        `correlation` and `auc` as from `concept-direction`. Further details: `component`, the two
        indices; `held_out`, and `held_out_of_one`, the same share for `concept-direction`; chance
        is 1/2.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, section 2.1.1.
    """
    inputs = concept_scores.Inputs.of(pairs_1, pairs_2, attributes, labels, unit_length=unit_length)
    g = find_in_plane(inputs.x_1, inputs.x_2)
    return concept_scores.scores_along(
        g,
        inputs,
        projections=projections,
        confidence=confidence,
        resamples=resamples,
        rng=rng,
        clusters=clusters,
        texts=texts,
    )


def find_in_plane(x_1: Floats, x_2: Floats) -> Direction | None:
    """Return g of the best plane for (n, d) pairs, with its held-out shares; None if none differs.

    Pairs with one component only have no plane; their g is that component.
    """
    components, line = components_of(x_2 - x_1), find_direction(x_1, x_2)
    if components is None or line is None:
        return None
    held_out = {
        "held_out": _held_out(x_1, x_2, plane=True),
        "held_out_of_one": _held_out(x_1, x_2, plane=False),
    }
    g = _classifier(x_1, x_2, components)
    if g is None:
        return dataclasses.replace(line, details=held_out)
    i, j = g.plane
    a, b = components.vectors[[i, j]]
    return Direction(
        vector=g.weights[0] * a + g.weights[1] * b,
        auc=g.auc,
        component=(i, j),
        explained=float(components.explained[[i, j]].sum()),
        other=g.weights[1] * a - g.weights[0] * b,
        details=held_out,
    )


@dataclass(frozen=True)
class _Classifier:
    """The best plane, as indices of two components, and the unit weights of g on them."""

    plane: tuple[int, int]
    weights: Floats
    auc: float


def _classifier(x_1: Floats, x_2: Floats, components: Components) -> _Classifier | None:
    """Return Fisher's classifier in the plane where its AUC is highest; None without a plane.

    Of planes with the same AUC it is the one that explains most.
    """
    k = len(components.vectors)
    if k < 2:
        return None
    i, j = np.triu_indices(k, 1)
    order = np.argsort(-(components.explained[i] + components.explained[j]), kind="stable")
    planes = np.stack([i[order], j[order]], axis=1)
    z_1, z_2 = x_1 @ components.vectors.T, x_2 @ components.vectors.T
    scatter = np.cov(z_1.T, bias=True) + np.cov(z_2.T, bias=True)
    scatter = scatter + RIDGE * max(float(np.trace(scatter)), 1.0) * np.eye(k)
    gap = z_2.mean(axis=0) - z_1.mean(axis=0)
    blocks = scatter[planes[:, :, None], planes[:, None, :]]
    w = np.linalg.solve(blocks, gap[planes][:, :, None])[:, :, 0]
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    areas = _areas(*((z[:, planes] * w).sum(axis=2) for z in (z_1, z_2)))
    w = np.where(areas[:, None] < 0.5, -w, w)
    areas = np.maximum(areas, 1 - areas)
    best = int(np.flatnonzero(areas >= areas.max() - ROUNDING)[0])
    return _Classifier((int(planes[best, 0]), int(planes[best, 1])), w[best], float(areas[best]))


def _areas(first: Floats, second: Floats) -> Floats:
    """Return (p,) AUCs of (n, p) projections: P(second > first) + ½ P(equal)."""
    above = second[:, None, :] - first[None, :, :]
    areas: Floats = (above > 0).mean(axis=(0, 1)) + (above == 0).mean(axis=(0, 1)) / 2
    return areas


def _held_out(x_1: Floats, x_2: Floats, *, plane: bool) -> float | None:
    """Return the share of pairs that are the right way round along a g found without them."""
    if len(x_1) < 2:
        return None
    right = []
    for left_out in range(len(x_1)):
        kept = np.arange(len(x_1)) != left_out
        vector = _vector(x_1[kept], x_2[kept], plane=plane)
        gap = 0.0 if vector is None else float((x_2[left_out] - x_1[left_out]) @ vector)
        right.append(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0)
    return float(np.mean(right))


def _vector(x_1: Floats, x_2: Floats, *, plane: bool) -> Floats | None:
    """Return the vector of g; None if no pair differs."""
    components = components_of(x_2 - x_1)
    g = _classifier(x_1, x_2, components) if plane and components is not None else None
    if g is None or components is None:
        line = find_direction(x_1, x_2)
        return None if line is None else line.vector
    vector: Floats = g.weights @ components.vectors[list(g.plane)]
    return vector
