"""MAC: mean cosine distance of target words from sets of stereotyped words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Compares, Contrast, Samples, Scale, Score, metric

from .statistics import association, intervals


@metric(
    "mac",
    scores={
        "distance": Scale(
            ideal=1,
            bounds=(0, 2),
            in_cosines=True,
            help="mean cosine distance between targets and attribute sets; 1 is no association",
        )
    },
    contrast=Contrast(sides=("attributes_1", "attributes_2"), towards=("targets_1", "targets_2")),
    compares=Compares(
        queries=("targets_1", "targets_2", "targets_3"),
        documents=("attributes_1", "attributes_2", "attributes_3"),
    ),
)
def mac(
    targets_1: Reals,
    attributes_1: Reals,
    targets_2: Reals | None = None,
    attributes_2: Reals | None = None,
    targets_3: Reals | None = None,
    attributes_3: Reals | None = None,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> Score:
    """Mean average cosine similarity (MAC): despite its name, a mean of cosine distances.

    MAC = mean over t in T and sets A_j of S(t, A_j), with S(t, A_j) = mean over a in A_j of
    1 − cos(t, a). T is the union of all target sets, and each of its words has the same weight.
    Each attribute set has the same weight, whatever its size. MAC does not show with which target
    set the attributes are associated: a stereotype that moves one set closer and another one
    further away leaves it at 1.

    Parameters
    ----------
    targets_1, targets_2, targets_3
        (n, d) vectors of the words of T; the second and third set are optional.
    attributes_1, attributes_2, attributes_3
        (a, d) vectors of the sets A_j; the second and third are optional.
    confidence, resamples
        Level of the interval over targets and attributes, and the most of these to leave
        out.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    Score
        MAC, in [0, 2]; fair is 1. `n` is |T|. Details: `attribute_sets`, the number of attribute
        sets. Samples: each target with its mean `distance` from the attribute sets, and each
        attribute with that from the targets; those of a small set count more. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Manzini, Lim, Tsvetkov and Black (2019), Black is to criminal as Caucasian is to police:
    detecting and removing multiclass bias in word embeddings, mean average cosine similarity.
    """
    targets = {"targets_1": targets_1, "targets_2": targets_2, "targets_3": targets_3}
    attributes = {
        "attributes_1": attributes_1,
        "attributes_2": attributes_2,
        "attributes_3": attributes_3,
    }
    sets = {name: array for name, array in (targets | attributes).items() if array is not None}
    n = sum(len(sets[name]) for name in targets if name in sets)
    if reason := association.empty(sets):
        return Score(float("nan"), n=n, reason=reason)
    units = [unit_rows(array) for array in sets.values()]
    split = sum(name in sets for name in targets)

    def distances(*counts: Floats) -> Floats:
        drawn = np.hstack(counts[:split])
        t = association.means(drawn, np.vstack(units[:split]))
        pairs = zip(counts[split:], units[split:], strict=True)
        a = np.mean([association.means(count, unit) for count, unit in pairs], axis=0)
        mean: Floats = 1 - np.einsum("bd,bd->b", t, a)
        return mean

    sizes = [len(unit) for unit in units]
    interval = intervals.jackknife_interval(
        distances,
        sizes,
        rng=rng,
        clusters=intervals.codes_of(clusters, list(sets)),
        resamples=resamples,
        confidence=confidence,
    )
    value = float(distances(*(np.ones((1, size)) for size in sizes))[0])
    sets_mean = np.mean([unit.mean(axis=0) for unit in units[split:]], axis=0)
    targets_mean = np.vstack(units[:split]).mean(axis=0)
    samples = []
    for i, (name, unit) in enumerate(zip(sets, units, strict=True)):
        distance = 1 - unit @ (sets_mean if i < split else targets_mean)
        weight = 1.0 if i < split else np.mean(sizes[split:]) / len(unit)
        samples.append(Samples(name, distance * weight, {"distance": distance}))
    return Score(
        value,
        interval=interval,
        n=n,
        details={"attribute_sets": len(units) - split},
        samples=samples,
    )
