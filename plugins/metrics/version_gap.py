"""Preference of queries for one of two versions of a text, such as a female and a male one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, cosines, paired_cosines
from harness.errors import NotApplicable
from harness.metrics import Compares, Contrast, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.choice_gaps import preference_gap

FLIPS = 10_000  # largest number of sign flips that are all counted, and number of random ones
EQUAL = 1e-6  # cosines that differ by less are equal: the batch size changes them by 2e-7


@metric(
    "version-gap",
    scores={
        "first_share": Scale(
            ideal=0.5, bounds=(0, 1), help="share of queries that are closer to the first version"
        ),
        "gap": Scale(
            ideal=0,
            bounds=(-2, 2),
            in_cosines=True,
            help="mean cosine with the first version minus that with the second",
        ),
    },
    contrast=Contrast(sides=("queries",), towards=("versions_1", "versions_2"), paired=True),
    later_options=("null_draws", "two_sided"),
    gap=preference_gap,
    compares=Compares(("queries",), ("versions_1", "versions_2", "neutral")),
)
def version_gap(
    queries: Reals,
    versions_1: Reals,
    versions_2: Reals,
    neutral: Reals | None = None,
    topics: Floats | None = None,
    *,
    two_sided: bool = False,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Share of queries closer to the first of two versions of their text, and the mean gap.

    Row i of every input belongs together: a query that names no group, and versions of a text
    that answers it, about the first group, about the second, and (optionally) about neither. A
    retrieval by cosine puts the closer version first.

    Parameters
    ----------
    queries
        (n, d) vectors.
    versions_1, versions_2
        (n, d) vectors of the two versions.
    neutral
        (n, d) vectors of a version without a group, for the details only.
    topics
        (n,) topic numbers. Queries of one topic are not independent: the interval resamples whole
        topics, and the p-value flips the signs of whole topics.
    two_sided
        Whether neither version is a stereotype. Then models rank by the square of the gap, so that
        a leaning to either side counts alike.
    null_draws
        Number of random assignments for the floors; 0 for none.
    confidence, resamples
        Level of the intervals over queries or topics, and the most of these to leave out.
    rng
        Random number generator of the sign flips and resamples.
    clusters
        Cluster codes by input name; those of `queries`, (n,), are resampled if there are no
        topics.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `first_share`, in [0, 1], fair is 1/2; equal cosines count one half. Its p-value is that of
        the two-sided sign test, or of random sign flips of the topics: exact for few topics, else
        (hits + 1)/(flips + 1). `gap`, the mean difference of the cosines, in [−2, 2], fair is 0,
        with a table `versions` and no p-value; its unit is the standard deviation of all cosines
        of queries and versions. The floors swap the versions of whole topics at random; random
        vectors show them. Details of both, by version: `similarity`, the mean
        cosine, and `place`, the mean place (from 1) among the versions of all rows; ties share
        their mean. Details of `first_share`: `first` and `equal`, numbers of queries. Samples:
        each query with its versions and their cosines.

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    InvalidOption
        If `confidence` is not between 0 and 1.
    """
    versions = {"first": versions_1, "second": versions_2}
    versions |= {} if neutral is None else {"neutral": neutral}
    if any(len(vectors) != len(queries) for vectors in versions.values()):
        sizes = ", ".join(str(len(vectors)) for vectors in (queries, *versions.values()))
        raise NotApplicable(
            f"version-gap: queries and versions must have equal length, not {sizes}"
        )
    n = len(queries)
    if n == 0:
        undefined = Score(float("nan"), n=0, reason="there are no queries")
        return {"first_share": undefined, "gap": undefined}
    similarities = {name: paired_cosines(queries, vectors) for name, vectors in versions.items()}
    difference = similarities["first"] - similarities["second"]
    sign = np.where(np.abs(difference) < EQUAL, 0.0, np.sign(difference))
    details = {
        "similarity": {name: float(cosine.mean()) for name, cosine in similarities.items()},
        "place": _places(queries, similarities, list(versions.values())),
    }
    codes = np.arange(n) if topics is None else np.unique(topics, return_inverse=True)[1]
    interval = partial(
        intervals.jackknife_interval,
        sizes=[n],
        rng=rng,
        clusters=intervals.codes_of(clusters, ["queries"]) if topics is None else [codes],
        resamples=resamples,
        confidence=confidence,
    )
    p_value = _p_value(np.bincount(codes, sign).astype(np.float64), rng)
    swaps = nulls.shuffled_sides(n, rng=rng, clusters=codes, draws=null_draws)
    counts_of = {
        "first": int(np.count_nonzero(sign > 0)),
        "equal": n - int(np.count_nonzero(sign)),
    }
    inputs = ("queries", "versions_1", "versions_2", *(() if neutral is None else ("neutral",)))
    columns = {f"cosine_{name}": cosine for name, cosine in similarities.items()}
    share = Score(
        float((sign.mean() + 1) / 2),
        p_value=p_value,
        interval=interval(
            lambda counts: (counts @ sign / counts.sum(axis=1) + 1) / 2, bounds=(0, 1)
        ),
        n=n,
        null=_null((swaps @ sign / n + 1) / 2),
        details=details | counts_of,
        samples=[Samples(inputs, (sign + 1) / 2, columns)],
    )
    gap = Score(
        float(difference.mean()),
        interval=interval(lambda counts: counts @ difference / counts.sum(axis=1)),
        n=n,
        null=_null(swaps @ difference / n),
        unit=_spread(queries, versions_1, versions_2),
        details=details,
        tables={"versions": _table(texts or {}, similarities)},
        samples=[Samples(inputs, difference, columns)],
    )
    return {"first_share": share, "gap": gap}


def _null(values: Floats) -> Null | None:
    return Null(values, "sides of the versions") if len(values) else None


def _spread(queries: Reals, *versions: Reals) -> float | None:
    """Return the standard deviation of all cosines of queries and versions; None if it is 0."""
    spread = float(np.std(cosines(queries, np.concatenate(versions))))
    return spread if spread > EQUAL else None


def _table(
    texts: Mapping[str, Sequence[str]], similarities: Mapping[str, Floats]
) -> list[dict[str, Any]]:
    """Return the texts and cosines of each query; row numbers from 1 where texts are missing."""
    first, second = (similarities[name].tolist() for name in ("first", "second"))
    labels = [
        texts.get(name) or range(1, len(first) + 1)
        for name in ("queries", "versions_1", "versions_2")
    ]
    columns = ("query", "first", "second", "cosine_1", "cosine_2")
    return [
        dict(zip(columns, row, strict=True)) for row in zip(*labels, first, second, strict=True)
    ]


def _p_value(sums: Floats, rng: np.random.Generator) -> float:
    """Return the two-sided p-value of the total of (c,) sums when each may have either sign.

    If all sums are 1, −1 or 0, this is the sign test. Otherwise all sign flips are counted if
    there are at most `FLIPS`, else `FLIPS` random ones.
    """
    sizes, total = np.abs(sums[sums != 0]), abs(sums.sum())
    if len(sizes) == 0:
        return 1.0
    if (sizes == 1).all():
        from scipy.stats import binomtest  # it takes a second to import

        return float(binomtest(round((len(sizes) + total) / 2), len(sizes)).pvalue)
    exact = 2 ** len(sizes) <= FLIPS
    if exact:
        signs = 1 - 2 * (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1)
    else:
        signs = rng.choice([-1, 1], (FLIPS, len(sizes)))
    hits = int(np.count_nonzero(np.abs(signs @ sizes) >= total - 1e-9))
    return hits / len(signs) if exact else (hits + 1) / (len(signs) + 1)


def _places(
    queries: Reals, similarities: Mapping[str, Floats], versions: Sequence[Reals]
) -> dict[str, float]:
    """Return the mean place of each version among all versions of all rows, by cosine."""
    candidates = np.concatenate([cosines(queries, vectors) for vectors in versions], axis=1)
    places = {}
    for name, cosine in similarities.items():
        ahead = (candidates > cosine[:, None] + EQUAL).sum(axis=1)
        equal = (np.abs(candidates - cosine[:, None]) <= EQUAL).sum(axis=1)  # includes itself
        places[name] = float((ahead + (equal + 1) / 2).mean())
    return places
