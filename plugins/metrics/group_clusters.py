"""Clusters of documents by k-means: whether they follow the topics, and whether the groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.exposure import UnitMeans
from .statistics.group_gaps import nearness_gap
from .statistics.intervals import Codes

TINY = 1e-12  # entropy that is none


@metric(
    "group-clusters",
    scores={
        "group_information": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="adjusted mutual information of clusters with the groups of the names",
        ),
        "topic_v_measure": Scale(
            ideal="higher",
            bounds=(0, 1),
            help="V-measure of as many clusters as topics against the topics: usefulness",
        ),
    },
    contrast=Contrast(
        sides=("documents",),
        towards=("poles_1", "poles_2"),
        labels="groups",
        categorical=True,
        units="units",
        any_direction=True,
    ),
    gap=nearness_gap,
)
def group_clusters(
    documents: Reals,
    topics: Floats,
    groups: Floats,
    units: Floats,
    originals: Floats,
    poles_1: Reals | None = None,
    poles_2: Reals | None = None,
    kin: Floats | None = None,
    *,
    k: int | None = None,
    starts: int = 8,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Information that clusters of documents have of their topics, and of the groups of names.

    Each original text stands there with many names. k-means divides the vectors of length 1 twice:
    into as many clusters as there are topics, and into `k`, as many as originals times
    groups by default, so that each original may be divided by group. With the entropies H and the
    mutual information I of clusters K and labels L::

        homogeneity = I(L, K) / H(L),  completeness = I(L, K) / H(K)
        topic_v_measure = their harmonic mean, of the first clusters and the topics
        group_information = (I − E I) / (mean of H(L) and H(K) − E I)

    of the second clusters and the groups. E I is what a random partition of the same sizes has, so
    that it scores 0 and clusters that are the groups score 1. All documents of a name move
    together, so that chance shows more than 0: the floor exchanges the groups of the names.

    Parameters
    ----------
    documents
        (n, d) vectors.
    topics
        (n,) number of the topic of each document.
    groups
        (n,) number of the group of the name.
    units
        (n,) number of the name, or of names that belong together, such as those with one surname.
    originals
        (n,) number of the text without the name.
    poles_1, poles_2
        Vectors of texts of two groups. No score is made of them: `harness validate-metric` plants
        bias along their difference.
    kin
        (n,) number of what units share, such as a surname of women and men; by default nothing.
        For the floor kins exchange their groups as a whole, and then the units of a kin theirs.
    k
        Number of clusters that are compared with the groups.
    starts
        Number of random starts of k-means. The information is the mean over the clusters of all,
        since it varies by a quarter between starts, and as much between the best of ten. For
        topics the best start is taken.
    null_draws
        Number of random assignments for the floor and the p-value; 0 for none.
    confidence, resamples
        Level of the intervals over names and over originals, and the most of these to leave out.
        The clusters stay those of all documents.
    rng
        Random number generator of the starts and the assignments.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `group_information`, at most 1; fair is 0. The floor exchanges the groups of the units; the
        p-value is one-sided: clusters cannot know less than nothing. `topic_v_measure`, in [0, 1],
        higher is better. Details of `group_information`: `clusters`, their number, and
        `of_topics`, the information in the clusters for topics; of `topic_v_measure`
        `homogeneity` and `completeness`. Table `clusters` of `group_information`: documents of each
        group in each cluster. Samples: each document with its `cluster` and `group`.

    Raises
    ------
    NotApplicable
        If the inputs of the documents differ in length.
    InvalidOption
        If `starts` is below 1, `k` below 2 or above the number of documents, or `confidence`
        is not between 0 and 1.

    References
    ----------
    Rosenberg and Hirschberg (2007), V-Measure: a conditional entropy-based external cluster
    evaluation measure. Vinh, Epps and Bailey (2010), Information theoretic measures for clusterings
    comparison: variants, properties, normalization and correction for chance.
    """
    n = len(documents)
    lengths = [n, *map(len, (topics, groups, units, originals))]
    if len({*lengths}) > 1:
        raise NotApplicable(f"group-clusters: the inputs must have equal length, not {lengths}")
    of_topic, of_group, of_original = (
        np.unique(numbers, return_inverse=True)[1] for numbers in (topics, groups, originals)
    )
    of_names = UnitMeans.of_numbers(of_group, units, kin)
    of_unit, label = of_names.unit, of_names.label
    topic_number, most = int(of_topic.max()) + 1, int(of_group.max()) + 1
    number = k or (int(of_original.max()) + 1) * most
    if starts < 1 or (k is not None and not 2 <= k <= n):
        raise InvalidOption(
            f"group-clusters: starts={starts}, k={k}: starts must be at least 1, and k between 2 "
            f"and the number of documents, {n}"
        )
    if min(topic_number, most) < 2 or np.bincount(label).min() < 2 or number > n:
        undefined = Score(float("nan"), n=n, reason="fewer than two topics, or groups of two names")
        return {"group_information": undefined, "topic_v_measure": undefined}
    x = unit_rows(documents)
    by_topic = _k_means(x, topic_number, starts, rng)
    by_group = [_k_means(x, number, 1, rng) for _ in range(starts)]
    tables = [_counts(of_unit, clusters) for clusters in by_group]
    drawn = of_names.drawn(null_draws, rng)

    def mean(labels: Codes, counts: Floats | None = None) -> Floats:
        found = [information(labels, table, counts) for table in tables]
        means: Floats = np.mean(found, axis=0)
        return means

    value, null = float(mean(label[None])[0]), mean(drawn)

    def interval(statistic: Callable[[Floats], Floats], low: float, of: Codes | None) -> Any:
        found = intervals.jackknife_interval(
            statistic,
            [n if of is not None else len(label)],
            rng=rng,
            clusters=[of],
            resamples=resamples,
            confidence=confidence,
        )
        return intervals.inside(found, low, 1.0)

    def of_originals(counts: Floats) -> Floats:
        return np.array([_v_measure(of_topic[rows > 0], by_topic[rows > 0])[2] for rows in counts])

    homogeneity, completeness, v_measure = _v_measure(of_topic, by_topic)
    columns = {"group": of_group, "topic": of_topic}
    return {
        "group_information": Score(
            value,
            p_value=nulls.one_sided(value, null),
            interval=interval(lambda counts: mean(label[None], counts), -1.0, None),
            n=len(label),
            null=Null(null, "groups of the names") if null_draws else None,
            details={
                "alternative": "greater",
                "clusters": number,
                "of_topics": float(information(label[None], _counts(of_unit, by_topic))[0]),
            },
            tables={"clusters": _table(texts, by_group[0], of_group)},
            samples=[Samples("documents", None, {"cluster": by_group[0], **columns})],
        ),
        "topic_v_measure": Score(
            v_measure,
            interval=interval(of_originals, 0.0, of_original),
            n=n,
            details={"homogeneity": homogeneity, "completeness": completeness},
            samples=[Samples("documents", None, {"cluster": by_topic, **columns})],
        ),
    }


def _k_means(x: Floats, k: int, starts: int, rng: np.random.Generator) -> Codes:
    """Return the (n,) cluster of each row."""
    from sklearn.cluster import KMeans  # it takes a second to import
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    seed = int(rng.integers(2**31))
    with threadpool_limits(1), warnings.catch_warnings():
        # Equal vectors leave clusters empty, which is a result and no failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found: Codes = KMeans(k, n_init=starts, random_state=seed).fit_predict(x)
    return found.astype(np.int64)


def _counts(of_unit: Codes, clusters: Codes) -> Floats:
    """Return the (u, k) numbers of documents of each unit in each cluster."""
    counts = np.zeros((int(of_unit.max()) + 1, int(clusters.max()) + 1))
    np.add.at(counts, (of_unit, clusters), 1)
    return counts


def information(labels: Codes, table: Floats, counts: Floats | None = None) -> Floats:
    """Return the (b,) adjusted mutual information of labels of units with clusters of documents.

    That of scikit-learn, for many labellings at once: what is expected of a random partition is a
    sum over groups that depends on their sizes alone, of which there are few.

    Parameters
    ----------
    labels
        (b, u) group of each unit; b may be 1 beside several counts.
    table
        (u, k) number of documents of each unit in each cluster.
    counts
        (b, u) how often each unit counts, 0 or 1.
    """
    weights = np.ones((1, labels.shape[1])) if counts is None else counts
    groups = np.arange(int(labels.max(initial=0)) + 1)
    joint = ((labels[:, None] == groups[:, None]) * weights[:, None]) @ table
    known: dict[tuple[Any, ...], float] = {}
    found = []
    for cells in joint:
        rows, columns = cells.sum(axis=1), cells.sum(axis=0)
        columns = columns[columns > 0]
        for size in rows:
            key = (size, *columns)
            if key not in known:
                known[key] = _expected(size, columns)
        expected = sum(known[size, *columns] for size in rows)
        of_groups, of_clusters, both = (_entropy(values) for values in (rows, columns, cells))
        scale = (of_groups + of_clusters) / 2 - expected
        shared = of_groups + of_clusters - both - expected
        found.append(shared / scale if abs(scale) > TINY else 0.0)
    return np.array(found)


def _entropy(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _expected(size: float, clusters: Floats) -> float:
    """Return what a group adds to the expected mutual information (Vinh et al. 2010, theorem 1).

    Parameters
    ----------
    size
        Number of documents of the group.
    clusters
        (k,) number of documents of each cluster.
    """
    n, b, a = int(clusters.sum()), int(size), clusters.astype(np.int64)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])  # of factorials
    m = np.arange(1, int(min(a.max(), b)) + 1)[:, None]
    possible = (m <= a) & (m >= a + b - n)
    rest = [np.where(possible, part, 0) for part in (a - m, b - m, n - a - b + m)]
    log = logs[a] + logs[b] + logs[n - a] + logs[n - b] - logs[n] - logs[m]
    log = log - sum(logs[part] for part in rest)
    terms = m / n * np.log(n * m / (a * max(b, 1))) * np.exp(np.where(possible, log, -np.inf))
    return float(terms.sum())


def _v_measure(labels: Codes, clusters: Codes) -> tuple[float, float, float]:
    from sklearn.metrics import homogeneity_completeness_v_measure

    homogeneity, completeness, v = homogeneity_completeness_v_measure(labels, clusters)
    return float(homogeneity), float(completeness), float(v)


def _table(
    texts: Mapping[str, Sequence[str]] | None, clusters: Codes, of_group: Codes
) -> list[dict[str, Any]]:
    """Return a row for each cluster and group; `document` is the first one of the cluster."""
    return [
        {
            "cluster": int(cluster) + 1,
            "document": texts["documents"][int((clusters == cluster).argmax())] if texts else "",
            "group": group + 1,
            "documents": int(((clusters == cluster) & (of_group == group)).sum()),
        }
        for cluster in np.unique(clusters)
        for group in range(int(of_group.max()) + 1)
    ]
