"""Gendered content of ranked documents: ARaB (Rekabsaz and Schedl 2020) and NFaiRR (2021)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from harness.arrays import Floats, Mask, Reals, cosines
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Compares, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.exposure import fairr_places, mean_over_queries, weights
from .statistics.group_gaps import content_gap

SCORES = ("excess_tf", "excess_boolean", "arab_tf", "arab_boolean", "nfairr")


@metric(
    "ranking-bias",
    scores={
        "excess_tf": Scale(ideal=0, help="ARaB-TF less that of the same documents in any order"),
        "excess_boolean": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="ARaB-Boolean less that of the same documents in any order",
        ),
        "arab_tf": Scale(
            ideal=0, help="ARaB with the logarithm of the number of words of a group, as published"
        ),
        "arab_boolean": Scale(
            ideal=0, bounds=(-1, 1), help="ARaB with whether words of a group occur, as published"
        ),
        "nfairr": Scale(
            ideal=1,
            bounds=(0, 1),
            help="neutrality of what is ranked first, over the most neutral order",
        ),
    },
    gap=content_gap,
    compares=Compares(("queries",), ("documents",), ranks=True),
)
def ranking_bias(
    queries: Reals,
    documents: Reals,
    counts_1: Floats,
    counts_2: Floats,
    query_topics: Floats | None = None,
    document_topics: Floats | None = None,
    versions: Floats | None = None,
    *,
    k: int = 10,
    candidates: Literal["all", "topic"] = "all",
    threshold: float = 1,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Gendered content of the documents that are ranked first for queries without a group.

    n₁ and n₂ are the numbers of words of the first and of the second group in a document, such as
    women and men, and dᵢ is the document at place i. The magnitudes of group g are, by `tf` and by
    `boolean`::

        mag_g(d) = ln(1 + n_g)   and   mag_g(d) = 1 if n_g > 0, else 0
        qRaB_g,t = 1/t Σ_{i ≤ t} mag_g(dᵢ)
        qARaB_g  = 1/k Σ_{t ≤ k} qRaB_g,t
        ARaB     = mean over queries of (qARaB_2 − qARaB_1)

    Positive where the second group prevails. In any order of the candidates, each place has their
    mean magnitude. So where a collection has more on one group, ARaB is not 0 for a fair ranking:
    the `excess` is ARaB less the ARaB of the candidates in random order, and 0 if a ranking has the
    balance of what it ranks. A document is neutral where it has few words of either group, or as
    many of both; the fairness of a ranking is what of that is seen::

        ω(d) = 1 if n₁ + n₂ ≤ threshold, else 1 − |n₁ − n₂| / (n₁ + n₂)
        FaiRR = Σ_{i ≤ k} ω(dᵢ) / log₂(1 + i),   NFaiRR = FaiRR / max over all orders of FaiRR

    Equal similarities share their places.

    Parameters
    ----------
    queries, documents
        (q, d) and (n, d) vectors.
    counts_1, counts_2
        (n,) numbers of words of either group in each document.
    query_topics, document_topics
        (q,) and (n,) topic numbers; documents are relevant to the queries of their topic. The
        floor exchanges documents within a topic, since topics may be about one group.
    versions
        (n,) number of the text that a document is a version of; for the gap alone.
    k
        Number of places.
    candidates
        Which documents a query ranks: `all`, or those of its `topic`, such as the passages that
        another search found for it.
    threshold
        Number of words of both groups up to which a document is neutral; τ.
    null_draws
        Number of exchanges for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over queries, and the most of these to leave out.
    rng
        Random number generator of the exchanges.

    Returns
    -------
    dict of Score
        `excess_tf` and `excess_boolean`, fair is 0; `arab_tf` and `arab_boolean`, as published, for
        which a paper takes 0 as fair; `nfairr`, in [0, 1], 1 is the most neutral order. The floors
        and p-values exchange the word counts of documents, of one topic where there are topics.
        Details: of the first four, `group_1` and `group_2`, the parts of ARaB, and `collection`,
        that of any order; of `nfairr`, `collection`. All: `k`, `candidates`, their mean number.
        Samples: each query.

    Raises
    ------
    NotApplicable
        If inputs of documents, or of queries, differ in length.
    InvalidOption
        If `k` is below 1, `candidates` is `topic` without topics, or a number of words is negative.

    References
    ----------
    Rekabsaz and Schedl (2020), Do neural ranking models intensify gender bias?, section 3, and
    their code, navid-rekabsaz/GenderBias_IR: of several words of a group it takes the logarithm of
    the sum. Rekabsaz, Kopeinik and Schedl (2021), Societal biases in retrieved contents:
    measurement framework and adversarial mitigation of BERT rankers, section 3, and their code,
    CPJKU/FairnessRetrievalResults.
    """
    _check(queries, documents, counts_1, counts_2, query_topics, document_topics)
    if k < 1:
        raise InvalidOption(f"ranking-bias: k={k}: must be at least 1")
    if candidates == "topic" and (query_topics is None or document_topics is None):
        raise InvalidOption(
            "ranking-bias: candidates=topic: requires the inputs 'query_topics' and "
            "'document_topics'"
        )
    q, n = len(queries), len(documents)
    if q == 0 or n == 0:
        missing = "there are no queries" if q == 0 else "there are no documents"
        return dict.fromkeys(SCORES, Score(float("nan"), n=q, reason=missing))
    ranked: Mask = np.ones((q, n), dtype=bool)
    if candidates == "topic":
        ranked = np.asarray(query_topics)[:, None] == np.asarray(document_topics)
    similarities = cosines(queries, documents)
    of_arab = weights(similarities, ranked, partial(arab_places, k))
    of_any = ranked / np.maximum(ranked.sum(axis=1, keepdims=True), 1)
    topics = np.zeros(n, dtype=np.int64)
    if document_topics is not None:
        topics = np.unique(document_topics, return_inverse=True)[1]
    exchanged = nulls.exchanged_within(topics, rng=rng, draws=null_draws) if null_draws else None
    interval = partial(
        intervals.jackknife_interval,
        sizes=[q],
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )
    shared: dict[str, Any] = {"k": k, "candidates": float(ranked.sum(axis=1).mean())}

    def score(
        of_queries: Floats,
        weight: Floats,
        content: Floats,
        details: dict[str, float],
        *,
        ideal: float = 0.0,
        bounds: tuple[float, float] | None = None,
    ) -> Score:
        """Return the mean over queries, where a document adds its content by (q, n) weights."""
        defined = np.isfinite(of_queries)
        if not defined.any():
            return Score(float("nan"), n=q, reason="no query ranks a document")
        value = float(of_queries[defined].mean())
        null = None
        if exchanged is not None:
            null = content[exchanged] @ weight[defined].mean(axis=0)
        return Score(
            value,
            p_value=None if null is None else nulls.two_sided(value, null, ideal=ideal),
            interval=interval(
                lambda counts: mean_over_queries(of_queries[:, None], counts)[:, 0], bounds=bounds
            ),
            n=q,
            null=None if null is None else Null(null, "words of the documents of a topic"),
            details=shared | details,
            samples=[Samples("queries", of_queries, {})],
        )

    scores = {}
    some = ranked.any(axis=1)
    magnitudes: dict[str, tuple[Callable[[Floats], Floats], tuple[float, float] | None]]
    magnitudes = {"tf": (np.log1p, None), "boolean": (np.sign, (-1, 1))}
    for name, (magnitude, bounds) in magnitudes.items():
        first, second = (magnitude(np.asarray(c, dtype=np.float64)) for c in (counts_1, counts_2))
        content = second - first
        arab, any_order = (np.where(some, of @ content, np.nan) for of in (of_arab, of_any))
        details = {}
        if some.any():
            details = {
                "group_1": float((of_arab @ first)[some].mean()),
                "group_2": float((of_arab @ second)[some].mean()),
                "collection": float(any_order[some].mean()),
            }
        scores[f"arab_{name}"] = score(arab, of_arab, content, details, bounds=bounds)
        scores[f"excess_{name}"] = score(
            arab - any_order, of_arab - of_any, content, details, bounds=bounds
        )
    neutral = neutrality(counts_1, counts_2, threshold)
    of_fairr = weights(similarities, ranked, partial(fairr_places, k))
    best = weights(np.tile(neutral, (q, 1)), ranked, partial(fairr_places, k)) @ neutral
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = of_fairr / best[:, None]
        fairness, any_order = relative @ neutral, relative.sum(axis=1) * (of_any @ neutral)
    known = np.isfinite(fairness)
    details = {"collection": float(any_order[known].mean())} if known.any() else {}
    scores["nfairr"] = score(fairness, relative, neutral, details, ideal=1.0, bounds=(0, 1))
    return {name: scores[name] for name in SCORES}


def arab_places(k: int, n: int) -> Floats:
    """Return the (n,) weights of n places in qARaB: 1/k Σ 1/t over t from the place to k.

    With fewer documents than k, as many as there are.
    """
    k = min(k, n)
    places = np.zeros(n)
    places[:k] = np.cumsum(1 / np.arange(k, 0, -1))[::-1] / k
    return places


def neutrality(counts_1: Floats, counts_2: Floats, threshold: float = 1) -> Floats:
    """Return the (n,) neutrality ω of documents, in [0, 1], from numbers of words."""
    first, second = (np.asarray(c, dtype=np.float64) for c in (counts_1, counts_2))
    total = first + second
    balance: Floats = 1 - np.abs(first - second) / np.maximum(total, 1)
    return np.where(total > threshold, balance, 1.0)


def _check(
    queries: Reals,
    documents: Reals,
    counts_1: Floats,
    counts_2: Floats,
    query_topics: Floats | None,
    document_topics: Floats | None,
) -> None:
    for name, array, size in (
        ("counts_1", counts_1, len(documents)),
        ("counts_2", counts_2, len(documents)),
        ("query_topics", query_topics, len(queries)),
        ("document_topics", document_topics, len(documents)),
    ):
        if array is not None and len(array) != size:
            raise NotApplicable(f"ranking-bias: '{name}' must have {size} rows, not {len(array)}")
    for name, counts in (("counts_1", counts_1), ("counts_2", counts_2)):
        if (np.asarray(counts) < 0).any():
            raise InvalidOption(f"ranking-bias: '{name}' has a negative number of words")
