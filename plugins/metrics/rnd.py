"""RND: whether attributes are, on average, nearer to the one target set's mean or the other's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap, word_sets

INPUTS = ("targets_1", "targets_2", "attributes")
Distance = Literal["norm", "cos"]


@metric(
    "rnd",
    scores={
        "difference": Scale(
            ideal=0,
            help="attributes' mean distance from the first targets less that from the second",
        )
    },
    disjoint=(("targets_1", "targets_2"),),
)
def rnd(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    *,
    distance: Distance = "norm",
    unit_length: bool = False,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Relative norm distance.

    RND = mean over a in A of δ(a, μ₁) − δ(a, μ₂), with the mean vectors μ of the target sets and
    δ(a, μ) = ‖a − μ‖. Garg et al. sum over A where WEFE, and this, take the mean. Fair is 0;
    negative: the attributes are nearer to the first targets. At unit length it stays in [−2, 2];
    of vectors as they are it has no bounds, grows with their lengths, and is therefore not
    comparable between models.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the target sets.
    attributes
        (a, d) vectors of A.
    distance
        `norm`, or `cos`, for which δ is the cosine. That, published under the name of a distance,
        is a similarity: with it, positive means nearer to the first targets.
    unit_length
        Whether vectors are set to length 1 first. Published: False for `norm`; Garg et al. scored
        embeddings whose vectors have length 1 already. The lengths of attributes do not matter to
        `cos`, those of targets do.
    confidence, resamples
        Level and number of draws of the bootstrap interval over targets and attributes.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of items made of one word or template.

    Returns
    -------
    Score
        RND, in the unit of the vectors. Details: `distance`, `unit_length`; `n` is |A|.

    References
    ----------
    Garg, Schiebinger, Jurafsky and Zou (2018), Word embeddings quantify 100 years of gender and
    ethnic stereotypes. Badilla, Bravo-Marquez and Pérez (2020), WEFE.
    """
    arrays = (targets_1, targets_2, attributes)
    details = {"distance": distance, "unit_length": unit_length}
    n = len(attributes)
    if reason := word_sets.empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason, details=details)
    x, y, a = (word_sets.rows(array, unit_length=unit_length) for array in arrays)
    delta = _norms if distance == "norm" else _cosines

    def differences(*counts: Floats) -> Floats:
        one, other = word_sets.means(counts[0], x), word_sets.means(counts[1], y)
        each = delta(one, a) - delta(other, a)
        found: Floats = (counts[2] * each).sum(axis=1) / counts[2].sum(axis=1)
        return found

    sizes = [len(x), len(y), len(a)]
    interval = bootstrap.percentile_interval(
        differences,
        sizes,
        rng=rng,
        clusters=bootstrap.codes_of(clusters, INPUTS),
        resamples=resamples,
        confidence=confidence,
    )
    value = float(differences(*(np.ones((1, size)) for size in sizes))[0])
    return Score(value, interval=interval, n=n, details=details)


def _norms(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) distances of (b, d) means and attributes."""
    squares = (means**2).sum(axis=1)[:, None] + (attributes**2).sum(axis=1)
    norms: Floats = np.sqrt(np.maximum(squares - 2 * means @ attributes.T, 0.0))
    return norms


def _cosines(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) cosines of (b, d) means and attributes."""
    return unit_rows(means) @ unit_rows(attributes).T
