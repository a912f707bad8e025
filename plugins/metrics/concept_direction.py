"""The geometric bias of the context-injection paper (Uriot 2024, section 2.1.1).

A concept's direction is found from pairs of words; attributes' places along it are compared with
how biased people say they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.drawings import direction_figures
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.pair_components import components_of
from harness.plugins.metrics.statistics.weighted import auc, pearson, spearman

CHUNK = 1_000  # random directions projected at once


@dataclass(frozen=True)
class Direction:
    """The direction of a concept.

    Parameters
    ----------
    vector
        (d,) of length 1, from the first side of the pairs to the second.
    auc
        How well it tells the sides apart, in [0.5, 1].
    component
        Which right singular vector it is, from 0.
    explained
        Share of the differences' sum of squares along it, in [0, 1].
    other
        (d,) the component that explains most beside it, only to draw; zeros where there is none.
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
            help="Pearson, between people's labels and the projections on the concept's direction",
        ),
        "auc": Scale(
            ideal="higher",
            bounds=(0.5, 1),
            help="how well the direction tells the pairs' sides apart; below 0.8 it is no concept",
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
    """Correlation of attributes' projections on a concept's direction with people's labels.

    ΔX = X_2 − X_1 is decomposed as it is: centring it would remove the concept itself. Of its
    right singular vectors g is the one with the highest AUC up to sign, max(a, 1 − a)
    (equation 1), turned so that the second side projects higher: singular vectors have no sign of
    their own. ρ = corr(y, A g) (equation 2); fair is 0, positive where high labels lie towards the
    second side. p (equation 3) is the share of random directions r, drawn from N(0, I_d), with
    |corr(y, A r)| ≥ |ρ|, as (hits + 1)/(draws + 1): projected through the attributes'
    embeddings, since correlated attributes make the null wider than that of random numbers.

    Parameters
    ----------
    pairs_1, pairs_2
        (n, d) vectors X_1 and X_2 of pairs that differ in the concept alone, the group that is
        discriminated against first.
    attributes
        (m, d) vectors A.
    labels
        (m,) y, people's ratings: low for the first side, high for the second.
    unit_length
        Whether to set all vectors to length 1 first, as the paper's sentence encoders do; if not,
        words with long vectors, the rare ones, weigh more.
    projections
        Number of random directions.
    confidence, resamples
        Level and number of draws of the bootstrap interval over attributes, g being given.
    rng
        Source of the draws.
    clusters
        By input, the (m,) codes of items made of one word or template.
    texts
        By input, the texts, for tables and figures.

    Returns
    -------
    dict of Score
        `correlation`, with details `spearman`, `component`, `explained` and `null_spread`, the
        standard deviation over random directions, a table `attributes` and the figures `labels`
        and `null` (figure 5); `auc`, with a table `pairs` and the figure `separation` (figures 3
        and 4).

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection,
    equations 1–3.
    """
    x_1, x_2, a, y = (np.asarray(x, np.float64) for x in (pairs_1, pairs_2, attributes, labels))
    if unit_length:
        x_1, x_2, a = unit_rows(x_1), unit_rows(x_2), unit_rows(a)
    g = find_direction(x_1, x_2)
    if g is None:
        undefined = Score(float("nan"), n=len(x_1), reason="the two sides of all pairs are equal")
        return {"correlation": undefined, "auc": undefined}
    told = {
        name: (texts or {}).get(name) or [f"{name} {i}" for i in range(1, len(rows) + 1)]
        for name, rows in (("pairs_1", x_1), ("pairs_2", x_2), ("attributes", a))
    }
    area = _area(g, x_1, x_2, (told["pairs_1"], told["pairs_2"]))
    a_g = a @ g.vector
    rho = float(pearson(a_g, y)[0]) if len(y) > 1 else float("nan")
    if np.isnan(rho):
        reason = "there are fewer than two attributes, or their labels or projections are all equal"
        return {"correlation": Score(rho, n=len(y), reason=reason), "auc": area}
    interval = bootstrap.percentile_interval(
        partial(pearson, a_g, y),
        [len(y)],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["attributes"]),
        resamples=resamples,
        confidence=confidence,
    )
    figures = {
        "labels": direction_figures.against_labels(a_g, y, told["attributes"], correlation=rho)
    }
    details = {
        "spearman": float(spearman(a_g, y)[0]),
        "component": g.component,
        "explained": g.explained,
    }
    p_value = None
    if projections > 0:
        null = _null(a, y, projections, rng)
        hits = int(np.count_nonzero(np.abs(null) >= abs(rho) - 1e-12))
        p_value = (hits + 1) / (projections + 1)
        details["null_spread"] = float(null.std())
        figures["null"] = direction_figures.null_distribution(
            null, correlation=rho, p_value=p_value
        )
    columns = ("text", "label", "projection")
    rows = zip(told["attributes"], y.tolist(), a_g.tolist(), strict=True)
    correlation = Score(
        rho,
        p_value=p_value,
        interval=interval,
        n=len(y),
        details=details,
        tables={"attributes": [dict(zip(columns, row, strict=True)) for row in rows]},
        figures=figures,
    )
    return {"correlation": correlation, "auc": area}


def find_direction(x_1: Floats, x_2: Floats) -> Direction | None:
    """Return g of equation 1 for pairs (n, d), or None if no pair differs."""
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


def _area(
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
    )


def _null(a: Floats, y: Floats, projections: int, rng: np.random.Generator) -> Floats:
    """Return the (projections,) correlations of equation 3, of random directions with labels."""
    # With Aᵀ = QT, a random r gives A r = Tᵀ (Qᵀ r), and Qᵀ r is as random in fewer dimensions.
    t = np.linalg.qr(a.T, mode="r")
    chunks = []
    for start in range(0, projections, CHUNK):
        r = rng.standard_normal((min(CHUNK, projections - start), len(t)))
        chunks.append(pearson(r @ t, y, np.ones((len(r), len(y)))))
    return np.concatenate(chunks)
