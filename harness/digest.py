"""Digests that identify content: 128-bit BLAKE2b of JSON and texts, SHA-256 of files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness import folders
from harness.errors import DiskError

SIZE = 16  # bytes: with 128 bits, collisions are practically impossible


def digest(content: Any) -> str:
    """Return 32 hex digits that identify JSON-like `content`; the order of keys does not matter."""
    return of_json(json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def of_json(canonical: str) -> str:
    """Return the digest of content that is JSON with sorted keys and without spaces."""
    return hashlib.blake2b(canonical.encode(), digest_size=SIZE).hexdigest()


def json_like(value: Any) -> Any:
    """Return a value as JSON types, the same in every process.

    numpy values become Python values. A set becomes a sorted list, a function or class its
    qualified name, an object its class with its attributes. Anything else becomes its text.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_like(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((json_like(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [json_like(item) for item in value]
    if hasattr(value, "tolist"):
        return json_like(value.tolist())
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = str(value)
    if " at 0x" in text:  # the address of an object, which differs between processes
        kind = type(value)
        return {f"{kind.__module__}.{kind.__qualname__}": json_like(getattr(value, "__dict__", {}))}
    return text


def text_keys(texts: Iterable[str]) -> bytes:
    """Return the 16-byte keys of `texts`, concatenated."""
    blake2b = hashlib.blake2b
    return b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest() for text in texts
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits, as hubs and package indexes publish it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# SHA-256 of files; those of large files are remembered by what the file system says of them.
#
# Hashing gigabytes takes seconds, and fingerprints are needed before any work. Each large file has
# a small file with its hash in the folder `sha256` of the cache folder; deleting it costs only
# time.
#
# Size and modification time do not identify content: retrained weights have the same size, and
# `rsync -t`, `tar` and `cp -p` keep the time. No tool keeps the change time of an inode (ctime), so
# it is compared, too. Clocks of file systems are coarse, so the hash of a file that changed a
# moment ago is not remembered: it could change again within the same tick.


SMALL = 2**23
"""Bytes below which a file is hashed every time, which takes milliseconds."""
_HASHES: dict[tuple[object, ...], str] = {}
TICK = 3.0
"""Seconds after a change in which another change may get the same ctime."""


def remembered_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits; that of a large file is remembered.

    That of a small file is remembered in this process: many tasks read the same file.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    file = path.resolve()
    state = file.stat()
    if os.name == "nt":  # Windows has no time of change
        return file_sha256(file)
    if state.st_size < SMALL:
        key = (str(file), *identity(state))
        if key not in _HASHES or state.st_ctime + TICK > time.time():
            _HASHES[key] = file_sha256(file)
        return _HASHES[key]
    remembered = folders.cache() / "sha256" / digest([str(file), *identity(state)])
    try:
        cached_hash = remembered.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        cached_hash = ""
    if re.fullmatch("[0-9a-f]{64}", cached_hash):
        return cached_hash
    started = time.time()
    computed = file_sha256(file)
    if state.st_ctime + TICK <= started and identity(file.stat()) == identity(state):
        # Without the note the next run hashes again; a full disk is reported where results are
        # written.
        with contextlib.suppress(DiskError):
            folders.write_atomically(remembered, computed.encode())
    return computed


def identity(state: os.stat_result) -> list[int]:
    """Return what changes whenever the content of a file does."""
    return [state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns]
