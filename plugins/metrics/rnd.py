"""RND: the attributes' distances from the mean of one target set less those from another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from harness.arrays import Floats, Mask, Reals, unit_rows
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import association, intervals, nulls
from .statistics.gaps import attribute_gap

Distance = Literal["norm", "cos"]
Sides = Literal["both", "attributes"]
EQUAL = 1e-9  # standard deviation of distances that is rounding
Delta = Callable[[Floats, Floats], Floats]


@metric(
    "rnd",
    scores={
        "difference": Scale(
            ideal=0,
            help="mean distance of attributes from the first targets minus that from the second; "
            "of two attribute sets, their difference",
        )
    },
    disjoint=(("targets_1", "targets_2"),),
    contrast=Contrast(sides=("attributes", "attributes_2"), towards=("targets_1", "targets_2")),
    later_options=("null_draws",),
    gap=attribute_gap,
)
def rnd(
    targets_1: Reals,
    targets_2: Reals,
    attributes: Reals,
    attributes_2: Reals | None = None,
    *,
    distance: Distance = "norm",
    unit_length: bool = False,
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> Score:
    """Relative norm distance (RND).

    RND = mean over a in A of δ(a, μ₁) − δ(a, μ₂), with the mean vectors μ of the target sets and
    δ(a, μ) = ‖a − μ‖. Garg et al. sum over A; WEFE and this function take the mean. A negative
    value means that the attributes are closer to the first targets.

    One set of attributes has an offset: its words may all be closer to the mean that is shorter or
    more central, which is no bias. With `attributes_2`, the score is RND of the first set less that
    of the second. Then the offset is gone, and fair is where both sets lie alike.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) and (m, d) vectors of the target sets.
    attributes
        (a, d) vectors of A.
    attributes_2
        (b, d) vectors of the set that A is contrasted with; None for A alone, as published.
    distance
        `norm`: δ as above; `cos`: δ is the cosine. The cosine is published as a distance but is a
        similarity: with it, a positive value means closer to the first targets.
    unit_length
        Whether vectors are set to length 1 first. Published: False for `norm`; the embeddings of
        Garg et al. have vectors of length 1. With `cos`, the lengths of the attributes have no
        effect, but those of the targets do.
    sides
        What the floor and the p-value of two sets assign at random: the members of `both` the
        attribute sets and the target sets, or of the `attributes` alone.
    null_draws
        Number of random assignments of each side; 0 for no floor and no p-value.
    confidence, resamples
        Level of the interval over targets and attributes, and the most of these to leave
        out.
    rng
        Random number generator of the resamples and of the shuffles.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    Score
        RND, in the unit of the vectors; fair is 0. In [−2, 2] for one set at unit length or with
        `cos`. Otherwise it has no bounds and grows with the lengths of the vectors, so models
        cannot be compared. Its unit is the standard deviation of the distances between attributes
        and target words. `n` is the number of attributes. The two-sided p-value of two sets is the
        larger of two, with the members of the attribute sets and of the target sets shuffled: with
        the first alone, random halves of the targets are significant in 21 to 44 % of draws at 5 %.
        The floor is the larger of both, too. Of one set, there is no p-value, and the floor
        shuffles the members of the target sets. Details: `distance`, `unit_length`, and of two sets
        `p_targets` and `p_attributes`, the two p-values. Samples: each attribute with its
        `distance_1` and `distance_2` from the means.

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
    arrays = {"targets_1": targets_1, "targets_2": targets_2, "attributes": attributes}
    if attributes_2 is not None:
        arrays["attributes_2"] = attributes_2
    details: dict[str, object] = {"distance": distance, "unit_length": unit_length}
    n = sum(len(array) for array in list(arrays.values())[2:])
    if reason := association.empty(arrays):
        return Score(float("nan"), n=n, reason=reason, details=details)
    x, y, *sets = (association.rows(array, unit_length=unit_length) for array in arrays.values())
    delta = _norms if distance == "norm" else _cosines

    spread = np.concatenate([delta(np.vstack([x, y]), a).ravel() for a in sets]).std()
    if spread <= EQUAL:
        reason = "all words have equal vectors"
        return Score(float("nan"), n=n, reason=reason, without_difference=0.0, details=details)

    def differences(*counts: Floats) -> Floats:
        mu_1, mu_2 = association.means(counts[0], x), association.means(counts[1], y)
        of_sets = []
        for count, a in zip(counts[2:], sets, strict=True):
            by_attribute = delta(mu_1, a) - delta(mu_2, a)
            of_sets.append((count * by_attribute).sum(axis=1) / count.sum(axis=1))
        difference: Floats = of_sets[0] - of_sets[1] if len(of_sets) > 1 else of_sets[0]
        return difference

    sizes = [len(rows) for rows in (x, y, *sets)]
    codes = intervals.codes_of(clusters, list(arrays))
    interval = intervals.jackknife_interval(
        differences,
        sizes,
        rng=rng,
        clusters=codes,
        resamples=resamples,
        confidence=confidence,
    )
    value = float(differences(*(np.ones((1, size)) for size in sizes))[0])
    means = [rows.mean(axis=0, keepdims=True) for rows in (x, y)]
    distances = [[delta(mean, a)[0] for mean in means] for a in sets]
    contributions = [to_1 - to_2 for to_1, to_2 in distances]
    samples = [
        Samples(
            name,
            sign * by_attribute * n / len(by_attribute),
            {"distance_1": to_1, "distance_2": to_2},
        )
        for name, sign, by_attribute, (to_1, to_2) in zip(
            list(arrays)[2:], (1, -1), contributions, distances, strict=False
        )
    ]
    moved = [None] * len(sizes) if codes is None else codes
    of_sides: dict[str, nulls.Shuffled] = {}
    if null_draws and len(sets) > 1:
        of_sides["attributes"] = nulls.shuffled_sets(
            *contributions,
            shuffled=nulls.ATTRIBUTES,
            units=(moved[2], moved[3]),
            draws=null_draws,
            rng=rng,
        )
    if null_draws and (len(sets) == 1 or sides == "both"):
        in_first = nulls.shuffled_members(
            (len(x), len(y)), rng=rng, clusters=moved[:2], draws=null_draws
        )
        values = _of_shuffled_targets(np.vstack([x, y]), sets, delta, in_first)
        of_sides["targets"] = nulls.by_draws(value, values, nulls.MEMBERS)
    chance = nulls.Chance(of_sides)
    if len(sets) > 1:
        details |= chance.p_values
    return Score(
        value,
        p_value=chance.p_value if len(sets) > 1 else None,
        interval=interval,
        n=n,
        details=details,
        samples=samples,
        null=chance.null,
        unit=float(spread),
    )


def _of_shuffled_targets(
    targets: Floats, sets: Sequence[Floats], delta: Delta, in_first: Mask
) -> Floats:
    """Return the (draws,) differences of the attributes' distances from two random sets' means."""
    means = [
        association.means(members.astype(np.float64), targets) for members in (in_first, ~in_first)
    ]
    of_sets = [(delta(means[0], a) - delta(means[1], a)).mean(axis=1) for a in sets]
    return np.asarray(of_sets[0] - of_sets[1] if len(of_sets) > 1 else of_sets[0])


def _norms(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) distances of (b, d) means and attributes."""
    squares = (means**2).sum(axis=1)[:, None] + (attributes**2).sum(axis=1)
    norms: Floats = np.sqrt(np.maximum(squares - 2 * means @ attributes.T, 0.0))
    return norms


def _cosines(means: Floats, attributes: Floats) -> Floats:
    """Return the (b, a) cosines of (b, d) means and attributes."""
    return unit_rows(means) @ unit_rows(attributes).T
