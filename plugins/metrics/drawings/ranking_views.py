"""What queries retrieve, to look at: a table of places and the heatmap of similarities.

Computes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.arrays import Floats, Reals, cosines
from harness.plugins.metrics.drawings.similarity_heatmap import similarity_heatmap
from harness.plugins.metrics.statistics.ranking import Mask, Ranked

MAX_ROWS = 10_000  # of the table; beyond, it has only what is retrieved
MAX_CELLS = 5_000  # of the heatmap; beyond, there is none

Texts = Mapping[str, Sequence[str]]


def table(
    ranked: Ranked, relevant: Mask, groups: Sequence[str], texts: Texts
) -> list[dict[str, Any]]:
    """Return a row for each query and document, in the order of places.

    Parameters
    ----------
    ranked
        The ranking of n documents for q queries.
    relevant
        (q, n) whether a document is relevant.
    groups
        (n,) names of the documents' groups.
    texts
        Those of `queries` and `documents`, if known.
    """
    q, n = ranked.order.shape
    queries, documents = _told(texts, "queries", q), _told(texts, "documents", n)
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


def heatmap(
    queries: Mapping[str, Reals | None], documents: Reals, groups: Sequence[str], texts: Texts
) -> dict[str, dict[str, Any]]:
    """Return the figure `similarities`: queries, each text once, against documents by group.

    As figure 2 of Uriot (2024); none where it would have too many cells.

    Parameters
    ----------
    queries
        (q, d) vectors by input.
    documents
        (n, d) vectors.
    groups
        (n,) names of the documents' groups; they are drawn in the order of their first documents.
    texts
        By input, if known.
    """
    shown: dict[str, Floats] = {}
    for name, vectors in queries.items():
        if vectors is not None:
            told = _told(texts, name, len(vectors))
            shown |= dict(zip(told, cosines(vectors, documents), strict=True))
    if len(shown) * len(documents) > MAX_CELLS:
        return {}
    order, labels = [], []
    for group in dict.fromkeys(groups):
        members = [j for j, of in enumerate(groups) if of == group]
        order += members
        labels += [f"{group} {i}" for i in range(1, len(members) + 1)]
    names = _told(texts, "documents", len(documents))
    return {
        "similarities": similarity_heatmap(
            np.stack(list(shown.values()))[:, order],
            list(shown),
            [names[j] for j in order],
            column_labels=labels,
            row_title="query",
            column_title="document",
        )
    }


def _told(texts: Texts, name: str, n: int) -> Sequence[str]:
    return texts.get(name) or [f"{name} {i}" for i in range(1, n + 1)]
