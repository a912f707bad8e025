"""Reads the vectors in the answer of an embeddings endpoint, and checks each of them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from harness.plugins.embedders.hosted.endpoint import Refused

Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"


def in_order(answer: Mapping[str, Any], n: int) -> list[Mapping[str, Any]]:
    """Return the items of an answer in the order of its `n` texts, by their index.

    Raises
    ------
    Refused
        If there is not exactly one item for each text.
    """
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise Refused("the answer has no list of vectors")
    if len(data) != n:
        raise Refused(f"{len(data)} vectors for {n} texts")
    stated = [item.get("index") for item in data]
    if all(index is None for index in stated):
        return list(data)
    if not all(type(index) is int for index in stated) or set(stated) != set(range(n)):
        raise Refused(f"the indices of its vectors are not 0 to {n - 1}")
    by_index = dict(zip(stated, data, strict=True))
    return [by_index[i] for i in range(n)]


def vector(item: Mapping[str, Any]) -> Row | Refused:
    """Return the (d,) float32 vector of an item, or the reason why it is invalid."""
    embedding = item.get("embedding")
    try:
        if isinstance(embedding, str):
            row = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        elif isinstance(embedding, list) and {type(value) for value in embedding} <= {int, float}:
            with np.errstate(over="ignore"):  # checked below: not finite
                row = np.asarray(embedding, dtype=np.float64).astype(np.float32)
        else:
            return Refused("its vector is not a list of numbers")
    except (TypeError, ValueError, OverflowError):  # also integers beyond any float
        return Refused("its vector is not a list of numbers")
    if not row.size:
        return Refused("its vector is empty")
    if not np.isfinite(row).all():
        return Refused("its vector has NaN or infinity")
    if not row.any():
        return Refused("its vector is zero, which has no direction")
    return row.astype(np.float32, copy=False)
