"""Columns of numbers as the scripts of the site read them: little-endian bytes in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

TYPES = {"f32": "<f4", "u8": "u1", "u16": "<u2", "i32": "<i4"}
"""NumPy's name of each type."""


def column(values: Any, type_: str) -> dict[str, str]:
    """Return a column of numbers, row after row; missing floats are NaN."""
    array = np.ascontiguousarray(values, dtype=TYPES[type_])
    return {"type": type_, "data": base64.b64encode(array.tobytes()).decode()}
