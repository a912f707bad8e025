"""Files and folders: where the harness keeps its own, and how a file is read and written.

A file that people name must be a regular file of limited size: a named pipe would block for ever,
and a device such as `/dev/zero` has no end. A path in somebody else's file must not lead out of its
folder, not even through a link.

A file is written under a temporary name in the same folder, synced, and renamed; then its folder is
synced. A reader sees the old file or the new one, never a part of it, even after a power failure.
The price is two `fsync`s. Several files that belong together are a `Generation`.
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
import time
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import TracebackType
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
    write_atomically(path, json_text(content).encode())


def json_text(content: Any) -> str:
    """Return indented JSON, with the end of its last line."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_atomically(
    path: Path, content: bytes | Iterable[bytes], *, is_synced: bool = True
) -> None:
    """Write a file atomically; its folder is created if it does not exist.

    Parameters
    ----------
    path
        The file.
    content
        Of content in parts, one is in memory at a time.
    is_synced
        Whether it survives a power failure from now on. Without it, a power failure may leave a
        part of it: the reader has to check its content.

    Raises
    ------
    DiskError
        If the disk is full or not writable; an old file stays unchanged.
    """
    try:
        replace(path, content, is_synced=is_synced)
    except OSError as error:
        raise DiskError(f"cannot write '{path}' ({error.strerror})") from None


_UNSYNCED: ContextVar[set[Path] | None] = ContextVar("_UNSYNCED", default=None)
"""Folders of files that are written `together`."""


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Sync each folder once for all files that are written to it atomically.

    The files survive a power failure when this has ended, not before.

    Raises
    ------
    DiskError
        If the disk fails.
    """
    unsynced: set[Path] = set()
    token = _UNSYNCED.set(unsynced)
    try:
        yield
    finally:
        _UNSYNCED.reset(token)
    try:
        for folder in sorted(unsynced):
            sync(folder)
    except OSError as error:
        raise DiskError(f"cannot write '{folder}' ({error.strerror})") from None


def replace(
    path: Path, content: bytes | Iterable[bytes | memoryview], *, is_synced: bool = True
) -> None:
    """Write a file as `write_atomically` does; OSError if that fails."""
    temporary = None
    try:
        create(path.parent)
        opened, temporary = _temporary(path)
        with open(opened, "wb") as file:  # noqa: PTH123  # a descriptor
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            if is_synced:
                os.fsync(file.fileno())
            if os.name == "posix":
                temporary.replace(path)  # while it is locked
        if os.name != "posix":
            temporary.replace(path)
        if is_synced:
            unsynced = _UNSYNCED.get()
            if unsynced is None:
                sync(path.parent)
            else:
                unsynced.add(path.parent)
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # gone since it was renamed, or the disk fails
                temporary.unlink()


@contextlib.contextmanager
def temporary_beside(path: Path, *, waits: bool = False) -> Iterator[Path]:
    """Yield a hidden folder next to a path, for what will be renamed to it; then remove it.

    What a killed process left in it is removed first. What lay at the path and was moved to
    `REPLACED` in the folder gets its place again, unless something else has it.

    Parameters
    ----------
    path
        The path.
    waits
        Whether to wait for another process that is writing the same path.

    Raises
    ------
    OSError
        If it cannot be made, or another process is writing the same path.
    """
    folder = path.with_name(_temporary_name(path))
    lock = _locked_folder(folder, waits=waits)
    replaced = folder / REPLACED
    try:
        _put_back(replaced, path)
        empty(folder)
        yield folder
    finally:
        _put_back(replaced, path)
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _put_back(replaced: Path, path: Path) -> None:
    if exists(replaced) and not exists(path):
        replaced.rename(path)


def recover_beside(path: Path) -> None:
    """Undo what a killed process left next to a path that it wrote by `temporary_beside`.

    Nothing happens if another process is writing the path.
    """
    if is_folder(path.with_name(_temporary_name(path))):
        with contextlib.suppress(OSError), temporary_beside(path):
            pass


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
                if age <= (_OLD if entry.name.startswith(".") else days * _DAY):
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


def sync_files(folder: Path) -> None:
    """Let the disk have all files of a folder before it gets its name."""
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb+") as opened:
                os.fsync(opened.fileno())


def _temporary(path: Path) -> tuple[int, Path]:
    """Open a new file in the folder of `path`, locked as long as it is open, and return both.

    Its name depends on `path` alone, so that the next write removes what a killed one left. If
    another process is writing the same file, it is a random name.
    """
    temporary = path.with_name(_temporary_name(path))
    for _ in range(_TRIES):
        with contextlib.suppress(FileExistsError):
            opened = os.open(temporary, _NEW_FILE, 0o666)
            if _locked(opened) is not False and _is_at(opened, temporary):
                return opened, temporary
            os.close(opened)  # another process took it for one that a kill left
            continue
        if not _is_removed(temporary):
            break
    prefix = f".{path.name[:40]}."
    opened, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=path.parent)
    Path(name).chmod(0o666 & ~_umask())  # such files are private; others may read this one
    _locked(opened)
    return opened, Path(name)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of `write_atomically` that killed processes left in a folder."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if TEMPORARY.fullmatch(path.name) and is_file(path):
                _is_removed(path)


def _temporary_name(path: Path) -> str:
    digest = hashlib.blake2b(path.name.encode("utf-8", "surrogatepass"), digest_size=4)
    return f".{path.name[:40]}.{digest.hexdigest()}.tmp"


def _is_removed(temporary: Path) -> bool:
    """Remove a temporary file, unless a living process writes it."""
    try:
        if os.name == "posix" and not temporary.is_symlink():
            opened = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | _WITHOUT_WAITING)
            try:
                is_locked = _locked(opened)
                age = time.time() - os.fstat(opened).st_mtime
                if is_locked is False or (is_locked is None and age < _OLD):
                    return False
                if _is_at(opened, temporary):
                    temporary.unlink()
            finally:
                os.close(opened)
        else:
            temporary.unlink()  # which fails on Windows while another process has it open
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _locked(opened: int) -> bool | None:
    """Lock an open file or folder; False if another process has locked it.

    None where there are no locks, such as on some network file systems.
    """
    if os.name != "posix":
        return None
    import fcntl

    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(opened: int, path: Path) -> bool:
    """Return whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(opened), path.lstat())
    except FileNotFoundError:
        return False


_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_TRIES = 8
REPLACED = "replaced"
"""Where in its temporary folder the old content of a path waits until the new one is in place."""
_OLD = 3600.0  # seconds after which a temporary file without a lock is nobody's
_DAY = 86_400.0  # seconds
UNUSED_DAYS = 30
"""Days after which `harness cache prune` removes a graph that was not used."""
TEMPORARY = re.compile(r"\..{1,40}\.[a-z0-9_]{8}\.tmp")
"""Names of the temporary files of `write_atomically`, which a kill leaves behind."""
STAGING = ".generation"
"""Folder in which a generation is written. None is left once it is in place."""
MANIFEST = ".generation.json"
"""Names and digests of the files of a generation that replaces an older one."""
_COMMITTED = "committed.json"
_RECORD_BYTES = 50_000_000


class Generation:
    """Files of one folder that are put in place together.

        with Generation(folder) as files:
            files.write("data.js", content)
            files.write("index.html", page)

    They are written to a hidden folder and synced. Then a record of them is written: from now on
    they count. They are moved to their places in the order in which they were written, so readers
    who start from the last file see the old files or the new ones. If anything fails before the
    record, nothing has changed. After a kill, the next generation of the folder first finishes one
    that has its record, and drops one that has none.

    Parameters
    ----------
    folder
        Folder of the files, which is created if needed.
    replaces
        Remove the files of the generation before, unless this one has them, too. `MANIFEST` names
        them. A file that was changed since stays.

    Raises
    ------
    DiskError
        If a file cannot be written, or another process writes a generation of this folder.
    """

    def __init__(self, folder: Path, *, replaces: bool = False) -> None:
        self.folder = folder
        self._replaces = replaces
        self._staging = folder / STAGING
        self._digests: dict[str, Any] = {}
        self._kept: set[str] = set()
        self._counts = False  # its record was written
        self._lock: int | None = None

    def __enter__(self) -> Generation:
        make(self.folder)
        try:
            self._lock = _locked_folder(self._staging)
            self._recover()
        except OSError as error:
            self._leave()
            raise _not_written(self.folder, error) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None and self._digests:
                self._commit()
        except OSError as problem:
            raise _not_written(self.folder, problem, finished=self._counts) from None
        finally:
            self._leave()

    def write(self, path: str, content: str | bytes | Iterable[bytes]) -> None:
        """Write a file of the generation. Of content in parts, one is in memory at a time.

        Parameters
        ----------
        path
            Its path in the folder, with `/`. The last one that is written is put in place last.
        content
            Text is written in UTF-8.
        """
        if path in self._digests or not _is_below(path):
            raise ValueError(f"a generation cannot have {path!r}, or not twice")
        self._digests[path] = hashlib.blake2b(digest_size=16)
        self._add(path, content.encode() if isinstance(content, str) else content, "wb")

    def append(self, path: str, content: bytes) -> None:
        """Write more of a file of the generation."""
        self._add(path, content, "ab")

    def rename(self, path: str, new: str) -> None:
        """Give a file of the generation another path."""
        target = self._staged(new)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._staged(path).replace(target)
        except OSError as error:
            raise _not_written(self.folder / new, error) from None
        self._digests[new] = self._digests.pop(path)

    def digest(self, path: str) -> bytes:
        """Return the digest of what was written to a file so far."""
        content: bytes = self._digests[path].digest()
        return content

    def size(self, path: str) -> int | None:
        """Return the number of bytes of a file of the generation; None if it has no such file."""
        return self._staged(path).stat().st_size if path in self._digests else None

    def keep(self, path: str) -> None:
        """Let a file of the folder stay that this generation refers to and does not write.

        If the generation before wrote it, it belongs to this one.
        """
        self._kept.add(path)

    def _add(self, path: str, content: bytes | Iterable[bytes], mode: str) -> None:
        staged = self._staged(path)
        try:
            staged.parent.mkdir(parents=True, exist_ok=True)
            with staged.open(mode) as file:
                for part in [content] if isinstance(content, bytes) else content:
                    file.write(part)
                    self._digests[path].update(part)
        except OSError as error:
            raise _not_written(self.folder / path, error) from None

    def _staged(self, path: str) -> Path:
        return self._staging / "files" / path

    def _is_committed(self) -> bool:
        return (self._staging / _COMMITTED).exists()

    def _commit(self) -> None:
        """Sync the files and write the record; then put them in place."""
        for path in self._digests:
            self._check_place(path)
        for path in self._digests:
            with self._staged(path).open("rb+") as file:
                os.fsync(file.fileno())
        for subfolder, _, _ in os.walk(self._staging):
            sync(Path(subfolder))
        sync(self.folder)
        before = self._files_before()
        files = {path: before[path] for path in sorted(self._kept & before.keys())}
        files |= {path: digest.hexdigest() for path, digest in self._digests.items()}
        record = json.dumps({"replaces": self._replaces, "files": files}, indent=1) + "\n"
        try:
            replace(self._staging / _COMMITTED, record.encode())
        except BaseException:
            (self._staging / _COMMITTED).unlink(missing_ok=True)
            raise
        self._counts = True
        self._finish(files, replaces=self._replaces)

    def _check_place(self, path: str) -> None:
        """Raise OSError if a file cannot be moved to its place: all or none of them can."""
        target = self.folder / path
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"'{target}' is a folder")
        above = next(folder for folder in target.parents if folder.exists())
        if not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"'{above}' is no folder")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, f"'{above}' is not writable")
        if above.stat().st_dev != self._staging.stat().st_dev:
            raise OSError(errno.EXDEV, f"'{above}' is on another disk")

    def _recover(self) -> None:
        """Finish or drop what a killed process left."""
        record = _read_record(self._staging / _COMMITTED)
        if record is not None:
            self._finish(record["files"], replaces=record["replaces"])
        shutil.rmtree(self._staging / "files", ignore_errors=True)

    def _finish(self, files: Mapping[str, str], *, replaces: bool) -> None:
        """Move the files of a record to their places, those that are there already excepted."""
        *others, last = files
        parents = {(self.folder / path).parent for path in files}
        for parent in sorted(parents):
            create(parent)
        self._move(others)
        for parent in parents:
            sync(parent)
        self._move([last])
        sync((self.folder / last).parent)
        if replaces:
            self._remove_old(files)
            _remove_temporaries(parents | {parent.parent for parent in parents}, self.folder)
            (self._staging / _COMMITTED).replace(self.folder / MANIFEST)
        else:
            (self._staging / _COMMITTED).unlink()
        sync(self.folder)

    def _move(self, paths: Iterable[str]) -> None:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):  # moved before the kill
                self._staged(path).replace(self.folder / path)

    def _remove_old(self, files: Mapping[str, str]) -> None:
        """Remove the files of the manifest that are not among `files` and are as they were."""
        old = self._files_before()
        changed = set()
        for path in old.keys() - files.keys():
            file = self.folder / path
            if not is_inside(file.parent, self.folder):
                continue
            changed |= {self.folder / above for above in PurePosixPath(path).parents}
            if is_file(file) and not file.is_symlink() and _digest_of(file) == old[path]:
                file.unlink()
        for above in sorted(changed - {self.folder}, reverse=True):  # a subfolder first
            if above.is_dir() and not any(above.iterdir()):
                above.rmdir()
        for above in changed:
            if above.is_dir():
                sync(above)

    def _files_before(self) -> dict[str, str]:
        """Return the digests of the files of the generation that is in place."""
        record = _read_record(self.folder / MANIFEST)
        return {} if record is None else record["files"]

    def _leave(self) -> None:
        """Remove the hidden folder, unless the next generation has to finish it."""
        if self._lock is None:
            return
        try:
            if not self._is_committed():
                shutil.rmtree(self._staging, ignore_errors=True)
        finally:
            os.close(self._lock)
            self._lock = None


def recover(folder: Path) -> None:
    """Finish or drop the generation that a killed process left in a folder; nothing without one.

    Raises
    ------
    DiskError
        If the folder cannot be written.
    """
    if exists(folder / STAGING):
        with Generation(folder):
            pass


def _is_below(path: str) -> bool:
    """Return whether a path is relative and stays in its folder."""
    parts = path.split("/")
    return not ("\\" in path or ":" in path or any(part in ("", ".", "..") for part in parts))


def _read_record(path: Path) -> dict[str, Any] | None:
    """Return the record of a generation; None if there is none, or none that could be ours."""
    try:
        record = json.loads(read_text(path, _RECORD_BYTES))
        files = record["files"]
        is_ours = files and all(
            _is_below(path) and isinstance(digest, str) for path, digest in files.items()
        )
        return {"files": files, "replaces": bool(record["replaces"])} if is_ours else None
    except (InvalidFile, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _locked_folder(folder: Path, *, waits: bool = False) -> int:
    """Create a folder and lock it against other processes, where the file system has locks."""
    while True:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        if os.name != "posix":
            return os.open(os.devnull, os.O_RDONLY)
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # another process has just removed it
            continue
        if _locked(opened) is False:
            os.close(opened)
            if not waits:
                raise OSError(errno.EBUSY, "another process is writing it")
            time.sleep(0.1)
            continue
        if _is_at(opened, folder):
            return opened
        os.close(opened)


def _remove_temporaries(folders: Iterable[Path], root: Path) -> None:
    """Remove temporary files of earlier kills in folders that are in `root`."""
    for folder in folders:
        if folder.is_relative_to(root):
            for path in folder.glob(".*.tmp"):
                if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                    path.unlink()


def _digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _not_written(path: Path, error: OSError, *, finished: bool = False) -> DiskError:
    end = "; the next run finishes it" if finished else ""
    return DiskError(f"cannot write '{path}' ({error.strerror}){end}")


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
