"""Geometric bias along a concept's direction (Uriot 2024, section 2.1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import metric
from harness.plugins.metrics.drawings import direction_figures
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.contributions import to_auc, to_pearson
from harness.plugins.metrics.statistics.pair_components import EQUAL_SIDES, components_of
from harness.plugins.metrics.statistics.weighted import auc, pearson, spearman
from harness.scores import Interval, Samples, Scale, Score

CHUNK = 1_000  # random directions projected at once


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
        Index of the right singular vector, from 0.
    explained
        Share of the differences' sum of squares along the direction, in [0, 1].
    other
        (d,) the other component that explains most, for the figure; zeros if there is none.
    """

    vector: Floats
    auc: float
    component: int
    explained: float
    other: Floats


@metric(
    "concept-direction",
    scores={
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
    },
)
def concept_direction(
    pairs_1: Reals,
    pairs_2: Reals,
    attributes: Reals,
    labels: Floats,
    *,
    unit_length: bool = True,
    projections: int = 10_000,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Correlation of the attributes' projections on a concept's direction with human labels.

    The direction g is one of the right singular vectors of ΔX = X_2 − X_1, which is not centred:
    its mean is the concept itself. g is the one with the highest AUC up to sign, max(a, 1 − a)
    (equation 1). Singular vectors have no sign of their own, so g is turned towards the second
    side.

    The score is ρ = corr(y, A g) (equation 2), Pearson's correlation. It is positive if attributes
    with high labels lie towards the second side. Its p-value (equation 3) is the share of random
    directions r ~ N(0, I_d) with |corr(y, A r)| ≥ |ρ|, as (hits + 1)/(projections + 1). The null
    distribution uses the attributes' embeddings, because correlated attributes make it wider than
    that of independent numbers.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors X_1 and X_2 of the definitional pairs, the group that is discriminated
        against first.
    attributes
        (m, d) vectors A.
    labels
        (m,) human labels y, low for the first side and high for the second, in any unit.
    unit_length
        Whether all vectors are set to length 1 first, as those of the paper's sentence encoders
        are. Otherwise words with long vectors, the rare ones, have more weight.
    projections
        Number of random directions; 0 for no p-value.
    confidence, resamples
        Level and number of resamples of the percentile bootstrap interval over attributes; g is
        fixed.
    rng
        Random number generator of the resamples and random directions.
    clusters
        Cluster codes by input name, (m,): items made from one word or template share a code.
    texts
        Texts by input name, for tables and figures.

    Returns
    -------
    dict of Score
        `correlation`, in [−1, 1], fair is 0. Details: `spearman`; `component`, the index of g;
        `explained`, the share of ΔX along g; `null_spread`, the standard deviation over random
        directions. Table `attributes`; figures `labels` and `null` (figure 5). `auc`, in
        [0.5, 1], higher is better: below 0.8 the pairs define no concept. Details `component`
        and `explained`, table `pairs` and figure `separation` (figures 3 and 4). It has no
        p-value and no interval. Samples: each attribute with its `label` and `projection`, and
        each pair with its projections.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, equations 1 to 3.
    """
    x_1, x_2, a, y = (np.asarray(x, np.float64) for x in (pairs_1, pairs_2, attributes, labels))
    if unit_length:
        x_1, x_2, a = unit_rows(x_1), unit_rows(x_2), unit_rows(a)
    g = find_direction(x_1, x_2)
    if g is None:
        undefined = Score(float("nan"), n=len(x_1), reason=EQUAL_SIDES)
        return {"correlation": undefined, "auc": undefined}
    names = {
        name: (texts or {}).get(name) or [f"{name} {i}" for i in range(1, len(rows) + 1)]
        for name, rows in (("pairs_1", x_1), ("pairs_2", x_2), ("attributes", a))
    }
    area = _auc_score(g, x_1, x_2, (names["pairs_1"], names["pairs_2"]))
    a_g = a @ g.vector
    rho = float(pearson(a_g, y)[0]) if len(y) > 1 else float("nan")
    if np.isnan(rho):
        reason = "fewer than two attributes, or all labels or all projections are equal"
        return {"correlation": Score(rho, n=len(y), reason=reason), "auc": area}
    interval = bootstrap.percentile_interval(
        partial(pearson, a_g, y),
        [len(y)],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["attributes"]),
        resamples=resamples,
        confidence=confidence,
    )
    null = _null(a, y, projections, rng) if projections > 0 else None
    correlation = _correlation_score(rho, interval, null, g, a_g, y, names["attributes"])
    return {"correlation": correlation, "auc": area}


def find_direction(x_1: Floats, x_2: Floats) -> Direction | None:
    """Return g of equation 1 for (n, d) pairs; None if no pair differs."""
    components = components_of(x_2 - x_1)
    if components is None:
        return None
    aucs = np.array([auc(x_2 @ b, x_1 @ b)[0] for b in components.vectors])
    best = int(np.argmax(np.maximum(aucs, 1 - aucs)))
    vector = components.vectors[best]
    others = [b for i, b in enumerate(components.vectors) if i != best]
    return Direction(
        vector=-vector if aucs[best] < 0.5 else vector,
        auc=float(max(aucs[best], 1 - aucs[best])),
        component=best,
        explained=float(components.explained[best]),
        other=others[0] if others else np.zeros_like(vector),
    )


def _auc_score(
    g: Direction, x_1: Floats, x_2: Floats, texts: tuple[Sequence[str], Sequence[str]]
) -> Score:
    plane = np.stack([g.vector, g.other], axis=1)
    first, second = x_1 @ plane, x_2 @ plane
    rows = zip(*texts, first[:, 0].tolist(), second[:, 0].tolist(), strict=True)
    columns = ("first", "second", "projection_1", "projection_2")
    return Score(
        g.auc,
        n=len(x_1),
        details={"component": g.component, "explained": g.explained},
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
    null: Floats | None,
    g: Direction,
    a_g: Floats,
    y: Floats,
    texts: Sequence[str],
) -> Score:
    """Return the score ρ with its p-value, table and figures; `null` as from `_null`."""
    p_value = None
    details = {
        "spearman": float(spearman(a_g, y)[0]),
        "component": g.component,
        "explained": g.explained,
    }
    figures = {"labels": direction_figures.against_labels(a_g, y, texts, correlation=rho)}
    if null is not None:
        hits = int(np.count_nonzero(np.abs(null) >= abs(rho) - 1e-12))
        p_value = (hits + 1) / (len(null) + 1)
        details["null_spread"] = float(null.std())
        figures["null"] = direction_figures.null_distribution(
            null, correlation=rho, p_value=p_value
        )
    columns = ("text", "label", "projection")
    rows = zip(texts, y.tolist(), a_g.tolist(), strict=True)
    return Score(
        rho,
        p_value=p_value,
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
