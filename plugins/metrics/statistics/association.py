"""Differential association and effect size, shared by the metrics of the WEAT family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.arrays import ROUNDING, Floats, Reals, unit_rows
from harness.metrics import Interval, Null, Samples

from . import nulls
from .intervals import (
    Codes,
    auc,
    aucs,
    jackknife_interval,
    to_difference,
)
from .nulls import Units, target_units

# Vectors of word sets, as they are or at unit length, and the means of their resamples.


def rows(vectors: Reals, *, unit_length: bool) -> Floats:
    """Return (n, d) vectors in float64, as they are or at length 1."""
    return unit_rows(vectors) if unit_length else np.asarray(vectors, dtype=np.float64)


def means(counts: Floats, vectors: Floats) -> Floats:
    """Return the (b, d) means of b resamples: (b, n) counts of n vectors, (n, d)."""
    resampled: Floats = counts @ vectors / counts.sum(axis=1, keepdims=True)
    return resampled


def empty(arrays: Mapping[str, Reals]) -> str | None:
    """Return the reason for a missing score if a set is empty, by the set's name; else None."""
    return next((f"{name} is empty" for name, array in arrays.items() if len(array) == 0), None)


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
        NaN if the deviation is rounding.
    """
    return float((s_1.mean() - s_2.mean()) / deviation_of(s_1, s_2, ddof=ddof))


def deviation_of(s_1: Floats, s_2: Floats, *, ddof: int) -> float:
    """Return the standard deviation of the associations of both sets; NaN if it is rounding."""
    s = np.concatenate([s_1, s_2])
    deviation = s.std(ddof=ddof) if len(s) > ddof else 0.0
    return float(deviation) if deviation > ROUNDING else float("nan")


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
        NaN where the deviation is rounding.
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
    defined = variance > ROUNDING**2
    sizes: Floats = np.where(
        defined, difference / np.sqrt(np.where(defined, variance, 1.0)), np.nan
    )
    return sizes


# Contrast of two attribute sets between two target sets: its size, its AUC, and their nulls.
#
# The direction is the mean of the first targets minus that of the second. Along it, each attribute
# has the difference of its mean cosines with the two target sets.


@dataclass(frozen=True)
class AttributeContrast:
    """Two target sets and two attribute sets at length 1, and what moves together.

    Parameters
    ----------
    x, y
        (n, d) and (m, d) targets.
    a, b
        (k, d) and (l, d) attributes.
    paired
        Whether the rows of x and y are pairs.
    units
        Codes of the targets that move together.
    clusters
        Cluster codes of the attributes; None where each is its own cluster.
    """

    x: Floats
    y: Floats
    a: Floats
    b: Floats
    paired: bool
    units: Units
    clusters: tuple[Codes | None, Codes | None]

    @classmethod
    def of(
        cls,
        *sets: Floats,
        paired: bool,
        clusters: Mapping[str, Codes] | None,
        texts: Mapping[str, Sequence[str]] | None,
    ) -> AttributeContrast:
        """Return the contrast of x, y, a and b of length 1."""
        x, y, a, b = sets
        units = target_units(clusters, texts, sizes=(len(x), len(y)), paired=paired)
        codes = clusters or {}
        of_attributes = codes.get("attributes_1"), codes.get("attributes_2")
        return cls(x, y, a, b, paired, units, of_attributes)

    @property
    def direction(self) -> Floats:
        """Mean of the first targets minus that of the second, (d,)."""
        difference: Floats = self.x.mean(axis=0) - self.y.mean(axis=0)
        return difference

    @property
    def association(self) -> float:
        """Mean difference of the first attributes minus that of the second, in cosines."""
        return float(self.direction @ (self.a.mean(axis=0) - self.b.mean(axis=0)))

    @property
    def auc(self) -> float:
        """Probability that an attribute of the first set has the larger difference."""
        return float(auc(self.a @ self.direction, self.b @ self.direction)[0])

    @property
    def spread(self) -> float:
        """Standard deviation of all cosines of targets and attributes."""
        return float((np.vstack([self.x, self.y]) @ np.vstack([self.a, self.b]).T).std())

    def by_chance(self, *, permutations: int, rng: np.random.Generator) -> nulls.Chance:
        """Return what the association shows by chance, over targets and attributes."""
        between = self.a.mean(axis=0) - self.b.mean(axis=0)
        sides = self.x @ between, self.y @ between
        if self.paired:
            targets = nulls.shuffled_pairs(
                *sides, units=self.units[0], permutations=permutations, rng=rng
            )
        else:
            targets = nulls.shuffled_sets(
                *sides,
                shuffled=nulls.MEMBERS,
                units=self.units,
                exact_limit=permutations,
                permutations=permutations,
                rng=rng,
            )
        attributes = nulls.shuffled_sets(
            self.a @ self.direction,
            self.b @ self.direction,
            shuffled=nulls.ATTRIBUTES,
            units=self.clusters,
            exact_limit=permutations,
            permutations=permutations,
            rng=rng,
        )
        return nulls.Chance({"targets": targets, "attributes": attributes})

    def areas_by_chance(self, chance: nulls.Chance) -> Null:
        """Return the AUCs of random attribute sets, those of the association's null.

        The AUC with random targets is no floor: it rises with the bias, because half of the pairs
        swapped still point along the same direction.
        """
        in_first = chance.sides["attributes"].weights > 0
        differences = np.concatenate([self.a @ self.direction, self.b @ self.direction])
        areas = auc(differences, differences, (in_first.astype(float), (~in_first).astype(float)))
        return Null(areas, nulls.ATTRIBUTES)

    def intervals(
        self, *, resamples: int, confidence: float, rng: np.random.Generator
    ) -> dict[str, Interval | None]:
        """Return the intervals of both scores, over targets (or pairs) and attributes."""
        targets = [(len(self.x), self.units[0]), (len(self.y), self.units[1])]
        groups = [
            *targets[: 1 if self.paired else 2],
            (len(self.a), self.clusters[0]),
            (len(self.b), self.clusters[1]),
        ]
        interval = partial(
            jackknife_interval,
            sizes=[size for size, _ in groups],
            clusters=[codes for _, codes in groups],
            rng=rng,
            resamples=resamples,
            confidence=confidence,
        )
        return {
            "association": interval(self._associations),
            "auc": interval(self._areas, bounds=(0, 1)),
        }

    def _associations(self, *counts: Floats) -> Floats:
        of_a, of_b = counts[-2:]
        between = means(of_a, self.a) - means(of_b, self.b)
        associations: Floats = np.einsum("bd,bd->b", self._directions(*counts), between)
        return associations

    def _areas(self, *counts: Floats) -> Floats:
        directions = self._directions(*counts)
        return aucs(directions @ self.a.T, directions @ self.b.T, (counts[-2], counts[-1]))

    def _directions(self, *counts: Floats) -> Floats:
        """Return the (b, d) directions of b resamples."""
        of_x, of_y = (counts[0], counts[0]) if self.paired else counts[:2]
        directions: Floats = means(of_x, self.x) - means(of_y, self.y)
        return directions
