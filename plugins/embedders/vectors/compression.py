"""Compressed files of word vectors: gzip, bzip2 and xz, known by their first bytes and streamed.

A small file can expand without end. So memory is bounded by what a caller reads at a time, and a
file that expands more than any vectors do is refused.
"""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal, Protocol, TypeAlias, cast

from harness.errors import InvalidFile

Compression: TypeAlias = Literal["gzip", "bzip2", "xz"]

LARGEST_RATIO = 100
"""Most bytes for a byte of the compressed file. Numbers of vectors give about 2 to 4."""
UNCHECKED = 2**24
"""Bytes that are read before the ratio counts."""
XZ_MEMORY = 2**28  # `xz -9` needs 65 MB
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # after BZh and a digit: the first block, or the end
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)


class Readable(Protocol):
    """A binary file that is read from its beginning."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        ...

    def readline(self, size: int, /) -> bytes:
        """Return up to `size` bytes, of one line at most."""
        ...


def of(head: bytes) -> Compression | None:
    """Return how a file with this beginning is compressed; None if it is not."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    is_bzip2 = head[:3] == b"BZh" and head[3:4].isdigit() and head[4:10] in _BZIP2
    return "bzip2" if is_bzip2 else None


@contextlib.contextmanager
def opened(path: Path, compression: Compression | None) -> Iterator[Readable]:
    """Open a file for reading what it has uncompressed.

    Raises
    ------
    InvalidFile
        Also while it is read: if the compressed data are damaged or end early, or expand too much.
    """
    if compression is None:
        with path.open("rb") as file:
            yield file
        return
    try:
        with _stream(path, compression) as stream:
            yield _Bounded(stream, path)
    except _DAMAGED as error:
        raise _damaged(path, compression, error) from None
    except OSError as error:
        if error.errno is not None:  # of the file system
            raise
        raise _damaged(path, compression, error) from None
    except Exception as error:
        if type(error).__name__ != "LZMAError":  # lzma is missing in some builds of Python
            raise
        raise _damaged(path, compression, error) from None


class _Bounded:
    """A stream of uncompressed bytes that ends with an error if it expands too much."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._bytes = stream, path, 0
        self._most = max(UNCHECKED, LARGEST_RATIO * path.stat().st_size)

    def read(self, size: int, /) -> bytes:
        return self._counted(self._stream.read(size))

    def readline(self, size: int, /) -> bytes:
        return self._counted(self._stream.readline(size))

    def _counted(self, data: bytes) -> bytes:
        self._bytes += len(data)
        if self._bytes > self._most:
            raise InvalidFile(
                f"it expands more than {LARGEST_RATIO} times, which no word vectors do; unpack it "
                "and give the file with the vectors, if it is right",
                path=self._path,
            )
        return data


def _stream(path: Path, compression: Compression) -> IO[bytes]:
    try:
        if compression == "gzip":
            return cast("IO[bytes]", gzip.open(path))
        if compression == "bzip2":
            import bz2

            return bz2.open(path)
        import lzma
    except ImportError:
        raise InvalidFile(
            f"this Python cannot read {compression}; unpack the file", path=path
        ) from None
    with path.open("rb") as file:  # lzma.open has no limit of memory
        lzma.LZMADecompressor(memlimit=XZ_MEMORY).decompress(file.read(4096), max_length=1)
    return cast("IO[bytes]", lzma.open(path))


def _damaged(path: Path, compression: Compression, error: Exception) -> InvalidFile:
    return InvalidFile(
        f"the {compression} file is damaged or cut off ({str(error).rstrip('.')})", path=path
    )
