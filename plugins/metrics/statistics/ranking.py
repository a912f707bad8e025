"""Documents that a query retrieves: the top k, or the dynamic k of Uriot (2024), algorithm 1.

Dynamic k is a mitigation at the ranking stage (section 4). It needs only similarities, no texts,
groups or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats, Mask
from harness.errors import InvalidOption

Ranking = Literal["plain", "dynamic-k", "dynamic-k-symmetric"]


@dataclass(frozen=True)
class Ranked:
    """Documents that q queries retrieve, out of n.

    Parameters
    ----------
    retrieved
        (q, n) whether the query retrieves the document.
    similarity
        (q, n) similarities that order the documents.
    order
        (q, n) document indices by place. Retrieved documents come before the others; within each
        part the similarity falls. Ties keep the order of the documents.
    """

    retrieved: Mask
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
    return _ranked(_top(similarities, k), similarities)


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
    return _ranked(_reached(first, second, k), second)


def dynamic_k_symmetric(first: Floats, second: Floats, k: int) -> Ranked:
    """Retrieve the union of `dynamic_k` in both orders, ordered by the mean similarity."""
    retrieved = _reached(first, second, k) | _reached(second, first, k)
    return _ranked(retrieved, (first + second) / 2)


def _reached(first: Floats, second: Floats, k: int) -> Mask:
    """Return whether each document is as similar to `second` as all of the top k of `first`."""
    threshold = np.where(_top(first, k), second, np.inf).min(axis=1, keepdims=True)
    reached: Mask = second >= threshold
    return reached


def _top(similarities: Floats, k: int) -> Mask:
    """Return whether each document is among the k most similar; ties keep the documents' order."""
    if k < 1:
        raise InvalidOption(f"k={k}: must be at least 1")
    order = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
    top = np.zeros(similarities.shape, dtype=bool)
    np.put_along_axis(top, order, values=True, axis=1)
    return top


def _ranked(retrieved: Mask, similarity: Floats) -> Ranked:
    # lexsort is stable, and its last key is the primary key
    order = np.lexsort((-similarity, ~retrieved), axis=1)
    return Ranked(retrieved, similarity, order)
