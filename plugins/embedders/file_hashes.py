"""SHA-256 of files; those of large files are remembered by what the file system says of them.

Hashing gigabytes takes seconds, and fingerprints are needed before any work. Each large file has a
small file with its hash in the folder `sha256` of the cache folder; deleting it costs only time.

Size and modification time do not tell one file from another: retrained weights have the same size,
and `rsync -t`, `tar` and `cp -p` keep the time. Nothing keeps the time of the last change of an
inode, so it counts, too. Clocks of file systems are coarse, so the hash of a file that changed a
moment ago is not remembered: it could change again within the same tick.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

from harness import folders
from harness.digest import digest, file_sha256
from harness.errors import DiskError

SMALL = 2**23
"""Bytes below which a file is hashed every time, which takes milliseconds."""
TICK = 3.0
"""Seconds after a change in which a file may change again without another time of change."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    file = path.resolve()
    state = file.stat()
    if state.st_size < SMALL or os.name == "nt":  # Windows has no time of change
        return file_sha256(file)
    remembered = folders.cache() / "sha256" / digest([str(file), *_identity(state)])
    try:
        cached_hash = remembered.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        cached_hash = ""
    if re.fullmatch("[0-9a-f]{64}", cached_hash):
        return cached_hash
    started = time.time()
    computed = file_sha256(file)
    if state.st_ctime + TICK <= started and _identity(file.stat()) == _identity(state):
        # Without the note the next run hashes again; a full disk is reported where results are
        # written.
        with contextlib.suppress(DiskError):
            folders.write_atomically(remembered, computed.encode())
    return computed


def _identity(state: os.stat_result) -> list[int]:
    """Return what changes whenever the content of a file does."""
    return [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
