"""The header of a segment: what a safetensors file states about its tensors. Reads no tensor."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from harness import limits

Header: TypeAlias = tuple[dict[str, str], Mapping[str, Any], int]
"""The metadata of a safetensors file, its tensor entries, and the offset of the data."""

SCHEMA = "2"
"""Version of the layout of new segments."""
UNCHECKED = "1"
"""Version of the layout without checks of rows, which is read, too."""


class Damaged(Exception):
    """A file that is not a valid segment of its store; the message says why."""


class Foreign(Exception):
    """A segment of another version of the harness; it must not be changed."""


@dataclass(frozen=True)
class Layout:
    """What the header of a segment states.

    Parameters
    ----------
    schema
        Version of the layout.
    n, d
        Number of rows and of dimensions.
    start, end
        Where the tensors begin and end in the file. They are in the order keys, checks, vectors.
    checksum
        CRC-32 of the tensors.
    may_have_nan
        Whether a vector may be a row of NaN; older segments do not say.
    """

    schema: str
    n: int
    d: int
    start: int
    checksum: int
    may_have_nan: bool

    @property
    def end(self) -> int:
        """Size of the file."""
        last = tensors_of(self.schema, self.n, self.d)["vectors"]
        return self.start + int(last["data_offsets"][1])


def parse(file: BinaryIO) -> Header:
    """Return the metadata of a safetensors file, its tensor entries, and the offset of the data.

    Raises
    ------
    Damaged
        If the file has no valid header.
    """
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= limits.SEGMENT_HEADER_BYTES:
        raise Damaged("it has no header")
    try:
        header = json.loads(file.read(length))
        metadata = header.pop("__metadata__")
        if not all(isinstance(value, str) for value in metadata.values()):
            raise TypeError
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise Damaged("its header cannot be read") from None
    return metadata, header, 8 + length


def layout_of(header: Header) -> Layout:
    """Return what the header of a segment states.

    Raises
    ------
    Damaged
        If it is not the header of a segment.
    Foreign
        If its layout has another version.
    """
    metadata, tensors, start = header
    schema = metadata.get("schema", "")
    if schema not in (SCHEMA, UNCHECKED):
        if schema.isdecimal() and len(schema) < 5:
            raise Foreign(f"its layout has version {schema}, expected {SCHEMA}")
        raise Damaged("its header is not the header of a segment")
    try:
        n, d = tensors["vectors"]["shape"]
        checksum = int(metadata["crc32"])
    except (KeyError, TypeError, ValueError):
        raise Damaged("its header is not the header of a segment") from None
    if type(n) is not int or type(d) is not int or tensors != tensors_of(schema, n, d):
        raise Damaged("its tensors have wrong types or shapes")
    if n < 1 or d < 1:
        raise Damaged("it is empty")
    return Layout(schema, n, d, start, checksum, may_have_nan=metadata.get("nan") != "0")


def to_bytes(fingerprint: str, n: int, d: int, *, checksum: int, n_nan: int) -> bytes:
    """Return the header of a new segment with `n_nan` rows of NaN."""
    metadata = {
        "schema": SCHEMA,
        "fingerprint": fingerprint,
        "crc32": str(checksum),
        "nan": str(n_nan),
    }
    text = json.dumps({"__metadata__": metadata, **tensors_of(SCHEMA, n, d)}).encode()
    text += b" " * (-len(text) % 64)  # aligns the tensors; the format allows spaces here
    return len(text).to_bytes(8, "little") + text


def tensors_of(schema: str, n: int, d: int) -> dict[str, dict[str, Any]]:
    """Return the header's entries of the tensors, in their order in the file."""
    shapes = {"keys": ("U64", [n, 2]), "checks": ("U64", [n]), "vectors": ("F32", [n, d])}
    if schema == UNCHECKED:
        del shapes["checks"]
    entries, end = {}, 0
    for name, (dtype, shape) in shapes.items():
        start, end = end, end + int(dtype[1:]) // 8 * math.prod(shape)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    return entries
