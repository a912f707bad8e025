"""Leaning of what queries retrieve from a corpus of answers of two leanings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, cosines
from harness.errors import InvalidOption, NotApplicable
from harness.metrics import Compares, Contrast, Interval, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.exposure import tolerance
from .statistics.intervals import pearson

CORPORA = 20
"""Random corpora of each size."""


@metric(
    "corpus-leaning",
    scores={
        "top_share": Scale(
            ideal=0.5,
            bounds=(0, 1),
            help="share of the first leaning among the k answers closest to each query",
        ),
    },
    contrast=Contrast(sides=("queries",), towards=("versions_1", "versions_2")),
    compares=Compares(("queries",), ("versions_1", "versions_2"), ranks=True),
)
def corpus_leaning(
    queries: Reals,
    versions_1: Reals,
    versions_2: Reals,
    *,
    k: int = 5,
    sizes: tuple[int, ...] = (),
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    clusters: Mapping[str, intervals.Codes] | None = None,
) -> dict[str, Score]:
    """Share of the first of two leanings among the k answers that each query retrieves.

    Row i of every input belongs together: a query without a leaning, and an answer of each
    leaning. The corpus is all 2n answers. `version-gap` asks which of its own two answers a query
    is closer to; this metric asks what it finds where they compete with all others.

    Let s_j = 1 for answers of the first leaning, −1 for the others, and w_ij the part of answer j
    in the first k places of query i, by cosine. The leaning of query i and the score are::

        L_i = Σ_j w_ij s_j / k,   top_share = (1 + mean_i L_i) / 2

    Answers with the cosine of the k-th place share the places that are left.

    Parameters
    ----------
    queries
        (n, d) vectors.
    versions_1, versions_2
        (n, d) vectors of the answers of the first and of the second leaning.
    k
        Number of answers to retrieve.
    sizes
        Numbers of rows of smaller corpora, for the table `sizes`: those of a query are its own and
        random ones.
    null_draws
        Number of random assignments for the floor and the p-value; 0 for none.
    confidence, resamples
        Level of the interval over queries, and the most of these to leave out. The corpus is the
        same for all.
    rng
        Random number generator of the assignments.
    clusters
        Cluster codes by input name; those of `queries`, (n,), are left out and swapped together.

    Returns
    -------
    dict of Score
        `top_share`, in [0, 1], fair is 1/2. Its floor and p-value swap the leanings of the two
        answers of a row at random; random vectors show the floor. Details:
        `first_place`, the share for k = 1, and `bias` = 2 · `first_place` − 1, the bias of an
        embedder of Kim et al. in [−1, 1]; `own`, the mean number of the query's own answers among
        the k; `correlation`, Pearson's over queries, of L_i with the query's preference between
        its own answers, the difference of the two cosines, and its interval,
        `correlation_interval`. Table `sizes`, with `sizes`: `top_share` by the number of `answers`
        in the corpus, and its standard deviation over random corpora, `spread`. In a small corpus
        most places go to a query's own answers, one of each leaning; in a large one those are
        chosen freely. Samples: each query.

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    InvalidOption
        If `k` or one of `sizes` is below 1, or `confidence` is not between 0 and 1.

    References
    ----------
    Kim, Springer, Raghunathan and Sap (2025), Mitigating bias in RAG: controlling the embedder.
    """
    n = len(queries)
    if not len(versions_1) == len(versions_2) == n:
        raise NotApplicable(
            "corpus-leaning: queries and versions must have equal length, not "
            f"{n}, {len(versions_1)}, {len(versions_2)}"
        )
    if k < 1:
        raise InvalidOption(f"corpus-leaning: k={k}: must be at least 1")
    if min(sizes, default=1) < 1:
        raise InvalidOption(f"corpus-leaning: sizes={list(sizes)}: must be at least 1")
    if n == 0:
        return {"top_share": Score(float("nan"), n=0, reason="there are no queries")}
    similarities = np.concatenate([cosines(queries, v) for v in (versions_1, versions_2)], axis=1)
    retrieved = _retrieved(similarities, min(k, 2 * n))
    pulls = _pulls(retrieved)  # (n, n): what each row of answers adds to the leaning of each query
    leanings, preference = pulls.sum(axis=1), _own(similarities, -1)
    first_place = float(1 + _pulls(_retrieved(similarities, 1)).sum(axis=1).mean()) / 2
    units = intervals.codes_of(clusters, ["queries"])
    interval = partial(
        intervals.jackknife_interval,
        sizes=[n],
        rng=rng,
        clusters=units,
        resamples=resamples,
        confidence=confidence,
    )
    details: dict[str, Any] = {
        "k": k,
        "first_place": first_place,
        "bias": 2 * first_place - 1,
        "own": float(_own(retrieved, 1).mean()),
    }
    details |= _agreement(preference, leanings, interval)
    value = float(1 + leanings.mean()) / 2
    swaps = nulls.shuffled_sides(
        n, rng=rng, clusters=None if units is None else units[0], draws=null_draws
    )
    null = (1 + swaps @ pulls.mean(axis=0)) / 2
    return {
        "top_share": Score(
            value,
            p_value=nulls.two_sided(value, null, ideal=0.5),
            interval=interval(
                lambda counts: (1 + counts @ leanings / counts.sum(axis=1)) / 2, bounds=(0, 1)
            ),
            n=n,
            null=Null(null, "leanings of the answers") if null_draws else None,
            details=details,
            tables={"sizes": _by_size(similarities, k, sizes, rng)} if sizes else {},
            samples=[
                Samples(
                    ("queries", "versions_1", "versions_2"),
                    (1 + leanings) / 2,
                    {"preference": preference},
                )
            ],
        )
    }


def _by_size(
    similarities: Floats, k: int, sizes: tuple[int, ...], rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the share of the first leaning in random corpora, and in the whole one, by size."""
    n = len(similarities)
    own, table = np.arange(n), []
    for size in sorted({min(size, n) for size in (*sizes, n)}):
        shares = []
        for _ in range(CORPORA if size < n else 1):
            rows = np.tile(rng.permutation(n)[:size], (n, 1))
            lacking = (rows != own[:, None]).all(axis=1)
            rows[lacking, -1] = own[lacking]
            both = np.concatenate([rows, rows + n], axis=1)
            found = np.take_along_axis(similarities, both, axis=1)
            pulls = _pulls(_retrieved(found, min(k, 2 * size)))
            shares.append(float(1 + pulls.sum(axis=1).mean()) / 2)
        spread = float(np.std(shares)) if len(shares) > 1 else None
        row = {"answers": 2 * size, "top_share": float(np.mean(shares)), "spread": spread}
        table.append(row)
    return table


def _retrieved(similarities: Floats, k: int) -> Floats:
    """Return the part of each answer in the k places of each query, (q, m) in [0, 1].

    Each row sums to k. Answers with the cosine of the k-th place share the places that are left.
    """
    last = np.partition(similarities, -k, axis=1)[:, -k][:, None]
    noise = tolerance(similarities)
    above, equal = similarities > last + noise, np.abs(similarities - last) <= noise
    left = (k - above.sum(axis=1, keepdims=True)) / equal.sum(axis=1, keepdims=True)
    parts: Floats = above + left * equal
    return parts


def _pulls(retrieved: Floats) -> Floats:
    """Return the (n, n) parts of the first answer of each row minus those of the second, over k."""
    first, second = np.hsplit(retrieved, 2)
    pulls: Floats = (first - second) / retrieved.sum(axis=1, keepdims=True)
    return pulls


def _own(values: Floats, sign: int) -> Floats:
    """Return the value of each query for its own first answer, plus `sign` times the second."""
    first, second = np.hsplit(values, 2)
    own: Floats = np.diagonal(first) + sign * np.diagonal(second)
    return own


def _agreement(
    preference: Floats, leanings: Floats, interval: Callable[..., Interval | None]
) -> dict[str, Any]:
    """Return the correlation over queries of both preferences, with its interval, for details."""
    correlation = float(pearson(preference, leanings)[0])
    if not np.isfinite(correlation):
        return {}
    ends = interval(lambda counts: pearson(preference, leanings, counts), bounds=(-1, 1))
    between = {} if ends is None else {"correlation_interval": [ends.low, ends.high]}
    return {"correlation": correlation, **between}
