"""Where the harness keeps files, and the one way it writes a whole file.

A file is written to a temporary name in the same folder, synced, and renamed: a reader sees the
old file or the new one, never half of it, even after a power cut. The price is one `fsync`.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from harness.errors import DiskError


def cache() -> Path:
    """Return the cache folder: HARNESS_CACHE, else `harness` in the user's cache folder."""
    chosen = os.environ.get("HARNESS_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness"


def embeddings() -> Path:
    """Return the folder of stores, in the cache folder."""
    return cache() / "embeddings"


def make(folder: Path) -> Path:
    """Make a folder with its parents, check that it can be written to, and return it.

    Raises
    ------
    DiskError
        If it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DiskError(f"cannot write to the folder '{folder}' ({error.strerror})") from None
    return folder


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file; its folder is made if it is not there.

    Raises
    ------
    DiskError
        If the disk is full or cannot be written; the old file, if any, is left.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # temporary files are private; this one is to be read
        temporary.replace(path)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror})") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def safe_name(name: str) -> str:
    """Return a file name for any name: what is not a letter, digit or `._-` becomes `_`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:120] or "unnamed"
