"""SHA-256 of large files, remembered by path, size and time of change.

Hashing a model of gigabytes takes seconds, and a fingerprint is asked for before any work. What is
remembered is a file of 64 digits for each large file, in `sha256` of the cache folder; deleting it
costs only time. Files of the hub's cache that carry their hash as their name are not read at all.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness import folders
from harness.digest import digest, file_sha256
from harness.errors import DiskError

SMALL = 2**23
"""Bytes below which a file is hashed each time: it takes some milliseconds."""


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
    note = folders.cache() / "sha256" / digest([str(blob), state.st_size, state.st_mtime_ns])
    try:
        known = note.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        known = ""
    if _is_sha256(known):
        return known
    found = file_sha256(blob)
    try:
        folders.write_atomically(note, found.encode())
    except DiskError:  # it is only a shortcut; the run says what matters of a full disk
        return found
    return found


def _is_sha256(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None
