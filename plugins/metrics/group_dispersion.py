"""Dispersion of groups: how far sentences about different groups differ in pleasantness."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from harness.arrays import Floats, Reals, cosine_bounds, unit_rows
from harness.metrics import Compares, Contrast, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.group_gaps import dispersion_gap
from .statistics.intervals import Codes

FEWEST = 3  # groups whose standard deviation says something
GROUPS = "groups of the sentences of a frame"
Sides = Literal["both", "groups"]
EQUAL = 1e-6  # pleasantness that differs by less is equal: the batch size changes cosines by 2e-7


@metric(
    "group-dispersion",
    scores={
        "dispersion": Scale(
            ideal=0,
            bounds=(0, 4),
            in_cosines=True,
            help="standard deviation of the groups' mean pleasantness, in cosines",
        ),
        "share": Scale(
            ideal=0,
            bounds=(0, 1),
            help="share of the variance of pleasantness in a frame that is between groups",
        ),
    },
    contrast=Contrast(
        sides=("sentences",),
        towards=("pleasant", "unpleasant"),
        labels="groups",
        categorical=True,
    ),
    gap=dispersion_gap,
    compares=Compares(("sentences",), ("pleasant", "unpleasant")),
)
def group_dispersion(
    sentences: Reals,
    groups: Floats,
    frames: Floats,
    pleasant: Reals,
    unpleasant: Reals,
    *,
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Dispersion over groups of the pleasantness of sentences that name a group.

    The pleasantness of a sentence x is its association as in WEAT,
    s(x) = mean cos(x, a) over pleasant a − mean cos(x, b) over unpleasant b. Every group stands in
    the same frames (a sentence template with a noun). What a frame does to all groups is taken
    out: r(x) = s(x) − mean of s over the frame of x. With r̄_g, the mean of r over group g::

        dispersion = √( Σ_g (r̄_g − mean of r̄)² / (G − 1) ),  G groups
        share = Σ_g n_g r̄_g² / Σ_x r(x)²

    The mean over sentences leaves 1/n_g of the variance within a group in the dispersion, so it is
    not 0 where groups do not differ; the floor says what it is there.

    Parameters
    ----------
    sentences
        (n, d) vectors.
    groups
        (n,) number of the group that each sentence names.
    frames
        (n,) number of the frame of each sentence.
    pleasant, unpleasant
        (p, d) and (u, d) vectors of words.
    sides
        What the floors and the p-values assign at random: `both` the groups of the sentences and
        the words to the pleasant and the unpleasant ones, or the `groups` alone.
    null_draws
        Number of random assignments for the floor and the p-value; 0 for none.
    confidence, resamples
        Level of the intervals over groups, and the most of these to leave out. The words stay.
    rng
        Random number generator of the assignments.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `dispersion`, in [0, 4], in cosines; fair is 0; its unit is the standard deviation of all
        cosines of sentences and words. `share`, in [0, 1], its magnitude left out: η² of a one-way
        analysis of variance within frames. The floors exchange the groups of the sentences of a
        frame at random, and the p-values are one-sided: the share of these with at least the
        value. Both are the larger of two, with the words assigned to the pleasant and unpleasant
        ones at random, too: groups differ along any direction between two sets of words, and the
        first alone finds that. At least three groups are needed, and a frame with two of them.
        Details: `groups` and `frames`, their numbers; `p_groups` and `p_attributes`, the two
        p-values. Table `groups` of `dispersion`: r̄ of each group with its first
        sentence. Samples: each sentence with its `pleasantness` and `group`.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Smith, Hall, Kambadur, Presani and Williams (2022), "I'm sorry to hear that": finding new
    biases in language models with a holistic descriptor dataset (its bias is the difference in
    likelihood between descriptors of an axis). Caliskan, Bryson and Narayanan (2017), equation of
    s(w, A, B).
    """
    codes = [np.unique(numbers, return_inverse=True)[1] for numbers in (groups, frames)]
    of_group, of_frame = codes
    n, (number, number_of_frames) = len(of_group), (len(np.unique(c)) for c in codes)
    if number < FEWEST or len(np.unique(np.stack(codes), axis=1).T) == number_of_frames:
        reason = f"fewer than {FEWEST} groups" if number < FEWEST else "no frame has two groups"
        undefined = Score(float("nan"), n=n, reason=reason)
        return {"dispersion": undefined, "share": undefined}
    x, a, b = (unit_rows(vectors) for vectors in (sentences, pleasant, unpleasant))
    cosines = x @ np.vstack([a, b]).T
    s = cosines @ np.repeat([1 / len(a), -1 / len(b)], [len(a), len(b)])
    r = _residuals(s, of_frame)
    statistics = {"dispersion": _dispersion, "share": _share}
    order = nulls.exchanged_within(of_frame, rng=rng, draws=null_draws)
    is_pleasant = nulls.shuffled_members((len(a), len(b)), rng=rng, draws=null_draws)
    of_random = np.where(is_pleasant, 1 / len(a), -1 / len(b)) @ cosines.T
    of_random -= _means(of_random, of_frame)[:, of_frame]
    of_dispersion = cosine_bounds(sentences, (0.0, 4.0)) or (0.0, np.inf)
    details = {"groups": number, "frames": number_of_frames}
    scores = {}
    for name, statistic in statistics.items():
        value = float(statistic(r[None], of_group)[0])
        of_sides: dict[str, nulls.Shuffled] = {}
        if null_draws:
            of_sides["groups"] = nulls.by_draws(value, statistic(r[order], of_group), GROUPS)
        if null_draws and sides == "both":
            of_sides["attributes"] = nulls.by_draws(
                value, statistic(of_random, of_group), nulls.ATTRIBUTES
            )
        chance = nulls.Chance(of_sides)
        scores[name] = Score(
            value,
            p_value=chance.p_value,
            interval=intervals.inside(
                intervals.jackknife_interval(
                    partial(_without_groups, statistic, s, of_group, of_frame),
                    [n],
                    rng=rng,
                    clusters=[of_group],
                    resamples=resamples,
                    confidence=confidence,
                ),
                *((0.0, 1.0) if name == "share" else of_dispersion),
            ),
            n=n,
            null=chance.null,
            details=details | chance.p_values,
            samples=[Samples("sentences", None, {"pleasantness": s, "group": of_group})],
        )
    spread = float(cosines.std())
    scores["dispersion"] = dataclasses.replace(
        scores["dispersion"],
        unit=spread if spread > 0 else None,
        tables={"groups": _table(texts, r, of_group)},
    )
    return scores


def _means(values: Floats, codes: Codes) -> Floats:
    """Return the (b, c) means of (b, n) values over the items of each of c codes."""
    member = codes == np.arange(int(codes.max()) + 1)[:, None]
    means: Floats = values @ member.T / member.sum(axis=1)
    return means


def _residuals(s: Floats, of_frame: Codes) -> Floats:
    """Return (n,) values less the mean of their frame; zeros if all are that mean."""
    r: Floats = s - _means(s[None], of_frame)[0, of_frame]
    return r if np.abs(r).max() >= EQUAL else np.zeros_like(r)


def _dispersion(r: Floats, of_group: Codes) -> Floats:
    deviations: Floats = _means(r, of_group).std(axis=1, ddof=1)
    return deviations


def _share(r: Floats, of_group: Codes) -> Floats:
    between = _means(r, of_group) ** 2 @ np.bincount(of_group)
    total = (r**2).sum(axis=1)
    share: Floats = np.where(total > 0, between / np.where(total > 0, total, 1.0), 0.0)
    return np.minimum(share, 1.0)


def _without_groups(
    statistic: Any, s: Floats, of_group: Codes, of_frame: Codes, counts: Floats
) -> Floats:
    """Return the (b,) statistic of the sentences that count, (b, n), a whole group in or out."""
    values = []
    for kept in counts > 0:
        group, frame = (
            np.unique(codes[kept], return_inverse=True)[1] for codes in (of_group, of_frame)
        )
        values.append(statistic(_residuals(s[kept], frame)[None], group)[0])
    return np.array(values)


def _table(
    texts: Mapping[str, Sequence[str]] | None, r: Floats, of_group: Codes
) -> list[dict[str, Any]]:
    """Return a row for each group, the most pleasant first."""
    means = _means(r[None], of_group)[0]
    firsts = np.unique(of_group, return_index=True)[1]
    return [
        {
            "group": int(group) + 1,
            "sentence": texts["sentences"][firsts[group]] if texts else "",
            "pleasantness": float(means[group]),
        }
        for group in np.argsort(-means, kind="stable")
    ]
