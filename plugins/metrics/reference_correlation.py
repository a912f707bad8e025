"""Usefulness: correlation of summaries' similarity to references with human ratings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import metric
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.contributions import to_pearson, to_spearman
from harness.plugins.metrics.statistics.weighted import pearson, spearman
from harness.scores import Samples, Scale, Score


@metric(
    "reference-correlation",
    scores={
        "spearman": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="rank correlation of similarity to references and human ratings",
        ),
        "pearson": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="correlation of similarity to references and human ratings",
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
    """Correlation of human ratings of summaries with their cosines to reference summaries.

    The predicted rating of a summary is its largest cosine with a reference of its document. The
    predictions and ratings of all documents are pooled before they are correlated, as in the
    paper. MTEB reports the mean of the correlations within documents instead; it is
    `within_documents` in the details.

    Parameters
    ----------
    summaries, references
        (n, d) and (m, d) vectors.
    ratings
        (n,) human ratings of the summaries, higher for better ones, in any unit.
    documents, reference_documents
        (n,) and (m,) document number of each summary and reference.
    of_references
        Prediction from the cosines with several references: `max` or `mean`.
    confidence, resamples
        Level and number of resamples of the intervals over documents.
    rng
        Random number generator of the resamples.

    Returns
    -------
    dict of Score
        `spearman` and `pearson`, in [−1, 1], higher is better. `n` is the number of summaries;
        summaries of documents without references are left out. Details: `within_documents`;
        `documents`, the number of documents. There is no p-value. At least three summaries are
        needed. Samples: each summary with its `document`, `predicted` rating and `rating`.

    Raises
    ------
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    What is in a name? Mitigating name bias in text embeddings via anonymization, section 5.2 and
    table 8. Muennighoff et al. (2022), MTEB: massive text embedding benchmark. Fabbri et al.
    (2021), SummEval: re-evaluating summarization evaluation.
    """
    predicted = _predictions(summaries, references, documents, reference_documents, of_references)
    defined = np.isfinite(predicted)
    x, y = predicted[defined], np.asarray(ratings, dtype=np.float64)[defined]
    codes = np.unique(np.asarray(documents)[defined], return_inverse=True)[1]
    n_documents = len(np.unique(codes))

    def score(correlation: Callable[..., Floats], contribution: Callable[..., Floats]) -> Score:
        if len(y) < 3:
            return Score(float("nan"), n=len(y), reason="fewer than three rated summaries")
        value = float(correlation(x, y)[0])
        if np.isnan(value):
            return Score(value, n=len(y), reason="all ratings or all predictions are equal")
        members = [codes == i for i in range(n_documents)]
        correlations = [float(correlation(x[i], y[i])[0]) for i in members]
        within = [r for r in correlations if np.isfinite(r)]
        return Score(
            value,
            interval=bootstrap.percentile_interval(
                partial(correlation, x, y),
                [len(y)],
                rng=rng,
                clusters=[codes],
                resamples=resamples,
                confidence=confidence,
                bounds=(-1, 1),
            ),
            n=len(y),
            details={
                "within_documents": float(np.mean(within)) if within else None,
                "documents": n_documents,
            },
            samples=[
                Samples(
                    "summaries",
                    contribution(x, y),
                    {"document": documents[defined], "predicted": x, "rating": y},
                    np.flatnonzero(defined),
                )
            ],
        )

    return {"spearman": score(spearman, to_spearman), "pearson": score(pearson, to_pearson)}


def _predictions(
    summaries: Reals,
    references: Reals,
    documents: Floats,
    reference_documents: Floats,
    of_references: Literal["max", "mean"],
) -> Floats:
    """Return the (n,) predictions; NaN where the document has no references."""
    s, r = unit_rows(summaries), unit_rows(references)
    predicted = np.full(len(s), np.nan)
    for document in np.unique(documents):
        of_s, of_r = documents == document, reference_documents == document
        if of_r.any():
            similarities = s[of_s] @ r[of_r].T
            best = of_references == "max"
            predicted[of_s] = similarities.max(axis=1) if best else similarities.mean(axis=1)
    return predicted
