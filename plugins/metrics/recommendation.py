"""Recommendation by text: whether what is recommended changes with the group of a profile."""

from __future__ import annotations

from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, cosines, unit_rows
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Compares, Contrast, Gap, Gaps, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.exposure import NOISE, by_place, settled, shared
from .statistics.gaps import Units
from .statistics.group_gaps import own_less_others
from .statistics.slopes import slope_of

SCORES = ("share_gap", "change", "excess_change")
INPUTS = ("profiles_1", "profiles_2")


def recommendation_gap(
    items: Reals,
    statistics: Floats,
    profiles_1: Reals,
    profiles_2: Reals,
    item_codes: Floats | None = None,
    profile_codes: Floats | None = None,
    *,
    units: Units,
) -> Gaps:
    """Return the slope of a gap of cosines on a statistic of the items.

    With the items xᵢ and their statistic yᵢ, and the counterparts p and r of the first and of the
    second group::

        mᵢ = mean over j of cos(xᵢ, rⱼ) − cos(xᵢ, pⱼ)
        N = Σ (yᵢ − ȳ)(mᵢ − m̄) / Σ (yᵢ − ȳ)²
        D = mean cosine of profiles with the item of their own code − with those of others

    Items vary in N, and the profiles of each code together; codes vary in D. Without codes there is
    no yardstick.

    Parameters
    ----------
    items, profiles_1, profiles_2
        (n, d), (p, d) and (p, d) vectors.
    statistics
        (n,) statistic of each item, higher for the second group.
    item_codes, profile_codes
        (n,) and (p,) numbers: an item is a profile's own where they are equal.
    units
        The unit of each row, by input.
    """
    x, first, second = (unit_rows(array) for array in (items, profiles_1, profiles_2))
    codes = np.arange(len(first)) if profile_codes is None else np.asarray(profile_codes)
    of_codes = codes == np.unique(codes)[:, None]
    means = (of_codes / of_codes.sum(axis=1, keepdims=True)) @ (second - first)
    y = np.asarray(statistics, dtype=np.float64)
    frames = [f"profile {code:g}" for code in np.unique(codes)]
    gap = slope_of(np.asarray(x @ means.T), y, units["items"], frames)
    return Gaps(gap, _yardstick(x, (first + second) / 2, item_codes, profile_codes))


def _yardstick(
    items: Floats, profiles: Floats, item_codes: Floats | None, profile_codes: Floats | None
) -> Gap | None:
    """Return how much nearer profiles are to the items of their own code than to others."""
    if item_codes is None or profile_codes is None:
        return None
    shared = np.intersect1d(item_codes, profile_codes)
    if len(shared) == 0:
        return None
    of_items, of_profiles = np.isin(item_codes, shared), np.isin(profile_codes, shared)
    return own_less_others(
        items[of_items],
        profiles[of_profiles],
        np.searchsorted(shared, np.asarray(item_codes)[of_items]),
        np.searchsorted(shared, np.asarray(profile_codes)[of_profiles]),
        "code",
    )


@metric(
    "recommendation",
    scores={
        "share_gap": Scale(
            ideal=0, help="statistic of what the second group is recommended less the first's"
        ),
        "change": Scale(
            ideal=0, bounds=(0, 1), help="how much of what is recommended changes with the group"
        ),
        "excess_change": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="change with the group less the change with an irrelevant edit",
        ),
    },
    contrast=Contrast(sides=("items",), towards=INPUTS, labels="statistics"),
    gap=recommendation_gap,
    compares=Compares(("profiles_1", "profiles_2", "edited"), ("items",), ranks=True),
)
def recommendation(
    items: Reals,
    statistics: Floats,
    profiles_1: Reals,
    profiles_2: Reals,
    edited: Reals | None = None,
    item_codes: Floats | None = None,
    profile_codes: Floats | None = None,
    *,
    k: int = 10,
    persistence: float = 0.9,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Whether profiles that differ in a group only are recommended other items.

    Items, such as job advertisements, are ranked for each profile by cosine, and the first k are
    recommended. Row j of the profiles is one person, described as of the first and of the second
    group. With the places w of the first k, and X_t the number of items that the first t places of
    two rankings share, where items with equal vectors share their places::

        share_gap = mean over j of [mean y of the first k for rⱼ − for pⱼ]
        RBO = X_k/k · s^k + (1 − s)/s Σ_{t ≤ k} s^t X_t/t,  s the persistence
        change = 1 − mean over j of RBO(pⱼ, rⱼ)
        excess_change = change − (1 − mean over j of RBO(pⱼ, eⱼ))

    e is p with an edit that should not matter. Any edit moves some items, so `change` alone says
    nothing of a group. `share_gap` says in which direction the group moves them.

    Parameters
    ----------
    items
        (n, d) vectors.
    statistics
        (n,) statistic y of each item, such as the share of women in the occupation.
    profiles_1, profiles_2
        (p, d) vectors of the profiles, of the first and of the second group.
    edited
        (p, d) vectors of the first profiles with an irrelevant edit.
    item_codes, profile_codes
        (n,) and (p,) numbers: an item is a profile's own where they are equal, for the yardstick.
        Profiles of one number are left out and swapped together.
    k
        Number of recommended items.
    persistence
        s: how much of the weight of a place the next one has.
    null_draws
        Number of random assignments for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over profiles, and the most of these to leave out. The items are the
        same for all.
    rng
        Random number generator of the assignments.

    Returns
    -------
    dict of Score
        `share_gap`, in units of the statistic; fair is 0. Its floor is the larger of two: with the
        statistics of the items exchanged, and with the sides of each profile swapped at random;
        the p-value is the larger of both. `change`, in [0, 1], and `excess_change`, in [−1, 1],
        fair is 0; the floor of the latter swaps the counterpart and the edit of each profile.
        Without `edited` it is undefined. Details: `k`; `overlap`, the mean share of the first k
        that counterparts have in common, and `overlap_edited`; of `share_gap`, `group_1` and
        `group_2`, the mean statistics, and `all`, that of all items. Samples: each profile.

    Raises
    ------
    NotApplicable
        If inputs that belong together differ in length.
    InvalidOption
        If `k` is below 1, or `persistence` or `confidence` is not between 0 and 1.

    References
    ----------
    Webber, Moffat and Zobel (2010), A similarity measure for indefinite rankings, equation 32: the
    overlap of two rankings of the same length. Zhang, Bao, Zhang, Wang, Feng and He (2023), Is
    ChatGPT fair for recommendation?: what is recommended with and without a sensitive attribute.
    """
    p, n = len(profiles_1), len(items)
    if len(profiles_2) != p or (edited is not None and len(edited) != p) or len(statistics) != n:
        raise NotApplicable(
            "recommendation: profiles_1, profiles_2 and edited must have equal length, and so must "
            "items and statistics"
        )
    if k < 1:
        raise InvalidOption(f"recommendation: k={k}: must be at least 1")
    if not 0 < persistence < 1:
        raise InvalidOption(
            f"recommendation: persistence={persistence}: must be between 0 and 1, such as 0.9"
        )
    if p == 0 or n == 0:
        missing = "there are no profiles" if p == 0 else "there are no items"
        return dict.fromkeys(SCORES, Score(float("nan"), n=p, reason=missing))
    k = min(k, n)
    y = np.asarray(statistics, dtype=np.float64)
    (first, of_first), (second, of_second) = (
        _recommended(profiles, items, y, k) for profiles in (profiles_1, profiles_2)
    )
    units = None if profile_codes is None else np.unique(profile_codes, return_inverse=True)[1]
    interval = partial(
        intervals.jackknife_interval,
        sizes=[p],
        rng=rng,
        clusters=[units],
        resamples=resamples,
        confidence=confidence,
    )
    swaps = nulls.shuffled_sides(p, rng=rng, clusters=units, draws=null_draws) / p
    exchanged = rng.permuted(np.tile(y, (null_draws, 1)), axis=1)
    details: dict[str, float] = {"k": k, "overlap": float(_common(first, second)[-1].mean())}

    def score(
        values: Floats, bounds: tuple[float, float] | None, *floors: Null, **more: float
    ) -> Score:
        """Return the mean of a value of each profile, with the larger of the floors."""
        value = float(values.mean())
        p_values = [nulls.two_sided(value, null.values) for null in floors]
        return Score(
            value,
            p_value=max((chance for chance in p_values if chance is not None), default=None),
            null=nulls.larger_floor(*floors),
            n=p,
            interval=interval(
                lambda counts: counts @ values / counts.sum(axis=1),
                bounds=bounds,
            ),
            details=details | more,
            samples=[Samples(INPUTS, values, {})],
        )

    means_1, means_2 = of_first.mean(axis=1), of_second.mean(axis=1)
    gaps, changes = means_2 - means_1, 1 - overlap(first, second, persistence)
    excess = Score(float("nan"), n=p, reason="there is no input 'edited'")
    if edited is not None:
        other, _ = _recommended(edited, items, y, k)
        details["overlap_edited"] = float(_common(first, other)[-1].mean())
        excesses = changes - (1 - overlap(first, other, persistence))
        excess = score(excesses, (-1, 1), Null(swaps @ excesses, "counterparts and edits"))
    return {
        "share_gap": score(
            gaps,
            None,
            Null(swaps @ gaps, "sides of the profiles"),
            Null(exchanged @ (_shares(second) - _shares(first)), nulls.LABELS),
            group_1=float(means_1.mean()),
            group_2=float(means_2.mean()),
            all=float(y.mean()),
        ),
        "change": score(changes, (0, 1)),
        "excess_change": excess,
    }


def overlap(first: Floats, second: Floats, persistence: float) -> Floats:
    """Return the (p,) rank-biased overlaps of two rankings: 1 for equal rankings.

    A ranking is, (k, p, n), the part of each of n items in the first 1, …, k places of p rankings.
    """
    depths = np.arange(1, len(first) + 1)
    agreement = np.ascontiguousarray(_common(first, second).T)
    overlaps: Floats = (
        agreement[:, -1] * persistence ** len(first)
        + (1 - persistence) / persistence * agreement @ persistence**depths
    )
    return overlaps


def _recommended(profiles: Reals, items: Reals, y: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the (k, p, n) parts of items in the first 1, …, k places, and the (p, k) y by place.

    Items with equal similarities share their places.
    """
    similarities = settled(cosines(profiles, items))
    places = [by_place(row, NOISE) for row in similarities]
    of_places = np.stack([shared(y[order], ties)[:k] for order, ties in places])
    parts = np.empty((k, *similarities.shape))
    for row, (order, ties) in enumerate(places):
        for t in range(k):
            parts[t, row, order] = shared(np.arange(len(order)) <= t, ties)
    return parts, of_places


def _common(first: Floats, second: Floats) -> Floats:
    """Return the (k, p) shares of items that both rankings have in the first 1, …, k places."""
    common: Floats = np.minimum(first, second).sum(axis=-1) / np.arange(1, len(first) + 1)[:, None]
    return common


def _shares(recommended: Floats) -> Floats:
    """Return the (n,) shares of all recommendations that each item has."""
    shares: Floats = recommended[-1].sum(axis=0) / (len(recommended) * recommended.shape[1])
    return shares
