"""Exposure of groups among retrieved documents: shares per query, their means, gap and null.

The share of a document is what it has of the exposure of a query: these functions work on shares.
A mean over queries takes (b, q) counts of how often each query was drawn, so that it serves the
sample and its resamples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.errors import InvalidOption
from harness.metrics import Null, Samples, Score

from .intervals import Codes

# Documents that a query retrieves: the top k, or the dynamic k of Uriot (2024), algorithm 1.
#
# Dynamic k is a mitigation at the ranking stage (section 4). It needs only similarities, no texts,
# groups or scores.


Ranking = Literal["plain", "dynamic-k", "dynamic-k-symmetric"]


@dataclass(frozen=True)
class Ranked:
    """Documents that q queries retrieve, out of n.

    Documents that are tied share their places, so that the order of the documents does not matter.

    Parameters
    ----------
    retrieved
        (q, n) part of the document that the query retrieves, in [0, 1].
    exposure
        (q, n) 1/log₂(1 + place) of each document, places from 1: how much of it is seen; 0 for
        what is not retrieved.
    similarity
        (q, n) similarities that order the documents.
    order
        (q, n) document indices by place. Retrieved documents come before the others; within each
        part the similarity falls. Ties keep the order of the documents.
    """

    retrieved: Floats
    exposure: Floats
    similarity: Floats
    order: npt.NDArray[np.integer[Any]]


def plain(similarities: Floats, k: int) -> Ranked:
    """Retrieve the k most similar documents.

    Parameters
    ----------
    similarities
        (q, n) similarities of queries and documents.
    k
        Number of documents; with fewer documents, all are retrieved.

    Raises
    ------
    InvalidOption
        If k is less than 1.
    """
    if k < 1:
        raise InvalidOption(f"k={k}: must be at least 1")
    return _ranked(np.ones(similarities.shape, dtype=bool), settled(similarities), k)


def dynamic_k(first: Floats, second: Floats, k: int) -> Ranked:
    """Retrieve documents by the second query until the top k of the first query is included.

    Among the k documents most similar to the first query, the smallest similarity to the second
    query is the threshold. All documents whose similarity to the second query reaches the
    threshold are retrieved: at least k. The order of the two queries matters.

    Parameters
    ----------
    first, second
        (q, n) similarities of the documents with the queries that name either group. In the
        paper, the first query names the group that is discriminated against.
    k
        Size of the first query's top.

    Raises
    ------
    InvalidOption
        If k is less than 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, algorithm 1. Step 5
    writes s(q, ·); appendix E.3 fits only if q is the second query.
    """
    first, second = settled(first), settled(second)
    return _ranked(_reached(first, second, k), second)


def dynamic_k_symmetric(first: Floats, second: Floats, k: int) -> Ranked:
    """Retrieve the union of `dynamic_k` in both orders, ordered by the mean similarity."""
    first, second = settled(first), settled(second)
    reached = _reached(first, second, k) | _reached(second, first, k)
    return _ranked(reached, (first + second) / 2)


def _reached(first: Floats, second: Floats, k: int) -> Mask:
    """Return whether each document is as similar to `second` as all of the top k of `first`."""
    top = plain(first, k).retrieved > 0
    threshold = np.where(top, second, np.inf).min(axis=1, keepdims=True)
    reached: Mask = second >= threshold
    return reached


def _ranked(candidates: Mask, similarity: Floats, k: int | None = None) -> Ranked:
    """Retrieve the first k of the (q, n) candidates, or all of them."""
    k = similarity.shape[1] if k is None else k
    retrieved, exposure = (
        weights(similarity, candidates, of_places, NOISE)
        for of_places in (lambda n: np.arange(n) < k, partial(fairr_places, k))
    )
    # lexsort is stable, and its last key is the primary key
    order = np.lexsort((-similarity, retrieved == 0), axis=1)
    return Ranked(retrieved, exposure, similarity, order)


def fairr_places(k: int, n: int) -> Floats:
    """Return the (n,) weights of n places: 1/log₂(1 + place) of the first k."""
    places = np.arange(1, n + 1)
    weights: Floats = (places <= k) / np.log2(1 + places)
    return weights


EQUAL = 1e-6
"""Similarities of equal vectors differ by less: the batch size changes cosines by 2e-7."""
NOISE = 1e-12
"""Similarities that differ by less are equal, whatever their vectors: sums are rounded."""


def tolerance(similarities: Floats, equal: float = EQUAL) -> float:
    """Return how much equal similarities may differ: dot products may be far above 1."""
    return equal * max(1.0, float(np.abs(similarities).max(initial=0)))


def settled(similarities: Floats) -> Floats:
    """Return (q, n) similarities that are the same for columns that differ by the tolerance.

    These are documents with equal vectors. Documents that are as near to one query by chance differ
    for another one.
    """
    key = np.random.default_rng(0).random(len(similarities)) @ similarities
    order = np.argsort(key, kind="stable")
    steps = np.abs(np.diff(similarities[:, order], axis=1)).max(axis=0, initial=0)
    group = np.concatenate([[0], np.cumsum(steps > tolerance(similarities))])
    same = np.empty_like(similarities)
    same[:, order] = similarities[:, order[np.searchsorted(group, group)]]
    return same


def by_place(similarities: Floats, equal: float) -> tuple[Codes, Codes]:
    """Return the (n,) columns by place, the most similar first, and the number of each tie."""
    order: Codes = np.argsort(-similarities, kind="stable")
    steps = -np.diff(similarities[order])
    ties = np.concatenate([[0], np.cumsum(steps > tolerance(similarities, equal))])
    return order, ties


def shared(values: Floats | Mask, ties: Codes) -> Floats:
    """Return (n,) values of places, each the mean of its tie."""
    means: Floats = np.bincount(ties, values) / np.bincount(ties)
    return means[ties]


def weights(
    similarities: Floats,
    ranked: Mask,
    of_places: Callable[[int], Floats | Mask],
    equal: float = EQUAL,
) -> Floats:
    """Return the (q, n) weights of documents by their places; 0 for those that are not ranked.

    Equal similarities of those that are `ranked` share the weights of their places. `of_places`
    takes a number of documents, and returns the weight of each place.
    """
    found = np.zeros(similarities.shape)
    for row, (values, of_query) in enumerate(zip(similarities, ranked, strict=True)):
        columns = np.flatnonzero(of_query)
        if len(columns):
            order, ties = by_place(values[columns], equal)
            found[row, columns[order]] = shared(of_places(len(order)), ties)
    return found


def count_by_group(weights: Floats | Mask, member: Mask) -> Floats:
    """Return the (q, g) sums over the documents of each group.

    Parameters
    ----------
    weights
        (q, n) weight of a document for a query, or whether it counts.
    member
        (g, n) whether a document belongs to a group.
    """
    counts: Floats = weights.astype(np.float64) @ member.T.astype(np.float64)
    return counts


def ratio(part: Floats, total: Floats) -> Floats:
    """Return part / total; NaN where the total is 0."""
    quotient: Floats = np.where(total > 0, part / np.where(total > 0, total, 1), np.nan)
    return quotient


def shares_of(counts: Floats) -> Floats:
    """Return (q, g) counts as shares: rows sum to 1, or are NaN where all counts are 0."""
    return ratio(counts, counts.sum(axis=1, keepdims=True))


def mean_over_queries(values: Floats, counts: Floats) -> Floats:
    """Return the (b, g) means of (q, g) values; NaN values are left out.

    Parameters
    ----------
    values
        (q, g) values of each query.
    counts
        (b, q) number of times that each query counts.
    """
    defined = np.isfinite(values)
    total = counts @ np.where(defined, values, 0.0)
    return ratio(total, counts @ defined.astype(np.float64))


def exposure_gap(exposure: Floats, fair: Floats, counts: Floats) -> Floats:
    """Return the (b,) gaps: half the sum over groups of |mean exposure − mean fair exposure|.

    Both means are over the same queries: those that retrieve a relevant document.

    Parameters
    ----------
    exposure
        (q, g) shares of the groups of the relevant documents that are retrieved.
    fair
        (q, g) shares of the groups among all relevant documents.
    counts
        (b, q) number of times that each query counts.

    Returns
    -------
    (b,) float64
        In [0, 1]; 0 is fair. NaN without such a query.
    """
    gap: Floats = np.abs(mean_over_queries(exposure - fair, counts)).sum(axis=1) / 2
    return gap


def gap_contributions(exposure: Floats, fair: Floats) -> Floats:
    """Return the (q,) contributions of the queries to `exposure_gap`; their mean is the gap.

    A query contributes positively where it differs from the fair exposure as the means do.

    Parameters
    ----------
    exposure, fair
        (q, g) as for `exposure_gap`.

    Returns
    -------
    (q,) float64
        NaN for a query that retrieves no relevant document.
    """
    once = np.ones((1, len(exposure)))
    sign = np.sign(mean_over_queries(exposure - fair, once)[0])
    contributions: Floats = (exposure - fair) @ sign / 2
    return contributions


def shuffled_gaps(
    of_documents: Floats, fair: Floats, codes: Codes, topics: Floats, *, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Return the (draws,) gaps with the groups of the documents of each topic shuffled.

    Parameters
    ----------
    of_documents
        (n,) mean over the queries of each document's share.
    fair
        (g,) mean over the same queries of the fair exposure.
    codes
        (n,) group of each document, from 0.
    topics
        (n,) topic number of each document.
    draws
        Number of shuffles.
    rng
        Random number generator of the shuffles.
    """
    shuffled = np.tile(codes, (draws, 1))
    for topic in np.unique(topics[of_documents > 0]):
        of_topic = np.flatnonzero(topics == topic)
        shuffled[:, of_topic] = rng.permuted(shuffled[:, of_topic], axis=1)
    exposure = np.stack([(shuffled == code) @ of_documents for code in range(len(fair))], axis=1)
    gaps: Floats = np.abs(exposure - fair).sum(axis=1) / 2
    return gaps


# The gap between the groups' shares of what queries retrieve, as a score.


@dataclass(frozen=True)
class Groups:
    """Documents that queries retrieve, and the groups of all documents.

    Parameters
    ----------
    hits, relevant
        (q, n) part of a document that is retrieved and relevant, and whether it is relevant.
    similarities
        (q, n) cosines.
    codes, topics
        (n,) group and topic of each document.
    names
        Names of the groups by code.
    """

    hits: Floats
    relevant: Mask
    similarities: Floats
    codes: Codes
    topics: Floats
    names: Mapping[int, str]

    @property
    def member(self) -> Mask:
        """(g, n) whether a document belongs to a group."""
        member: Mask = np.stack([self.codes == code for code in self.names])
        return member

    def by_name(self, values: Any) -> dict[str, float | None]:
        """Return (g,) values by group name; None for NaN."""
        return {
            name: None if np.isnan(value) else float(value)
            for name, value in zip(self.names.values(), values, strict=True)
        }


def gap(
    score: Callable[..., Score],
    groups: Groups,
    shares: str,
    weights: Floats,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Score:
    """Return the gap of the groups' shares of the (q, n) weights of the documents that are hit.

    Parameters
    ----------
    score
        Makes a score of a statistic and a reason.
    groups
        Documents and their groups.
    shares
        Name of the shares in the details and samples.
    weights
        (q, n) weight of each document; 0 for what is not retrieved.
    draws, rng
        Number of shuffles, and their random number generator.
    """
    member, once = groups.member, np.ones((1, len(groups.hits)))
    of_documents = shares_of(groups.relevant * weights)  # (q, n)
    has_hits = groups.hits.sum(axis=1) > 0
    n_relevant = count_by_group(groups.relevant, member)
    values = {
        shares: count_by_group(of_documents, member),
        "fair": np.where(has_hits[:, None], shares_of(n_relevant), np.nan),
        "recall": ratio(count_by_group(groups.hits, member), n_relevant),
    }
    columns = {
        f"{key}_{name}": values[key][:, i]
        for key in (shares, "fair")
        for i, name in enumerate(groups.names.values())
    }
    contributions = gap_contributions(values[shares], values["fair"])
    score_of_gap = score(
        partial(exposure_gap, values[shares], values["fair"]),
        reason="no query retrieves a relevant document",
        samples=Samples("queries", contributions, columns),
    )
    means = {key: mean_over_queries(of, once)[0] for key, of in values.items()}
    details = {key: groups.by_name(mean) for key, mean in means.items()} | {
        "similarity": groups.by_name([groups.similarities[:, m].mean() for m in member]),
        "without_hits": int(np.count_nonzero(~has_hits)),
    }
    if np.isnan(score_of_gap.value):
        return dataclasses.replace(score_of_gap, details={**score_of_gap.details, **details})
    mean_share = mean_over_queries(of_documents, once)[0]
    details["granularity"] = float(mean_share[mean_share > 0].min())
    null, p_value = None, None
    if draws:
        codes = np.searchsorted(list(groups.names), groups.codes)
        gaps = shuffled_gaps(mean_share, means["fair"], codes, groups.topics, draws=draws, rng=rng)
        null = Null(gaps, "groups of the documents of a topic")
        p_value = (int((gaps >= score_of_gap.value - 1e-9).sum()) + 1) / (draws + 1)
        details["least"] = float(gaps.min())
    interval = score_of_gap.interval
    if interval is not None:  # a mean difference may have any sign, its distance from 0 not
        low, high = max(interval.low, 0.0), min(interval.high, 1.0)
        interval = dataclasses.replace(interval, low=low, high=high)
    return dataclasses.replace(
        score_of_gap,
        p_value=p_value,
        null=null,
        interval=interval,
        details={**score_of_gap.details, **details},
    )


# Places of rows in rankings, and means of rows by group with the groups exchanged.


@dataclass(frozen=True, eq=False)
class Places:
    """Where each of n rows stands in its ranking; equal values share their places.

    Parameters
    ----------
    percentile
        (n,) in (0, 1), the highest value the highest; 1/2 on average over a ranking.
    selected
        (n,) part of the row in the first places, in [0, 1].
    first
        (n,) part of the row in the first place.
    """

    percentile: Floats
    selected: Floats
    first: Floats


def places(values: Floats, rankings: Codes, top: float) -> Places:
    """Return the places of (n,) values in the rankings that they belong to, by (n,) codes.

    The first places are the share `top` of a ranking, rounded, and at least one.
    """
    percentile, selected, first = (np.empty(len(values)) for _ in range(3))
    for rows in np.split(np.argsort(rankings, kind="stable"), _starts(rankings)):
        m = len(rows)
        ascending = rows[np.argsort(values[rows], kind="stable")]
        tie = np.concatenate([[0], np.cumsum(np.diff(values[ascending]) > tolerance(values))])
        sizes = np.bincount(tie)
        ends = np.cumsum(sizes)  # number of rows up to each value
        percentile[ascending] = ((ends - sizes / 2) / m)[tie]
        for part, k in ((selected, max(1, round(top * m))), (first, 1)):
            part[ascending] = np.clip((k - (m - ends)) / sizes, 0, 1)[tie]
    return Places(percentile, selected, first)


def top_share(values: Floats, number: float) -> Floats:
    """Return for each of (n,) values how far it is among the `number` highest; equal ones share."""
    _, places = np.unique(values, return_inverse=True)
    sizes = np.bincount(places)
    above = len(values) - np.cumsum(sizes)
    share: Floats = (np.clip((number - above) / sizes, 0, 1))[places]
    return share


def _starts(codes: Codes) -> Codes:
    """Return where each code but the first begins among the sorted codes."""
    starts: Codes = np.cumsum(np.unique(codes, return_counts=True)[1])[:-1]
    return starts


@dataclass(frozen=True, eq=False)
class UnitMeans:
    """Means of rows by group, where all rows of a unit are of one group.

    Parameters
    ----------
    unit
        (n,) code of the unit of each row, from 0 to u − 1.
    label
        (u,) code of the group of each unit, from 0 to g − 1.
    kin
        (u,) code of what units share, such as a surname, from 0; None if they share nothing.
    names
        The names of the kins, or of the units if they share nothing.
    """

    unit: Codes
    label: Codes
    kin: Codes | None = None
    names: Sequence[str] = ()

    @classmethod
    def of_numbers(
        cls, groups: Floats | Codes, units: Floats, kin: Floats | None = None
    ) -> UnitMeans:
        """Return the units of (n,) numbers of groups, units and kins; a unit is of one group."""
        keys, unit = np.unique(np.stack([groups, units]), axis=1, return_inverse=True)
        unit, label = unit.reshape(-1), np.unique(keys[0], return_inverse=True)[1]
        if kin is None:
            return cls(unit, label, None, [f"name {u:g} of group {g:g}" for g, u in keys.T])
        first = np.unique(unit, return_index=True)[1]
        numbers, of_kin = np.unique(np.asarray(kin)[first], return_inverse=True)
        return cls(unit, label, of_kin, [f"kin {number:g}" for number in numbers])

    def drawn(self, draws: int, rng: np.random.Generator) -> Codes:
        """Return (draws, u) labels: the groups of the units exchanged at random, kin together."""
        return exchanged_groups(self.label, self.of_kin, draws, rng)

    def exchanged(self, a: int, b: int, draws: int, rng: np.random.Generator) -> Codes:
        """Return (draws, u) labels: the units of two groups exchanged at random, others as is."""
        labels = np.tile(self.label, (draws, 1))
        of_both = np.flatnonzero((self.label == a) | (self.label == b))
        kin = np.unique(self.of_kin[of_both], return_inverse=True)[1]
        labels[:, of_both] = exchanged_groups(self.label[of_both], kin, draws, rng)
        return labels

    @property
    def of_kin(self) -> Codes:
        """(u,) code of the kin of each unit; its own number where units share nothing."""
        return np.arange(len(self.label)) if self.kin is None else self.kin

    def apart(self, values: Floats, rankings: Codes) -> Floats:
        """Return the (u,) means of (n,) values, each less the mean of its ranking by (n,) codes."""
        centred = values - (np.bincount(rankings, values) / np.bincount(rankings))[rankings]
        means: Floats = np.bincount(self.unit, centred) / np.bincount(self.unit)
        return means

    def by_kin(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the (k, g) sums of (n,) values of each kin and group, and numbers of rows."""
        shape = int(self.of_kin.max()) + 1, int(self.label.max()) + 1
        sums, counts = np.zeros(shape), np.zeros(shape)
        cells = self.of_kin[self.unit], self.label[self.unit]
        np.add.at(sums, cells, values)
        np.add.at(counts, cells, 1.0)
        return sums, counts

    def of(
        self,
        values: Floats,
        *,
        rows: Floats | None = None,
        labels: Codes | None = None,
        counts: Floats | None = None,
    ) -> Floats:
        """Return the (b, g) means of (n,) values; NaN for a group without a row.

        Parameters
        ----------
        values
            (n,) values.
        rows
            (n,) how often each row counts; all count once by default.
        labels
            (b, u) groups of the units in place of their own.
        counts
            (b, u) how often each unit counts.
        """
        u = len(self.label)
        weights = np.ones(len(values)) if rows is None else rows
        sums = np.bincount(self.unit, weights * values, minlength=u)
        sizes = np.bincount(self.unit, weights, minlength=u)
        of_group = self.label[None] if labels is None else labels
        means = []
        for group in range(int(self.label.max()) + 1):
            member = (of_group == group) * (1.0 if counts is None else counts)
            with np.errstate(invalid="ignore"):
                means.append((member @ sums) / (member @ sizes))
        stacked: Floats = np.stack(means, axis=-1)
        return stacked


def exchanged_groups(label: Codes, kin: Codes, draws: int, rng: np.random.Generator) -> Codes:
    """Return (draws, u) groups of units, exchanged at random as far as what they share allows.

    Units of one kin share something, such as a surname, and its effect. If kins differ in their
    groups, a kin takes all groups of another one, the first for the first and so on; then the
    units of a kin exchange their groups. Surnames of men and women of four races exchange their
    race as a whole, and the names with one surname their gender.

    Parameters
    ----------
    label
        (u,) code of the group of each unit.
    kin
        (u,) code of the kin of each unit, from 0 to k − 1.
    draws
        Number of draws.
    rng
        Random number generator.
    """
    pairs, pair_of_unit = np.unique(np.stack([kin, label]), axis=1, return_inverse=True)
    pair_of_unit = pair_of_unit.reshape(-1)
    first = np.searchsorted(pairs[0], np.arange(int(kin.max()) + 1))
    sizes = np.bincount(pairs[0])
    place = pair_of_unit - first[kin]  # of the group of a unit among those of its kin
    other = np.tile(np.arange(len(sizes)), (draws, 1))
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        other[:, alike] = rng.permuted(other[:, alike], axis=1)
    by_kin = np.argsort(kin, kind="stable")
    shuffled = np.argsort(kin + rng.random((draws, len(kin))), axis=1)
    places_drawn = np.empty_like(shuffled)
    np.put_along_axis(places_drawn, shuffled, place[by_kin][None], axis=1)
    labels: Codes = pairs[1][first[other[:, kin]] + places_drawn]
    return labels


MAX_ROWS = 10_000  # of the table; a longer one is cut to the retrieved documents


def ranking_table(
    ranked: Ranked, relevant: Mask, groups: Sequence[str], texts: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return one row per query and document, in the order of the places.

    Parameters
    ----------
    ranked
        Ranking of n documents for q queries.
    relevant
        (q, n) whether a document is relevant to a query.
    groups
        (n,) group names of the documents.
    texts
        Texts of the inputs `queries` and `documents`; numbered labels are used where missing.
    """
    q, n = ranked.order.shape
    queries, documents = _labels(texts, "queries", q), _labels(texts, "documents", n)
    return [
        {
            "query": queries[i],
            "place": place,
            "document": documents[j],
            "group": groups[j],
            "relevant": int(relevant[i, j]),
            "retrieved": int(ranked.retrieved[i, j] > 0),
            "similarity": round(float(ranked.similarity[i, j]), 6),
        }
        for i in range(q)
        for place, j in enumerate(ranked.order[i].tolist(), start=1)
        if q * n <= MAX_ROWS or ranked.retrieved[i, j]
    ]


def _labels(texts: Mapping[str, Sequence[str]], name: str, n: int) -> Sequence[str]:
    return texts.get(name) or [f"{name} {i}" for i in range(1, n + 1)]
