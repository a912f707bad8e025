"""A folder in an object store, such as `s3://bucket/folder`, through fsspec.

Objects are immutable in effect: each is put whole under its name, and seen whole or not at all.
Nothing is appended to or renamed. Passing errors are tried again by the backend of the protocol.
No message has text of a server in it, since that could echo a key.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness import folders
from harness.digest import digest
from harness.errors import DiskError, HarnessError, UsageError
from harness.folders import Url

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}  # by protocol
_VERSIONS = [
    "ETag",
    "etag",
    "md5Hash",
    "LastModified",
    "last_modified",
    "updated",
    "mtime",
    "created",
]
_AT_ONCE = 8  # requests
_REFUSED = {
    "FileNotFoundError": "there is no such bucket",
    "NoCredentialsError": "there are no credentials",
    "PartialCredentialsError": "the credentials are incomplete",
    "PermissionError": "permission denied",
}

T = TypeVar("T")


class Unreachable(DiskError):
    """A bucket does not answer now, or it fails; another attempt may succeed."""


@dataclass(frozen=True)
class Entry:
    """One object of a folder.

    Parameters
    ----------
    size
        Number of bytes.
    version
        Changes whenever the content does.
    """

    size: int
    version: str


class Bucket:
    """A folder in an object store. Names are paths relative to it.

    Every method raises DiskError if the bucket refuses a request, Unreachable if it does not
    answer, and UsageError if its protocol is unknown or needs a package that is not installed.

    Parameters
    ----------
    url
        Its address.
    """

    def __init__(self, url: Url) -> None:
        self.url = url

    def entries(self) -> dict[str, Entry]:
        """Return what is in the folder, at any depth, by name."""
        with self._errors("list"):
            system, root = self._system()
            system.invalidate_cache()
            infos = system.find(root, detail=True)
        start = f"{root}/"
        return {
            path[len(start) :]: Entry(int(info["size"] or 0), _version(info))
            for path, info in infos.items()
            if path.startswith(start)
        }

    def folders(self) -> list[str]:
        """Return the names of the folders in the folder, sorted."""
        with self._errors("list"):
            system, root = self._system()
            system.invalidate_cache()
            try:
                infos = system.ls(root, detail=True)
            except FileNotFoundError:
                system.find(root)  # raises if there is no bucket, but not if the folder is empty
                infos = []
        paths = [info["name"].rstrip("/") for info in infos if info["type"] == "directory"]
        return sorted(path.rpartition("/")[2] for path in paths)

    def read(self, name: str) -> bytes | None:
        """Return the content of an object; None if there is none of this name."""
        with self._errors("read"):
            system, root = self._system()
            try:
                content: bytes = system.cat_file(f"{root}/{name}")
            except FileNotFoundError:
                return None
            return content

    def read_parts(self, parts: Sequence[tuple[str, int, int]]) -> list[bytes | None]:
        """Return the bytes from start to stop of objects, (name, start, stop); None if missing."""
        if not parts:
            return []
        names, starts, stops = map(list, zip(*parts, strict=True))
        with self._errors("read"):
            system, root = self._system()
            paths = [f"{root}/{name}" for name in names]
            contents = system.cat_ranges(paths, starts, stops, on_error="return")
            for content in contents:
                if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
        return [content if isinstance(content, bytes) else None for content in contents]

    def fetch(self, names: Iterable[str], folder: Path) -> list[str]:
        """Copy objects into a folder, atomically; return the names that do not exist."""
        with self._errors(f"copy to '{folder}' from"):
            system, root = self._system()

            def fetch(name: str) -> str | None:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
                try:
                    system.get_file(f"{root}/{name}", str(temporary))
                    with temporary.open("rb+") as file:
                        os.fsync(file.fileno())  # a power failure leaves no empty pages
                    temporary.replace(path)
                except FileNotFoundError:
                    return name
                finally:
                    temporary.unlink(missing_ok=True)
                return None

            return [name for name in _at_once(fetch, names) if name is not None]

    def put(self, path: Path, name: str) -> None:
        """Put a file under a name; what has this name is replaced."""
        with self._errors("write to"):
            system, root = self._system()
            system.put_file(str(path), f"{root}/{name}")

    def create(self, path: Path, name: str) -> None:
        """Put a file under a name; if there is an object of this name, it stays."""
        with self._errors("write to"):
            system, root = self._system()
            try:
                system.put_file(str(path), f"{root}/{name}", mode="create")
            except FileExistsError:
                return
            except Exception as error:
                if not _is_unknown(error):
                    raise
                system.put_file(str(path), f"{root}/{name}")  # names hold a random number

    def write(self, name: str, content: bytes) -> None:
        """Write an object; what has this name is replaced."""
        with self._errors("write to"):
            system, root = self._system()
            system.pipe_file(f"{root}/{name}", content)

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects, if they are there."""
        with self._errors("remove from"):
            system, root = self._system()

            def remove(name: str) -> None:
                with contextlib.suppress(FileNotFoundError):
                    system.rm_file(f"{root}/{name}")

            _at_once(remove, names)

    def _system(self) -> tuple[Any, str]:
        """Return the file system, which fsspec keeps for each process, and the folder's path."""
        import fsspec

        try:
            system, root = fsspec.core.url_to_fs(self.url.text)
        except ImportError:
            protocol = self.url.text.partition("://")[0]
            extra = _EXTRAS.get(protocol)
            how = f"pip install 'embedding-bias-harness[{extra}]'" if extra else "see fsspec"
            raise UsageError(f"'{self.url}' needs a package that is not installed: {how}") from None
        except ValueError:
            raise UsageError(
                f"'{self.url}': unknown protocol; addresses begin with s3://, gs:// or another "
                "protocol of fsspec"
            ) from None
        return system, root.rstrip("/")

    @contextlib.contextmanager
    def _errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:  # each backend has its own exceptions
            reason = _REFUSED.get(type(error).__name__)
            if reason is None and isinstance(error, PermissionError):
                reason = _REFUSED["PermissionError"]
            if reason is not None:
                raise DiskError(f"cannot {action} '{self.url}' ({reason})") from None
            raise Unreachable(f"cannot {action} '{self.url}' ({_cause(error)})") from None


def mirror(url: Url) -> Path:
    """Return the folder of this machine where copies of a bucket's objects are kept."""
    name = f"{folders.safe_name(str(url))[-60:]}-{digest(url.text)[:12]}"
    return folders.cache() / "mirrors" / name


def _at_once(function: Callable[..., T], items: Iterable[Any]) -> list[T]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(function, items))


def _version(info: dict[str, Any]) -> str:
    return digest([info["size"], *(str(info[key]) for key in _VERSIONS if key in info)])


def _is_unknown(error: Exception) -> bool:
    """Return whether a server does not know the request, as some do not know conditions."""
    response = getattr(error.__cause__, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return isinstance(error, NotImplementedError) or code == "NotImplemented"


def _cause(error: Exception) -> str:
    """Return the kind of an error, without text of a server."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    is_network = isinstance(error, ConnectionError | TimeoutError)
    if is_network or any(part in type(error).__name__ for part in ("Connect", "Timeout")):
        return "it cannot be reached"
    return type(error).__name__
