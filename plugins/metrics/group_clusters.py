"""Clusters of documents by k-means: whether they follow the topics, and whether the groups."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, unit_rows
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.group_gaps import nearness_gap
from .statistics.intervals import Codes

DRAWS = 100
"""Number of random assignments: an adjusted mutual information takes milliseconds."""


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
    *,
    k: int | None = None,
    starts: int = 4,
    null_draws: int = DRAWS,
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
    k
        Number of clusters that are compared with the groups.
    starts
        Number of random starts of k-means, of which the best is taken.
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
    of_unit = np.unique(np.stack([of_group, units]), axis=1, return_inverse=True)[1].reshape(-1)
    label = of_group[np.unique(of_unit, return_index=True)[1]]
    topic_number, most = int(of_topic.max()) + 1, int(of_group.max()) + 1
    number = k or (int(of_original.max()) + 1) * most
    if starts < 1 or not 2 <= number <= n:
        raise InvalidOption(
            f"group-clusters: starts={starts}, k={number}: starts must be at least 1, and "
            f"k between 2 and the number of documents, {n}"
        )
    if min(topic_number, most) < 2 or np.bincount(label).min() < 2:
        undefined = Score(float("nan"), n=n, reason="fewer than two topics, or groups of two names")
        return {"group_information": undefined, "topic_v_measure": undefined}
    x = unit_rows(documents)
    by_topic, by_group = (_k_means(x, count, starts, rng) for count in (topic_number, number))
    drawn = rng.permuted(np.tile(label, (null_draws, 1)), axis=1)
    value = _information(of_group, by_group)
    null = np.array([_information(labels[of_unit], by_group) for labels in drawn])

    def interval(of: Codes, statistic: Any, low: float) -> Any:
        found = intervals.jackknife_interval(
            lambda counts: np.array([statistic(rows > 0) for rows in counts]),
            [n],
            rng=rng,
            clusters=[of],
            resamples=resamples,
            confidence=confidence,
        )
        return intervals.inside(found, low, 1.0)

    homogeneity, completeness, v_measure = _v_measure(of_topic, by_topic)
    columns = {"group": of_group, "topic": of_topic}
    return {
        "group_information": Score(
            value,
            p_value=(int((null >= value - nulls.TIE).sum()) + 1) / (null_draws + 1)
            if null_draws
            else None,
            interval=interval(
                of_unit, lambda rows: _information(of_group[rows], by_group[rows]), -1.0
            ),
            n=n,
            null=Null(null, "groups of the names") if null_draws else None,
            details={
                "alternative": "greater",
                "clusters": number,
                "of_topics": _information(of_group, by_topic),
            },
            tables={"clusters": _table(texts, by_group, of_group)},
            samples=[Samples("documents", None, {"cluster": by_group, **columns})],
        ),
        "topic_v_measure": Score(
            v_measure,
            interval=interval(
                of_original, lambda rows: _v_measure(of_topic[rows], by_topic[rows])[2], 0.0
            ),
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


def _information(labels: Codes, clusters: Codes) -> float:
    from sklearn.metrics import adjusted_mutual_info_score

    return float(adjusted_mutual_info_score(labels, clusters))


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
