"""SHA-256 of files; those of large files are remembered by path, size and modification time.

Hashing gigabytes takes seconds, and fingerprints are needed before any work. Each large file has a
small file with its hash in the folder `sha256` of the cache folder; deleting it costs only time.
Files in the hub's cache that are named by their hash are not read at all.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from harness import folders
from harness.digest import digest, file_sha256
from harness.errors import DiskError

SMALL = 2**23
"""Bytes below which a file is hashed every time, which takes milliseconds."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    blob = path.resolve()
    if blob.parent.name == "blobs" and _is_sha256(blob.name):
        return blob.name  # the hub's cache names large files by their hash
    state = blob.stat()
    if state.st_size < SMALL:
        return file_sha256(blob)
    remembered = folders.cache() / "sha256" / digest([str(blob), state.st_size, state.st_mtime_ns])
    try:
        cached_hash = remembered.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        cached_hash = ""
    if _is_sha256(cached_hash):
        return cached_hash
    computed = file_sha256(blob)
    # Without the note the next run hashes again; a full disk is reported where results are written.
    with contextlib.suppress(DiskError):
        folders.write_atomically(remembered, computed.encode())
    return computed


def _is_sha256(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None
