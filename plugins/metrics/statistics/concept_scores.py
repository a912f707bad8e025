"""Scores along a concept's direction g, however it was found (Uriot 2024, equations 2 and 3).

The correlation of the attributes' projections with human labels, its null distribution of random
directions, and how well g separates the pairs. `concept_direction` and `concept_plane` find g.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Contrast
from harness.plugins.metrics.drawings import direction_figures
from harness.plugins.metrics.statistics import intervals
from harness.plugins.metrics.statistics.concept_nulls import (
    WORDS,
    Pool,
    held_out,
    shuffled_aucs,
    shuffled_correlations,
)
from harness.plugins.metrics.statistics.concept_search import Search
from harness.plugins.metrics.statistics.contributions import to_auc, to_pearson
from harness.plugins.metrics.statistics.nulls import SIDES, two_sided
from harness.plugins.metrics.statistics.pair_components import EQUAL_SIDES
from harness.plugins.metrics.statistics.partitions import TIE
from harness.plugins.metrics.statistics.weighted import pearson, spearman
from harness.scores import Interval, Null, Samples, Scale, Score

CONTRAST = Contrast(sides=("attributes",), towards=("pairs_1", "pairs_2"), labels="labels")
CHUNK = 1_000  # random directions projected at once
SCALES = {
    "correlation": Scale(
        ideal=0,
        bounds=(-1, 1),
        help="Pearson correlation of projections on the concept's direction and human labels",
    ),
    "auc": Scale(
        ideal="higher",
        bounds=(0.5, 1),
        help="separation of the pairs' sides by the direction; below 0.8 it is no concept",
    ),
}
"""The two scores of a direction."""


@dataclass(frozen=True)
class Direction:
    """The direction of a concept.

    Parameters
    ----------
    vector
        (d,) unit vector, from the first side of the pairs to the second.
    auc
        AUC of the projections of the two sides, in [0.5, 1].
    component
        Index of the right singular vector, from 0; of a plane the indices of its two.
    explained
        Share of the differences' sum of squares along the component or components, in [0, 1].
    other
        (d,) another direction, for the figure; zeros if there is none.
    details
        What else the scores say about it.
    """

    vector: Floats
    auc: float
    component: int | tuple[int, int]
    explained: float
    other: Floats
    details: Mapping[str, object] = field(default_factory=dict)

    def as_details(self) -> dict[str, object]:
        """Return the details of both scores."""
        return {"component": self.component, "explained": self.explained, **self.details}


@dataclass(frozen=True)
class Inputs:
    """The vectors of a task, in float64 and at the length of the metric's option.

    Parameters
    ----------
    x_1, x_2
        (n, d) vectors X_1 and X_2 of the pairs.
    a
        (m, d) vectors A of the attributes.
    y
        (m,) human labels.
    """

    x_1: Floats
    x_2: Floats
    a: Floats
    y: Floats

    @classmethod
    def of(
        cls, pairs_1: Reals, pairs_2: Reals, attributes: Reals, labels: Reals, *, unit_length: bool
    ) -> Inputs:
        """Return float64 inputs, with `unit_length` set to length 1."""
        x_1, x_2, a, y = (np.asarray(x, np.float64) for x in (pairs_1, pairs_2, attributes, labels))
        if unit_length:
            x_1, x_2, a = unit_rows(x_1), unit_rows(x_2), unit_rows(a)
        return cls(x_1, x_2, a, y)


def scores_along(
    g: Direction | None,
    inputs: Inputs,
    *,
    search: Search,
    projections: int,
    null_draws: int,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None,
    texts: Mapping[str, Sequence[str]] | None,
) -> dict[str, Score]:
    """Return the scores `correlation` and `auc` of a direction; options as in the metrics.

    They are undefined if g is None, because no pair differs. `search` is how g was found.
    """
    if g is None:
        undefined = Score(float("nan"), n=len(inputs.x_1), reason=EQUAL_SIDES)
        return {"correlation": undefined, "auc": undefined}
    x_1, x_2, a, y = inputs.x_1, inputs.x_2, inputs.a, inputs.y
    names = {
        name: (texts or {}).get(name) or [f"{name} {i}" for i in range(1, len(rows) + 1)]
        for name, rows in (("pairs_1", x_1), ("pairs_2", x_2), ("attributes", a))
    }
    pool = Pool.of(x_1, x_2, a)
    aucs = shuffled_aucs(pool, search, draws=null_draws, rng=rng)
    if "held_out" not in g.details:
        g = dataclasses.replace(g, details={**g.details, "held_out": held_out(pool, search)})
    area = _auc_score(g, aucs, x_1, x_2, (names["pairs_1"], names["pairs_2"]))
    a_g = a @ g.vector
    rho = float(pearson(a_g, y)[0]) if len(y) > 1 else float("nan")
    if np.isnan(rho):
        reason = "fewer than two attributes, or all labels or all projections are equal"
        return {"correlation": Score(rho, n=len(y), reason=reason), "auc": area}
    interval = intervals.jackknife_interval(
        partial(pearson, a_g, y),
        [len(y)],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["attributes"]),
        resamples=resamples,
        confidence=confidence,
        bounds=(-1, 1),
    )
    null = _null(a, y, projections, rng) if projections > 0 else None
    shuffled = shuffled_correlations(pool, search, y, draws=null_draws, rng=rng)
    correlation = _correlation_score(rho, interval, shuffled, null, g, a_g, y, names["attributes"])
    return {"correlation": correlation, "auc": area}


def _auc_score(
    g: Direction,
    shuffled: Floats,
    x_1: Floats,
    x_2: Floats,
    texts: tuple[Sequence[str], Sequence[str]],
) -> Score:
    """Return the score AUC; `shuffled` are those of swapped sides, of which it is the p-value."""
    plane = np.stack([g.vector, g.other], axis=1)
    first, second = x_1 @ plane, x_2 @ plane
    rows = zip(*texts, first[:, 0].tolist(), second[:, 0].tolist(), strict=True)
    columns = ("first", "second", "projection_1", "projection_2")
    details, p_value = g.as_details(), None
    if len(shuffled):
        hits = int(np.count_nonzero(shuffled >= g.auc - TIE))
        p_value = (hits + 1) / (len(shuffled) + 1)
        details |= {"alternative": "greater", "shuffled": SIDES, "floor": float(shuffled.mean())}
    return Score(
        g.auc,
        p_value=p_value,
        n=len(x_1),
        details=details,
        tables={"pairs": [dict(zip(columns, row, strict=True)) for row in rows]},
        figures={"separation": direction_figures.separation(first, second, texts, auc=g.auc)},
        samples=[
            Samples(
                ("pairs_1", "pairs_2"),
                np.mean(to_auc(second[:, 0], first[:, 0]), axis=0),
                {"projection_1": first[:, 0], "projection_2": second[:, 0]},
            )
        ],
    )


def _correlation_score(
    rho: float,
    interval: Interval | None,
    shuffled: Floats,
    null: Floats | None,
    g: Direction,
    a_g: Floats,
    y: Floats,
    texts: Sequence[str],
) -> Score:
    """Return the score ρ with its p-values, table and figures.

    `shuffled` are the correlations of words paired anew, `null` those of random directions.
    """
    details: dict[str, object] = {"spearman": float(spearman(a_g, y)[0]), **g.as_details()}
    figures = {"labels": direction_figures.against_labels(a_g, y, texts, correlation=rho)}
    if null is not None:
        hits = int(np.count_nonzero(np.abs(null) >= abs(rho) - 1e-12))
        isotropic = (hits + 1) / (len(null) + 1)
        details |= {"p_isotropic": isotropic, "null_spread": float(null.std())}
        figures["null"] = direction_figures.null_distribution(
            null, correlation=rho, p_value=isotropic
        )
    columns = ("text", "label", "projection")
    rows = zip(texts, y.tolist(), a_g.tolist(), strict=True)
    return Score(
        rho,
        p_value=two_sided(rho, shuffled),
        null=Null(shuffled, WORDS) if len(shuffled) else None,
        interval=interval,
        n=len(y),
        details=details,
        tables={"attributes": [dict(zip(columns, row, strict=True)) for row in rows]},
        figures=figures,
        samples=[Samples("attributes", to_pearson(a_g, y), {"label": y, "projection": a_g})],
    )


def _null(a: Floats, y: Floats, projections: int, rng: np.random.Generator) -> Floats:
    """Return the (projections,) correlations of equation 3: random directions with labels."""
    # With Aᵀ = QT, A r = Tᵀ (Qᵀ r), and Qᵀ r is as random as r in fewer dimensions.
    t = np.linalg.qr(a.T, mode="r")
    chunks = []
    for start in range(0, projections, CHUNK):
        r = rng.standard_normal((min(CHUNK, projections - start), len(t)))
        chunks.append(pearson(r @ t, y, np.ones((len(r), len(y)))))
    return np.concatenate(chunks)
