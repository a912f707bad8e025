"""One segment of a store: an immutable safetensors file of text keys and their vectors.

It is written atomically: a reader never sees a part of it. This module knows one file;
`harness.store.store` knows the files of a store.

Tensors: `keys`, (n, 2) uint64, sorted; `checks`, (n,) uint64; `vectors`, (n, d) float32. A check is
the checksum of one row, so that a few rows can be verified without reading the others
(`row_checks`). The header's metadata hold the layout's version, the embedder's fingerprint, a
CRC-32 of all tensors, the number of rows of NaN, and whether the rows are packed: of any length,
with zeros behind (`harness.embedder.packed`). Packed segments of a store may have different d.
"""

from __future__ import annotations

import functools
import json
import math
import os
import time
import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import folders, limits
from harness.arrays import Vectors
from harness.errors import DiskError

# The header of a segment: what a safetensors file states about its tensors. Reads no tensor.


Header: TypeAlias = tuple[dict[str, str], Mapping[str, Any], int]
"""The metadata of a safetensors file, its tensor entries, and the offset of the data."""

SCHEMA = "2"
"""Version of the layout."""


class Damaged(Exception):
    """A file that is not a valid segment of its store; the message says why."""


class Foreign(Exception):
    """A segment of another version of the harness; it must not be changed."""


@dataclass(frozen=True)
class Layout:
    """What the header of a segment states.

    Parameters
    ----------
    n, d
        Number of rows and of dimensions.
    start, end
        Where the tensors begin and end in the file. They are in the order keys, checks, vectors.
    checksum
        CRC-32 of the tensors.
    may_have_nan
        Whether a vector may be a row of NaN.
    packed
        Whether its rows are packed.
    """

    n: int
    d: int
    start: int
    checksum: int
    may_have_nan: bool
    packed: bool = False

    @property
    def end(self) -> int:
        """Size of the file."""
        last = tensors_of(self.n, self.d)["vectors"]
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
    if schema != SCHEMA:
        if schema.isdecimal() and len(schema) < 5:
            raise Foreign(f"its layout has version {schema}, expected {SCHEMA}")
        raise Damaged("its header is not the header of a segment")
    try:
        n, d = tensors["vectors"]["shape"]
        checksum = int(metadata["crc32"])
    except (KeyError, TypeError, ValueError):
        raise Damaged("its header is not the header of a segment") from None
    if type(n) is not int or type(d) is not int or tensors != tensors_of(n, d):
        raise Damaged("its tensors have wrong types or shapes")
    if n < 1 or d < 1:
        raise Damaged("it is empty")
    nan, packed = metadata.get("nan") != "0", metadata.get("packed") == "1"
    return Layout(n, d, start, checksum, may_have_nan=nan, packed=packed)


def to_bytes(
    fingerprint: str, n: int, d: int, *, checksum: int, n_nan: int, packed: bool = False
) -> bytes:
    """Return the header of a new segment with `n_nan` rows of NaN."""
    metadata = {
        "schema": SCHEMA,
        "fingerprint": fingerprint,
        "crc32": str(checksum),
        "nan": str(n_nan),
    }
    if packed:
        metadata["packed"] = "1"
    text = json.dumps({"__metadata__": metadata, **tensors_of(n, d)}).encode()
    text += b" " * (-len(text) % 64)  # aligns the tensors; the format allows spaces here
    return len(text).to_bytes(8, "little") + text


def tensors_of(n: int, d: int) -> dict[str, dict[str, Any]]:
    """Return the header's entries of the tensors, in their order in the file."""
    shapes = {"keys": ("U64", [n, 2]), "checks": ("U64", [n]), "vectors": ("F32", [n, d])}
    entries, end = {}, 0
    for name, (dtype, shape) in shapes.items():
        start, end = end, end + int(dtype[1:]) // 8 * math.prod(shape)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    return entries


Keys: TypeAlias = npt.NDArray[np.uint64]
"""(n, 2) uint64: the two halves of the 128-bit keys of texts."""
Checks: TypeAlias = npt.NDArray[np.uint64]
"""(n,) uint64: a check of each row of vectors."""
Rows: TypeAlias = npt.NDArray[np.int64]
"""Positions of rows."""

SUFFIX = ".safetensors"
TEMPORARY = ".tmp"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: its multiples look random


@dataclass(frozen=True)
class Segment:
    """An open segment; the arrays are memory-mapped.

    Parameters
    ----------
    path
        The file.
    keys
        (n, 2) keys of the texts, sorted.
    vectors
        (n, d) vectors of the texts.
    checksum
        CRC-32 of all tensors, as stated in the header.
    checks
        (n,) check of each row, as it should be.
    may_have_nan
        Whether a vector may be a row of NaN.
    packed
        Whether its rows are packed.
    """

    path: Path
    keys: Keys
    vectors: Vectors
    checksum: int
    checks: Checks
    may_have_nan: bool
    packed: bool = False

    @functools.cached_property
    def is_nan(self) -> npt.NDArray[np.bool_]:
        """(n,) whether each vector is a row of NaN."""
        if not self.may_have_nan:
            return np.zeros(len(self.keys), dtype=bool)
        return nan_rows(self.vectors)

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether all tensors together have the checksum that the header states."""
        return _crc32([self.keys.data, self.checks.data, self.vectors.data]) == self.checksum


def write(
    folder: Path, fingerprint: str, keys: Keys, vectors: Vectors, *, packed: bool = False
) -> Path:
    """Write sorted `keys`, (n, 2), and their `vectors`, (n, d), and return the new file.

    Raises
    ------
    DiskError
        If the folder cannot be written or the disk is full; no part of the segment is left.
    """
    vectors = np.ascontiguousarray(vectors, dtype="<f4")
    tensors = (np.ascontiguousarray(keys, dtype="<u8"), row_checks(vectors), vectors)
    payload = [tensor.data.cast("B") for tensor in tensors]
    head = to_bytes(
        fingerprint,
        *(len(keys), vectors.shape[1]),
        checksum=_crc32(payload),
        n_nan=int(nan_rows(vectors).sum()),
        packed=packed,
    )
    # Names sort by time of writing, and two processes or machines never choose the same name.
    path = folder / f"{time.time_ns():016x}-{uuid.uuid4().hex}{SUFFIX}"
    try:
        folders.write_atomically(path, [head, *payload])
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
        head, size = parse(file), os.fstat(file.fileno()).st_size
    layout = layout_of(head)
    if head[0].get("fingerprint") != fingerprint:
        raise Damaged("it has vectors of another embedder")
    if size != layout.end:
        raise Damaged("its size differs from the size in its header")
    parts = _tensors_of(path, layout)
    try:
        vectors = parts["vectors"].view("<f4").reshape(layout.n, layout.d)
    except ValueError:
        raise Damaged("it became shorter while it was opened") from None
    checks = parts["checks"].view("<u8")
    return Segment(
        *(path, _keys(parts["keys"]), vectors, layout.checksum, checks),
        may_have_nan=layout.may_have_nan,
        packed=layout.packed,
    )


def nan_rows(vectors: Vectors) -> npt.NDArray[np.bool_]:
    """Return whether each of the (n, d) vectors is a row of NaN."""
    result: npt.NDArray[np.bool_] = np.isnan(vectors[:, 0])  # few rows need to be read whole
    result[result] = np.isnan(vectors[result]).all(axis=1)
    return result


def check(segment: Segment) -> None:
    """Read a whole segment and compare it with its checksum.

    Raises
    ------
    Damaged
        If the checksum differs.
    """
    if not segment.is_whole:
        raise Damaged("its checksum differs from the checksum in its header")


def row_checks(vectors: Vectors) -> Checks:
    """Return the (n,) check of each row: the sum of its 64-bit words, each times an odd number.

    A change within one word always changes the check, since an odd number has an inverse modulo
    2**64. Other damage goes unnoticed about once in 2**64, except two changes of the highest bit of
    words in one row. A row of zeros has the check 0. It is computed about as fast as memory is
    read.
    """
    if vectors.shape[1] % 2:  # half a word remains
        vectors = np.pad(vectors, ((0, 0), (0, 1)))
    words = np.ascontiguousarray(vectors).view("<u8")
    checks: Checks = np.einsum("ij,j->i", words, _factors(words.shape[1]))
    return checks


@functools.lru_cache(maxsize=8)
def _factors(n: int) -> npt.NDArray[np.uint64]:
    return (2 * np.arange(n, dtype=np.uint64) + 1) * _GOLDEN


def _tensors_of(path: Path, layout: Layout) -> dict[str, npt.NDArray[np.uint8]]:
    """Return the memory-mapped bytes of each tensor."""
    try:
        data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r", offset=layout.start))
    except ValueError:  # nothing is left of it
        raise Damaged("it became shorter while it was opened") from None
    entries = tensors_of(layout.n, layout.d)
    return {name: data[slice(*entry["data_offsets"])] for name, entry in entries.items()}


def _keys(content: npt.NDArray[np.uint8]) -> Keys:
    keys = content[: len(content) // 16 * 16].view("<u8").reshape(-1, 2)
    if not _is_sorted(keys):
        raise Damaged("its keys are not sorted")
    return keys


def _crc32(parts: Iterable[memoryview]) -> int:
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc


def _is_sorted(keys: Keys) -> bool:
    first, second = keys[:, 0], keys[:, 1]
    ties = first[1:] == first[:-1]
    return bool((first[1:] >= first[:-1]).all() and (second[1:][ties] >= second[:-1][ties]).all())
