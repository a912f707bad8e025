"""Direct bias (Bolukbasi et al. 2016): overlap of neutral words with a concept's direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import gammaln

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption
from harness.metrics import metric
from harness.plugins.metrics.drawings import word_projections
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.pair_components import (
    EQUAL_SIDES,
    NO_OVERLAP,
    pair_components,
)
from harness.scores import Samples, Scale, Score


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
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Score:
    """Direct bias of neutral words along a concept's direction.

    DirectBias_c = (1/|N|) Σ over w in N of |cos(w, g)|^c. g is the first principal component of
    the pairs' differences (`pair_components`); for one pair, such as she and he, it is the
    difference itself.

    The value falls with the number of dimensions d: words of random direction have a mean |cos|
    of about √(2/(πd)), 0.11 at d = 50 and 0.05 at d = 300. The expectation for the chosen c is
    `chance` in the details.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the definitional pairs.
    neutral
        (m, d) vectors of N, the words that should be neutral.
    c
        Strictness, at least 0. The lower c, the more a small bias counts; at c = 0 every overlap
        counts as 1.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over neutral words; g
        is fixed.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Words by input name; without them there is no table and no figure.

    Returns
    -------
    Score
        In [0, 1]; fair is 0. `n` is |N|. Details: `c`; `explained`, the share of the pairs'
        variance along g; `chance`, the expectation for words of random direction. Samples: each
        neutral word with cos(w, g) as `cosine`, positive towards the second side. Table and
        figure `extremes`: the words farthest to each side (figure 1). There is no p-value.

    Raises
    ------
    InvalidOption
        If `c` is negative or `confidence` is not between 0 and 1.

    References
    ----------
    Bolukbasi et al. (2016), Man is to computer programmer as woman is to homemaker? Debiasing
    word embeddings, section 5.2 and figure 1.
    """
    if not c >= 0:
        raise InvalidOption(f"direct-bias: c={c}: must be at least 0")
    components = pair_components(pairs_1, pairs_2)
    if components is None or len(neutral) == 0:
        reason = EQUAL_SIDES if components is None else "neutral is empty"
        return Score(float("nan"), n=len(neutral), reason=reason)
    cosines = unit_rows(neutral) @ components.vectors[0]
    overlap = np.abs(cosines)
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
    views = word_projections.views(texts, "neutral", cosines)
    return Score(
        float(values.mean()),
        interval=interval,
        n=len(values),
        details={
            "c": c,
            "explained": float(components.explained[0]),
            "chance": _chance(c, np.shape(neutral)[1]),
        },
        tables=views.tables,
        figures=views.figures,
        samples=[Samples("neutral", values, {"cosine": cosines})],
    )


def _chance(c: float, d: int) -> float:
    """Return E|cos|^c for a random direction in d dimensions: cos² is Beta(1/2, (d − 1)/2)."""
    return float(
        np.exp(gammaln((1 + c) / 2) - gammaln(0.5) + gammaln(d / 2) - gammaln((d + c) / 2))
    )
