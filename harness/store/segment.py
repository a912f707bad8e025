"""One segment of a store: an immutable safetensors file of text keys and their vectors.

It is written atomically: a reader never sees a part of it. This module knows one file;
`harness.store.store` knows the files of a store.

Tensors: `keys`, (n, 2) uint64, sorted; `vectors`, (n, d) float32. The header's metadata hold the
layout's version, the embedder's fingerprint, and whether the rows are packed: of any length, with
zeros behind (`harness.embedder.packed`). Packed segments of a store may have different d.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders, limits
from harness.arrays import Vectors
from harness.errors import DiskError

Header: TypeAlias = tuple[dict[str, str], Mapping[str, Any], int]
"""The metadata of a safetensors file, its tensor entries, and the offset of the data."""
Keys: TypeAlias = npt.NDArray[np.uint64]
"""(n, 2) uint64: the two halves of the 128-bit keys of texts."""
Rows: TypeAlias = npt.NDArray[np.int64]
"""Positions of rows."""

SCHEMA = "2"
"""Version of the layout."""
SUFFIX = ".safetensors"
TEMPORARY = ".tmp"


class Damaged(Exception):
    """A file that is not a valid segment of its store; the message says why."""


class Foreign(Exception):
    """A segment of another version of the harness; it must not be changed."""


@dataclass(frozen=True)
class Segment:
    """An open segment; the arrays are memory-mapped.

    Parameters
    ----------
    path
        The file.
    keys
        (n, 2) keys of the texts.
    vectors
        (n, d) vectors of the texts.
    packed
        Whether its rows are packed.
    """

    path: Path
    keys: Keys
    vectors: Vectors
    packed: bool = False


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


def rows_of(header: Header) -> int:
    """Return the number of rows of a segment, from its header.

    Raises
    ------
    Damaged
        If it is not the header of a segment.
    """
    try:
        return int(header[1]["keys"]["shape"][0])
    except (KeyError, TypeError, ValueError, IndexError):
        raise Damaged("its header is not the header of a segment") from None


def write(
    folder: Path, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
) -> Path:
    """Write sorted `keys`, (n, 2), and their `vectors`, (n, d), and return the new file.

    Raises
    ------
    DiskError
        If the folder cannot be written or the disk is full; no part of the segment is left.
    """
    from safetensors.numpy import save

    content = save(
        {
            "keys": np.ascontiguousarray(keys, dtype="<u8"),
            "vectors": np.ascontiguousarray(vectors, dtype="<f4"),
        },
        {"schema": SCHEMA, "fingerprint": fingerprint, "packed": str(int(packed))},
    )
    # Names sort by time of writing, and two processes or machines never choose the same name.
    path = folder / f"{time.time_ns():016x}-{uuid.uuid4().hex}{SUFFIX}"
    try:
        folders.write_atomically(path, content)
    except DiskError as error:
        raise DiskError(f"{error}; embeddings written before are kept") from None
    return path


def read(path: Path, fingerprint: str) -> Segment:
    """Open a segment; its keys and vectors are memory-mapped.

    Raises
    ------
    Damaged
        If it is truncated, has an invalid header or shapes, or belongs to another embedder.
    Foreign
        If its layout has another version.
    FileNotFoundError
        If it was deleted.
    OSError
        If it cannot be read now; its content may be valid.
    """
    with path.open("rb") as file:
        metadata, tensors, start = parse(file)
    schema = metadata.get("schema", "")
    if schema.isdecimal() and schema != SCHEMA:
        raise Foreign(f"its layout has version {schema}, expected {SCHEMA}")
    if metadata.get("fingerprint") != fingerprint:
        raise Damaged("it has vectors of another embedder")
    try:
        data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r", offset=start))
        keys, vectors = (
            data[slice(*tensors[name]["data_offsets"])].view(dtype).reshape(tensors[name]["shape"])
            for name, dtype in (("keys", "<u8"), ("vectors", "<f4"))
        )
        is_whole = keys.shape == (len(vectors), 2) and vectors.ndim == 2 and vectors.size > 0
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise Damaged("its tensors are not those that its header states")
    return Segment(path, keys, vectors, packed=metadata.get("packed") == "1")
