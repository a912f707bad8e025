"""Files and folders: where the harness keeps its own, and how a file is read and written.

A file that people name must be a regular file of limited size: a named pipe would block for ever,
and a device such as `/dev/zero` has no end. A path in somebody else's file must not lead out of its
folder, not even through a link.

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
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from harness import limits
from harness.errors import DiskError, InvalidFile, UsageError, unreadable

_NO_FILE = "is no regular file, but a pipe or device"
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


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

    If HARNESS_CACHE is the address of a bucket, it is the user's cache folder: it holds what
    machines do not share.
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


def of_package(package: str) -> Path | None:
    """Return the folder of an installed package; None if no package of this name is installed.

    Neither the package nor those around it are imported. A folder without `__init__.py` does not
    count as a package, since any folder in the working directory would.
    """
    parent, _, name = package.rpartition(".")
    if parent and parent not in sys.modules:  # find_spec would import it
        above = of_package(parent)
        folder = above / name if above else None
        return folder if folder and is_file(folder / "__init__.py") else None
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations or spec.origin is None:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def absolute(folder: Place) -> Place:
    """Return a folder as an absolute path, for a process that runs in another directory."""
    return folder.absolute() if isinstance(folder, Path) else folder


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a regular file of at most `largest` bytes.

    Raises
    ------
    InvalidFile
        If it does not exist, cannot be read, is larger, or is a folder, pipe or device.
    """
    try:
        with open(path, "rb", opener=_opened) as file:  # Path.open has no opener
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InvalidFile(_NO_FILE, path=path)
            content = file.read(largest + 1)
            size = max(len(content), status.st_size)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:  # an impossible file name
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if len(content) > largest:
        raise InvalidFile(f"a file of {limits.too_many(size, largest)}", path=path)
    return content


def read_text(path: Path, largest: int) -> str:
    """Return the UTF-8 text of a regular file of at most `largest` bytes.

    Raises
    ------
    InvalidFile
        If it is no UTF-8 text, or cannot be read as `read_bytes` says.
    """
    content = read_bytes(path, largest)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        save = ": save it as 'CSV UTF-8'" if path.suffix.lower() == ".csv" else ""
        problem = f"is not UTF-8 text (byte {error.start}){save}"
        raise InvalidFile(problem, path=path, line=line) from None


def typed(text: str) -> Path:
    """Return the path that a user typed, with `~` expanded, unless its user is unknown."""
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):
        return Path(text)


def is_file(path: Path) -> bool:
    """Return whether there is a regular file; False for an impossible name."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than 255 bytes, or in a folder that cannot be read
        return False


def check(path: Path) -> None:
    """Raise InvalidFile if a path does not exist, or is neither a regular file nor a folder."""
    if not exists(path):
        raise unreadable(path)
    if not is_file(path) and not is_folder(path):
        raise InvalidFile(_NO_FILE, path=path)


def is_folder(path: Path) -> bool:
    """Return whether there is a folder; False for an impossible name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Return whether a path exists; False for an impossible name."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder once all links are followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a link that leads to itself
        return False


def _opened(name: str, flags: int) -> int:
    return os.open(name, flags | _WITHOUT_WAITING)


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
    """Write indented JSON as `write_atomically` does; the same errors."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode())


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file atomically; its folder is created if it does not exist.

    Of content in parts, one is in memory at a time.

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
            file.writelines([content] if isinstance(content, bytes) else content)
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


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a new hidden folder next to a path, for what will be renamed to it; then remove it."""
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync(folder: Path) -> None:
    """Make the names of new files in a folder survive a power failure.

    Raises
    ------
    OSError
        If the disk fails. Nothing is done on file systems that cannot sync folders.
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
    if len(safe) <= limits.FILE_NAME_CHARACTERS:
        return safe
    end = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{safe[: limits.FILE_NAME_CHARACTERS - 9]}-{end}"
