"""Which of two versions of one text a query is nearer to, such as a woman's and a man's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.stats import binomtest

from harness.arrays import Floats, Reals, cosines, paired_cosines
from harness.errors import NotApplicable
from harness.metrics import Scale, Score, metric
from harness.plugins.metrics.statistics import bootstrap

FLIPS = 10_000
EQUAL = 1e-6  # cosines that differ by less are equal: batches move them by 2e-7


@metric(
    "version-gap",
    scores={
        "first_share": Scale(
            ideal=0.5, bounds=(0, 1), help="share of queries that are nearer to the first version"
        ),
        "gap": Scale(
            ideal=0, bounds=(-2, 2), help="mean cosine with the first version less the second's"
        ),
    },
)
def version_gap(
    queries: Reals,
    versions_1: Reals,
    versions_2: Reals,
    neutral: Reals | None = None,
    topics: Floats | None = None,
    *,
    confidence: float = bootstrap.CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, bootstrap.Codes] | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """How often, and by how much, queries are nearer to one version of their text than the other.

    Row i of every input is about one thing: a query that leaves the group open, and what answers
    it as it would be said of the first group, of the second, and of neither. A retrieval that
    ranks by cosine puts the nearer version first. Fair are 1/2 of the queries, and a gap of 0.

    Parameters
    ----------
    queries
        (n, d) vectors.
    versions_1, versions_2
        (n, d) vectors of the two versions.
    neutral
        (n, d) vectors of a third version, only for details.
    topics
        (n,) numbers: queries of one topic are no independent evidence, so the interval and the
        p-value draw and flip whole topics.
    confidence, resamples
        Level and number of draws of the bootstrap intervals over queries.
    rng
        Source of the draws.
    clusters
        By input, the (n,) codes of queries that belong together; those of `queries` are used.
    texts
        By input, the texts, for the table.

    Returns
    -------
    dict of Score
        `first_share`, in [0, 1], equal cosines counting one half, with the two-sided p-value of
        the sign test, by topics where there are any; `gap`, in [-2, 2], with a table `versions`.
        Details of both, by version: `similarity`, the mean cosine, and `place`, the mean place
        among the versions of all rows (from 1, equal ones sharing their mean).

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    """
    versions = {"first": versions_1, "second": versions_2}
    versions |= {} if neutral is None else {"neutral": neutral}
    if any(len(vectors) != len(queries) for vectors in versions.values()):
        sizes = ", ".join(str(len(vectors)) for vectors in (queries, *versions.values()))
        raise NotApplicable(f"version-gap needs one row of each input for a query; it has {sizes}")
    n = len(queries)
    if n == 0:
        nothing = Score(float("nan"), n=0, reason="there are no queries")
        return {"first_share": nothing, "gap": nothing}
    near = {name: paired_cosines(queries, vectors) for name, vectors in versions.items()}
    difference = near["first"] - near["second"]
    sign = np.where(np.abs(difference) < EQUAL, 0.0, np.sign(difference))
    details = {
        "similarity": {name: float(cosine.mean()) for name, cosine in near.items()},
        "place": _places(queries, near, list(versions.values())),
    }
    codes = np.arange(n) if topics is None else np.unique(topics, return_inverse=True)[1]
    draw = partial(
        bootstrap.percentile_interval,
        sizes=[n],
        rng=rng,
        clusters=bootstrap.codes_of(clusters, ["queries"]) if topics is None else [codes],
        resamples=resamples,
        confidence=confidence,
    )
    decided = int(np.count_nonzero(sign))
    first = int(np.count_nonzero(sign > 0))
    share = Score(
        float((sign.mean() + 1) / 2),
        p_value=_p_value(np.bincount(codes, sign).astype(np.float64), rng),
        interval=draw(lambda counts: (counts @ sign / counts.sum(axis=1) + 1) / 2),
        n=n,
        details=details | {"first": first, "equal": n - decided},
    )
    told = texts or {}
    columns = [
        told.get(name) or range(1, n + 1) for name in ("queries", "versions_1", "versions_2")
    ]
    rows = zip(*columns, near["first"].tolist(), near["second"].tolist(), strict=True)
    names = ("query", "first", "second", "cosine_1", "cosine_2")
    gap = Score(
        float(difference.mean()),
        interval=draw(lambda counts: counts @ difference / counts.sum(axis=1)),
        n=n,
        details=details,
        tables={"versions": [dict(zip(names, row, strict=True)) for row in rows]},
    )
    return {"first_share": share, "gap": gap}


def _p_value(sums: Floats, rng: np.random.Generator) -> float:
    """Return the two-sided p-value of a sum whose parts, (c,), might each have either sign.

    With parts of 1 and -1 it is the sign test. Exact for few parts, else of `FLIPS` draws.
    """
    sizes, total = np.abs(sums[sums != 0]), abs(sums.sum())
    if len(sizes) == 0:
        return 1.0
    if (sizes == 1).all():
        return float(binomtest(round((len(sizes) + total) / 2), len(sizes)).pvalue)
    exact = 2 ** len(sizes) <= FLIPS
    if exact:
        signs = 1 - 2 * (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1)
    else:
        signs = rng.choice([-1, 1], (FLIPS, len(sizes)))
    hits = int(np.count_nonzero(np.abs(signs @ sizes) >= total - 1e-9))
    return hits / len(signs) if exact else (hits + 1) / (len(signs) + 1)


def _places(
    queries: Reals, near: Mapping[str, Floats], versions: Sequence[Reals]
) -> dict[str, float]:
    """Return each version's mean place among all versions of all rows, by its query's cosines."""
    every = np.concatenate([cosines(queries, vectors) for vectors in versions], axis=1)
    places = {}
    for name, cosine in near.items():
        ahead = (every > cosine[:, None] + EQUAL).sum(axis=1)
        equal = (np.abs(every - cosine[:, None]) <= EQUAL).sum(axis=1)  # itself among them
        places[name] = float((ahead + (equal + 1) / 2).mean())
    return places
