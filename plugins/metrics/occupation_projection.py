"""Occupational stereotypes: projections of occupations against human ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import (
    DIRECTIONS,
    EQUAL_SIDES,
    NO_OVERLAP,
    Subspace,
    correlations_along,
    pair_components,
)
from .statistics.extremes import extremes
from .statistics.intervals import (
    correlation_p_value,
    midranks,
    spearman,
    to_spearman,
)
from .statistics.slopes import projection_gap

Sides = Literal["both", "labels"]


@metric(
    "occupation-projection",
    scores={
        "spearman": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="rank correlation of projections on the concept's direction and human ratings",
        )
    },
    contrast=Contrast(sides=("occupations",), towards=("pairs_1", "pairs_2"), labels="ratings"),
    later_options=("subspace", "null_draws"),
    gap=projection_gap,
)
def occupation_projection(
    pairs_1: Reals,
    pairs_2: Reals,
    occupations: Reals,
    ratings: Floats,
    *,
    subspace: Subspace = "unit-differences",
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """Spearman correlation of the projections of occupations with human ratings of stereotypes.

    The projection of an occupation w is w·g. g is the first principal component of the pairs'
    differences (`pair_components`), from the first side to the second. For one pair, such as she
    and he, it is the difference itself, as in the paper. The correlation is positive if
    occupations that people associate with the second side lie towards it.

    The correlation depends only on the order: a mitigator that shrinks the projections and keeps
    their order does not change it. If all projections are 0, the value is 0.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    occupations
        (m, d) vectors; they are set to length 1.
    ratings
        (m,) human ratings, higher for the second side, in any unit.
    subspace
        Definition of g: `unit-differences` or `centred-pairs` (`pair_components`).
    sides
        What the p-value and the floor replace by chance: `both` the ratings and the direction, or
        the `labels`, the ratings, alone.
    null_draws
        Number of times that the ratings are shuffled, and of random directions; 0 for no floor, and
        the p-value of shuffled ratings alone.
    confidence, resamples
        Level of the interval over occupations, and the most of these to leave out; g is
        fixed, so that the interval may exclude 0 where random directions do as well.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Words by input name; without them there is no table.

    Returns
    -------
    Score
        In [−1, 1]; fair is 0. The p-value is the larger of two: that of the two-sided t test of no
        correlation, and the share of directions between two random occupations with a correlation
        as far from 0. Ratings follow any direction to some degree: with random words for the pairs,
        the t test alone rejects 42 % at 5 %. The floor is the larger of both, too. At least three
        occupations are needed. Details: `p_labels` and `p_direction`, the two p-values;
        `explained`, the share of the pairs' variance along g; `off`, the number of occupations with
        a projection of 0. Table `extremes`: the occupations farthest to each side (figure 1).
        Samples: each occupation with
        its `projection` and `rating`.

    Raises
    ------
    InvalidOption
        If `subspace` is unknown or `confidence` is not between 0 and 1.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 4, "Occupational stereotypes", and figure 1.
    """
    y = np.asarray(ratings, dtype=np.float64)
    components = pair_components(pairs_1, pairs_2, subspace=subspace)
    if components is None or len(y) < 3:
        reason = EQUAL_SIDES if components is None else "fewer than three occupations"
        return Score(float("nan"), n=len(y), reason=reason)
    projections = unit_rows(occupations) @ components.vectors[0]
    projections[np.abs(projections) <= NO_OVERLAP] = 0.0  # do not rank rounding errors
    details = {"explained": float(components.explained[0]), "off": int((projections == 0).sum())}
    columns = {"projection": projections, "rating": y}
    if not projections.any():
        samples = Samples("occupations", np.zeros(len(y)), columns)
        return Score(0.0, n=len(y), details=details, samples=[samples])
    value = float(spearman(projections, y)[0])
    if np.isnan(value):
        return Score(value, n=len(y), reason="all ratings or all projections are equal")
    interval = intervals.jackknife_interval(
        partial(spearman, projections, y),
        [len(y)],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["occupations"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(-1, 1),
    )
    once = np.ones((1, len(y)))
    ranks = [midranks(numbers, once)[0] for numbers in (projections, y)]
    shuffled = nulls.shuffled_correlations(*ranks, rng=rng, draws=null_draws)
    p_value = correlation_p_value(value, len(y))
    of_sides = {"labels": nulls.by_draws(value, shuffled, nulls.LABELS, p_value=p_value)}
    if sides == "both" and null_draws:
        along = correlations_along(unit_rows(occupations), y, ranks=True, rng=rng, draws=null_draws)
        of_sides["direction"] = nulls.by_draws(value, along, DIRECTIONS)
    chance = nulls.Chance(of_sides)
    return Score(
        value,
        p_value=chance.p_value,
        interval=interval,
        n=len(y),
        details=details | chance.p_values,
        tables={"extremes": extremes(texts["occupations"], projections)} if texts else {},
        samples=[Samples("occupations", to_spearman(projections, y), columns)],
        null=chance.null,
    )
