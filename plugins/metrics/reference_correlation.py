"""Usefulness: correlation of summaries' similarity to references with human ratings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, unit_rows
from harness.metrics import Compares, Interval, Samples, Scale, Score, metric

from .statistics import intervals
from .statistics.intervals import pearson, spearman, to_pearson, to_spearman

Contribution: TypeAlias = Callable[[Floats, Floats], Floats]
Correlation: TypeAlias = Callable[..., Floats]
Indices: TypeAlias = npt.NDArray[np.intp]
IntervalOf: TypeAlias = Callable[..., Interval | None]
EQUAL = "all ratings or all predictions are equal"
POOLED = ("pooled_spearman", "pooled_pearson")
TOO_FEW = "fewer than three rated summaries"


@metric(
    "reference-correlation",
    scores={
        "spearman": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="rank correlation of similarity to references and human ratings, in a document",
        ),
        "pearson": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="correlation of similarity to references and human ratings, within a document",
        ),
        "pooled_spearman": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="rank correlation over the summaries of all documents, as published",
        ),
        "pooled_pearson": Scale(
            ideal="higher",
            bounds=(-1, 1),
            help="correlation over the summaries of all documents, as published",
        ),
    },
    compares=Compares(("summaries",), ("references",), within=("documents", "reference_documents")),
)
def reference_correlation(
    summaries: Reals,
    references: Reals,
    ratings: Floats,
    documents: Floats,
    reference_documents: Floats,
    *,
    of_references: Literal["max", "mean"] = "max",
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Correlation of human ratings of summaries with their cosines to reference summaries.

    The predicted rating of a summary is its largest cosine with a reference of its document.
    `spearman` and `pearson` are means over documents of the correlation of the summaries of one
    document, as in MTEB. The pooled ones correlate the summaries of all documents at once, as in
    the paper. They also grow if cosines and ratings of whole documents rise and fall together,
    such as where some documents have references without names: that says nothing of which summary
    of a document is better.

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
        Level of the intervals over documents, and the most of these to leave out.
    rng
        Random number generator of the resamples.

    Returns
    -------
    dict of Score
        `spearman`, `pearson`, `pooled_spearman` and `pooled_pearson`, in [−1, 1], higher is better;
        random vectors give 0 up to chance. `n` is the number of summaries that count: those of
        documents without references are left out and, within documents, those of documents where
        all ratings or all predictions are equal. Details: `documents`, their number. There is no
        p-value. At least three summaries are needed. Samples: each summary with its `document`,
        `predicted` rating and `rating`.

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
    rated = _Rated(
        predicted[defined],
        np.asarray(ratings, dtype=np.float64)[defined],
        np.asarray(documents)[defined],
        np.flatnonzero(defined),
    )
    interval = partial(
        intervals.jackknife_interval,
        rng=rng,
        resamples=resamples,
        confidence=confidence,
        bounds=(-1, 1),
    )
    scores = {}
    for name, correlation, contribution in (
        ("spearman", spearman, to_spearman),
        ("pearson", pearson, to_pearson),
    ):
        scores[name] = _within(rated, correlation, contribution, interval)
        scores[f"pooled_{name}"] = _pooled(rated, correlation, contribution, interval)
    return {name: scores[name] for name in ("spearman", "pearson", *POOLED)}


@dataclass(frozen=True)
class _Rated:
    """(n,) predicted and human ratings of summaries, their documents and their rows."""

    x: Floats
    y: Floats
    documents: Floats
    rows: Indices

    def samples(self, contributions: Floats) -> list[Samples]:
        columns = {"document": self.documents, "predicted": self.x, "rating": self.y}
        return [Samples("summaries", contributions, columns, self.rows)]


def _within(
    rated: _Rated, correlation: Correlation, contribution: Contribution, interval: IntervalOf
) -> Score:
    """Return the mean over documents of the correlation within each."""
    n = len(rated.y)
    if n < 3:
        return Score(float("nan"), n=n, reason=TOO_FEW)
    members = [rated.documents == document for document in np.unique(rated.documents)]
    of_document = np.array([correlation(rated.x[i], rated.y[i])[0] for i in members])
    counted = np.isfinite(of_document)
    if not counted.any():
        return Score(float("nan"), n=n, reason=f"{EQUAL} in each document")
    of_document = of_document[counted]
    members = [i for i, counts in zip(members, counted, strict=True) if counts]
    n = sum(int(i.sum()) for i in members)
    contributions = np.full(len(rated.y), np.nan)
    for i in members:
        weight = n / len(members) / i.sum()  # each document counts once, whatever its size
        contributions[i] = contribution(rated.x[i], rated.y[i]) * weight
    ends = interval(lambda counts: counts @ of_document / counts.sum(axis=1), [len(members)])
    if ends is not None:
        ends = dataclasses.replace(ends, method=ends.method.replace("items", "documents"))
    return Score(
        float(of_document.mean()),
        interval=ends,
        n=n,
        details={"documents": len(members)},
        samples=rated.samples(contributions),
    )


def _pooled(
    rated: _Rated, correlation: Correlation, contribution: Contribution, interval: IntervalOf
) -> Score:
    """Return the correlation over the summaries of all documents."""
    n = len(rated.y)
    if n < 3:
        return Score(float("nan"), n=n, reason=TOO_FEW)
    value = float(correlation(rated.x, rated.y)[0])
    if np.isnan(value):
        return Score(value, n=n, reason=EQUAL)
    return Score(
        value,
        interval=interval(partial(correlation, rated.x, rated.y), [n], clusters=[rated.documents]),
        n=n,
        details={"documents": len(np.unique(rated.documents))},
        samples=rated.samples(contribution(rated.x, rated.y)),
    )


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
