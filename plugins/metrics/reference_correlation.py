"""Usefulness: whether texts near what people wrote of the same matter are those people rate high.

Made for summaries: each is as good as it is near to the references of its own document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.weighted import pearson, spearman


@metric(
    "reference-correlation",
    scores={
        "spearman": Scale(
            ideal="higher", bounds=(-1, 1), help="rank correlation of predictions and ratings"
        ),
        "pearson": Scale(
            ideal="higher", bounds=(-1, 1), help="correlation of predictions and ratings"
        ),
    },
)
def reference_correlation(
    summaries: Reals,
    references: Reals,
    ratings: Floats,
    documents: Floats,
    reference_documents: Floats,
    *,
    of_references: Literal["max", "mean"] = "max",
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Correlation of ratings of summaries with their cosines to references, over all documents.

    The prediction for a summary is its largest cosine to a reference of its document. Predictions
    and ratings are pooled over all documents before they are correlated, as in the paper; the mean
    of the correlations within documents, as MTEB reports it, is `within_documents` in the details.

    Parameters
    ----------
    summaries, references
        (n, d) and (m, d) vectors.
    ratings
        (n,) people's ratings of the summaries, higher for better, in any unit.
    documents, reference_documents
        (n,) and (m,) which document each is of: any number, the same for the same document.
    of_references
        The prediction is the `max` or the `mean` of the cosines to the references.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over documents.
    rng
        Source of the draws.

    Returns
    -------
    dict of Score
        `spearman` and `pearson`, each in [-1, 1], higher is better. `n` counts summaries; those of
        a document without references are left out. Details: `within_documents`; `documents`.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 5.2 and
    table 8. Muennighoff et al. (2022), MTEB: massive text embedding benchmark. Fabbri et al.
    (2021), SummEval: re-evaluating summarization evaluation.
    """
    predicted = _predictions(summaries, references, documents, reference_documents, of_references)
    there = np.isfinite(predicted)
    x, y = predicted[there], np.asarray(ratings, dtype=np.float64)[there]
    of = np.unique(np.asarray(documents)[there], return_inverse=True)[1]
    n_documents = len(np.unique(of))

    def score(correlation: Callable[..., Floats]) -> Score:
        if len(y) < 3:
            return Score(float("nan"), n=len(y), reason="fewer than three rated summaries")
        value = float(correlation(x, y)[0])
        if np.isnan(value):
            return Score(value, n=len(y), reason="all ratings or all predictions are equal")
        within = [float(correlation(x[of == i], y[of == i])[0]) for i in range(n_documents)]
        defined = [r for r in within if np.isfinite(r)]
        return Score(
            value,
            interval=bootstrap.percentile_interval(
                partial(correlation, x, y),
                [len(y)],
                rng=rng,
                clusters=[of],
                resamples=resamples,
                confidence=confidence,
            ),
            n=len(y),
            details={
                "within_documents": float(np.mean(defined)) if defined else None,
                "documents": n_documents,
            },
        )

    return {"spearman": score(spearman), "pearson": score(pearson)}


def _predictions(
    summaries: Reals,
    references: Reals,
    documents: Floats,
    reference_documents: Floats,
    of_references: Literal["max", "mean"],
) -> Floats:
    """Return the (n,) predictions, NaN where a document has no references."""
    s, r = unit_rows(summaries), unit_rows(references)
    predicted = np.full(len(s), np.nan)
    for document in np.unique(documents):
        own, its = documents == document, reference_documents == document
        if its.any():
            similarities = s[own] @ r[its].T
            best = of_references == "max"
            predicted[own] = similarities.max(axis=1) if best else similarities.mean(axis=1)
    return predicted
