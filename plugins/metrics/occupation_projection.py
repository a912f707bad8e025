"""Whether occupations lie along a concept's direction as people's stereotypes have it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.pair_components import NO_OVERLAP, pair_components
from harness.plugins.metrics.statistics.weighted import correlation_p_value, spearman


@metric(
    "occupation-projection",
    scores={
        "spearman": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="rank correlation of projections on the concept's direction and people's ratings",
        )
    },
)
def occupation_projection(
    pairs_1: Reals,
    pairs_2: Reals,
    occupations: Reals,
    ratings: Floats,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Spearman correlation of occupations' projections w·g with how stereotyped people find them.

    g is the first component of the pairs' differences (`pair_components`), from the first side to
    the second; of one pair, such as she and he, it is the difference itself, as in the paper.
    Fair is 0; positive where occupations that people link with the second side lie towards it. A
    correlation tells the order alone: a mitigator that shrinks the projections but keeps their
    order leaves it as it was. Where no occupation has any part along g, nothing there can follow
    the ratings, and the value is 0.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    occupations
        (m, d) vectors, set to length 1.
    ratings
        (m,) people's ratings, higher for the second side, in any unit.
    confidence, resamples
        Level and number of draws of the bootstrap interval over occupations, g being given.
    rng
        Source of the draws.
    clusters
        By input, the (m,) codes of items made of one word or template.

    Returns
    -------
    Score
        In [-1, 1], with the two-sided p-value of no correlation. Details: `explained`, the share
        of the pairs' variance along g; `off`, how many occupations have no part along g.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 4, "Occupational stereotypes".
    """
    y = np.asarray(ratings, dtype=np.float64)
    components = pair_components(pairs_1, pairs_2)
    if components is None or len(y) < 3:
        few = "fewer than three occupations"
        reason = few if components is not None else "the two sides of all pairs are equal"
        return Score(float("nan"), n=len(y), reason=reason)
    projections = unit_rows(occupations) @ components.vectors[0]
    projections[np.abs(projections) <= NO_OVERLAP] = 0.0  # else it would be rounding that is ranked
    details = {"explained": float(components.explained[0]), "off": int((projections == 0).sum())}
    if not projections.any():
        return Score(0.0, n=len(y), details=details)
    value = float(spearman(projections, y)[0])
    if np.isnan(value):
        return Score(value, n=len(y), reason="all ratings or all projections are equal")
    interval = bootstrap.percentile_interval(
        partial(spearman, projections, y),
        [len(y)],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["occupations"]),
        resamples=resamples,
        confidence=confidence,
    )
    return Score(
        value,
        p_value=correlation_p_value(value, len(y)),
        interval=interval,
        n=len(y),
        details=details,
    )
