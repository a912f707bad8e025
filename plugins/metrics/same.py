"""SAME (Schröder et al.): mean cosine of words with the difference of the groups' means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import association, intervals, nulls

SCORES: dict[str, tuple[float, float]] = {
    "magnitude": (0, 1),
    "skew": (-1, 1),
    "stereotype": (0, 1),
}
"""Bounds by score."""
EQUAL = "the groups of attributes have the same mean: no direction lies between them"
SEVERAL = "defined for two groups of attributes only"
LEAST = 1e-9
"""Length of a difference of mean unit vectors that is only rounding."""


@metric(
    "same",
    scores={
        "magnitude": Scale(
            ideal=0,
            bounds=SCORES["magnitude"],
            help="mean over words of |cos| with the direction between the groups",
        ),
        "skew": Scale(
            ideal=0,
            bounds=SCORES["skew"],
            help="mean over words of cos with the direction: do all lean to one group?",
        ),
        "stereotype": Scale(
            ideal=0,
            bounds=SCORES["stereotype"],
            help="standard deviation of cos: do some lean to one group, some to the other?",
        ),
    },
    disjoint=(("attributes_1", "attributes_2"),),
    contrast=Contrast(sides=("targets_1", "targets_2"), towards=("attributes_1", "attributes_2")),
    later_options=("null_draws",),
)
def same(
    targets_1: Reals,
    attributes_1: Reals,
    attributes_2: Reals,
    targets_2: Reals | None = None,
    attributes_3: Reals | None = None,
    attributes_4: Reals | None = None,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    null_draws: int = nulls.DRAWS,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> dict[str, Score]:
    """Cosines of words with the direction between groups (SAME).

    b(t) = cos(t, m₁ − m₂), with the mean unit vectors m₁, m₂ of the groups A₁ and A₂.
    magnitude = mean over t in T of |b(t)|; skew = mean of b(t); stereotype = standard deviation of
    b(t), of the population. b(t) is WEAT's s(t, A₁, A₂) divided by ‖m₁ − m₂‖: it is 1 for a word
    that points from one group to the other, however near the groups are to each other. It asks
    whether words that should be neutral have a component of the groups at all; which words have
    which one, it does not ask.

    With more than two groups, |b(t)| is the length of the projection of t / ‖t‖ on the span of the
    differences m₁ − m_i. The order of the groups does not matter. The code of the authors adds the
    absolute components along a basis instead, which depends on the order of the groups; with two
    groups both are the same.

    Parameters
    ----------
    targets_1, targets_2
        (n, d) vectors of the words of T that should be neutral; the second set is optional.
    attributes_1, attributes_2, attributes_3, attributes_4
        (a, d) vectors of the groups; two or more.
    confidence, resamples
        Level of the intervals over targets and attributes, and the most items to leave out for
        one.
    null_draws
        Number of random divisions of the attributes into groups for the floor; 0 for no floor.
    rng
        Random number generator of the divisions.
    clusters
        Cluster codes by input name, (n,): items made from one word or template share a code.

    Returns
    -------
    dict of Score
        `magnitude` and `stereotype` in [0, 1], `skew` in [−1, 1]; fair is 0. Words of random
        direction have a magnitude of about √(2/(πd)), so read it above its floor: the same with the
        attributes divided into groups at random. Skew and stereotype are missing with more than two
        groups. `n` is |T|. Details: `groups`, the number of groups. Samples: each target with its
        `bias`, b(t) or |b(t)|. There is no p-value: the groups differ in any case.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Schröder, Schulz, Kenneweg, Feldhans, Hinder and Hammer (2021), Evaluating metrics for bias in
    word embeddings. Schröder, Schulz and Hammer (2024), The SAME score: improved cosine based
    measure for semantic bias. The form for two groups is that of their code,
    HammerLabML/EmbeddingBiasScores, `SAME`.
    """
    targets = {"targets_1": targets_1, "targets_2": targets_2}
    attributes = {
        "attributes_1": attributes_1,
        "attributes_2": attributes_2,
        "attributes_3": attributes_3,
        "attributes_4": attributes_4,
    }
    sets = {name: array for name, array in (targets | attributes).items() if array is not None}
    split = sum(name in sets for name in targets)
    n = sum(len(sets[name]) for name in targets if name in sets)
    if reason := association.empty(sets):
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    units = [unit_rows(array) for array in sets.values()]
    words, groups = np.vstack(units[:split]), units[split:]
    bias = _bias(words, [group.mean(axis=0, keepdims=True) for group in groups])
    if np.isnan(bias).any():
        missing = Score(float("nan"), n=n, reason=EQUAL, without_difference=0.0)
        return dict.fromkeys(SCORES, missing)
    codes = intervals.codes_of(clusters, list(sets))
    everything = np.ones((1, n))

    def of_resamples(name: str, *counts: Floats) -> Floats:
        means = [association.means(*drawn) for drawn in zip(counts[split:], groups, strict=True)]
        return _summary(name, _bias(words, means), np.hstack(counts[:split]))

    ends = {
        name: intervals.jackknife_interval(
            partial(of_resamples, name),
            [len(unit) for unit in units],
            rng=rng,
            clusters=codes,
            resamples=resamples,
            confidence=confidence,
            bounds=bounds,
        )
        for name, bounds in SCORES.items()
    }
    shuffled = _bias(words, _shuffled_means(groups, codes and codes[split:], null_draws, rng))
    scores = {
        name: Score(
            float(_summary(name, bias, everything)[0]),
            interval=ends[name],
            n=n,
            details={"groups": len(groups)},
            samples=partial(_samples, name, bias[0], list(sets)[:split], units[:split]),
            null=Null(_summary(name, shuffled, everything), nulls.ATTRIBUTES)
            if null_draws
            else None,
        )
        for name in SCORES
    }
    if len(groups) > 2:
        undefined = Score(float("nan"), n=n, reason=SEVERAL, details={"groups": len(groups)})
        scores |= {"skew": undefined, "stereotype": undefined}
    return scores


def _bias(words: Floats, means: Sequence[Floats]) -> Floats:
    """Return b(t), (b, n), of n words for each of b times the means of the groups, (b, d) each.

    With more than two groups it is |b(t)|. NaN where all groups have the same mean.
    """
    differences = np.stack([means[0] - mean for mean in means[1:]], axis=1)  # (b, k - 1, d)
    products = np.einsum("bkd,nd->bnk", differences, words)
    gram = differences @ differences.transpose(0, 2, 1)
    is_direction = np.trace(gram, axis1=1, axis2=2) > LEAST**2
    if len(means) == 2:
        bias = products[:, :, 0] / np.sqrt(np.where(is_direction, gram[:, 0, 0], 1.0))[:, None]
    else:  # the length of the projection on the span, whose basis need not be orthogonal
        inverse = np.linalg.pinv(gram, rcond=LEAST, hermitian=True)
        bias = np.sqrt(np.maximum(np.einsum("bnk,bkl,bnl->bn", products, inverse, products), 0))
    defined: Floats = np.where(is_direction[:, None], bias, np.nan)
    return defined


def _summary(name: str, bias: Floats, counts: Floats) -> Floats:
    """Return a score, (b,), of b times n words, each counted as often as `counts`, (b, n), says."""
    values = np.abs(bias) if name == "magnitude" else bias
    total = counts.sum(axis=1)
    mean: Floats = (counts * values).sum(axis=1) / total
    if name != "stereotype":
        return mean
    variance: Floats = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / total
    return np.sqrt(variance)


def _shuffled_means(
    groups: Sequence[Floats],
    clusters: Sequence[intervals.Codes | None] | None,
    draws: int,
    rng: np.random.Generator,
) -> list[Floats]:
    """Return the means of random groups, (draws, d) each, with as many clusters as the real ones.

    Two or more groups: `nulls.shuffled_members` has two sets.
    """
    codes = [None] * len(groups) if clusters is None else list(clusters)
    unit: list[intervals.Codes] = []
    labels: list[int] = []
    for i, (group, own) in enumerate(zip(groups, codes, strict=True)):
        distinct, member = np.unique(
            np.arange(len(group)) if own is None else own, return_inverse=True
        )
        unit.append(member + len(labels))
        labels += [i] * len(distinct)
    drawn = rng.permuted(np.tile(labels, (draws, 1)), axis=1)[:, np.concatenate(unit)]
    words = np.vstack(groups)
    return [association.means((drawn == i).astype(float), words) for i in range(len(groups))]


def _samples(
    name: str, bias: Floats, inputs: Sequence[str], sets: Sequence[Floats]
) -> list[Samples]:
    """Return the bias of each target; a standard deviation has no contributions."""
    ends = np.cumsum([len(words) for words in sets])[:-1]
    parts = np.split(bias, ends)
    contributions: Mapping[str, Sequence[Floats | None]] = {
        "magnitude": [np.abs(part) for part in parts],
        "skew": parts,
        "stereotype": [None] * len(parts),
    }
    return [
        Samples(input_, contribution, {"bias": part})
        for input_, contribution, part in zip(inputs, contributions[name], parts, strict=True)
    ]
