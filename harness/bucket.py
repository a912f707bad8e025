"""A folder in an object store, such as `s3://bucket/folder`, through fsspec.

Objects are immutable in effect: each is put whole under its name, and seen whole or not at all.
Nothing is appended to or renamed. The backend of the protocol repeats a request after a temporary
error. Messages never quote a server, since its answer could contain a key.
"""

from __future__ import annotations

import bz2
import contextlib
import functools
import gzip
import logging
import lzma
import os
import re
import tarfile
import tempfile
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from harness import folders, limits
from harness.digest import digest
from harness.errors import DiskError, HarnessError, Unavailable, UsageError
from harness.folders import Url

if TYPE_CHECKING:
    import requests


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
                system.put_file(str(path), f"{root}/{name}")  # no other name is equal

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


# Downloads of files whose hash is known: https only, of limited size, checked, never in parts.
#
# `pooch` writes a temporary file, checks its hash, tries once more, and gives it its name. Here are
# the rules that it lacks. Only https has an adapter, so a redirect cannot lead to another protocol.
# The length is limited while the answer streams. A file of an archive is read by its name; nothing
# is unpacked. A `Downloads` does not try an unreachable host again.


TIMEOUT = (4.0, 30.0)
"""Seconds to wait for a connection, and for the next bytes."""
BLOCK = 1 << 16
HUB = "hf://datasets/"
_BROKEN_ARCHIVE = (
    *(KeyError, EOFError, OSError, RuntimeError, NotImplementedError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, tarfile.TarError),
)


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
        Bytes at `url`, if known: then the limit.
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
    """Downloads files, and remembers unreachable hosts.

    It keeps archives in temporary files, so that several files of an archive take one download.
    """

    def __init__(self) -> None:
        self._unreachable: dict[str, Unavailable] = {}
        self._archives: dict[str, IO[bytes]] = {}

    def fetch(self, address: Address, path: Path) -> None:
        """Download a file to `path`, unless it exists; only a checked file appears there.

        Raises
        ------
        Unavailable
            If the host cannot be reached, or answers with anything but the file.
        DiskError
            If it cannot be written.
        """
        import pooch
        from requests import RequestException

        if address.host in self._unreachable:
            raise self._unreachable[address.host]
        pooch.get_logger().setLevel(logging.ERROR)
        folders.make(path.parent)
        try:
            with folders.temporary_beside(path, waits=True) as folder:
                if path.exists() and pooch.file_hash(str(path)) == address.sha256:
                    return
                files = pooch.create(
                    folder,
                    base_url="",
                    registry={path.name: f"sha256:{address.sha256}"},
                    urls={path.name: address.url},
                    retry_if_failed=1,
                )
                fetched = Path(files.fetch(path.name, downloader=self._downloader(address)))
                fetched.chmod(0o644)  # temporary files are private; others may read this one
                fetched.replace(path)
        except RequestException as error:
            raise Unavailable(f"'{address.url}' could not be fetched ({_reason(error)})") from None
        except ValueError as error:
            problem = str(error)
            if "hash" in problem:
                problem = f"its SHA-256 is not {address.sha256}"
            raise Unavailable(f"'{address.url}' is not the expected file: {problem}") from None
        except OSError as error:
            raise DiskError(f"cannot write '{path}' ({error.strerror or error})") from None

    def _downloader(self, address: Address) -> Callable[[str, Any, Any], None]:
        def download(_url: str, target: Any, _pooch: object) -> None:
            with Path(target).open("wb") as file:
                if address.member is not None or urlsplit(address.url).path.endswith(".gz"):
                    _unpack(self._archive(address), address, file)
                else:
                    self._get(address, file)

        return download

    def _archive(self, address: Address) -> IO[bytes]:
        """Return the archive at an address, downloaded once."""
        if address.url not in self._archives:
            archive: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as this object
            self._get(address, archive)
            self._archives[address.url] = archive
        kept = self._archives[address.url]
        kept.seek(0)
        return kept

    def _get(self, address: Address, file: IO[bytes]) -> None:
        from requests import ConnectionError as CannotConnect
        from requests import ReadTimeout

        url, headers = _on_hub(address.url) if address.url.startswith(HUB) else (address.url, {})
        try:
            response = self._session.get(url, headers=headers, stream=True, timeout=TIMEOUT)
        except (CannotConnect, ReadTimeout) as error:
            if isinstance(_download_cause(error), ConnectionResetError):
                raise  # the connection was open and broke: pooch tries again
            raise self._cannot_reach(address, _reason(error)) from None
        except ValueError as error:  # an address that is not https, here or in a redirect
            raise Unavailable(f"'{address.url}' could not be fetched ({error})") from None
        with response:
            _stream(response, address, file)

    @functools.cached_property
    def _session(self) -> requests.Session:
        """The HTTP session, which keeps connections open. It accepts https only."""
        from requests import Session

        session = Session()
        del session.adapters["http://"]
        session.max_redirects = 5
        return session

    def _cannot_reach(self, address: Address, reason: str) -> Unavailable:
        error = Unavailable(f"{address.host} cannot be reached: {reason}")
        self._unreachable[address.host] = error
        return error


def _on_hub(url: str) -> tuple[str, dict[str, str]]:
    """Return the https address of a file on the hub, and the headers with the user's token."""
    from huggingface_hub import get_token, hf_hub_url

    owner, name, path = url.removeprefix(HUB).split("/", 2)
    name, _, revision = name.partition("@")
    address = hf_hub_url(f"{owner}/{name}", path, repo_type="dataset", revision=revision or None)
    token = get_token()
    return address, {"Authorization": f"Bearer {token}"} if token else {}


def _stream(response: requests.Response, address: Address, file: IO[bytes]) -> None:
    """Write the body of an answer, up to the limit."""
    if response.status_code == 429 or response.status_code >= 500:
        response.raise_for_status()  # pooch tries again
    if response.status_code != 200:
        status = f"{response.status_code} {response.reason}"
        raise Unavailable(f"'{address.url}' could not be fetched ({status})")
    limit = address.size or limits.DOWNLOAD_BYTES
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and int(length) > limit:
        raise _too_large(address, limit)
    _write(response.iter_content(BLOCK), file, address, limit)


def _unpack(archive: IO[bytes], address: Address, file: IO[bytes]) -> None:
    """Write the file that an archive, or a `.gz`, contains."""
    member = address.member
    try:
        if member is None:
            with gzip.open(archive) as source:
                _copy(source, file, address)
        elif zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed, packed.open(member) as source:
                _copy(source, file, address)
        else:
            archive.seek(0)
            with tempfile.TemporaryFile() as plain:
                _decompress(archive, plain, address)
                with tarfile.open(fileobj=plain, mode="r:") as packed_tar:
                    _copy(_tar_member(packed_tar, member), file, address)
    except _BROKEN_ARCHIVE as error:
        problem = str(error).partition("\n")[0]  # messages of tarfile have several lines
        if isinstance(error, KeyError):
            problem = f"no file '{member}' in it"
        raise Unavailable(f"'{address.url}' is not the expected archive: {problem}") from None


def _decompress(archive: IO[bytes], plain: IO[bytes], address: Address) -> None:
    """Write a tar without its compression: a small one may unpack to more than a disk holds."""
    magic = archive.read(6)
    archive.seek(0)
    source: IO[bytes] = archive
    if magic.startswith(b"\x1f\x8b"):
        source = cast("IO[bytes]", gzip.open(archive))  # noqa: SIM115  # the caller closes `archive`
    elif magic.startswith(b"BZh"):
        source = cast("IO[bytes]", bz2.open(archive))  # noqa: SIM115  # as above
    elif magic.startswith(b"\xfd7zXZ"):
        source = cast("IO[bytes]", lzma.open(archive))  # noqa: SIM115  # as above
    _write(iter(lambda: source.read(BLOCK), b""), plain, address, limits.ARCHIVE_BYTES)
    plain.seek(0)


def _tar_member(archive: tarfile.TarFile, member: str) -> IO[bytes]:
    source = archive.extractfile(member)
    if source is None:
        raise KeyError(member)
    return source


def _copy(source: IO[bytes] | gzip.GzipFile, target: IO[bytes], address: Address) -> None:
    """Copy an open file, up to the limit."""
    _write(iter(lambda: source.read(BLOCK), b""), target, address, limits.DOWNLOAD_BYTES)


def _write(blocks: Iterable[bytes], file: IO[bytes], address: Address, limit: int) -> None:
    n_bytes = 0
    for block in blocks:
        n_bytes += len(block)
        if n_bytes > limit:
            raise _too_large(address, limit)
        file.write(block)


def _too_large(address: Address, limit: int) -> Unavailable:
    return Unavailable(f"'{address.url}' is refused: it is larger than {limit:,} bytes")


def _download_cause(error: BaseException) -> BaseException:
    """Return the innermost cause of an error of requests."""
    parts = [getattr(error, "reason", None), *error.args]
    inner = next((part for part in parts if isinstance(part, BaseException)), None)
    return error if inner is None else _download_cause(inner)


def _reason(error: BaseException) -> str:
    """Return the cause of an error of requests, without reprs of Python objects."""
    cause = _download_cause(error)
    return re.sub(r"^(<.*?>|\w+\(.*?\)): ", "", str(cause)) or type(cause).__name__
