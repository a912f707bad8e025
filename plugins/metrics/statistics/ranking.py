"""Which documents a query retrieves: the top k, or as many as both genders' queries ask for.

The mitigator of the ranking stage (Uriot 2024, section 4 and algorithm 1). It works on similarities
alone, so any retrieval can use it; knows no texts, groups or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.arrays import Floats
from harness.errors import InvalidOption

Way = Literal["plain", "dynamic-k", "dynamic-k-symmetric"]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Ranked:
    """What queries retrieve.

    Parameters
    ----------
    retrieved
        (q, n) whether a document is retrieved.
    similarity
        (q, n) by which the documents are ordered.
    order
        (q, n) the documents by place: those retrieved first, each part by falling similarity,
        equal ones in the order of the documents.
    """

    retrieved: Mask
    similarity: Floats
    order: npt.NDArray[np.integer[Any]]


def plain(similarities: Floats, k: int) -> Ranked:
    """Retrieve the k most similar documents.

    Parameters
    ----------
    similarities
        (q, n) of queries and documents.
    k
        How many; all where there are fewer.

    Raises
    ------
    InvalidOption
        If k is less than 1.
    """
    return _ranked(_top(similarities, k), similarities)


def dynamic_k(first: Floats, second: Floats, k: int) -> Ranked:
    """Retrieve as many documents as one group's query needs to reach the top k of the other's.

    Of the k documents most similar to the first query, such as the one that says that the person
    is a woman, the one least similar to the second query sets the threshold; all documents that
    are at least as similar to the second query are retrieved. So there are at least k. The order
    of the two queries matters.

    Parameters
    ----------
    first, second
        (q, n) similarities of the documents with the queries of the two groups; the paper's first
        is that of the group that is discriminated against.
    k
        How many documents to begin with.

    Raises
    ------
    InvalidOption
        If k is less than 1.

    References
    ----------
    Uriot (2024), On debiasing text embeddings through context injection, algorithm 1. Its step 5
    writes s(q, ·); that q is the second query is the reading that fits its appendix E.3.
    """
    return _ranked(_reached(first, second, k), second)


def dynamic_k_symmetric(first: Floats, second: Floats, k: int) -> Ranked:
    """Retrieve what `dynamic_k` does in either order of the two queries, by mean similarity."""
    retrieved = _reached(first, second, k) | _reached(second, first, k)
    return _ranked(retrieved, (first + second) / 2)


def _reached(first: Floats, second: Floats, k: int) -> Mask:
    threshold = np.where(_top(first, k), second, np.inf).min(axis=1, keepdims=True)
    reached: Mask = second >= threshold
    return reached


def _top(similarities: Floats, k: int) -> Mask:
    if k < 1:
        raise InvalidOption(f"k={k}: at least 1 document must be retrieved")
    order = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
    top = np.zeros(similarities.shape, dtype=bool)
    np.put_along_axis(top, order, values=True, axis=1)
    return top


def _ranked(retrieved: Mask, similarity: Floats) -> Ranked:
    # lexsort is stable, and its last key is the first to count
    order = np.lexsort((-similarity, ~retrieved), axis=1)
    return Ranked(retrieved, similarity, order)
