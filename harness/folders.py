"""The folders of the harness, and atomic writing of a file.

A file is written under a temporary name in the same folder, synced, and renamed; then its folder is
synced. A reader sees the old file or the new one, never a part of it, even after a power failure.
The price is two `fsync`s.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from harness.errors import DiskError, UsageError
from harness.limits import FILE_NAME_CHARACTERS


@dataclass(frozen=True)
class Url:
    """A folder in an object store, such as `s3://bucket/folder`.

    Parameters
    ----------
    text
        Its address, as fsspec reads it. It may hold a password, which is not shown.
    """

    text: str = field(repr=False)

    def __str__(self) -> str:
        return re.sub(r"(?<=://)[^/@]+@", "***@", self.text)

    def __truediv__(self, name: str) -> Url:
        return Url(f"{self.text.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.text.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> Url:
        """The folder that it is in."""
        return Url(self.text.rstrip("/").rpartition("/")[0])


Place: TypeAlias = Path | Url
"""A folder on this machine, or in an object store."""


def place(text: str | Path | Url) -> Place:
    """Return the folder of a path or of an address such as `s3://bucket/folder`.

    Raises
    ------
    UsageError
        If an address names no bucket.
    """
    if not isinstance(text, str):
        return text
    if not re.match(r"[A-Za-z][\w.+-]*://", text):
        return Path(text)
    if text.rstrip("/").endswith(":"):
        raise UsageError(f"'{text}' names no bucket; expected such as s3://bucket/folder")
    return Url(text)


def cache() -> Path:
    """Return the cache folder: HARNESS_CACHE, else `harness` in the user's cache folder.

    If HARNESS_CACHE is the address of a bucket, it is the latter: what machines do not share.
    """
    chosen = place(os.environ.get("HARNESS_CACHE", ""))
    if isinstance(chosen, Path) and chosen.parts:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "harness"


def embeddings() -> Place:
    """Return the folder of the embedding stores: `embeddings` in HARNESS_CACHE."""
    chosen = place(os.environ.get("HARNESS_CACHE", ""))
    return (chosen if isinstance(chosen, Url) else cache()) / "embeddings"


def absolute(folder: Place) -> Place:
    """Return a folder as another process sees it, which may run in another directory."""
    return folder.absolute() if isinstance(folder, Path) else folder


def make(folder: Path) -> Path:
    """Create a folder with its parents, check that it is writable, and return it.

    Raises
    ------
    DiskError
        If it cannot be created or is not writable.
    """
    try:
        create(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DiskError(f"cannot write to the folder '{folder}' ({error.strerror})") from None
    return folder


def create(folder: Path) -> None:
    """Create a folder with its parents, and sync their names; OSError if that fails."""
    if not folder.is_dir():
        if folder.exists():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
        create(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def write_json(path: Path, content: Any) -> None:
    """Write JSON that people read, too, as `write_atomically` does; the same errors."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file atomically; its folder is created if it does not exist.

    Raises
    ------
    DiskError
        If the disk is full or not writable; an old file stays unchanged.
    """
    temporary = None
    try:
        create(path.parent)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # temporary files are private; others may read this one
        temporary.replace(path)
        sync(path.parent)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror})") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # gone since it was renamed, or the disk fails
                temporary.unlink()


def sync(folder: Path) -> None:
    """Make the names of new files in a folder survive a power failure.

    Raises
    ------
    OSError
        If the disk fails. File systems that sync no folders are left as they are.
    """
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(opened)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def safe_name(name: str) -> str:
    """Return a file name for any name: characters other than letters, digits and `._-` become `_`.

    It has at most 120 characters and does not begin with a dot. A longer one is cut and ends with a
    digest of the name, so that two long names have two files.
    """
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "unnamed"
    if len(safe) <= FILE_NAME_CHARACTERS:
        return safe
    end = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{safe[: FILE_NAME_CHARACTERS - 9]}-{end}"
