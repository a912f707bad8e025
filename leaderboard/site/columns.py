"""Columns of numbers as the scripts of the site read them: little-endian bytes in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

TYPES = {"f32": "<f4", "u8": "u1", "u16": "<u2", "i32": "<i4"}
"""NumPy's name of each type."""


def column(values: Any, type_: str) -> dict[str, str]:
    """Return a column of numbers, row after row; missing floats are NaN.

    First stand the first bytes of all numbers, then the second bytes: alike bytes compress.
    """
    array = np.ascontiguousarray(values, dtype=TYPES[type_]).reshape(-1)
    planes = array.view("u1").reshape(-1, array.itemsize).T
    return {"type": type_, "data": base64.b64encode(planes.tobytes()).decode()}


def rounded(values: Any, bits: int) -> Any:
    """Return numbers as float32 whose mantissa has `bits` bits, which compress.

    The last bit is rounded; infinity and NaN stay what they are.
    """
    array = np.ascontiguousarray(values, dtype="<f4")
    dropped = 23 - bits
    words = array.view("<u4")
    short = (words + np.uint32(1 << (dropped - 1))) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return np.where(np.isfinite(array), short.view("<f4"), array)
