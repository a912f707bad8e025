"""Files and folders: where the harness keeps its own, and how a file is read and written.

A file that people name must be a regular file of limited size: a named pipe would block for ever,
and a device such as `/dev/zero` has no end. A path in somebody else's file must not lead out of its
folder, not even through a link.

A file is written under a temporary name in the same folder, synced, and renamed: a reader sees the
old file or the new one, never a part of it. A folder is built beside its place and renamed. What a
killed process leaves has a hidden name that ends with `.tmp`.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import uuid
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


def graphs() -> Path:
    """Return the folder of exported transformers: `graphs` in the cache folder."""
    return cache() / "graphs"


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


def resolved(path: Path) -> Path | None:
    """Return a path with all links followed; None for a link that leads to itself."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path lies in a folder once all links are followed."""
    of_path, of_folder = resolved(path), resolved(folder)
    return of_path is not None and of_folder is not None and of_path.is_relative_to(of_folder)


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
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DiskError(f"cannot write to the folder '{folder}' ({error.strerror})") from None
    return folder


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON as `write_atomically` does; the same errors."""
    write_atomically(path, json_text(content).encode())


def json_text(content: Any) -> str:
    """Return indented JSON, with the end of its last line."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_atomically(path: Path, content: bytes | Iterable[bytes | memoryview]) -> None:
    """Write a file atomically; its folder is created if it does not exist.

    Parameters
    ----------
    path
        The file.
    content
        Of content in parts, one is in memory at a time.

    Raises
    ------
    DiskError
        If the disk is full or not writable; an old file stays unchanged.
    """
    temporary = _temporary(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None
    finally:
        with contextlib.suppress(OSError):  # gone since it was renamed, or the disk fails
            temporary.unlink()


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """Yield a new hidden folder next to a path, for what will be renamed to it; then remove it.

    Those that killed processes left a day ago are removed, too.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    for left in path.parent.glob(f".{glob.escape(path.name[:40])}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _DAY:
                shutil.rmtree(left)
    folder = _temporary(path)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_in_place(new: Path, path: Path) -> Path:
    """Rename a folder, which is in one of `temporary_beside`, to a path.

    Returns
    -------
    Path
        Where what was at the path is now, if there was anything.

    Raises
    ------
    OSError
        If it cannot be renamed; what was at the path is there again.
    """
    old = new.with_name(f"{new.name}.old")
    if path.exists():
        path.rename(old)
    try:
        new.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise
    return old


class BuiltFolder:
    """A folder that is written beside its place, and then replaces what is there.

        with BuiltFolder(folder) as files:
            files.write("data.js", content)
            files.write("index.html", page)

    Readers see the old folder or the new one. If anything fails, the old one stays. Hidden files of
    the old one, such as `.git`, are kept, and GitHub's `CNAME`; all others are removed.

    Parameters
    ----------
    folder
        The folder. The caller has made sure that it may be replaced.

    Raises
    ------
    DiskError
        If a file cannot be written, or the folder cannot be replaced.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._left = contextlib.ExitStack()

    def __enter__(self) -> BuiltFolder:
        with self._errors(self.folder):
            self._new = self._left.enter_context(temporary_beside(self.folder)) / "new"
            self._new.mkdir()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        with self._left, self._errors(self.folder):
            if kind is None:
                old = put_in_place(self._new, self.folder)
                for path in [*old.glob(".*"), *old.glob("CNAME")]:
                    path.rename(self.folder / path.name)

    def write(self, path: str, content: str | bytes | Iterable[bytes]) -> None:
        """Write a file; `path` is relative to the folder, and a text is written in UTF-8."""
        self._add(path, content.encode() if isinstance(content, str) else content, "xb")

    def append(self, path: str, content: bytes) -> None:
        """Write more of a file."""
        self._add(path, content, "ab")

    def rename(self, path: str, new: str) -> None:
        """Give a file another path."""
        with self._errors(self.folder / new):
            (self._new / new).parent.mkdir(parents=True, exist_ok=True)
            (self._new / path).rename(self._new / new)

    def content(self, path: str) -> bytes | None:
        """Return what was written to a file so far; None if there is none."""
        file = self._new / path
        return file.read_bytes() if file.is_file() else None

    def _add(self, path: str, content: bytes | Iterable[bytes], mode: str) -> None:
        with self._errors(self.folder / path):
            (self._new / path).parent.mkdir(parents=True, exist_ok=True)
            with (self._new / path).open(mode) as file:
                file.writelines([content] if isinstance(content, bytes) else content)

    @contextlib.contextmanager
    def _errors(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex[:8]}.tmp")


def empty(folder: Path) -> None:
    """Remove what is in a folder. Links are not followed."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def remove_unused(folder: Path, days: float) -> tuple[int, int]:
    """Remove what was not used for some days, and leftovers of kills; return their count and bytes.

    Parameters
    ----------
    folder
        A folder of the cache. Each file or folder in it has the time of its last use; one with a
        hidden name is being written, or is a leftover.
    days
        Number of days.
    """
    count = freed = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in list(os.scandir(folder)):
            with contextlib.suppress(OSError):
                age = time.time() - entry.stat().st_mtime
                if age <= (_HOUR if entry.name.startswith(".") else days * _DAY):
                    continue
                path = Path(entry.path)
                files = [path, *path.rglob("*")] if path.is_dir() else [path]
                size = sum(file.stat().st_size for file in files if file.is_file())
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
                count, freed = count + 1, freed + size
    return count, freed


def note_use(path: Path) -> None:
    """Let `remove_unused` know that a file or folder is in use; once a day is enough."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


_HOUR, _DAY = 3600.0, 86_400.0  # seconds
UNUSED_DAYS = 30
"""Days after which `harness cache prune` removes a graph that was not used."""


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
