"""MAC: how far words of a class are, on average, from sets of stereotyped words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap, word_sets


@metric(
    "mac",
    scores={
        "distance": Scale(
            ideal=1,
            bounds=(0, 2),
            help="mean cosine distance of targets and attribute sets; 1 is no association",
        )
    },
)
def mac(
    targets_1: Reals,
    attributes_1: Reals,
    targets_2: Reals | None = None,
    attributes_2: Reals | None = None,
    targets_3: Reals | None = None,
    attributes_3: Reals | None = None,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
) -> Score:
    """Mean average cosine similarity, which is, despite its name, a mean of distances.

    MAC = mean over t in T and sets A_j of S(t, A_j), S(t, A_j) = mean over a in A_j of
    1 − cos(t, a). The words of all target sets are one T, and count alike; attribute sets count
    alike, whatever their sizes. Fair is 1. It does not tell to which target set the attributes
    go: a stereotype that pulls one set nearer and pushes another away leaves it at 1.

    Parameters
    ----------
    targets_1, targets_2, targets_3
        (n, d) vectors of the words of T; all but the first set may be left out.
    attributes_1, attributes_2, attributes_3
        (a, d) vectors of the sets A_j; all but the first may be left out.
    confidence, resamples
        Level and number of draws of the bootstrap interval over targets and attributes.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of items made of one word or template.

    Returns
    -------
    Score
        MAC in [0, 2]. Details: `attribute_sets`, their number.

    References
    ----------
    Manzini, Lim, Tsvetkov and Black (2019), Black is to criminal as Caucasian is to police:
    detecting and removing multiclass bias in word embeddings.
    """
    targets = {"targets_1": targets_1, "targets_2": targets_2, "targets_3": targets_3}
    attributes = {
        "attributes_1": attributes_1,
        "attributes_2": attributes_2,
        "attributes_3": attributes_3,
    }
    given = {name: array for name, array in (targets | attributes).items() if array is not None}
    n = sum(len(given[name]) for name in targets if name in given)
    if reason := word_sets.empty(given):
        return Score(float("nan"), n=n, reason=reason)
    units = [unit_rows(array) for array in given.values()]
    split = sum(name in given for name in targets)

    def distances(*counts: Floats) -> Floats:
        drawn = np.hstack(counts[:split])
        t = word_sets.means(drawn, np.vstack(units[:split]))
        pairs = zip(counts[split:], units[split:], strict=True)
        a = np.mean([word_sets.means(count, unit) for count, unit in pairs], axis=0)
        found: Floats = 1 - np.einsum("bd,bd->b", t, a)
        return found

    sizes = [len(unit) for unit in units]
    interval = bootstrap.percentile_interval(
        distances,
        sizes,
        rng=rng,
        clusters=bootstrap.codes_of(clusters, list(given)),
        resamples=resamples,
        confidence=confidence,
    )
    value = float(distances(*(np.ones((1, size)) for size in sizes))[0])
    return Score(value, interval=interval, n=n, details={"attribute_sets": len(units) - split})
