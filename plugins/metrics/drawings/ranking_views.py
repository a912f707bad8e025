"""Table and heatmap of the documents that queries retrieve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats, Mask, Reals, cosines

from ..statistics.exposure import Ranked
from .figures import similarity_heatmap

MAX_ROWS = 10_000  # of the table; a longer one is cut to the retrieved documents
MAX_CELLS = 5_000  # of the heatmap; a larger one is left out

Texts = Mapping[str, Sequence[str]]


def ranking_table(
    ranked: Ranked, relevant: Mask, groups: Sequence[str], texts: Texts
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
            "retrieved": int(ranked.retrieved[i, j]),
            "similarity": round(float(ranked.similarity[i, j]), 6),
        }
        for i in range(q)
        for place, j in enumerate(ranked.order[i].tolist(), start=1)
        if q * n <= MAX_ROWS or ranked.retrieved[i, j]
    ]


def retrieval_heatmap(
    queries: Mapping[str, Reals | None], documents: Reals, groups: Sequence[str], texts: Texts
) -> dict[str, dict[str, Any]]:
    """Return the figure `similarities`: cosines of the distinct queries with the documents.

    The documents are grouped, as in figure 2 of Uriot (2024). There is no figure if it would have
    more than `MAX_CELLS` cells.

    Parameters
    ----------
    queries
        (q, d) vectors by input name.
    documents
        (n, d) vectors.
    groups
        (n,) group names of the documents; groups are drawn in the order of their first documents.
    texts
        Texts by input name; numbered labels are used where missing.
    """
    similarities: dict[str, Floats] = {}
    for name, vectors in queries.items():
        if vectors is not None:
            labels = _labels(texts, name, len(vectors))
            similarities |= dict(zip(labels, cosines(vectors, documents), strict=True))
    if len(similarities) * len(documents) > MAX_CELLS:
        return {}
    order, column_labels = [], []
    for group in dict.fromkeys(groups):
        members = [j for j, name in enumerate(groups) if name == group]
        order += members
        column_labels += [f"{group} {i}" for i in range(1, len(members) + 1)]
    names = _labels(texts, "documents", len(documents))
    return {
        "similarities": similarity_heatmap(
            np.stack(list(similarities.values()))[:, order],
            list(similarities),
            [names[j] for j in order],
            column_labels=column_labels,
            row_title="query",
            column_title="document",
        )
    }


def _labels(texts: Texts, name: str, n: int) -> Sequence[str]:
    return texts.get(name) or [f"{name} {i}" for i in range(1, n + 1)]
