"""Agreement of two sets of pairs on one direction (Dolci et al. 2023, figures 2 and 7a)."""

from __future__ import annotations

import numpy as np

from harness.arrays import Floats, Reals
from harness.metrics import Samples, Scale, Score, metric

from .statistics.concept_scores import (
    EQUAL_SIDES,
    Components,
    pair_components,
    unit_differences,
)

TOP = 10
"""Components in the details."""


@metric(
    "direction-agreement",
    scores={
        "cosine": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="|cosine| of the first components of two sets of pairs; low: no common concept",
        ),
        "explained": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the pairs' differences along one direction",
        ),
        "explained_other": Scale(ideal="higher", bounds=(0, 1), help="the same of the other pairs"),
    },
)
def direction_agreement(
    pairs_1: Reals, pairs_2: Reals, other_1: Reals, other_2: Reals
) -> dict[str, Score]:
    """|cosine| of the directions that two sets of pairs of one concept define.

    The direction of a set is the first principal component of its differences, which are set to
    length 1 and not centred (`pair_components`). A component has no sign of its own, so the
    absolute value counts. If the sets share pairs, they agree the more.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors of the pairs.
    other_1, other_2
        (m, d) vectors of the other pairs.

    Returns
    -------
    dict of Score
        `cosine`, in [0, 1], higher is better; random directions have about √(2/(πd)). `explained`
        and `explained_other`, in [0, 1]: the share of the differences along the first component.
        Details: `components` and `other_components`, the shares of the top ten. Samples:
        each pair; of `cosine` with the `cosine` of its difference and the direction of the other
        set. There is no p-value and no interval.

    References
    ----------
    Dolci, Azzalini and Tanelli (2023), Improving gender-related fairness in sentence encoders,
    section 3.2, figure 2, and section 6, figure 7a.
    """
    own, other = pair_components(pairs_1, pairs_2), pair_components(other_1, other_2)
    if own is None or other is None:
        undefined = Score(float("nan"), n=len(pairs_1), reason=EQUAL_SIDES)
        return {"cosine": undefined, "explained": undefined, "explained_other": undefined}
    tops = {"components": _top(own), "other_components": _top(other)}
    of_pairs = ("pairs_1", "pairs_2"), unit_differences(pairs_1, pairs_2)
    of_others = ("other_1", "other_2"), unit_differences(other_1, other_2)
    return {
        "cosine": Score(
            min(1.0, abs(float(own.vectors[0] @ other.vectors[0]))),
            n=len(pairs_1) + len(other_1),
            details=tops,
            samples=[
                Samples(of_pairs[0], None, {"cosine": _along(of_pairs[1], other)}),
                Samples(of_others[0], None, {"cosine": _along(of_others[1], own)}),
            ],
        ),
        "explained": Score(
            tops["components"][0],
            n=len(pairs_1),
            samples=[Samples(of_pairs[0], _along(of_pairs[1], own) ** 2)],
        ),
        "explained_other": Score(
            tops["other_components"][0],
            n=len(other_1),
            samples=[Samples(of_others[0], _along(of_others[1], other) ** 2)],
        ),
    }


def _top(components: Components) -> list[float]:
    shares: list[float] = components.explained[:TOP].tolist()
    return shares


def _along(differences: Floats, components: Components) -> Floats:
    """Return the (n,) cosines of differences with the first component; NaN for zeros."""
    return np.where(differences.any(axis=1), differences @ components.vectors[0], np.nan)
