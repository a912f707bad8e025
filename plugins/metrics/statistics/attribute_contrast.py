"""Contrast of two attribute sets between two target sets: its size, its AUC, and their nulls.

The direction is the mean of the first targets minus that of the second. Along it, each attribute
has the difference of its mean cosines with the two target sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.arrays import Floats
from harness.plugins.metrics.statistics import nulls
from harness.plugins.metrics.statistics.association import SIGNIFICANT
from harness.plugins.metrics.statistics.intervals import Codes, jackknife_interval
from harness.plugins.metrics.statistics.partitions import partition_test
from harness.plugins.metrics.statistics.target_shuffles import (
    Units,
    shuffled_targets,
    target_units,
)
from harness.plugins.metrics.statistics.weighted import auc, aucs
from harness.plugins.metrics.statistics.word_sets import means
from harness.scores import Interval, Null


@dataclass(frozen=True)
class Chance:
    """What the association and the AUC are without a bias.

    Parameters
    ----------
    p_value
        Two-sided, of the association.
    details
        What it is made of.
    nulls
        Values of both scores by chance, by the name of the score.
    """

    p_value: float
    details: Mapping[str, object]
    nulls: Mapping[str, Null]


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

    def by_chance(self, *, permutations: int, rng: np.random.Generator) -> Chance:
        """Return what both scores show by chance, and the test of the association.

        The targets are assigned to their sides at random, and the attributes to their sets. Random
        targets alone would find a chance difference between the attribute sets, and random
        attributes alone one between the targets: the test takes the larger p-value, and the
        association has the larger floor. The AUC with random targets is no floor: it rises with
        the bias, because half of the pairs swapped still point along the same direction.
        """
        between = self.a.mean(axis=0) - self.b.mean(axis=0)
        sides = self.x @ between, self.y @ between
        targets = shuffled_targets(
            *sides, paired=self.paired, units=self.units, permutations=permutations, rng=rng
        )
        sets = self.a @ self.direction, self.b @ self.direction
        attributes = partition_test(
            *sets,
            rng=rng,
            clusters=self.clusters,
            alternative="two-sided",
            exact_limit=permutations,
            permutations=permutations,
        )
        in_first = nulls.shuffled_members(
            (len(self.a), len(self.b)), rng=rng, clusters=self.clusters
        )
        differences = np.concatenate(sets)
        areas = auc(differences, differences, (in_first.astype(float), (~in_first).astype(float)))
        associations = (
            Null(targets.weights @ np.concatenate(sides), targets.shuffled),
            Null(nulls.differences_of_means(differences, in_first), nulls.ATTRIBUTES),
        )
        p_value = max(targets.p_value, attributes.p_value)
        return Chance(
            p_value=p_value,
            details={
                "p_targets": targets.p_value,
                "p_attributes": attributes.p_value,
                "p_kind": (targets if targets.p_value >= attributes.p_value else attributes).kind,
                "shuffled_targets": targets.shuffled,
                "units": targets.units,
                "alternative": "two-sided",
                "reversed": self.association < 0 and p_value < SIGNIFICANT,
            },
            nulls={
                "association": max(associations, key=lambda null: np.abs(null.values).mean()),
                "auc": Null(areas, nulls.ATTRIBUTES),
            },
        )

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
