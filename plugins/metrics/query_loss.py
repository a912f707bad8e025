"""What a search loses when queries are written in another variety of the language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, cosines, unit_rows
from harness.errors import NotApplicable
from harness.metrics import Compares, Gaps, Null, Samples, Scale, Score, metric

from .statistics import intervals, nulls
from .statistics.choice_gaps import Rows, usable
from .statistics.exposure import EQUAL, tolerance
from .statistics.gaps import Units
from .statistics.intervals import Codes

FEWEST = 3  # queries, and documents to rank


def loss_gap(
    queries: Reals, varied: Reals, documents: Reals, edited: Reals | None = None, *, units: Units
) -> Gaps:
    """Return how much nearer documents are to the queries than to their varied versions.

    With the queries q, their varied versions v and edited versions e, and the documents d, all of
    length 1::

        N = mean over i of (qᵢ − vᵢ) · dᵢ − mean over i ≠ j of (qᵢ − vᵢ) · dⱼ
        D = mean over i of (qᵢ − eᵢ) · dᵢ − mean over i ≠ j of (qᵢ − eᵢ) · dⱼ

    It is what the variety, and an edit of its size, take of the margin between the right document
    and the others. Without edited queries there is no yardstick.

    Parameters
    ----------
    queries, varied, documents, edited
        (n, d) vectors; row i of each belongs together.
    units
        The unit of each row, by input.
    """
    rows = Rows.of(units["queries"])
    q, v, d = (unit_rows(array) for array in (queries, varied, documents))
    gap = rows.own_less_others(q - v, d)
    if edited is None:
        return Gaps(gap)
    return Gaps(gap, usable(rows.own_less_others(q - unit_rows(edited), d)))


@metric(
    "query-loss",
    scores={
        "rank_loss": Scale(
            ideal=0,
            bounds=(-1, 1),
            help="mean reciprocal rank of the right document, less that for varied queries",
        ),
        "margin_loss": Scale(
            ideal=0,
            bounds=(-4, 4),
            in_cosines=True,
            help="what varied queries lose of the margin between right and other documents",
        ),
    },
    gap=loss_gap,
    compares=Compares(("queries", "varied", "edited"), ("documents",), ranks=True),
)
def query_loss(
    queries: Reals,
    varied: Reals,
    documents: Reals,
    edited: Reals | None = None,
    *,
    k: int = 5,
    null_draws: int = nulls.DRAWS,
    confidence: float = intervals.CONFIDENCE,
    resamples: int = intervals.RESAMPLES,
    rng: np.random.Generator,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Score]:
    """Loss of rank and of margin when queries with the same meaning are in another variety.

    Row i of every input belongs together: a query in the standard language, the same query in
    another variety, such as a dialect, and the document that answers both. All n documents are
    ranked by cosine. With the rank of the right document, 1 the best, and its margin::

        margin(q, i) = cos(q, dᵢ) − mean over j ≠ i of cos(q, dⱼ)
        rank_loss = mean over i of 1/rank(qᵢ) − 1/rank(vᵢ)
        margin_loss = mean over i of margin(qᵢ, i) − margin(vᵢ, i)

    A document that is as near as the right one counts half a place. Any edit costs something, so
    a loss is compared with that of `edited`, the queries after edits of the same size that are no
    dialect.

    Parameters
    ----------
    queries, varied
        (n, d) vectors of the queries in the standard language, and in the variety.
    documents
        (n, d) vectors; document i answers query i, and no other.
    edited
        (n, d) vectors of edited queries, such as with typing errors.
    k
        Number of documents that are read, for the detail `recall`.
    null_draws
        Number of random exchanges for the floors and the p-values; 0 for none.
    confidence, resamples
        Level of the intervals over queries, and the most of these to leave out. The documents
        stay.
    rng
        Random number generator of the exchanges.
    texts
        Texts by input name, for the table.

    Returns
    -------
    dict of Score
        `rank_loss`, in [−1, 1]; fair is 0, positive is a loss. `margin_loss`, in cosines, in
        [−4, 4]; fair is 0; its unit is the standard deviation of all cosines of queries and
        documents. The floors and the two-sided p-values exchange both versions of each query at
        random, which random vectors show. Details of both, by version: `reciprocal_rank`,
        `recall`, the share of queries whose document is among the first k, and `margin`; and
        `edited_loss`, the same loss of the edited queries. Table `queries` of `rank_loss`: the
        texts and ranks. At least three queries are needed. Samples: each query.

    Raises
    ------
    NotApplicable
        If the inputs differ in length.
    InvalidOption
        If `confidence` is not between 0 and 1.

    References
    ----------
    Ziems, Chen, Harris, Anderson and Yang (2022), VALUE: understanding dialect disparity in NLU:
    the loss on the same items in a dialect. Sidiropoulos and Kanoulas (2022), Analysing the
    robustness of dual encoders for dense retrieval against misspellings: the loss of MRR by typing
    errors.
    """
    versions = {"standard": queries, "varied": varied}
    versions |= {} if edited is None else {"edited": edited}
    n = len(documents)
    sizes = [*map(len, versions.values()), n]
    if len(set(sizes)) > 1:
        raise NotApplicable(
            "query-loss: queries and documents must have equal length, not "
            + ", ".join(map(str, sizes))
        )
    if n < FEWEST:
        undefined = Score(float("nan"), n=n, reason=f"fewer than {FEWEST} queries")
        return {"rank_loss": undefined, "margin_loss": undefined}
    tables = {name: cosines(version, documents) for name, version in versions.items()}
    before = {name: _before(table) for name, table in tables.items()}
    rank = {name: 1 + nearer + (tied - 1) / 2 for name, (nearer, tied) in before.items()}
    margin = {name: _margins(table) for name, table in tables.items()}
    reciprocal = {name: 1 / ranks for name, ranks in rank.items()}
    details: dict[str, Any] = {
        "reciprocal_rank": _means(reciprocal),
        "recall": {
            name: float(np.clip((k - nearer) / tied, 0, 1).mean())
            for name, (nearer, tied) in before.items()
        },
        "margin": _means(margin),
        "k": k,
    }
    signs = nulls.shuffled_sides(n, rng=rng, draws=null_draws)
    columns = {f"rank_{name}": ranks for name, ranks in rank.items()}
    inputs = ("queries", "varied", "documents", *(() if edited is None else ("edited",)))
    interval = partial(
        intervals.jackknife_interval,
        sizes=[n],
        rng=rng,
        resamples=resamples,
        confidence=confidence,
    )

    def score(
        of_version: Mapping[str, Floats], bounds: tuple[float, float] | None, **more: Any
    ) -> Score:
        losses = of_version["standard"] - of_version["varied"]
        losses = np.where(np.abs(losses) < EQUAL, 0.0, losses)
        value, null = float(losses.mean()), signs @ losses / n
        of_edits = {}
        if edited is not None:
            of_edits = {
                "edited_loss": float((of_version["standard"] - of_version["edited"]).mean())
            }
        return Score(
            value,
            p_value=nulls.two_sided(value, null),
            interval=interval(lambda counts: counts @ losses / counts.sum(axis=1), bounds=bounds),
            n=n,
            null=Null(null, "versions of the queries") if null_draws else None,
            details=details | of_edits,
            samples=[Samples(inputs, losses, columns)],
            **more,
        )

    spread = float(np.std(tables["standard"]))
    return {
        "rank_loss": score(
            reciprocal, (-1, 1), tables={"queries": _table(texts or {}, rank, inputs)}
        ),
        "margin_loss": score(margin, None, unit=spread if spread > EQUAL else None),
    }


def _before(table: Floats) -> tuple[Codes, Codes]:
    """Return how many cosines of a row are above the diagonal, and how many equal it, with it."""
    own, noise = np.diag(table)[:, None], tolerance(table)
    return (table > own + noise).sum(axis=1), (np.abs(table - own) <= noise).sum(axis=1)


def _margins(table: Floats) -> Floats:
    """Return the (n,) cosines of the diagonal less the mean of the others in their rows."""
    own = np.diag(table)
    margins: Floats = own - (table.sum(axis=1) - own) / (len(table) - 1)
    return margins


def _means(by_version: Mapping[str, Floats]) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in by_version.items()}


def _table(
    texts: Mapping[str, Sequence[str]], rank: Mapping[str, Floats], inputs: Sequence[str]
) -> list[dict[str, Any]]:
    """Return a row for each query, those that lose most first."""
    loss = 1 / rank["standard"] - 1 / rank["varied"]
    return [
        {name: texts[name][i] if name in texts else "" for name in inputs}
        | {f"rank_{name}": float(ranks[i]) for name, ranks in rank.items()}
        for i in np.argsort(-loss, kind="stable").tolist()
    ]
