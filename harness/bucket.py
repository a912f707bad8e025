"""What is elsewhere: folders in an object store, by fsspec, and files of the web, by pooch.

Objects are immutable in effect: each is put whole under its name, and seen whole or not at all.
Nothing is appended to or renamed. The backend of the protocol repeats a request after a temporary
error. Messages never quote a server, since its answer could contain a key.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness import folders
from harness.digest import digest
from harness.errors import DiskError, HarnessError, Unavailable, UsageError
from harness.folders import Url

_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}  # by protocol
_AT_ONCE = 8  # requests
_REFUSED = {
    "FileNotFoundError": "there is no such bucket",
    "NoCredentialsError": "there are no credentials",
    "PartialCredentialsError": "the credentials are incomplete",
    "PermissionError": "permission denied",
}


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

    def read(self, name: str, most: int | None = None) -> bytes | None:
        """Return the content of an object, or its first bytes; None if there is none."""
        with self._errors("read"):
            system, root = self._system()
            try:
                content: bytes = system.cat_file(f"{root}/{name}", end=most)
            except FileNotFoundError:
                return None
            return content

    def fetch(self, names: Iterable[str], folder: Path) -> None:
        """Copy objects into a folder, atomically; FileNotFoundError if one does not exist."""
        with self._errors(f"copy to '{folder}' from", expected=FileNotFoundError):
            system, root = self._system()

            def fetch(name: str) -> None:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with folders.temporary_beside(path) as temporary:
                    system.get_file(f"{root}/{name}", str(temporary / "copy"))
                    (temporary / "copy").replace(path)

            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(fetch, names))

    def put(self, path: Path, name: str) -> None:
        """Put a file under a name; what has this name is replaced."""
        with self._errors("write to"):
            system, root = self._system()
            system.put_file(str(path), f"{root}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write an object; what has this name is replaced."""
        with self._errors("write to"):
            system, root = self._system()
            system.pipe_file(f"{root}/{name}", content)

    def modified(self, name: str) -> datetime | None:
        """Return when an object was written; None if there is none of this name."""
        with self._errors("read"):
            system, root = self._system()
            try:
                time: datetime = system.modified(f"{root}/{name}")
            except FileNotFoundError:
                return None
            return time.astimezone(UTC)

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects, if they are there."""
        with self._errors("remove from"):
            system, root = self._system()
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    system.rm_file(f"{root}/{name}")

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
    def _errors(self, action: str, expected: type[BaseException] = HarnessError) -> Iterator[None]:
        try:
            yield
        except (HarnessError, expected):
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


def _version(info: dict[str, Any]) -> str:
    times = ("ETag", "etag", "LastModified", "updated", "mtime", "created")
    return digest([info["size"], *(str(info[key]) for key in times if key in info)])


def _cause(error: Exception) -> str:
    """Return the kind of an error, without text of a server."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    is_network = isinstance(error, ConnectionError | TimeoutError)
    if is_network or any(part in type(error).__name__ for part in ("Connect", "Timeout")):
        return "it cannot be reached"
    return type(error).__name__


# Downloads of files whose hash is known.


TIMEOUT = (4.0, 30.0)
"""Seconds to wait for a connection, and for the next bytes."""
HUB = "hf://datasets/"
_BROKEN_ARCHIVE = (KeyError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, OSError)


@dataclass(frozen=True)
class Address:
    """Where a file is on the web.

    Parameters
    ----------
    url
        `https://…`, or `hf://datasets/owner/name@revision/path`. A `.gz` is decompressed.
    sha256
        SHA-256 of the file, after decompression.
    member
        Path of the file in the archive at `url`; None if that is no archive.
    size
        Bytes at `url`, if known.
    """

    url: str
    sha256: str
    member: str | None = None
    size: int | None = None

    @property
    def host(self) -> str:
        """The host, for messages and for the list of unreachable hosts."""
        return "huggingface.co" if self.url.startswith(HUB) else urlsplit(self.url).netloc


class Downloads:
    """Downloads files; does not try an unreachable host again.

    It keeps archives in a temporary folder, so that several files of one take one download.
    """

    def __init__(self) -> None:
        self._unreachable: dict[str, Unavailable] = {}

    def fetch(self, address: Address, path: Path) -> None:
        """Download a file to `path`; only a checked file appears there.

        Raises
        ------
        Unavailable
            If the host cannot be reached, or answers with anything but the file.
        DiskError
            If it cannot be written.
        """
        import pooch
        from requests import ConnectionError as CannotConnect
        from requests import RequestException, Timeout

        if address.host in self._unreachable:
            raise self._unreachable[address.host]
        try:
            file = self._downloaded(address)
        except (CannotConnect, Timeout) as error:
            unreachable = Unavailable(f"{address.host} cannot be reached: {_reason(error)}")
            self._unreachable[address.host] = unreachable
            raise unreachable from None
        except RequestException as error:
            raise Unavailable(f"'{address.url}' could not be fetched ({_reason(error)})") from None
        except OSError as error:
            raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None
        try:
            file = _unpacked(file, address)
        except _BROKEN_ARCHIVE as error:
            problem = str(error).partition("\n")[0]  # messages of tarfile have several lines
            raise Unavailable(f"'{address.url}' is not the expected archive: {problem}") from None
        if pooch.file_hash(str(file)) != address.sha256:
            raise Unavailable(
                f"'{address.url}' is not the expected file: its SHA-256 is not {address.sha256}"
            )
        with file.open("rb") as content:
            folders.write_atomically(path, iter(lambda: content.read(1 << 20), b""))

    def _downloaded(self, address: Address) -> Path:
        """Return the file at an address, downloaded once."""
        import pooch

        pooch.get_logger().setLevel(logging.ERROR)
        is_of_hub = address.url.startswith(HUB)
        url, headers = _on_hub(address.url) if is_of_hub else (address.url, {})
        name = digest(address.url)
        files = pooch.create(
            self._folder.name,
            base_url="",
            registry={name: None},
            urls={name: url},
            retry_if_failed=1,
        )
        downloader = pooch.HTTPDownloader(headers=headers, timeout=TIMEOUT)
        return Path(files.fetch(name, downloader=downloader))

    @functools.cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory()


def _unpacked(file: Path, address: Address) -> Path:
    """Return the file that an archive, or a `.gz`, contains; else the file itself."""
    import pooch

    if address.member is not None:
        archive = pooch.Unzip if zipfile.is_zipfile(file) else pooch.Untar
        folder = file.with_name(f"{file.name}.unpacked")
        archive(members=[address.member], extract_dir=folder.name)(str(file), "fetch", None)
        if not (folder / address.member).is_file():
            raise KeyError(f"no file '{address.member}' in it")
        return folder / address.member
    if urlsplit(address.url).path.endswith(".gz"):
        return Path(pooch.Decompress(method="gzip")(str(file), "fetch", None))
    return file


def _on_hub(url: str) -> tuple[str, dict[str, str]]:
    """Return the https address of a file on the hub, and the headers with the user's token."""
    from huggingface_hub import get_token, hf_hub_url

    owner, name, path = url.removeprefix(HUB).split("/", 2)
    name, _, revision = name.partition("@")
    address = hf_hub_url(f"{owner}/{name}", path, repo_type="dataset", revision=revision or None)
    token = get_token()
    return address, {"Authorization": f"Bearer {token}"} if token else {}


def _download_cause(error: BaseException) -> BaseException:
    """Return the innermost cause of an error of requests."""
    parts = [getattr(error, "reason", None), *error.args]
    inner = next((part for part in parts if isinstance(part, BaseException)), None)
    return error if inner is None else _download_cause(inner)


def _reason(error: BaseException) -> str:
    """Return the cause of an error of requests, without reprs of Python objects."""
    cause = _download_cause(error)
    return re.sub(r"^(<.*?>|\w+\(.*?\)): ", "", str(cause)) or type(cause).__name__
