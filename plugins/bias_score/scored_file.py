"""The file of scores: written beside its name, renamed when whole, continued after a break.

While it grows it is `OUT.part`, with `OUT.part.json` beside it, which says what it is scores of.
Only rows are kept that were written to their end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from harness import folders
from harness.errors import DiskError, InvalidOption


class ScoredFile:
    """A JSON-lines file that appears when it is whole.

    Parameters
    ----------
    path
        The file.
    identity
        What decides a row: model, options and corpus. What is there is continued only if it was
        begun under the same.
    overwrite
        Whether a file that is there may be replaced.
    resume
        Whether to go on with what was begun. If nothing was, it is begun.

    Raises
    ------
    InvalidOption
        If the file is there already, or what was begun was begun with something else.
    DiskError
        If the folder cannot be written to.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], *, overwrite: bool, resume: bool
    ) -> None:
        self.path = path
        self._part = path.with_name(f"{path.name}.part")
        self._about = path.with_name(f"{path.name}.part.json")
        self._file: IO[bytes] | None = None
        folders.make(path.parent)
        if path.exists() and not overwrite:
            raise InvalidOption(f"'{path}' is there already: --overwrite replaces it")
        wanted = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        begun = self._part.exists() and self._about.exists()
        if resume and begun:
            if self._about.read_text("utf-8") != wanted:
                raise InvalidOption(
                    f"'{self._part}' was begun with another model, corpus or options: "
                    "continue with those, or begin anew without --resume"
                )
            self._cut_broken_row()
        else:
            folders.write_atomically(self._about, wanted.encode())
            self._part.write_bytes(b"")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that are there already."""
        with self._part.open("rb") as file:
            for line in file:
                yield json.loads(line)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Append rows.

        Raises
        ------
        DiskError
            If they cannot be written.
        """
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        try:
            if self._file is None:
                self._file = self._part.open("ab")
            self._file.write("".join(lines).encode("utf-8"))
            self._file.flush()
        except OSError as error:
            raise DiskError(f"cannot write '{self._part}' ({error.strerror})") from None

    def finish(self) -> None:
        """Give the file its name."""
        try:
            with self._part.open("ab") as file:
                os.fsync(file.fileno())
            if self._file is not None:
                self._file.close()
                self._file = None
            self._part.replace(self.path)
            self._about.unlink(missing_ok=True)
        except OSError as error:
            raise DiskError(f"cannot write '{self.path}' ({error.strerror})") from None

    def close(self) -> None:
        """Let go of the file; what is written stays, to be continued."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._part.exists() and not self._part.stat().st_size:
            self._part.unlink()
            self._about.unlink(missing_ok=True)

    def _cut_broken_row(self) -> None:
        """Take off what is behind the last newline: a row that was broken off."""
        with self._part.open("rb+") as file:
            end = 0
            for line in file:
                if line.endswith(b"\n"):
                    end += len(line)
            file.truncate(end)
