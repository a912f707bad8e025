"""Gap of similarities to two versions of a sentence, against statistics of what it names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from harness.arrays import Floats, Reals, cosine_bounds, cosines, paired_cosines, unit_rows
from harness.errors import NotApplicable
from harness.metrics import Compares, Contrast, Interval, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import DIRECTIONS, correlations_along
from .statistics.intervals import Codes, pearson, units_of
from .statistics.slopes import slope_gap

EQUAL = 1e-6  # gaps that differ by less are equal: the batch size changes cosines by 2e-7
ROUNDING = 1e-12  # statistics whose relative differences are smaller are equal
FEWEST = 3  # items through which a line says something
INPUTS = ("sentences", "versions_1", "versions_2")
SCORES = ("slope", "pearson", "gap")
Sides = Literal["both", "labels"]


@metric(
    "similarity-gap",
    scores={
        "slope": Scale(ideal=0, help="growth of the gap of cosines from a statistic of 0 to 1"),
        "pearson": Scale(
            ideal=0, bounds=(-1, 1), help="correlation of the items' gaps with their statistics"
        ),
        "gap": Scale(
            ideal=0, bounds=(0, 2), in_cosines=True, help="mean size of the items' gaps, in cosines"
        ),
    },
    contrast=Contrast(
        sides=("sentences",), towards=("versions_1", "versions_2"), labels="statistics"
    ),
    gap=slope_gap,
    compares=Compares(("sentences",), ("versions_1", "versions_2")),
)
def similarity_gap(
    sentences: Reals,
    versions_1: Reals,
    versions_2: Reals,
    statistics: Floats,
    *,
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Gap of the similarities of sentences to two versions of them, against statistics.

    Row i of every input belongs together: a sentence about an item, such as an occupation, the
    same sentence about each of two groups, such as a man and a woman, and a statistic of the item,
    such as the share of women in it. Sentences of one cluster are about one item o, with
    statistic y_o. With the means over items m̄ and ȳ::

        m_o = mean over sentences i of o of [cos(xᵢ, v₂ᵢ) − cos(xᵢ, v₁ᵢ)]
        slope = Σ_o (y_o − ȳ)(m_o − m̄) / Σ_o (y_o − ȳ)²
        pearson = Σ_o (y_o − ȳ)(m_o − m̄) / √( Σ_o (y_o − ȳ)² Σ_o (m_o − m̄)² )
        gap = mean over items of |m_o|

    STS-bias is `pearson`: what a model of similarity predicts for a sentence about an occupation
    beside the same about a man or a woman, against labour statistics. A correlation does not
    change if all gaps shrink, as they do under a mitigator. So `slope` keeps their size: of shares
    from 0 to 1, it is what the gap differs by between items of the second group alone and of the
    first alone. Neither changes if all sentences are closer to one version. `gap` does: a sentence
    that says nothing of a group should be equally close to both, as a model of inference should
    call both neutral.

    Parameters
    ----------
    sentences
        (n, d) vectors x.
    versions_1, versions_2
        (n, d) vectors v₁ and v₂ of the same sentences about the first and the second group.
    statistics
        (n,) statistic of the item of each sentence, higher for the second group. The slope is per
        unit of it: take shares from 0 to 1, or 0 and 1 for two kinds of items.
    sides
        What the floors and p-values of `slope` and `pearson` replace by chance: `both` the
        statistics and the direction between the versions, or the `labels`, the statistics, alone.
    null_draws
        Number of random assignments for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over items, and the most of these to leave out. The versions stay:
        an interval may exclude 0 where random directions do as well.
    rng
        Random number generator of the assignments.
    clusters
        Cluster codes by input name; those of `sentences`, (n,), are the items. By default each
        sentence is an item.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `slope`, in cosines per unit of the statistic, without bounds; fair is 0, positive is the
        direction of the statistics. `pearson`, in [−1, 1]; fair is 0. The two-sided
        p-values of both are the larger of two, and so are the floors: with the statistics of the
        items permuted, and with the direction between two random items in place of that between the
        versions. Statistics follow any direction to some degree, and a single pair of versions,
        such as a man and a woman, cannot be shuffled: with random versions, permuted statistics
        alone reject 30 % at 5 %. `gap`, in cosines, in [0, 2]; fair is 0, and the floor swaps the
        versions of each sentence at random. The unit of `slope` and `gap` is the standard deviation
        of all cosines of sentences and versions. At least three items are needed. Details:
        `offset`, the mean m̄, and of the first two `p_labels` and `p_direction`, the two p-values.
        Table `items` of `slope`: m_o of each item with its first sentence. Samples: each sentence
        with both cosines, its statistic and its contribution, so that items count alike.

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Webster et al. (2020), Measuring and reducing gendered correlations in pre-trained models,
    section 3: STS-B. Dev, Li, Phillips and Srikumar (2020), On measuring and mitigating biased
    inferences of word embeddings: neutral pairs.
    """
    n = len(sentences)
    sizes = [len(array) for array in (sentences, versions_1, versions_2, statistics)]
    if set(sizes) != {n}:
        raise NotApplicable(
            "similarity-gap: sentences, versions and statistics must have equal length, not "
            + ", ".join(map(str, sizes))
        )
    cosine_1, cosine_2 = (paired_cosines(sentences, v) for v in (versions_1, versions_2))
    gaps = _Gaps.of(cosine_2 - cosine_1, statistics, (clusters or {}).get("sentences"))
    if gaps.undefined:
        return {name: Score(float("nan"), n=n, reason=gaps.undefined) for name in SCORES}
    m, dm, dy = gaps.m, gaps.dm, gaps.y - gaps.y.mean()
    products = len(m) * dy[gaps.item] * (gaps.d - m.mean()) * gaps.weight
    spread = float(np.std(cosines(sentences, np.concatenate([versions_1, versions_2]))))
    columns = {"cosine_1": cosine_1, "cosine_2": cosine_2, "statistic": gaps.y[gaps.item]}
    by_chance = {
        "labels": (nulls.LABELS, nulls.shuffled_correlations(m, gaps.y, rng=rng, draws=null_draws))
    }
    if sides == "both":
        along = correlations_along(gaps.middles(sentences), gaps.y, rng=rng, draws=null_draws)
        by_chance["direction"] = (DIRECTIONS, along)
    interval = partial(_interval, len(m), rng=rng, resamples=resamples, confidence=confidence)
    details = {"items": len(m), "offset": float(m.mean())}
    value = float(dy @ dm / (dy @ dy))
    chance = _chance(value, by_chance, scale=float(np.sqrt((dm @ dm) / (dy @ dy))))
    slope = Score(
        value,
        p_value=chance.p_value,
        null=chance.null,
        n=n,
        details=details | chance.p_values,
        interval=interval(partial(_slopes, dm, gaps.y)),
        unit=spread if spread > EQUAL else None,
        tables={"items": gaps.table(texts)},
        samples=[Samples(INPUTS, products / (dy @ dy), columns)],
    )
    correlation = Score(float("nan"), reason="all gaps are equal", without_difference=0.0, n=n)
    if dm.any():
        value = float(pearson(m, gaps.y)[0])
        chance = _chance(value, by_chance)
        correlation = Score(
            value,
            p_value=chance.p_value,
            null=chance.null,
            n=n,
            details=details | chance.p_values,
            interval=interval(partial(pearson, m, gaps.y), bounds=(-1, 1)),
            samples=[Samples(INPUTS, products / np.sqrt((dy @ dy) * (dm @ dm)), columns)],
        )
    gap = Score(
        float(np.abs(m).mean()),
        n=n,
        details=details,
        null=_null(gaps.swapped(rng, null_draws), "versions of the sentences"),
        interval=interval(
            lambda counts: counts @ np.abs(m) / counts.sum(axis=1),
            bounds=cosine_bounds(sentences, (0, 2)),
        ),
        unit=spread if spread > EQUAL else None,
        samples=[Samples(INPUTS, np.sign(m)[gaps.item] * gaps.d * gaps.weight, columns)],
    )
    return {"slope": slope, "pearson": correlation, "gap": gap}


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Gaps of n sentences about k items.

    Parameters
    ----------
    d, item
        (n,) gap of each sentence, and its item.
    m, y
        (k,) mean gap and statistic of each item.
    """

    d: Floats
    item: Codes
    m: Floats
    y: Floats

    @classmethod
    def of(cls, d: Floats, statistics: Floats, codes: Codes | None) -> _Gaps:
        items, item = units_of(len(d), codes)
        sizes = np.maximum(np.bincount(item, minlength=items), 1)
        m, y = (np.bincount(item, values, items) / sizes for values in (d, statistics))
        return cls(d, item, m, y)

    @property
    def dm(self) -> Floats:
        """(k,) mean gaps, less their mean; zeros if all are equal."""
        differences: Floats = self.m - self.m.mean()
        return differences if np.ptp(self.m) >= EQUAL else np.zeros_like(differences)

    @property
    def undefined(self) -> str:
        """Why there is no score; empty if there is one."""
        if len(self.m) < FEWEST:
            return f"fewer than {FEWEST} items"
        if np.ptp(self.y) <= ROUNDING * np.abs(self.y).max():  # means of equal numbers round
            return "all statistics are equal"
        return ""

    @property
    def weight(self) -> Floats:
        """(n,) weights with mean 1, so that items count alike, whatever their sentences."""
        weights: Floats = len(self.d) / len(self.m) / np.bincount(self.item)[self.item]
        return weights

    def middles(self, sentences: Reals) -> Floats:
        """Return the (k, d) mean unit vectors of the items' sentences, (n, d)."""
        means = np.zeros((len(self.m), np.shape(sentences)[1]))
        np.add.at(means, self.item, unit_rows(sentences))
        return np.asarray(means / np.bincount(self.item)[:, None])

    def swapped(self, rng: np.random.Generator, draws: int) -> Floats:
        """Return the (draws,) mean sizes of the items' gaps with versions swapped at random."""
        signs = nulls.shuffled_sides(len(self.d), rng=rng, draws=draws)
        member = self.item[:, None] == np.arange(len(self.m))
        means: Floats = np.abs((signs * self.d) @ (member / member.sum(axis=0))).mean(axis=1)
        return means

    def table(self, texts: Mapping[str, Sequence[str]] | None) -> list[dict[str, Any]]:
        """Return a row for each item, the closest to the second group first."""
        firsts = np.unique(self.item, return_index=True)[1]
        return [
            {
                "item": int(o) + 1,
                "sentence": texts["sentences"][firsts[o]] if texts else "",
                "gap": float(self.m[o]),
                "statistic": float(self.y[o]),
            }
            for o in np.argsort(-self.m, kind="stable")
        ]


def _null(values: Floats, shuffled: str) -> Null | None:
    return Null(values, shuffled) if len(values) else None


def _chance(
    value: float, correlations: Mapping[str, tuple[str, Floats]], *, scale: float = 1.0
) -> nulls.Chance:
    """Return what a score shows by chance that is a correlation times a scale.

    `correlations` are those of each side, with what is drawn at random.
    """
    return nulls.Chance(
        {
            side: nulls.by_draws(value, np.nan_to_num(values) * scale, drawn)
            for side, (drawn, values) in correlations.items()
            if len(values)
        }
    )


def _slopes(m: Floats, y: Floats, counts: Floats) -> Floats:
    """Return the (b,) slopes of (k,) gaps over statistics of items that count, (b, k).

    NaN where all statistics that count are equal.
    """
    total = counts.sum(axis=1, keepdims=True)
    dy = y - counts @ y[:, None] / total
    variance = (counts * dy**2).sum(axis=1)
    covariance = (counts * dy * m).sum(axis=1)
    differ = variance > ROUNDING**2 * (y @ y)
    slopes: Floats = np.where(differ, covariance / np.where(differ, variance, 1), np.nan)
    return slopes


def _interval(items: int, statistic: Callable[[Floats], Floats], **options: Any) -> Interval | None:
    """Return the interval over items, which are clusters of sentences."""
    found = intervals.jackknife_interval(statistic, [items], **options)
    if found is None:
        return None
    return dataclasses.replace(found, method=found.method.replace("items", "clusters"))
