"""Direct bias (Bolukbasi et al. 2016): overlap of neutral words with a concept's direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals
from .statistics.concept_scores import (
    DIRECTIONS,
    EQUAL_SIDES,
    NO_OVERLAP,
    Subspace,
    mean_over_others,
    pair_components,
    random_directions,
)
from .statistics.extremes import extremes
from .statistics.nulls import DRAWS


@metric(
    "direct-bias",
    scores={
        "direct_bias": Scale(
            ideal=0,
            bounds=(0, 1),
            help="mean of |cos(w, g)|^c over words that should be neutral",
        )
    },
    contrast=Contrast(sides=("neutral",), towards=("pairs_1", "pairs_2")),
    later_options=("subspace", "null_draws"),
)
def direct_bias(
    pairs_1: Reals,
    pairs_2: Reals,
    neutral: Reals,
    *,
    c: float = 1.0,
    subspace: Subspace = "unit-differences",
    null_draws: int = DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """Direct bias of neutral words along a concept's direction.

    DirectBias_c = (1/|N|) Σ over w in N of |cos(w, g)|^c. g is the first principal component of
    the pairs' differences (`pair_components`); for one pair, such as she and he, it is the
    difference itself.

    The value depends on how many dimensions the words use: words of random direction have a mean
    |cos| of about √(2/(πd)), 0.11 at d = 50 and 0.05 at d = 300. The floor is therefore what
    directions between two random neutral words show, on average, on the other ones. It is the
    unit, too: the distance above the floor is `ratio` − 1, which can be compared between models.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    neutral
        (m, d) vectors of N, the words that should be neutral.
    c
        Strictness, at least 0. The lower c, the more a small bias counts; at c = 0 every overlap
        counts as 1.
    subspace
        Definition of g: `unit-differences` or `centred-pairs` (`pair_components`). A mitigator that
        removes the other one leaves a part of g.
    null_draws
        Number of random directions; 0 for no floor.
    confidence, resamples
        Level of the interval over neutral words, and the most of these to leave out; g is
        fixed.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Words by input name; without them there is no table.

    Returns
    -------
    Score
        In [0, 1]; fair is 0. `n` is |N|. Details: `c`; `explained`, the share of the pairs'
        variance along g; `ratio`, the value over that of random directions, None without a floor;
        `chance`, the expectation for words of uniformly random direction. Samples: each
        neutral word with cos(w, g) as `cosine`, positive towards the second side. Table
        `extremes`: the words farthest to each side (figure 1). There is no p-value.

    Raises
    ------
    InvalidOption
        If `c` is negative, `subspace` is unknown, or `confidence` is not between 0 and 1.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.2 and figure 1.
    """
    if not c >= 0:
        raise InvalidOption(f"direct-bias: c={c}: must be at least 0")
    components = pair_components(pairs_1, pairs_2, subspace=subspace)
    if components is None or len(neutral) == 0:
        reason = EQUAL_SIDES if components is None else "neutral is empty"
        return Score(float("nan"), n=len(neutral), reason=reason)
    cosines = unit_rows(neutral) @ components.vectors[0]
    values = _overlaps(cosines, c)

    def mean(counts: Floats) -> Floats:
        means: Floats = counts @ values / counts.sum(axis=1)
        return means

    interval = intervals.jackknife_interval(
        mean,
        [len(values)],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["neutral"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(0, 1),
    )
    value, null = float(values.mean()), _null(neutral, c, null_draws, rng)
    floor = None if null is None else float(np.mean(null.values))
    return Score(
        value,
        interval=interval,
        n=len(values),
        details={
            "c": c,
            "explained": float(components.explained[0]),
            "ratio": value / floor if floor else None,
            "chance": _chance(c, np.shape(neutral)[1]),
        },
        tables={"extremes": extremes(texts["neutral"], cosines)} if texts else {},
        samples=[Samples("neutral", values, {"cosine": cosines})],
        null=null,
        unit=floor or None,
    )


def _overlaps(cosines: Floats, c: float) -> Floats:
    """Return |cos|^c of each cosine; at c = 0, whether there is any overlap."""
    overlap = np.abs(cosines)
    if c == 0:
        return (overlap > NO_OVERLAP).astype(np.float64)
    strict: Floats = np.minimum(overlap, 1.0) ** c
    return strict


def _null(neutral: Reals, c: float, draws: int, rng: np.random.Generator) -> Null | None:
    """Return the direct bias along directions between random words, of the other words."""
    directions = random_directions(neutral, rng=rng, draws=draws) if draws else None
    if directions is None:
        return None
    overlaps = _overlaps(directions.vectors @ unit_rows(neutral).T, c)
    return Null(mean_over_others(overlaps, directions), DIRECTIONS)


def _chance(c: float, d: int) -> float:
    """Return E|cos|^c for a random direction in d dimensions: cos² is Beta(1/2, (d − 1)/2)."""
    from scipy.special import gammaln  # with it the harness starts later

    return float(
        np.exp(gammaln((1 + c) / 2) - gammaln(0.5) + gammaln(d / 2) - gammaln((d + c) / 2))
    )
