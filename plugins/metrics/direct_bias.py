"""Direct bias (Bolukbasi et al. 2016): how far neutral words lie along a concept's direction."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import gammaln

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.pair_components import NO_OVERLAP, pair_components


@metric(
    "direct-bias",
    scores={
        "direct_bias": Scale(
            ideal=0,
            bounds=(0, 1),
            help="mean of |cos(w, g)|^c over words that should be neutral",
        )
    },
)
def direct_bias(
    pairs_1: Reals,
    pairs_2: Reals,
    neutral: Reals,
    *,
    c: float = 1.0,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Direct bias: DirectBias_c = (1/|N|) Σ over w in N of |cos(w, g)|^c.

    g is the first component of the pairs' differences (`pair_components`); of one pair, such as
    she and he, it is the difference itself. Fair is 0. The value falls with the number of
    dimensions: random words have a mean |cos| of about √(2/(πd)), .11 at d = 50 and .05 at 300,
    which is told as `chance` for the given c.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    neutral
        (m, d) vectors of N, words that should be neutral.
    c
        Strictness, ≥ 0: the lower, the more a small bias weighs; at 0 any component counts as 1.
    confidence, resamples
        Level and number of draws of the bootstrap interval over neutral words, g being given.
    rng
        Source of the draws.
    clusters
        By input, the (m,) codes of items made of one word or template.

    Returns
    -------
    Score
        In [0, 1], without unit. Details: `c`; `explained`, the share of the pairs' variance along
        g; `chance`, its expectation for words of random direction.

    Raises
    ------
    InvalidOption
        If `c` is negative.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.2.
    """
    if not c >= 0:
        raise InvalidOption(f"direct-bias: c={c}: a strictness of 0 or more")
    components = pair_components(pairs_1, pairs_2)
    if components is None or len(neutral) == 0:
        empty = "there are no neutral words"
        reason = empty if components is not None else "the two sides of all pairs are equal"
        return Score(float("nan"), n=len(neutral), reason=reason)
    overlap = np.abs(unit_rows(neutral) @ components.vectors[0])
    values = (overlap > NO_OVERLAP).astype(np.float64) if c == 0 else np.minimum(overlap, 1.0) ** c

    def mean(counts: Floats) -> Floats:
        means: Floats = counts @ values / counts.sum(axis=1)
        return means

    interval = bootstrap.percentile_interval(
        mean,
        [len(values)],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["neutral"]),
        resamples=resamples,
        confidence=confidence,
    )
    return Score(
        float(values.mean()),
        interval=interval,
        n=len(values),
        details={
            "c": c,
            "explained": float(components.explained[0]),
            "chance": _chance(c, np.shape(neutral)[1]),
        },
    )


def _chance(c: float, d: int) -> float:
    """Return E|cos|^c of a random direction in d dimensions, where cos² is Beta(1/2, (d − 1)/2)."""
    return float(
        np.exp(gammaln((1 + c) / 2) - gammaln(0.5) + gammaln(d / 2) - gammaln((d + c) / 2))
    )
