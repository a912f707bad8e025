"""A JSON-lines file that takes long: written under a temporary name, renamed when complete.

Until it is complete it is called `OUT.part`. Beside it, `OUT.part.json` names what determines its
rows, so that an interrupted run can be continued; an incomplete last row is dropped. Of a complete
file, `OUT.about.json` says how it was made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import jsonlines

from harness import folders
from harness.errors import DiskError, InvalidOption


class ResumableFile:
    """A JSON-lines file that appears when it is complete.

    Parameters
    ----------
    path
        The file.
    identity
        Everything that determines a row, such as model, options and corpus. A partial file is
        continued only if its identity is the same.
    overwrite
        Whether to replace an existing file.
    resume
        Whether to continue a partial file, if there is one.

    Attributes
    ----------
    part
        The partial file.

    Raises
    ------
    InvalidOption
        If the file exists already, or the partial file has another identity.
    DiskError
        If the folder cannot be written to.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], *, overwrite: bool, resume: bool
    ) -> None:
        self.path = path
        self.part, self._identity = _partial(path)
        self._file: IO[str] | None = None
        folders.make(path.parent)
        if path.exists() and not overwrite:
            raise InvalidOption(f"'{path}' exists already; --overwrite replaces it")
        if resume and self.part.exists() and self._identity.exists():
            if not can_continue(path, identity):
                raise InvalidOption(
                    f"'{self.part}' is of another model, corpus or options; repeat those to "
                    "continue, or start again without --resume"
                )
            self._drop_incomplete_row()
        else:
            folders.write_atomically(self._identity, _identity_json(identity))
            self.part.write_bytes(b"")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the partial file."""
        with jsonlines.open(self.part, loads=json.loads) as reader:
            yield from reader.iter(type=dict)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Append rows.

        Raises
        ------
        DiskError
            If they cannot be written.
        """
        try:
            if self._file is None:
                self._file = self.part.open("a", encoding="utf-8", newline="\n")
            jsonlines.Writer(self._file).write_all(rows)
            self._file.flush()
        except OSError as error:
            raise DiskError(f"cannot write '{self.part}' ({error.strerror})") from None

    def finish(self, about: Mapping[str, Any]) -> None:
        """Rename the partial file to its final name, and write beside it how it was made.

        Raises
        ------
        DiskError
            If it cannot be renamed.
        """
        try:
            with self.part.open("ab") as file:
                os.fsync(file.fileno())
            if self._file is not None:
                self._file.close()
                self._file = None
            folders.write_json(about_path(self.path), about)
            self.part.replace(self.path)
            self._identity.unlink(missing_ok=True)
        except OSError as error:
            raise DiskError(f"cannot write '{self.path}' ({error.strerror})") from None

    def close(self) -> None:
        """Close the file. The rows stay in the partial file, so that a run can continue it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self.part.exists() and not self.part.stat().st_size:
            self.part.unlink()
            self._identity.unlink(missing_ok=True)

    def _drop_incomplete_row(self) -> None:
        """Drop what follows the last newline: a row whose writing was interrupted."""
        with self.part.open("rb+") as file:
            end = 0
            for line in file:
                if line.endswith(b"\n"):
                    end += len(line)
            file.truncate(end)


def can_continue(path: Path, identity: Mapping[str, Any]) -> bool:
    """Return whether an interrupted run left a partial file with this identity."""
    part, about = _partial(path)
    return part.exists() and about.exists() and about.read_bytes() == _identity_json(identity)


def about_path(path: Path) -> Path:
    """Return the file that says how a complete file was made."""
    return path.with_name(f"{path.name}.about.json")


def read_about(path: Path) -> dict[str, Any]:
    """Return how a complete file was made; an empty mapping if it is unknown."""
    try:
        about = json.loads(about_path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _partial(path: Path) -> tuple[Path, Path]:
    """Return the partial file, and the file of its identity."""
    return path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.json")


def _identity_json(identity: Mapping[str, Any]) -> bytes:
    return json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
