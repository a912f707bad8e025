"""Differential association and effect size, shared by the metrics of the WEAT family."""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.plugins.metrics.statistics.contributions import to_difference
from harness.plugins.metrics.statistics.word_sets import means
from harness.scores import Samples

SIGNIFICANT = 0.05
"""Largest two-sided p-value of an association that is called reversed."""


def differential_association(targets: Reals, attributes_1: Reals, attributes_2: Reals) -> Floats:
    """Return s(w, A, B): by how much each target is closer to A than to B.

    s(w, A, B) = mean over a in A of cos(w, a) − mean over b in B of cos(w, b). A vector of
    length 0 has cosine 0 with every vector.

    Parameters
    ----------
    targets
        (n, d) vectors w.
    attributes_1, attributes_2
        (a, d) vectors A and (b, d) vectors B.

    Returns
    -------
    (n,) float64
        In [−2, 2]; 0 where a target is equally close to both sets.

    References
    ----------
    Caliskan et al. (2017), Semantics derived automatically from language corpora contain
    human-like biases.
    """
    direction = unit_rows(attributes_1).mean(axis=0) - unit_rows(attributes_2).mean(axis=0)
    s: Floats = unit_rows(targets) @ direction
    return s


def effect_size(s_1: Floats, s_2: Floats, *, ddof: int) -> float:
    """Return WEAT's d: the difference of the two means, divided by the deviation of all values.

    Parameters
    ----------
    s_1, s_2
        (n,) and (m,) differential associations of the two target sets.
    ddof
        Subtracted from n + m in the deviation: 1 for the sample, 0 for the population.

    Returns
    -------
    float
        NaN if the deviation is 0.
    """
    return float((s_1.mean() - s_2.mean()) / deviation_of(s_1, s_2, ddof=ddof))


def deviation_of(s_1: Floats, s_2: Floats, *, ddof: int) -> float:
    """Return the standard deviation of the associations of both sets; NaN if it is 0."""
    s = np.concatenate([s_1, s_2])
    deviation = s.std(ddof=ddof) if len(s) > ddof else 0.0
    return float(deviation) if deviation > 1e-12 else float("nan")  # else equal up to rounding


def association_samples(
    targets_1: Reals, targets_2: Reals, attributes_1: Reals, attributes_2: Reals, scale: float = 1.0
) -> list[Samples]:
    """Return what targets and attributes contribute to the difference of mean s / `scale`.

    The difference of the two means of s(w, A, B) over the targets is also that of s(a, X, Y) over
    the attributes, so the mean of both kinds of contributions is the same.
    """
    targets, attributes = (targets_1, targets_2), (attributes_1, attributes_2)
    samples = []
    for kind, sets, others in (
        ("targets", targets, attributes),
        ("attributes", attributes, targets),
    ):
        s = [differential_association(words, *others) for words in sets]
        parts = zip((1, 2), to_difference(s[0], s[1], scale), s, strict=True)
        samples += [Samples(f"{kind}_{i}", part, {"association": own}) for i, part, own in parts]
    return samples


def resampled_associations(
    targets_1: Floats,
    targets_2: Floats,
    attributes_1: Floats,
    attributes_2: Floats,
    *counts: Floats,
) -> Floats:
    """Return the (b,) differences of mean associations of b resamples of targets and attributes.

    Parameters are those of `resampled_effect_sizes`.
    """
    x, y, a, b = counts
    directions = means(a, attributes_1) - means(b, attributes_2)
    between = means(x, targets_1) - means(y, targets_2)
    differences: Floats = np.einsum("bd,bd->b", between, directions)
    return differences


def resampled_effect_sizes(
    targets_1: Floats,
    targets_2: Floats,
    attributes_1: Floats,
    attributes_2: Floats,
    *counts: Floats,
    ddof: int,
) -> Floats:
    """Return the (b,) effect sizes of b resamples of targets and attributes.

    Parameters
    ----------
    targets_1, targets_2, attributes_1, attributes_2
        (n, d) vectors of length 1.
    counts
        For each of the four sets, (b, n): how often each item was drawn.
    ddof
        As for `effect_size`.

    Returns
    -------
    (b,) float64
        NaN where the deviation is 0.
    """
    x, y, a, b = counts
    directions = means(a, attributes_1) - means(b, attributes_2)  # (b, d)
    weights = np.hstack([x, y])
    s = directions @ np.vstack([targets_1, targets_2]).T  # (b, n + m)
    split = len(targets_1)
    total = weights.sum(axis=1)
    difference = (x * s[:, :split]).sum(axis=1) / x.sum(axis=1)
    difference -= (y * s[:, split:]).sum(axis=1) / y.sum(axis=1)
    mean = (weights * s).sum(axis=1) / total
    squares = (weights * (s - mean[:, None]) ** 2).sum(axis=1)
    variance = squares / np.maximum(total - ddof, 1)
    defined = variance > 1e-24
    sizes: Floats = np.where(
        defined, difference / np.sqrt(np.where(defined, variance, 1.0)), np.nan
    )
    return sizes
