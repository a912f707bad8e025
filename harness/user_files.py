"""Files that people name: regular ones of limited size, and whether they lie inside a folder.

A named pipe would wait for ever, and a device such as `/dev/zero` has no end. A name in a file of
somebody else must not lead out of a folder, also not through a link.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from harness import limits
from harness.errors import InvalidFile, unreadable

_NO_FILE = "is no regular file, but a pipe or device"
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def read(path: Path, largest: int) -> bytes:
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
    except ValueError as error:  # a name that no file can have
        raise InvalidFile(f"cannot be read ({error})", path=path) from None
    if len(content) > largest:
        raise InvalidFile(f"a file of {limits.too_many(size, largest)}", path=path)
    return content


def text(path: Path, largest: int) -> str:
    """Return the UTF-8 text of a regular file of at most `largest` bytes.

    Raises
    ------
    InvalidFile
        If it is no UTF-8 text, or cannot be read as `read` says.
    """
    try:
        return read(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"is not UTF-8 text (byte {error.start})", path=path) from None


def typed(text: str) -> Path:
    """Return the path that a user typed, with `~` for a home; that of an unknown user stays."""
    try:
        return Path(text).expanduser()
    except (RuntimeError, ValueError):
        return Path(text)


def is_file(path: Path) -> bool:
    """Return whether there is a regular file; False for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than 255 bytes, or in a folder that cannot be read
        return False


def check(path: Path) -> None:
    """Raise InvalidFile if there is nothing, or neither a regular file nor a folder."""
    if not exists(path):
        raise unreadable(path)
    if not is_file(path) and not is_folder(path):
        raise InvalidFile(_NO_FILE, path=path)


def is_folder(path: Path) -> bool:
    """Return whether there is a folder; False for a name that no folder can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Return whether there is anything; False for a name that nothing can have."""
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
