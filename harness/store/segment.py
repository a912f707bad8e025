"""One segment of a store: an immutable safetensors file of text keys and their vectors.

It is written under a temporary name in its folder, synced and renamed, so that a reader never sees
a part of it. This module knows one file; `harness.store.store` knows the files of a store.

Tensors: `keys`, (n, 2) uint64, sorted, and `vectors`, (n, d) float32. The header's metadata hold
the schema's version, the embedder's fingerprint, a CRC-32 of keys and vectors, and the number of
rows of NaN.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from harness import limits
from harness.arrays import Vectors
from harness.errors import DiskError

Keys: TypeAlias = npt.NDArray[np.uint64]
"""(n, 2) uint64: the two halves of the 128-bit keys of texts."""

Header: TypeAlias = tuple[dict[str, str], Mapping[str, Any], int]
"""The metadata of a safetensors file, its tensor entries, and the offset of the data."""

SCHEMA = "1"
"""Version of the segment's layout."""
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
        (n, 2) keys of the texts, sorted.
    vectors
        (n, d) vectors of the texts.
    checksum
        CRC-32 of keys and vectors, as stated in the header.
    may_have_nan
        Whether a vector may be a row of NaN; older segments do not say.
    """

    path: Path
    keys: Keys
    vectors: Vectors
    checksum: int
    may_have_nan: bool = True

    @functools.cached_property
    def is_nan(self) -> npt.NDArray[np.bool_]:
        """(n,) whether each vector is a row of NaN."""
        if not self.may_have_nan:
            return np.zeros(len(self.keys), dtype=bool)
        return nan_rows(self.vectors)


def write(folder: Path, fingerprint: str, keys: Keys, vectors: Vectors) -> Path:
    """Write sorted `keys`, (n, 2), and their `vectors`, (n, d), and return the new file.

    Raises
    ------
    DiskError
        If the folder cannot be written or the disk is full; no part of the segment is left.
    """
    payload = [np.ascontiguousarray(part).data.cast("B") for part in (keys, vectors)]
    header = _header(fingerprint, keys, vectors, zlib.crc32(payload[1], zlib.crc32(payload[0])))
    # Names sort by time of writing, and two processes or machines never choose the same name.
    path = folder / f"{time.time_ns():016x}-{uuid.uuid4().hex}{SUFFIX}"
    temporary = path.with_suffix(TEMPORARY)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(header)
            file.writelines(payload)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except OSError as error:
        raise DiskError(
            f"cannot write embeddings to '{folder}' ({error.strerror}); "
            "embeddings written before are kept"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
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
    metadata, header, start = read_header(path)
    if metadata.get("schema") != SCHEMA:
        raise Foreign(f"its layout has version {metadata.get('schema')}, expected {SCHEMA}")
    if metadata.get("fingerprint") != fingerprint:
        raise Damaged("it has vectors of another embedder")
    try:
        (n, halves), (rows, d) = header["keys"]["shape"], header["vectors"]["shape"]
        dtypes = header["keys"]["dtype"], header["vectors"]["dtype"]
        offsets = header["keys"]["data_offsets"], header["vectors"]["data_offsets"]
        checksum = int(metadata["crc32"])
        middle, end = 16 * n, 16 * n + 4 * rows * d
        is_complete = start + end == path.stat().st_size
    except (KeyError, TypeError, ValueError):
        raise Damaged("its header is not the header of a segment") from None
    if (dtypes, halves, rows, offsets) != (("U64", "F32"), 2, n, ([0, middle], [middle, end])):
        raise Damaged("its tensors have wrong types or shapes")
    if not is_complete:
        raise Damaged("its size differs from the size in its header")
    if not n or not d:
        raise Damaged("it is empty")
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=start)
    keys = np.asarray(data[:middle]).view("<u8").reshape(n, 2)
    vectors = np.asarray(data[middle:]).view("<f4").reshape(n, d)
    if not _is_sorted(keys):
        raise Damaged("its keys are not sorted")
    return Segment(path, keys, vectors, checksum, may_have_nan=metadata.get("nan") != "0")


def read_header(path: Path) -> Header:
    """Return the metadata of a safetensors file, its tensor entries, and the offset of the data.

    Raises
    ------
    Damaged
        If the file has no valid header.
    FileNotFoundError
        If the file was deleted.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= limits.SEGMENT_HEADER_BYTES:
            raise Damaged("it has no header")
        try:
            header = json.loads(file.read(length))
            metadata = header.pop("__metadata__")
            if not isinstance(metadata, dict):
                raise TypeError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Damaged("its header cannot be read") from None
    return metadata, header, 8 + length


def nan_rows(vectors: Vectors) -> npt.NDArray[np.bool_]:
    """Return whether each of the (n, d) vectors is a row of NaN."""
    result: npt.NDArray[np.bool_] = np.isnan(vectors[:, 0])  # few rows are left to read whole
    result[result] = np.isnan(vectors[result]).all(axis=1)
    return result


def check(segment: Segment) -> None:
    """Read a whole segment and compare it with its checksum.

    Raises
    ------
    Damaged
        If the checksum differs.
    """
    crc = zlib.crc32(segment.keys.data)
    if zlib.crc32(segment.vectors.data, crc) != segment.checksum:
        raise Damaged("its checksum differs from the checksum in its header")


def _header(fingerprint: str, keys: Keys, vectors: Vectors, checksum: int) -> bytes:
    middle = keys.nbytes
    metadata = {
        "schema": SCHEMA,
        "fingerprint": fingerprint,
        "crc32": str(checksum),
        "nan": str(nan_rows(vectors).sum()),
    }
    content = {
        "__metadata__": metadata,
        "keys": {"dtype": "U64", "shape": keys.shape, "data_offsets": [0, middle]},
        "vectors": {
            "dtype": "F32",
            "shape": vectors.shape,
            "data_offsets": [middle, middle + vectors.nbytes],
        },
    }
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 64)  # aligns the tensors; the format allows spaces here
    return len(text).to_bytes(8, "little") + text


def _is_sorted(keys: Keys) -> bool:
    first, second = keys[:, 0], keys[:, 1]
    ties = first[1:] == first[:-1]
    return bool((first[1:] >= first[:-1]).all() and (second[1:][ties] >= second[:-1][ties]).all())
