"""RND: mean difference of the attributes' distances from the means of two target sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap, word_sets
from harness.scores import Samples, Scale, Score

INPUTS = ("targets_1", "targets_2", "attributes")
Distance = Literal["norm", "cos"]


@metric(
    "rnd",
    scores={
        "difference": Scale(
            ideal=0,
            help="mean distance of attributes from the first targets minus that from the second",
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
    """Relative norm distance (RND).

    RND = mean over a in A of δ(a, μ₁) − δ(a, μ₂), with the mean vectors μ of the target sets and
    δ(a, μ) = ‖a − μ‖. Garg et al. sum over A; WEFE and this function take the mean. A negative
    value means that the attributes are closer to the first targets.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the target sets.
    attributes
        (a, d) vectors of A.
    distance
        `norm`: δ as above; `cos`: δ is the cosine. The cosine is published as a distance but is a
        similarity: with it, a positive value means closer to the first targets.
    unit_length
        Whether vectors are set to length 1 first. Published: False for `norm`; the embeddings of
        Garg et al. have vectors of length 1. With `cos`, the lengths of the attributes have no
        effect, but those of the targets do.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over targets and
        attributes.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    Score
        RND, in the unit of the vectors; fair is 0. In [−2, 2] at unit length or with `cos`.
        Otherwise it has no bounds and grows with the lengths of the vectors, so models cannot be
        compared. `n` is |A|. Details: `distance`, `unit_length`. Samples: each attribute with
        its `distance_1` and `distance_2` from the means. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Garg, Schiebinger, Jurafsky and Zou (2018), Word embeddings quantify 100 years of gender and
    ethnic stereotypes, relative norm distance. Badilla, Bravo-Marquez and Pérez (2020), WEFE: the
    word embeddings fairness evaluation framework.
    """
    arrays = (targets_1, targets_2, attributes)
    details = {"distance": distance, "unit_length": unit_length}
    n = len(attributes)
    if reason := word_sets.empty(dict(zip(INPUTS, arrays, strict=True))):
        return Score(float("nan"), n=n, reason=reason, details=details)
    x, y, a = (word_sets.rows(array, unit_length=unit_length) for array in arrays)
    delta = _norms if distance == "norm" else _cosines

    def differences(*counts: Floats) -> Floats:
        mu_1, mu_2 = word_sets.means(counts[0], x), word_sets.means(counts[1], y)
        by_attribute = delta(mu_1, a) - delta(mu_2, a)
        weighted: Floats = (counts[2] * by_attribute).sum(axis=1) / counts[2].sum(axis=1)
        return weighted

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
    means = [rows.mean(axis=0, keepdims=True) for rows in (x, y)]
    distances = [delta(mean, a)[0] for mean in means]
    columns = {"distance_1": distances[0], "distance_2": distances[1]}
    samples = [Samples("attributes", distances[0] - distances[1], columns)]
    return Score(value, interval=interval, n=n, details=details, samples=samples)


def _norms(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) distances of (b, d) means and attributes."""
    squares = (means**2).sum(axis=1)[:, None] + (attributes**2).sum(axis=1)
    norms: Floats = np.sqrt(np.maximum(squares - 2 * means @ attributes.T, 0.0))
    return norms


def _cosines(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) cosines of (b, d) means and attributes."""
    return unit_rows(means) @ unit_rows(attributes).T
