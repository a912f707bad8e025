"""Geometric bias along a concept's direction (Uriot 2024, section 2.1.1).

The direction is a component of the concept's pairs, or lies in a plane of two. The paper says that
"2 dimensions (eigenvectors) often significantly outperforms using a single dimension", and gives no
formula. That of `concept-plane` is ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import Score, metric

from .statistics import concept_scores, intervals
from .statistics.concept_scores import (
    Direction,
    Pool,
    along_a_component,
    components_of,
    held_out,
    in_a_plane,
)
from .statistics.intervals import auc


@metric(
    "concept-direction",
    scores=concept_scores.SCALES,
    contrast=concept_scores.CONTRAST,
    later_options=("null_draws",),
)
def concept_direction(
    pairs_1: Reals,
    pairs_2: Reals,
    attributes: Reals,
    labels: Floats,
    *,
    unit_length: bool = True,
    projections: int = 10_000,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    null_draws: int = concept_scores.DRAWS,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Correlation of the attributes' projections on a concept's direction with human labels.

    The direction g is one of the right singular vectors of ΔX = X_2 − X_1, which is not centred:
    its mean is the concept itself. g is the one with the highest AUC up to sign, max(a, 1 − a)
    (equation 1). Singular vectors have no sign of their own, so g is turned towards the second
    side.

    The score is ρ = corr(y, A g) (equation 2), Pearson's correlation. It is positive if attributes
    with high labels lie towards the second side. Its p-value and floor repeat the search for g
    with the words of the pairs paired anew at random. It has the stated level for pairs of
    unrelated words; where the concept dominates the words, many of these pairs still show it, and
    the p-value is too large. `p_isotropic` is that of equation 3: the share of random directions
    r ~ N(0, I_d) with |corr(y, A r)| ≥ |ρ|, as (hits + 1)/(projections + 1). That null uses the
    attributes' embeddings, because correlated attributes make it wider than that of independent
    numbers; but no concept's direction is as random as r. Along directions of other relations,
    such as capitals and countries, it rejects up to 9 % at 5 %.

    The AUC is that of the best of n components up to sign: of sets of 20 pairs of random words,
    one in five has an AUC of .8 or more. Its p-value repeats the search with the sides of pairs
    swapped at random, which leaves the components as they are.

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
        Whether all vectors are set to length 1 first, as those of the paper's sentence encoders
        are. Otherwise words with long vectors, the rare ones, have more weight.
    projections
        Number of random directions; 0 for no p-value.
    confidence, resamples
        Level of the interval over attributes, and the most of these to leave out; g is
        fixed.
    null_draws
        Number of shuffled pairs for both p-values and floors; 0 for none.
    rng
        Random number generator of the shuffled pairs, random directions and resamples.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Texts by input name, for tables.

    Returns
    -------
    dict of Score
        `correlation`, in [−1, 1], fair is 0. Details: `spearman`; `component`, the index of g;
        `explained`, the share of ΔX along g; `held_out`, the share of pairs that are the right way
        round along a g that was found without them, where chance is 1/2; `p_isotropic` and
        `null_spread`, the p-value and the standard deviation over random directions. Table
        `attributes` (figure 5). `auc`, in [0.5, 1], higher is
        better: below 0.8 the pairs define no concept. Details `component`, `explained`,
        `held_out`, and `floor`, the mean with shuffled sides; table `pairs`
        (figures 3 and 4). It has no interval. Samples: each attribute with its
        `label` and `projection`, and each pair with its projections.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, equations 1 to 3.
    """
    inputs = concept_scores.Inputs.of(pairs_1, pairs_2, attributes, labels, unit_length=unit_length)
    g = find_direction(inputs.x_1, inputs.x_2)
    return concept_scores.scores_along(
        g,
        inputs,
        search=along_a_component,
        null_draws=null_draws,
        projections=projections,
        confidence=confidence,
        resamples=resamples,
        rng=rng,
        clusters=clusters,
        texts=texts,
    )


def find_direction(x_1: Floats, x_2: Floats) -> Direction | None:
    """Return g of equation 1 for (n, d) pairs; None if no pair differs."""
    components = components_of(x_2 - x_1)
    if components is None:
        return None
    aucs = np.array([auc(x_2 @ b, x_1 @ b)[0] for b in components.vectors])
    best = int(np.argmax(np.maximum(aucs, 1 - aucs)))
    vector = components.vectors[best]
    return Direction(
        vector=-vector if aucs[best] < 0.5 else vector,
        auc=float(max(aucs[best], 1 - aucs[best])),
        component=best,
        explained=float(components.explained[best]),
    )


@metric(
    "concept-plane",
    scores=concept_scores.SCALES,
    contrast=concept_scores.CONTRAST,
    later_options=("null_draws",),
)
def concept_plane(
    pairs_1: Reals,
    pairs_2: Reals,
    attributes: Reals,
    labels: Floats,
    *,
    unit_length: bool = True,
    projections: int = 10_000,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    null_draws: int = concept_scores.DRAWS,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
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
    `held_out` and the p-values, not the AUC: `held_out` is the share of pairs that are the right
    way round along a g that was found without them.

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
        Level of the interval over attributes, and the most of these to leave out; g is
        fixed.
    null_draws
        Number of shuffled pairs for both p-values and floors; 0 for none.
    rng
        Random number generator of the shuffled pairs, random directions and resamples.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Texts by input name, for tables.

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
        search=in_a_plane,
        null_draws=null_draws,
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
    pool = Pool.of(x_1, x_2, np.empty((0, x_1.shape[1])))
    of_plane = {"held_out": held_out(pool, in_a_plane)}
    held_outs = of_plane | {"held_out_of_one": held_out(pool, along_a_component)}
    if len(components.vectors) < 2:
        return dataclasses.replace(line, details=held_outs)
    z_1, z_2 = x_1 @ components.vectors.T, x_2 @ components.vectors.T
    g = in_a_plane(z_1, z_2, components.explained)
    i, j = g.components
    a, b = components.vectors[[i, j]]
    return Direction(
        vector=g.weights[i] * a + g.weights[j] * b,
        auc=g.auc,
        component=(i, j),
        explained=float(components.explained[[i, j]].sum()),
        details=held_outs,
    )
