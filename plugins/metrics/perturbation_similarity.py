"""Name bias by perturbation: similarity of texts that differ only in their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Coordinates, Floats, Reals, cosine_bounds
from harness.metrics import Compares, Interval, Samples, Scale, Score, metric

from .statistics import intervals
from .statistics.choice_gaps import perturbation_gap
from .statistics.within_groups import (
    Groups,
    PairMeans,
    WithinGroups,
    group_rows,
    mean_between,
    within_groups,
)

EQUAL = 1e-6  # cosines that differ by less are equal
WITHOUT_VECTORS = "distances need vectors, not only similarities"


@metric(
    "perturbation-similarity",
    scores={
        "cosine": Scale(
            ideal=1,
            bounds=(-1, 1),
            help="mean cosine of two perturbations of one text",
            in_cosines=True,
        ),
        "distance": Scale(
            ideal=0, bounds=(0, None), help="mean Euclidean distance of two perturbations"
        ),
    },
    gap=perturbation_gap,
    compares=Compares(("perturbed",), ("perturbed",)),
)
def perturbation_similarity(
    perturbed: Reals,
    texts_of: Floats,
    *,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Mean cosine and distance between perturbations of one text, averaged over texts.

    A perturbation is the text with other names. For each text s, Sim(e_si, e_sj) is averaged over
    the pairs i < j of its perturbations; the score is the mean over texts. With K perturbations of
    every text it is the mean over all pairs, as in the paper's tables. (The paper's formula sums
    over i ≠ j and divides by K(K − 1)/2, which is twice the mean.) Distances are Euclidean, of the
    vectors as the model returns them.

    Perturbations of one text are not independent, so the standard error and the interval are
    those of a sample of texts. The paper treats pairs as independent; `standard_error_of_pairs`
    in the details reproduces that.

    A model that compares texts itself has no cosines. Its similarity of two perturbations counts
    relative to those of each with itself: the score is 1 less what the mean loses against these,
    which for cosines is the cosine. There is no distance then.

    A model whose cosines are all near 1 is not fairer. So the unit of `cosine` is 1 less the mean
    cosine of perturbations of different texts: other names that change a text as much as another
    plot does are 1 unit from fair. So are random vectors, whose cosine is about 0. There is no
    floor, since the fair value can be reached.

    Parameters
    ----------
    perturbed
        (n, d) vectors of perturbed texts.
    texts_of
        (n,) number of the text that each row is a perturbation of.
    confidence, resamples
        Level of the intervals over texts, and the most of these to leave out.
    rng
        Random number generator of the resamples.

    Returns
    -------
    dict of Score
        `cosine`, in [−1, 1], fair is 1; `distance`, at least 0, in the unit of the vectors, fair
        is 0. `n` is the number of texts. Details: `standard_error`, over texts;
        `standard_error_of_pairs`; `pairs`, their number; `left_out`, the number of texts with
        fewer than two perturbations; of `cosine`, `between`, the mean cosine of perturbations of
        different texts, None for one text. Table `texts` of `cosine`: the means of each text.
        Samples: each text, by its first perturbation, with its number `text_of`; it contributes its
        mean. There is no p-value.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 3.1,
    tables 3, 4, 10, 11, 13-15 (cosine) and 19 (distance), figures 1-4.
    """
    e = perturbed.astype(np.float64)
    groups = group_rows(texts_of)
    if not np.any(groups.sizes > 1):
        undefined = Score(float("nan"), n=0, reason="no text has two perturbations")
        return {"cosine": undefined, "distance": undefined}
    pairs = within_groups(e, groups)
    interval = partial(
        intervals.jackknife_interval, rng=rng, resamples=resamples, confidence=confidence
    )
    left_out = len(groups.codes) - len(pairs.groups)
    first_rows = groups.rows[groups.starts[pairs.groups]]
    columns = {"text_of": groups.codes[pairs.groups], "perturbations": groups.sizes[pairs.groups]}

    def score(similarity: PairMeans, bounds: tuple[float, float] | None = None) -> Score:
        samples = [Samples("perturbed", similarity.means, columns, first_rows)]
        return dataclasses.replace(_score(similarity, interval, left_out, bounds), samples=samples)

    cosine = score(pairs.cosine, cosine_bounds(e, (-1, 1)))
    between = mean_between(e, groups)
    cosine = dataclasses.replace(
        cosine,
        unit=1 - between if between is not None and between < 1 - EQUAL else None,
        details={**cosine.details, "between": between},
        tables={"texts": _table(groups, pairs)},
    )
    if isinstance(perturbed, Coordinates):
        return {"cosine": cosine, "distance": Score(float("nan"), n=0, reason=WITHOUT_VECTORS)}
    return {"cosine": cosine, "distance": score(pairs.distance)}


def _score(
    similarity: PairMeans,
    interval_of: Callable[..., Interval | None],
    left_out: int,
    bounds: tuple[float, float] | None,
) -> Score:
    """Return the mean over texts with its interval and standard errors."""
    means = similarity.means
    interval = interval_of(
        lambda counts: counts @ means / counts.sum(axis=1), [len(means)], bounds=bounds
    )
    if interval is not None:
        interval = dataclasses.replace(interval, method=interval.method.replace("items", "texts"))
    return Score(
        float(means.mean()),
        interval=interval,
        n=len(means),
        details={
            "standard_error": similarity.standard_error,
            "standard_error_of_pairs": similarity.standard_error_of_pairs,
            "pairs": similarity.pairs,
            "left_out": left_out,
        },
    )


def _table(groups: Groups, pairs: WithinGroups) -> list[dict[str, Any]]:
    """Return the number of perturbations and the means of each text."""
    return [
        {
            "text": float(code),
            "perturbations": int(k),
            "cosine": cosine,
            "distance": None if np.isnan(distance) else distance,
        }
        for code, k, cosine, distance in zip(
            groups.codes[pairs.groups],
            groups.sizes[pairs.groups],
            pairs.cosine.means.tolist(),
            pairs.distance.means.tolist(),
            strict=True,
        )
    ]
