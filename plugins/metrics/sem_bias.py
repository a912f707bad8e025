"""SemBias: the word pair, out of four, whose difference is most similar to he − she."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines, unit_rows
from harness.metrics import Contrast, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.concept_scores import DIRECTIONS, random_directions

KINDS = ("definition", "stereotype", "none")
SCORES = (*KINDS, "preference")
PAIRS = ("definition", "stereotype", "none_a", "none_b")
EQUAL = 1e-6  # cosines that differ by less are equal, such as those of neutralised words
Sides = Literal["both", "pairs"]
QUESTION = tuple(f"{pair}_{side}" for pair in PAIRS for side in (1, 2))


@metric(
    "sem-bias",
    scores={
        "definition": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of questions that choose the definitional pair, such as waiter, waitress",
        ),
        "stereotype": Scale(
            ideal="lower",
            bounds=(0, 1),
            help="share of questions that choose the stereotyped pair, such as doctor, nurse",
        ),
        "none": Scale(
            ideal="lower",
            bounds=(0, 1),
            help="share of questions that choose a pair without gender, such as dog, cat",
        ),
        "preference": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="share of pairs without gender that the stereotyped pair outdoes on he, she",
        ),
    },
    contrast=Contrast(
        sides=("stereotype_1", "stereotype_2"), towards=("direction_1", "direction_2")
    ),
    later_options=("null_draws",),
)
def sem_bias(
    direction_1: Reals,
    direction_2: Reals,
    definition_1: Reals,
    definition_2: Reals,
    stereotype_1: Reals,
    stereotype_2: Reals,
    none_a_1: Reals,
    none_a_2: Reals,
    none_b_1: Reals,
    none_b_2: Reals,
    *,
    unit_length: bool = True,
    sides: Sides = "both",
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Shares of the SemBias questions that choose each kind of pair.

    A question has four pairs (x, y): one differs in gender by definition, one by a stereotype,
    and two do not differ in gender. It chooses the pair with the largest cos(x − y, g), where
    g = he − she is the mean difference of the words that define the direction. A vector of length
    0 has cosine 0. Of equal cosines, the definitional pair is chosen first, then the stereotyped
    one.

    Random vectors choose the stereotyped pair in a quarter of the questions, and vectors with a
    stereotype in fewer, because the definitional pair wins. `preference` leaves it out: it is the
    share of comparisons in which cos(x − y, g) is greater for the stereotyped pair than for a pair
    without gender. Equal cosines count one half. Without bias it is 0.5.

    Parameters
    ----------
    direction_1, direction_2
        (k, d) vectors of `he` and `she`, or of several such pairs.
    definition_1, definition_2
        (n, d) vectors x and y of the definitional pairs, male side first.
    stereotype_1, stereotype_2
        (n, d) vectors of the stereotyped pairs, male side first.
    none_a_1, none_a_2, none_b_1, none_b_2
        (n, d) vectors of the two pairs without gender.
    unit_length
        Whether all vectors are set to length 1 first, so that long vectors have no more weight.
    sides
        What the floor and the p-value of `preference` replace by chance: `both` the sides of the
        stereotyped pairs and the direction g, or the `pairs` alone.
    null_draws
        Number of times that the sides of the stereotyped pairs are swapped at random, and of
        directions between two random words of the questions; 0 for neither floor nor p-value.
    confidence, resamples
        Level of the intervals over stereotyped pairs, and the most of these to leave out; g is
        fixed, so that an interval may exclude .5 where random directions do as well. Each
        stereotyped pair is in many questions, which are therefore not independent.
    rng
        Random number generator of the resamples and of the swapped sides.
    texts
        Words by input name, which identify the stereotyped pairs. Without them, single questions
        are resampled.

    Returns
    -------
    dict of Score
        `preference`, in [0, 1], fair at 0.5, with a two-sided p-value, the larger of two, as is the
        floor: with the sides of the stereotyped pairs swapped, and with random directions in place
        of g (details `p_pairs` and `p_direction`). `definition`, higher is
        better; `stereotype` and `none`, lower is better; each is in [0, 1] and their sum is 1.
        Samples: each question with the kind that is `chosen` and the cosine of each pair; it
        contributes 1 to the kind that it chooses.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Zhao et al. (2018), Learning gender-neutral word embeddings: the SemBias data and measure.
    """
    n = len(definition_1)
    if min(n, len(direction_1), len(direction_2)) == 0:
        reason = "there are no questions" if n == 0 else "no pair defines the direction"
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    scaled = unit_rows if unit_length else np.asarray
    g = (scaled(direction_1) - scaled(direction_2)).mean(axis=0)
    if not np.any(g):
        reason = "the two sides of the direction are equal"
        return {name: Score(float("nan"), n=n, reason=reason) for name in SCORES}
    pairs = (
        (definition_1, definition_2),
        (stereotype_1, stereotype_2),
        (none_a_1, none_a_2),
        (none_b_1, none_b_2),
    )
    cosines = np.stack(
        [paired_cosines(scaled(x) - scaled(y), np.tile(g, (n, 1))) for x, y in pairs]
    )
    first_largest = (cosines >= cosines.max(axis=0) - EQUAL).argmax(axis=0)
    chosen = np.minimum(first_largest, KINDS.index("none"))
    columns = {"chosen": [KINDS[code] for code in chosen]}
    columns |= {f"cosine_{name}": cosine for name, cosine in zip(PAIRS, cosines, strict=True)}
    pair_of = np.arange(n) if texts is None else _stereotypes(texts)
    scores = {}
    for code, kind in enumerate(KINDS):
        hits = (chosen == code).astype(np.float64)
        interval = intervals.jackknife_interval(
            partial(_share, hits),
            [n],
            rng=rng,
            clusters=[pair_of] if texts else None,
            resamples=resamples,
            confidence=confidence,
            bounds=(0, 1),
        )
        samples = [Samples(QUESTION, hits, columns)]
        scores[kind] = Score(float(hits.mean()), interval=interval, n=n, samples=samples)
    wins = _wins(cosines[1], cosines[2:])
    interval = intervals.jackknife_interval(
        partial(_share, wins),
        [n],
        rng=rng,
        clusters=[pair_of],
        resamples=resamples,
        confidence=confidence,
        bounds=(0, 1),
    )
    value = float(wins.mean())
    of_sides: dict[str, nulls.Shuffled] = {}
    if null_draws:
        stay = nulls.shuffled_sides(n, rng=rng, clusters=pair_of, draws=null_draws) > 0
        values = np.where(stay, wins, _wins(-cosines[1], cosines[2:])).mean(axis=1)
        of_sides["pairs"] = nulls.by_draws(value, values, nulls.SIDES, ideal=0.5)
    if null_draws and sides == "both":
        words = [(scaled(x), scaled(y)) for x, y in pairs[1:]]
        values = _along_random_directions(words, null_draws, rng)
        of_sides["direction"] = nulls.by_draws(value, values, DIRECTIONS, ideal=0.5)
    chance = nulls.Chance(of_sides, ideal=0.5)
    scores["preference"] = Score(
        value,
        p_value=chance.p_value,
        interval=interval,
        n=n,
        details=chance.p_values,
        samples=[Samples(QUESTION, wins, columns)],
        null=chance.null,
    )
    return scores


def _wins(stereotyped: Floats, others: Floats) -> Floats:
    """Return for (n, …) cosines the share of (2, n, …) others that each exceeds; a tie is ½."""
    leads = stereotyped - others
    wins: Floats = np.where(np.abs(leads) <= EQUAL, 0.5, leads > 0).mean(axis=0)
    return wins


def _along_random_directions(
    pairs: Sequence[tuple[Reals, Reals]], draws: int, rng: np.random.Generator
) -> Floats:
    """Return the preference for the first of three pairs along directions between random words."""
    words = np.vstack([side for pair in pairs for side in pair])
    directions = random_directions(words, rng=rng, draws=draws)
    if directions is None:
        return np.empty(0)
    differences = np.stack([unit_rows(np.asarray(x) - np.asarray(y)) for x, y in pairs])
    cosines = differences @ directions.vectors.T
    preferences: Floats = _wins(cosines[0], cosines[1:]).mean(axis=0)
    return preferences


def _stereotypes(texts: Mapping[str, Sequence[str]]) -> intervals.Codes:
    """Return the (n,) code of the stereotyped pair of each question."""
    pairs = zip(texts["stereotype_1"], texts["stereotype_2"], strict=True)
    codes: dict[tuple[str, str], int] = {}
    return np.array([codes.setdefault(pair, len(codes)) for pair in pairs])


def _share(hits: Floats, counts: Floats) -> Floats:
    share: Floats = (counts @ hits) / counts.sum(axis=1)
    return share
