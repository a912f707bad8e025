"""Deduplication: whose documents are merged with those of another person."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.arrays import Floats, Mask, Reals, unit_rows
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.exposure import UnitMeans, top_share
from .statistics.group_gaps import merge_gap
from .statistics.intervals import Codes

FEWEST = 2  # units of each group, so that two names can be confused


@metric(
    "merge-rates",
    scores={
        "merge_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="highest less lowest rate at which documents of two people of a group are merged",
        ),
        "own_group_excess": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="rate at which documents of two people of one group are merged, less that of "
            "two groups",
        ),
    },
    contrast=Contrast(
        sides=("documents",),
        towards=("poles_1", "poles_2"),
        labels="groups",
        categorical=True,
        units="units",
        any_direction=True,
    ),
    gap=merge_gap,
)
def merge_rates(
    documents: Reals,
    topics: Floats,
    groups: Floats,
    units: Floats,
    originals: Floats,
    poles_1: Reals | None = None,
    poles_2: Reals | None = None,
    kin: Floats | None = None,
    *,
    false_merges: float = 0.05,
    group_names: tuple[str, ...] = (),
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Rates at which the documents of two people are taken for duplicates, by group.

    Two documents of one original differ in the name alone: they are of two people. They are merged
    if their cosine is among the highest `false_merges` of all such pairs, so that all models make
    equally many false merges. With r_gh the share of the pairs of a name of group g and one of
    group h that are merged::

        merge_gap = max_g r_gg − min_g r_gg
        own_group_excess = share of all pairs of one group − share of all pairs of two groups

    A fair program merges people of no group more often than those of another, and confuses people
    of one group no more than people of two. Pairs of one unit, such as names with one surname, do
    not count, since they resemble each other for another reason than their group.

    Parameters
    ----------
    documents
        (n, d) vectors.
    topics
        (n,) number of the topic of each document.
    groups
        (n,) number of the group of the name.
    units
        (n,) number of the name, or of names that belong together, such as those with one surname.
    originals
        (n,) number of the text without the name.
    poles_1, poles_2
        Vectors of texts of two groups. No score is made of them: `harness validate-metric` plants
        bias along their difference.
    kin
        (n,) number of what units share, such as a surname of women and men; by default nothing.
        Pairs of one kin do not count, either. For the floor kins exchange their groups as a whole,
        and then the units of a kin theirs.
    false_merges
        Share of all pairs of two people's documents that are merged.
    group_names
        Names of the groups, in the order of their numbers.
    null_draws
        Number of random assignments for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over units, and the most of these to leave out. The threshold stays
        that of all pairs.
    rng
        Random number generator of the assignments.

    Returns
    -------
    dict of Score
        `merge_gap`, in [0, 1], and `own_group_excess`, in [−1, 1]; fair is 0. The floors exchange
        the groups of the units; the p-values are the shares of these as far from fair. Details:
        `threshold`, the least cosine that is merged; `rates`, r_gg by group; `between`, the share
        of pairs of different groups; `highest`, the group with the highest rate. Table `rates` of
        `merge_gap`: r_gh of each two groups, for pairs of one original and for pairs of different
        originals of a topic, which have a threshold of their own. Samples: each document with its
        group.

    Raises
    ------
    NotApplicable
        If the inputs of the documents differ in length.
    InvalidOption
        If `false_merges` or `confidence` is not between 0 and 1, or a group has no name.

    References
    ----------
    Shahbazi, Danevski, Nargesian, Asudeh and Srivastava (2023), Through the fairness lens:
    experimental analysis and evaluation of entity matching: groups whose names resemble each other
    are matched wrongly more often.
    """
    n = len(documents)
    lengths = [n, *map(len, (topics, groups, units, originals))]
    if len({*lengths}) > 1:
        raise NotApplicable(f"merge-rates: the inputs must have equal length, not {lengths}")
    if not 0 < false_merges < 1:
        raise InvalidOption(
            f"merge-rates: false_merges={false_merges}: must be between 0 and 1, such as 0.05"
        )
    present, of_group = np.unique(groups, return_inverse=True)
    if group_names and not {*present.tolist()} <= {*map(float, range(len(group_names)))}:
        raise InvalidOption(
            f"merge-rates: group_names={list(group_names)}: the groups are {present.tolist()}, and "
            "must be numbers of names, from 0"
        )
    names = [group_names[int(code)] if group_names else f"{code:g}" for code in present]
    of_names = UnitMeans.of_numbers(of_group, units, kin)
    of_unit, label = of_names.unit, of_names.label
    if len(names) < 2 or np.bincount(label).min() < FEWEST:
        undefined = Score(float("nan"), n=n, reason=f"fewer than two groups of {FEWEST} names")
        return {"merge_gap": undefined, "own_group_excess": undefined}
    x = unit_rows(documents)
    cosines = np.round(x @ x.T, 6)  # the batch size changes cosines by 2e-7
    same, alike = (np.equal.outer(numbers, numbers) for numbers in (originals, topics))
    of_kin = of_names.of_kin[of_unit]
    others = ~np.equal.outer(of_kin, of_kin)
    merged = _merged(cosines, same & others, of_unit, label, false_merges)
    different = _merged(cosines, ~same & alike & others, of_unit, label, false_merges)
    drawn = of_names.drawn(null_draws, rng)
    rates = merged.rates(label[None])[0]
    shared: dict[str, Any] = {
        "threshold": merged.threshold,
        "rates": dict(zip(names, rates.diagonal().tolist(), strict=True)),
        "between": float(merged.of_one_and_two(label[None])[1, 0]),
        "highest": names[int(rates.diagonal().argmax())],
    }

    def score(statistic: Callable[..., Floats], low: float, **more: Any) -> Score:
        value, null = float(statistic(label[None])[0]), statistic(drawn)
        interval = intervals.jackknife_interval(
            lambda counts: statistic(label[None], counts),
            [len(label)],
            rng=rng,
            resamples=resamples,
            confidence=confidence,
        )
        return Score(
            value,
            p_value=nulls.two_sided(value, null),
            interval=intervals.inside(interval, low, 1.0),
            n=len(label),
            null=Null(null, "groups of the names") if null_draws else None,
            details=shared,
            samples=[Samples("documents", None, {"group": of_group})],
            **more,
        )

    def gap(labels: Codes, counts: Floats | None = None) -> Floats:
        own = merged.rates(labels, counts).diagonal(axis1=1, axis2=2)
        gaps: Floats = np.ptp(own, axis=1)
        return gaps

    def excess(labels: Codes, counts: Floats | None = None) -> Floats:
        own, others = merged.of_one_and_two(labels, counts)
        excesses: Floats = own - others
        return excesses

    tables = {"rates": _table(names, rates, different.rates(label[None])[0])}
    return {
        "merge_gap": score(gap, 0.0, tables=tables),
        "own_group_excess": score(excess, -1.0),
    }


class _Merged(NamedTuple):
    """Pairs of documents by their units: (u, u) numbers that are merged, and of all that count."""

    merged: Floats
    pairs: Floats
    groups: int
    threshold: float

    def rates(self, labels: Codes, counts: Floats | None = None) -> Floats:
        """Return the (b, g, g) rates of two groups, by (b, u) labels and counts of the units."""
        weights = np.ones((1, labels.shape[1])) if counts is None else counts
        member = (labels[:, None] == np.arange(self.groups)[:, None]) * weights[:, None]
        across = member.transpose(0, 2, 1)
        with np.errstate(invalid="ignore"):
            rates: Floats = (member @ self.merged @ across) / (member @ self.pairs @ across)
        return rates

    def of_one_and_two(self, labels: Codes, counts: Floats | None = None) -> Floats:
        """Return the (2, b) rates of all pairs of one group, and of all pairs of two groups."""
        weights = np.ones((1, labels.shape[1])) if counts is None else counts
        member = (labels[:, None] == np.arange(self.groups)[:, None]) * weights[:, None]
        parts = []
        for values in (self.merged, self.pairs):
            own = ((member @ values) * member).sum(axis=(1, 2))
            parts.append(np.stack([own, ((weights @ values) * weights).sum(axis=1) - own]))
        with np.errstate(invalid="ignore"):
            rates: Floats = parts[0] / parts[1]
        return rates


def _merged(cosines: Floats, counted: Mask, of_unit: Codes, label: Codes, share: float) -> _Merged:
    """Return the pairs that count, of which the share with the highest cosines is merged."""
    values, groups = cosines[counted], int(label.max()) + 1
    if len(values) == 0:
        nothing = np.zeros((int(of_unit.max()) + 1,) * 2)
        return _Merged(nothing, nothing, groups, float("nan"))
    merged = np.zeros(cosines.shape)
    merged[counted] = top_share(values, share * len(values))
    member = np.equal.outer(np.arange(int(of_unit.max()) + 1), of_unit).astype(np.float64)
    return _Merged(
        member @ merged @ member.T,
        member @ counted @ member.T,
        groups,
        float(cosines[merged > 0].min()),
    )


def _table(names: Sequence[str], same: Floats, different: Floats) -> list[dict[str, Any]]:
    """Return a row for each two groups, the highest rate first."""
    rows = [
        {
            "group_1": names[a],
            "group_2": names[b],
            "same_text": float(same[a, b]),
            "different_texts": float(different[a, b]),
        }
        for a, b in itertools.combinations_with_replacement(range(len(names)), 2)
    ]
    return sorted(rows, key=lambda row: -float(row["same_text"]))
