"""Group exposure, recall and precision of retrieval by cosine (Uriot 2024, section 4)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Reals, cosines
from harness.errors import InvalidOption
from harness.metrics import metric
from harness.plugins.metrics.drawings.ranking_views import ranking_table, retrieval_heatmap
from harness.plugins.metrics.statistics import bootstrap, exposure
from harness.plugins.metrics.statistics.ranking import (
    Mask,
    Ranked,
    Ranking,
    dynamic_k,
    dynamic_k_symmetric,
    plain,
)
from harness.scores import Interval, Samples, Scale, Score

Codes = npt.NDArray[np.integer[Any]]
Statistic = Callable[[Floats], Floats]


@metric(
    "retrieval",
    scores={
        "exposure_gap": Scale(
            ideal=0,
            bounds=(0, 1),
            help="distance of the groups' exposure from their shares of the relevant documents",
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
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Exposure gap between groups, recall and precision of the documents that queries retrieve.

    Documents are ranked by cosine. A document is relevant to the queries of its topic. The
    exposure of group g for a query is its share of the relevant documents that are retrieved. Its
    fair exposure is its share of all relevant documents. Both are averaged over queries. The gap
    is half the sum over groups of |mean exposure − mean fair exposure|.

    Because of the averaging, a query that favours one group and a query that favours another
    cancel out. The gap of a single query with small k is seldom exactly 0, because places are
    whole numbers.

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
    confidence, resamples
        Level and number of resamples of the intervals over queries.
    rng
        Random number generator of the resamples.
    clusters
        Cluster codes by input name; those of `queries`, (q,), define the clusters that are drawn.
    texts
        Texts by input name, for the table and the figure.

    Returns
    -------
    dict of Score
        `exposure_gap`, in [0, 1], fair is 0. Its table `ranking` lists the places, its figure
        `similarities` shows the cosines (figure 2), and its details hold by group `exposure`,
        `fair`, `recall` and `similarity`, the mean cosine. `recall` and `precision`, in [0, 1],
        higher is better. Details of all: `retrieved`, the mean number of retrieved documents, and
        `k`. No score has a p-value; `n` is the number of queries. Samples: each query; to the gap
        it contributes its part of the differences between the means, which may be negative.

    Raises
    ------
    InvalidOption
        If `k` is below 1, `confidence` is not between 0 and 1, a group is no code from 0 or has
        no name, or the queries that `ranking` requires are missing.

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
    n_hits, n_relevant = hits.sum(axis=1), relevant.sum(axis=1)
    n_retrieved = ranked.retrieved.sum(axis=1)
    score = partial(
        _score,
        interval_of=partial(
            bootstrap.percentile_interval,
            sizes=[len(similarities)],
            rng=rng,
            clusters=bootstrap.codes_of(clusters, ["queries"]),
            resamples=resamples,
            confidence=confidence,
        ),
        n=len(similarities),
        details={"retrieved": float(n_retrieved.mean()), "k": k},
    )
    counts = {"hits": n_hits, "relevant": n_relevant, "retrieved": n_retrieved}
    gap = _exposure_gap(score, hits, relevant, member, list(names.values()))
    similarity_of = _named(list(names.values()), [similarities[:, m].mean() for m in member])
    labels = [names[code] for code in codes.tolist()]
    query_sets = {"queries": queries, "queries_1": queries_1, "queries_2": queries_2}
    gap = dataclasses.replace(
        gap,
        details={**gap.details, "similarity": similarity_of},
        tables={"ranking": ranking_table(ranked, relevant, labels, texts or {})},
        figures=retrieval_heatmap(query_sets, documents, labels, texts or {}),
    )
    no_relevant = "no document is relevant to any query"
    return {
        "exposure_gap": gap,
        "recall": score(
            _mean(recalls := exposure.ratio(n_hits, n_relevant)),
            reason=no_relevant,
            samples=Samples("queries", recalls, counts),
        ),
        "precision": score(
            _mean(precisions := exposure.ratio(n_hits, n_retrieved)),
            reason=no_relevant,
            samples=Samples("queries", precisions, counts),
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
    interval_of: Callable[[Statistic], Interval | None],
    n: int,
    details: Mapping[str, Any],
    samples: Samples,
) -> Score:
    """Return the score of a statistic of n queries, or `reason` if it is undefined."""
    value = float(statistic(np.ones((1, n)))[0])
    if np.isnan(value):
        return Score(value, n=n, reason=reason, details=details, samples=[samples])
    interval = interval_of(statistic)
    return Score(value, interval=interval, n=n, details=details, samples=[samples])


def _mean(values: Floats) -> Statistic:
    """Return the mean over queries as a statistic of how often each query was drawn."""

    def mean(counts: Floats) -> Floats:
        return exposure.mean_over_queries(values[:, None], counts)[:, 0]

    return mean


def _exposure_gap(
    score: Callable[..., Score], hits: Mask, relevant: Mask, member: Mask, names: Sequence[str]
) -> Score:
    """Return the gap with exposure, fair exposure and recall by group in the details.

    Parameters
    ----------
    score
        Makes a score of a statistic and a reason.
    hits, relevant
        (q, n) whether a document is retrieved and relevant, and whether it is relevant.
    member
        (g, n) whether a document belongs to a group.
    names
        Names of the g groups.
    """
    n_hits = exposure.count_by_group(hits, member)
    n_relevant = exposure.count_by_group(relevant, member)
    values = {
        "exposure": exposure.shares(n_hits),
        "fair": exposure.shares(n_relevant),
        "recall": exposure.ratio(n_hits, n_relevant),
    }
    gap = score(
        partial(exposure.exposure_gap, values["exposure"], values["fair"]),
        reason="no query retrieves a relevant document",
        samples=_gap_samples(values["exposure"], values["fair"], names),
    )
    once = np.ones((1, len(hits)))
    by_group = {
        key: _named(names, exposure.mean_over_queries(of_query, once)[0])
        for key, of_query in values.items()
    }
    return dataclasses.replace(gap, details={**gap.details, **by_group})


def _gap_samples(of_query: Floats, fair: Floats, names: Sequence[str]) -> Samples:
    """Return what each query contributes to the gap, towards the side where the means lie.

    Parameters
    ----------
    of_query, fair
        (q, g) exposure and fair exposure; NaN where they are undefined.
    names
        Names of the g groups.
    """
    contribution = exposure.gap_contributions(of_query, fair)
    columns = {f"exposure_{name}": of_query[:, i] for i, name in enumerate(names)}
    columns |= {f"fair_{name}": fair[:, i] for i, name in enumerate(names)}
    return Samples("queries", contribution, columns)


def _named(names: Sequence[str], values: Any) -> dict[str, float | None]:
    """Return values by group name; None for NaN."""
    return {
        name: None if np.isnan(value) else float(value)
        for name, value in zip(names, values, strict=True)
    }
