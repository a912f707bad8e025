"""Retrieval: whether the documents about each group are found, and get their share of the places.

The ranking itself, with its mitigator, is `harness.plugins.metrics.statistics.ranking`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, cosines
from harness.errors import InvalidOption
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.drawings.ranking_views import heatmap, table
from harness.plugins.metrics.statistics import bootstrap
from harness.plugins.metrics.statistics.ranking import (
    Mask,
    Ranked,
    Way,
    dynamic_k,
    dynamic_k_symmetric,
    plain,
)

Codes = npt.NDArray[np.integer[Any]]


@metric(
    "retrieval",
    scores={
        "exposure_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="how far groups' shares of what is found are from their shares of the relevant",
        ),
        "recall": Scale(
            ideal="higher", bounds=(0, 1), help="share of the relevant documents that is retrieved"
        ),
        "precision": Scale(
            ideal="higher", bounds=(0, 1), help="share of the retrieved that is relevant"
        ),
    },
)
def retrieval(
    queries: Reals,
    documents: Reals,
    query_topics: Floats,
    document_topics: Floats,
    groups: Floats,
    queries_1: Reals | None = None,
    queries_2: Reals | None = None,
    *,
    k: int = 10,
    ranking: Way = "plain",
    group_names: Sequence[str] = (),
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Exposure of groups, recall and precision among the documents that queries retrieve.

    Documents are ranked by cosine. A document is relevant to the queries of its topic. Group g's
    exposure for a query is its share of the relevant documents that are retrieved; fair is its
    share of all relevant ones. Both are averaged over queries, and the gap is half of the sum over
    groups of their differences: 0 is fair, 1 is as far off as can be. Averaging first, a query
    that favours one group and a query that favours another make up for each other; and the gap of
    one query with small k is seldom 0, as places come in whole numbers.

    Parameters
    ----------
    queries
        (q, d) vectors.
    documents
        (n, d) vectors.
    query_topics, document_topics
        (q,) and (n,) numbers; a document is relevant where they are equal. Documents that nobody
        asks for have a topic of no query.
    groups
        (n,) the documents' groups, as codes from 0.
    queries_1, queries_2
        (q, d) the queries with a sentence that names one group (the one discriminated against
        first) and the other; needed by `dynamic-k` alone.
    k
        How many documents to retrieve, or to begin with.
    ranking
        `plain` takes the k most similar; `dynamic-k` and `dynamic-k-symmetric` mitigate, see
        `harness.plugins.metrics.statistics.ranking`.
    group_names
        Of the codes, from 0.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over queries.
    rng
        Source of the draws.
    clusters
        By input, the (q,) codes of queries that belong together; those of `queries` are used.
    texts
        By input, the texts, for the table and the figure.

    Returns
    -------
    dict of Score
        `exposure_gap`, in [0, 1], with a table `ranking` and a figure `similarities` (figure 2),
        and as details by group `recall`, `exposure`, `fair` and `similarity`, the mean cosine;
        `recall` and `precision`, in [0, 1]; `retrieved`, the mean number of documents, in the
        details of all.

    Raises
    ------
    InvalidOption
        If k is less than 1, a group has no name, or `ranking` lacks its queries.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, section 4 and appendix E.
    Biega, Gummadi and Weikum (2018), Equity of attention, for averages over queries.
    """
    similarities = cosines(queries, documents)
    ranked = _ranked(similarities, documents, queries_1, queries_2, ranking, k)
    relevant: Mask = np.asarray(query_topics)[:, None] == np.asarray(document_topics)
    codes = np.asarray(groups).astype(np.int64)
    names = _names(codes, np.asarray(groups), group_names)
    member = np.stack([codes == code for code in names])  # (g, n)

    hits = ranked.retrieved & relevant
    found, there = _by_group(hits, member), _by_group(relevant, member)  # (q, g)
    size = ranked.retrieved.sum(axis=1)
    draw = partial(
        bootstrap.percentile_interval,
        sizes=[len(similarities)],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["queries"]),
        resamples=resamples,
        confidence=confidence,
    )
    once = np.ones((1, len(similarities)))

    def score(statistic: Any, reason: str, details: Mapping[str, Any]) -> Score:
        value = float(statistic(once)[0])
        interval = None if np.isnan(value) else draw(statistic)
        return Score(
            value,
            interval=interval,
            n=len(similarities),
            reason=reason if np.isnan(value) else None,
            details={"retrieved": float(size.mean()), "k": k} | dict(details),
        )

    exposure, fair, recalls = _shares(found), _shares(there), _ratio(found, there)
    gap = score(
        partial(_gap, exposure, fair),
        "no query retrieves a relevant document",
        {
            "exposure": _named(names, _mean(exposure, once)[0]),
            "fair": _named(names, _mean(fair, once)[0]),
            "recall": _named(names, _mean(recalls, once)[0]),
            "similarity": _named(names, [similarities[:, m].mean() for m in member]),
        },
    )
    labels = [names[code] for code in codes.tolist()]
    rows = {"queries": queries, "queries_1": queries_1, "queries_2": queries_2}
    gap = dataclasses.replace(
        gap,
        tables={"ranking": table(ranked, relevant, labels, texts or {})},
        figures=heatmap(rows, documents, labels, texts or {}),
    )
    nothing = "no document is relevant to any query"
    return {
        "exposure_gap": gap,
        "recall": score(_means(_ratio(hits.sum(axis=1), relevant.sum(axis=1))), nothing, {}),
        "precision": score(_means(_ratio(hits.sum(axis=1), size)), nothing, {}),
    }


def _ranked(
    similarities: Floats,
    documents: Reals,
    queries_1: Reals | None,
    queries_2: Reals | None,
    ranking: Way,
    k: int,
) -> Ranked:
    if ranking == "plain":
        return plain(similarities, k)
    if queries_1 is None or queries_2 is None:
        raise InvalidOption(
            f"ranking={ranking}: it needs the inputs 'queries_1' and 'queries_2', the queries "
            "with a sentence that names either group"
        )
    first, second = cosines(queries_1, documents), cosines(queries_2, documents)
    if ranking == "dynamic-k":
        return dynamic_k(first, second, k)
    return dynamic_k_symmetric(first, second, k)


def _names(codes: Codes, given: Floats, names: Sequence[str]) -> dict[int, str]:
    """Return the names of the groups that there are, by code."""
    if (codes != given).any() or (codes < 0).any():
        raise InvalidOption("groups are whole numbers from 0; 'group_names' says what they mean")
    present = np.unique(codes).tolist()
    if names and present[-1] >= len(names):
        raise InvalidOption(
            f"group_names={list(names)}: there is a group {present[-1]}, "
            f"and these are names of 0 to {len(names) - 1}"
        )
    return {code: names[code] if names else str(code) for code in present}


def _by_group(mask: Mask, member: Mask) -> Floats:
    """Return the (q, g) number of documents of each group."""
    counts: Floats = mask.astype(np.float64) @ member.T.astype(np.float64)
    return counts


def _shares(counts: Floats) -> Floats:
    """Return rows that sum to 1; of NaN where there is nothing to share."""
    return _ratio(counts, counts.sum(axis=1, keepdims=True))


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)
    return ratio


def _mean(values: Floats, counts: Floats) -> Floats:
    """Return the (b, g) means of (q, g) values that count (b, q) times, NaN ones left out."""
    defined = np.isfinite(values)
    total = counts @ np.where(defined, values, 0.0)
    return _ratio(total, counts @ defined.astype(np.float64))


def _means(values: Floats) -> Any:
    def means(counts: Floats) -> Floats:
        return _mean(values[:, None], counts)[:, 0]

    return means


def _gap(exposure: Floats, fair: Floats, counts: Floats) -> Floats:
    gap: Floats = np.abs(_mean(exposure, counts) - _mean(fair, counts)).sum(axis=1) / 2
    return gap


def _named(names: Mapping[int, str], values: Any) -> dict[str, float | None]:
    """Return values by group; None for what a group has none of."""
    return {
        name: None if np.isnan(value) else float(value)
        for name, value in zip(names.values(), values, strict=True)
    }
