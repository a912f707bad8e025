"""Group exposure, recall and precision of retrieval by cosine (Uriot 2024, section 4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask, Reals, cosines
from harness.errors import InvalidOption
from harness.metrics import Compares, Interval, Samples, Scale, Score, metric

from .statistics import exposure, intervals, nulls
from .statistics.exposure import (
    Ranked,
    Ranking,
    dynamic_k,
    dynamic_k_symmetric,
    plain,
    ranking_table,
)

Codes = npt.NDArray[np.integer[Any]]
Statistic = Callable[[Floats], Floats]


@metric(
    "retrieval",
    scores={
        "exposure_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="distance of the groups' exposure, which falls with the place, from the fair one",
        ),
        "share_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="distance of the groups' shares of the retrieved relevant documents from fair",
        ),
        "recall": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the relevant documents that are retrieved",
        ),
        "precision": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="share of the retrieved documents that are relevant",
        ),
    },
    later_options=("null_draws",),
    compares=Compares(("queries", "queries_1", "queries_2"), ("documents",), ranks=True),
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
    ranking: Ranking = "plain",
    group_names: Sequence[str] = (),
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Gaps between groups, recall and precision of the documents that queries retrieve.

    Documents are ranked by cosine. A document is relevant to the queries of its topic. The exposure
    of a document at a place is 1/log₂(1 + place). The exposure of group g for a query is its share
    of the exposure of the relevant documents that are retrieved. Its fair exposure is its share of
    all relevant documents. Both are averaged over the queries that retrieve a relevant document.
    The exposure gap is half the sum over groups of |mean exposure − mean fair exposure|. The share
    gap is the same where all places count alike, as published by Uriot: the order of the retrieved
    documents does not matter to it.

    Because of the averaging, a query that favours one group and a query that favours another
    cancel out. Documents with equal vectors share their places. Random vectors show the floor, not
    0: the mean gap with the groups shuffled among the documents of each topic. Of a single query it
    is wide.

    Parameters
    ----------
    queries
        (q, d) vectors.
    documents
        (n, d) vectors.
    query_topics, document_topics
        (q,) and (n,) topic numbers; a document is relevant to a query with the same number.
        Documents with a topic of no query are relevant to none.
    groups
        (n,) group codes of the documents, from 0.
    queries_1, queries_2
        (q, d) the queries with a sentence that names either group, the group that is
        discriminated against first. Required by `dynamic-k` and `dynamic-k-symmetric`.
    k
        Number of documents to retrieve; for dynamic k, the size of the top that it starts from.
    ranking
        `plain`: the k most similar documents; `dynamic-k` (algorithm 1) and
        `dynamic-k-symmetric`: mitigated rankings, see `statistics.ranking`.
    group_names
        Names of the groups, in the order of their codes.
    null_draws
        Number of shuffles of the groups for the floor and the p-values of the gaps; 0 for none.
    confidence, resamples
        Level of the intervals over queries, and the most of these to leave out.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of `queries`, (q,), define the clusters that are drawn.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `exposure_gap` and `share_gap`, in [0, 1], fair is 0, with the p-value of the shuffles.
        Details, by group: `exposure` (or `shares`), `fair`, `recall` and `similarity`, the mean
        cosine; `without_hits`, the number of queries that retrieve no relevant document;
        `granularity`, the least that one document adds to a group; `least`, the smallest gap of
        the shuffles. The table `ranking` of `exposure_gap` lists the places and the cosines (figure
        2). `recall` and `precision`, in [0, 1], higher is
        better. Details of all: `retrieved`, the mean number of retrieved documents, and `k`. `n` is
        the number of queries. Samples: each query; to a gap it contributes its part of the
        differences between the means, which may be negative.

    Raises
    ------
    InvalidOption
        If `k` is below 1, `confidence` is not between 0 and 1, a group is no code from 0 or has
        no name, or the queries that `ranking` requires are missing.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, section 4 and appendix E.
    Biega, Gummadi and Weikum (2018), Equity of attention: exposure averaged over queries. Singh and
    Joachims (2018), Fairness of exposure in rankings, section 3.2: its logarithmic discount.
    """
    similarities = cosines(queries, documents)
    ranked = _ranked(similarities, documents, queries_1, queries_2, ranking, k)
    relevant: Mask = np.asarray(query_topics)[:, None] == np.asarray(document_topics)
    codes = np.asarray(groups).astype(np.int64)
    names = _names(codes, np.asarray(groups), group_names)
    hits = ranked.retrieved * relevant
    n_hits, n_relevant = hits.sum(axis=1), relevant.sum(axis=1)
    n_retrieved = ranked.retrieved.sum(axis=1)
    score = partial(
        _score,
        interval_of=partial(
            intervals.jackknife_interval,
            sizes=[len(similarities)],
            rng=rng,
            clusters=intervals.codes_of(clusters, ["queries"]),
            resamples=resamples,
            confidence=confidence,
        ),
        n=len(similarities),
        details={"retrieved": float(n_retrieved.mean()), "k": k},
    )
    counts = {"hits": n_hits, "relevant": n_relevant, "retrieved": n_retrieved}
    by_group = exposure.Groups(
        hits, relevant, similarities, codes, np.asarray(document_topics), names
    )
    gap_of = partial(exposure.gap, score, by_group, draws=null_draws, rng=rng)
    gap = gap_of("exposure", ranked.exposure)
    labels = [names[code] for code in codes.tolist()]
    gap = dataclasses.replace(
        gap,
        tables={"ranking": ranking_table(ranked, relevant, labels, texts or {})},
    )
    no_relevant = "no document is relevant to any query"
    return {
        "exposure_gap": gap,
        "share_gap": gap_of("shares", ranked.retrieved),
        "recall": score(
            _mean(recalls := exposure.ratio(n_hits, n_relevant)),
            reason=no_relevant,
            samples=Samples("queries", recalls, counts),
            bounds=(0, 1),
        ),
        "precision": score(
            _mean(precisions := exposure.ratio(n_hits, n_retrieved)),
            reason=no_relevant,
            samples=Samples("queries", precisions, counts),
            bounds=(0, 1),
        ),
    }


def _ranked(
    similarities: Floats,
    documents: Reals,
    queries_1: Reals | None,
    queries_2: Reals | None,
    ranking: Ranking,
    k: int,
) -> Ranked:
    if ranking == "plain":
        return plain(similarities, k)
    if queries_1 is None or queries_2 is None:
        raise InvalidOption(
            f"retrieval: ranking={ranking}: requires the inputs 'queries_1' and 'queries_2', the "
            "queries with a sentence that names either group"
        )
    first, second = cosines(queries_1, documents), cosines(queries_2, documents)
    if ranking == "dynamic-k":
        return dynamic_k(first, second, k)
    return dynamic_k_symmetric(first, second, k)


def _names(codes: Codes, groups: Floats, names: Sequence[str]) -> dict[int, str]:
    """Return the names of the groups that occur, by code."""
    if (codes != groups).any() or (codes < 0).any():
        raise InvalidOption(
            "retrieval: 'groups' must be whole numbers from 0; 'group_names' gives their names"
        )
    present = np.unique(codes).tolist()
    if names and present[-1] >= len(names):
        raise InvalidOption(
            f"retrieval: group_names={list(names)}: no name for group {present[-1]}; "
            f"these names are for groups 0 to {len(names) - 1}"
        )
    return {code: names[code] if names else str(code) for code in present}


def _score(
    statistic: Statistic,
    *,
    reason: str,
    interval_of: Callable[..., Interval | None],
    n: int,
    details: Mapping[str, Any],
    samples: Samples,
    bounds: tuple[float, float] | None = None,
) -> Score:
    """Return the score of a statistic of n queries, or `reason` if it is undefined."""
    value = float(statistic(np.ones((1, n)))[0])
    if np.isnan(value):
        return Score(value, n=n, reason=reason, details=details, samples=[samples])
    interval = interval_of(statistic, bounds=bounds)
    return Score(value, interval=interval, n=n, details=details, samples=[samples])


def _mean(values: Floats) -> Statistic:
    """Return the mean over queries as a statistic of how often each query was drawn."""

    def mean(counts: Floats) -> Floats:
        return exposure.mean_over_queries(values[:, None], counts)[:, 0]

    return mean
