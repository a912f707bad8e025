"""One segment of a store: a safetensors file of text keys and their vectors, never changed.

It is written to a temporary name in its folder, synced and renamed, so that a reader sees all of
it or nothing. Knows one file; which segments there are is the subject of `harness.store.store`.

Tensors: `keys`, (n, 2) uint64, sorted, and `vectors`, (n, d) float32. The header's metadata hold
the schema's version, the embedder's fingerprint and a CRC-32 of keys and vectors.
"""

from __future__ import annotations

import contextlib
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

from harness.arrays import Vectors
from harness.errors import DiskError

Keys: TypeAlias = npt.NDArray[np.uint64]
"""(n, 2) uint64: the two halves of the 128-bit keys of texts."""

SCHEMA = "1"
"""Version of the segment's layout."""
SUFFIX = ".safetensors"
TEMPORARY = ".tmp"
_LONGEST_HEADER = 1 << 16  # bytes; ours have about 400


class Damaged(Exception):
    """A file that is no whole segment of its store; the message says why."""


class Foreign(Exception):
    """A segment of another version of the harness, to be left alone."""


@dataclass(frozen=True)
class Segment:
    """An open segment; the arrays are memory-mapped.

    Parameters
    ----------
    path
        The file.
    keys
        (n, 2), sorted.
    vectors
        (n, d).
    checksum
        CRC-32 of keys and vectors as the header states it.
    """

    path: Path
    keys: Keys
    vectors: Vectors
    checksum: int


def write(folder: Path, fingerprint: str, keys: Keys, vectors: Vectors) -> Path:
    """Write sorted `keys`, (n, 2), and their `vectors`, (n, d), and return the new file.

    Raises
    ------
    DiskError
        If the folder cannot be written or the disk is full; nothing is left behind.
    """
    payload = [np.ascontiguousarray(part).data.cast("B") for part in (keys, vectors)]
    header = _header(fingerprint, keys, vectors, zlib.crc32(payload[1], zlib.crc32(payload[0])))
    # Names sort by the time of writing, and no two processes or machines make the same one.
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
            f"cannot write embeddings to '{folder}' ({error.strerror}); those written so far stay"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return path


def read(path: Path, fingerprint: str) -> Segment:
    """Open a segment; its keys and vectors are mapped, not read.

    Raises
    ------
    Damaged
        If it is truncated, has a wrong header or shapes, or belongs to another embedder.
    Foreign
        If its layout is of another version.
    FileNotFoundError
        If it is gone.
    OSError
        If it cannot be read now, which says nothing of its content.
    """
    metadata, header, start = read_header(path)
    if metadata.get("schema") != SCHEMA:
        raise Foreign(f"its layout is version {metadata.get('schema')}, not {SCHEMA}")
    if metadata.get("fingerprint") != fingerprint:
        raise Damaged("it holds vectors of another embedder")
    try:
        (n, halves), (rows, d) = header["keys"]["shape"], header["vectors"]["shape"]
        kinds = header["keys"]["dtype"], header["vectors"]["dtype"]
        offsets = header["keys"]["data_offsets"], header["vectors"]["data_offsets"]
        checksum = int(metadata["crc32"])
        middle, end = 16 * n, 16 * n + 4 * rows * d
        whole = start + end == path.stat().st_size
    except (KeyError, TypeError, ValueError):
        raise Damaged("its header is not that of a segment") from None
    if (kinds, halves, rows, offsets) != (("U64", "F32"), 2, n, ([0, middle], [middle, end])):
        raise Damaged("its tensors have the wrong types or shapes")
    if not whole:
        raise Damaged("it is truncated, or longer than it says")
    if not n or not d:
        raise Damaged("it is empty")
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=start)
    keys = np.asarray(data[:middle]).view("<u8").reshape(n, 2)
    vectors = np.asarray(data[middle:]).view("<f4").reshape(n, d)
    if not _is_sorted(keys):
        raise Damaged("its keys are not sorted")
    return Segment(path, keys, vectors, checksum)


def read_header(path: Path) -> tuple[dict[str, str], Mapping[str, Any], int]:
    """Return the metadata of a safetensors file, its tensors' entries, and where data begin.

    Raises
    ------
    Damaged
        If there is no such header.
    FileNotFoundError
        If the file is gone.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= _LONGEST_HEADER:
            raise Damaged("it does not begin with a header")
        try:
            header = json.loads(file.read(length))
            metadata = header.pop("__metadata__")
            if not isinstance(metadata, dict):
                raise TypeError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Damaged("its header cannot be read") from None
    return metadata, header, 8 + length


def check(segment: Segment) -> None:
    """Read all of a segment and compare it with its checksum.

    Raises
    ------
    Damaged
        If they differ.
    """
    found = zlib.crc32(segment.keys.data)
    if zlib.crc32(segment.vectors.data, found) != segment.checksum:
        raise Damaged("its content does not fit its checksum")


def _header(fingerprint: str, keys: Keys, vectors: Vectors, checksum: int) -> bytes:
    middle = keys.nbytes
    content = {
        "__metadata__": {"schema": SCHEMA, "fingerprint": fingerprint, "crc32": str(checksum)},
        "keys": {"dtype": "U64", "shape": keys.shape, "data_offsets": [0, middle]},
        "vectors": {
            "dtype": "F32",
            "shape": vectors.shape,
            "data_offsets": [middle, middle + vectors.nbytes],
        },
    }
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 64)  # the format allows spaces: tensors begin aligned
    return len(text).to_bytes(8, "little") + text


def _is_sorted(keys: Keys) -> bool:
    first, second = keys[:, 0], keys[:, 1]
    ties = first[1:] == first[:-1]
    return bool((first[1:] >= first[:-1]).all() and (second[1:][ties] >= second[:-1][ties]).all())
