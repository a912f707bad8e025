"""Reads the vectors in the answer of an embeddings endpoint, and checks each of them.

Vectors are lists of numbers, or float32 numbers in base64. Nothing in an answer says of what type
its bytes are, and servers send doubles, halves and packed bits, too. Their bytes give numbers of
any size when they are read as float32, or are a vector of another type as well: then the vector is
refused. Quantised vectors, which are lists of small integers, are refused, too: their numbers have
an offset, or are bits.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from harness.plugins.embedders.hosted.endpoint import Refused

Row: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.floating[Any]]]"

FLOAT32 = (
    "its vector is in base64, and not of float32 numbers; the endpoint must send a list of numbers "
    "(encoding=float)"
)
INTEGERS = (
    "its vector has only integers from {low} to {high}, as quantised vectors have (int8, uint8, "
    "binary); the endpoint must send the numbers themselves (encoding=float)"
)


class _Limits(NamedTuple):
    """What numbers look like if their bytes are of the type that they are read as."""

    spread: float
    """Most bits between the 5% and the 95% quantile of their sizes. Normal numbers have 5 and a
    softmax 14. Halves that are read as float32 have 33, and doubles 128."""
    low: float
    high: float
    """Limits of their median size."""


_FLOAT32 = _Limits(20, 1e-9, 1e9)
_OTHER = _Limits(20, 1e-4, 1e3)
_HALF = _Limits(10, 1e-4, 1e3)  # there are no halves beyond 40 bits


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
        shown = ", ".join(json.dumps(index)[:20] for index in stated[:3]) + ", …" * (n > 3)
        raise Refused(f"the indices of its vectors are not 0 to {n - 1}, but {shown}")
    by_index = dict(zip(stated, data, strict=True))
    return [by_index[i] for i in range(n)]


def vectors(items: Sequence[Mapping[str, Any]], length: int | None) -> list[Row | Refused]:
    """Return the (d,) float32 vector of each item, or the reason why it is invalid.

    Parameters
    ----------
    items
        Items of one answer.
    length
        Length of a vector; None if unknown. Then bytes that could be of two types are refused.
    """
    rows = [_vector(item) for item in items]
    valid = [row for row in rows if not isinstance(row, Refused)]
    reason = None
    if valid and _are_codes(valid):
        low, high = (int(bound(row.min() for row in valid)) for bound in (min, max))
        reason = INTEGERS.format(low=low, high=high)
    elif length is None and not _are_float32([i["embedding"] for i in items if _packed(i)]):
        reason = FLOAT32
    if reason is None:
        return rows
    return [row if isinstance(row, Refused) else Refused(reason) for row in rows]


def are_packed(items: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a vector is in base64."""
    return any(_packed(item) for item in items)


def _packed(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("embedding"), str)


def _vector(item: Mapping[str, Any]) -> Row | Refused:
    embedding = item.get("embedding")
    if isinstance(embedding, str):
        content = _decoded(embedding)
        if content is None:
            return Refused("its vector is not a list of numbers, but a text that is no base64")
        if len(content) % 4:
            return Refused(FLOAT32)
        row = np.frombuffer(content, dtype="<f4")
    else:
        if problem := _not_numbers(embedding):
            return Refused(f"its vector is not a list of numbers, but {problem}")
        try:
            with np.errstate(over="ignore"):  # checked below: not finite
                row = np.asarray(embedding, dtype=np.float64).astype(np.float32)
        except OverflowError:
            return Refused("its vector is not a list of numbers, but has some beyond any float")
    if not row.size:
        return Refused("its vector is empty")
    if not np.isfinite(row).all():
        return Refused("its vector has NaN or infinity")
    if not row.any():
        return Refused("its vector is zero, which has no direction")
    if isinstance(embedding, str) and not _looks_right(row, _FLOAT32):
        return Refused(FLOAT32)
    return row.astype(np.float32, copy=False)


def _not_numbers(embedding: object) -> str:
    """Return what an embedding is, if it is not a list of numbers; else an empty text."""
    if isinstance(embedding, Mapping):
        if {"indices", "values"} <= embedding.keys():
            return "a sparse vector, of indices and values"
        return "a mapping"
    if not isinstance(embedding, list):
        return "null" if embedding is None else "a single value"
    types = {type(value) for value in embedding}
    if types <= {int, float}:
        return ""
    if list in types:
        return "a list of lists, as models with a vector for each token send"
    return {str: "has texts", type(None): "has null", bool: "has true and false"}.get(
        next(iter(types - {int, float})), "has other values"
    )


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _are_codes(rows: Sequence[Row]) -> bool:
    """Return whether vectors have only integers of 8 bits, and not only -1, 0 and 1."""
    low, high = min(row.min() for row in rows), max(row.max() for row in rows)
    if low < -128 or high > 255 or max(-low, high) <= 1:
        return False
    return all(np.array_equal(row, np.rint(row)) for row in rows)


def _are_float32(texts: Sequence[str]) -> bool:
    """Return whether vectors in base64 look like float32 numbers, and like no others."""
    content = b"".join(decoded for text in texts if (decoded := _decoded(text)))
    if not content:
        return True
    with np.errstate(invalid="ignore"):  # some bytes are a NaN that signals
        right = [
            kind
            for kind, numbers, limits in _readings(content)
            if _looks_right(numbers, limits)
            # Else numbers with few digits are each read as two, one of them zero.
            and (len(numbers) == 1 or ((numbers[::2] != 0).any() and (numbers[1::2] != 0).any()))
        ]
    return right == ["<f4"]


def _readings(content: bytes) -> Iterator[tuple[str, Numbers, _Limits]]:
    """Yield what bytes are as floats of each size, and as bfloat16, in both byte orders."""
    if len(content) % 4 == 0:
        yield "<f4", np.frombuffer(content, dtype="<f4"), _FLOAT32
    for kind in ("<f8", ">f8", ">f4", "<f2", ">f2"):
        if len(content) % int(kind[-1]) == 0:
            limits = _HALF if kind[-1] == "2" else _OTHER
            yield kind, np.frombuffer(content, dtype=kind), limits
            if kind[-1] == "2":
                words = np.frombuffer(content, dtype=f"{kind[0]}u2").astype(np.uint32)
                yield "bfloat16", (words << 16).view(np.float32), _OTHER


def _looks_right(numbers: Numbers, limits: _Limits) -> bool:
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    if len(finite) < 0.9 * len(numbers) or not finite.any():
        return False
    sizes = np.abs(finite[finite != 0])
    low, median, high = np.quantile(np.log2(sizes), [0.05, 0.5, 0.95])
    return bool(limits.low < 2**median < limits.high and high - low < limits.spread)
