"""SemBias: which of four pairs of words differs most as `he` differs from `she`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, paired_cosines, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap

KINDS = ("definition", "stereotype", "none")


@metric(
    "sem-bias",
    scores={
        "definition": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of questions whose definitional pair, as waiter and waitress, is nearest",
        ),
        "stereotype": Scale(
            ideal="lower",
            bounds=(0, 1),
            help="share of questions whose stereotyped pair, as doctor and nurse, is nearest",
        ),
        "none": Scale(
            ideal="lower",
            bounds=(0, 1),
            help="share of questions in which a pair without gender, as dog and cat, is nearest",
        ),
    },
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
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Share of questions in which each kind of pair has the largest cos(x − y, g).

    g is he − she: the mean difference of the words that define the direction. A vector of length
    0 has cosine 0; of equal cosines the definitional pair comes first, then the stereotyped one.

    Parameters
    ----------
    direction_1, direction_2
        (k, d) vectors, `he` and `she`, or more such pairs.
    definition_1, definition_2
        (n, d) vectors x and y of the pairs that differ in gender by definition, male side first.
    stereotype_1, stereotype_2
        (n, d) those of the pairs that differ in a stereotype.
    none_a_1, none_a_2, none_b_1, none_b_2
        (n, d) those of the two pairs that have nothing to do with gender.
    unit_length
        Whether to set all vectors to length 1 first, so that no word weighs more for its length.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over stereotyped pairs: each stands
        in many questions, which are no independent evidence.
    rng
        Source of the draws.
    texts
        The words of each input, by which stereotyped pairs are told apart; without them each
        question is drawn on its own.

    Returns
    -------
    dict of Score
        `definition`, `stereotype` and `none`, in [0, 1]; they add up to 1.

    References
    ----------
    Zhao et al. (2018), Learning gender-neutral word embeddings.
    """
    n = len(definition_1)
    if n == 0 or len(direction_1) == 0:
        reason = "no question is left" if n == 0 else "no pair defines the direction"
        return {kind: Score(float("nan"), n=n, reason=reason) for kind in KINDS}
    scaled = unit_rows if unit_length else np.asarray
    g = (scaled(direction_1) - scaled(direction_2)).mean(axis=0)
    if not np.any(g):
        reason = "the two sides of the direction are equal"
        return {kind: Score(float("nan"), n=n, reason=reason) for kind in KINDS}
    pairs = (
        (definition_1, definition_2),
        (stereotype_1, stereotype_2),
        (none_a_1, none_a_2),
        (none_b_1, none_b_2),
    )
    cosines = np.stack(
        [paired_cosines(scaled(x) - scaled(y), np.tile(g, (n, 1))) for x, y in pairs]
    )
    chosen = np.minimum(cosines.argmax(axis=0), KINDS.index("none"))
    scores = {}
    for code, kind in enumerate(KINDS):
        hits = (chosen == code).astype(np.float64)
        interval = bootstrap.percentile_interval(
            partial(_share, hits),
            [n],
            rng=rng,
            clusters=[_stereotypes(texts)] if texts else None,
            resamples=resamples,
            confidence=confidence,
        )
        scores[kind] = Score(float(hits.mean()), interval=interval, n=n)
    return scores


def _stereotypes(texts: Mapping[str, Sequence[str]]) -> bootstrap.Codes:
    pairs = zip(texts["stereotype_1"], texts["stereotype_2"], strict=True)
    codes: dict[tuple[str, str], int] = {}
    return np.array([codes.setdefault(pair, len(codes)) for pair in pairs])


def _share(hits: Floats, counts: Floats) -> Floats:
    share: Floats = (counts @ hits) / counts.sum(axis=1)
    return share
