"""The file of scores: written under a temporary name, renamed when complete.

Until it is complete it is called `OUT.part`. Beside it, `OUT.part.json` names the model, the
options and the corpus, so that an interrupted run can be continued. An incomplete last row is
dropped.
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


class ScoredFile:
    """A JSON-lines file that appears when it is complete.

    Parameters
    ----------
    path
        The file.
    identity
        Everything that determines a row: model, options and corpus. A partial file is continued
        only if its identity is the same.
    overwrite
        Whether to replace an existing file.
    resume
        Whether to continue a partial file, if there is one.

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
        self._part = path.with_name(f"{path.name}.part")
        self._about = path.with_name(f"{path.name}.part.json")
        self._file: IO[str] | None = None
        folders.make(path.parent)
        if path.exists() and not overwrite:
            raise InvalidOption(f"'{path}' exists already; --overwrite replaces it")
        identity_json = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        interrupted = self._part.exists() and self._about.exists()
        if resume and interrupted:
            if self._about.read_text("utf-8") != identity_json:
                raise InvalidOption(
                    f"'{self._part}' has scores of another model, corpus or options; "
                    "repeat those to continue, or start again without --resume"
                )
            self._drop_incomplete_row()
        else:
            folders.write_atomically(self._about, identity_json.encode())
            self._part.write_bytes(b"")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the partial file."""
        with jsonlines.open(self._part, loads=json.loads) as reader:
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
                self._file = self._part.open("a", encoding="utf-8", newline="\n")
            jsonlines.Writer(self._file).write_all(rows)
            self._file.flush()
        except OSError as error:
            raise DiskError(f"cannot write '{self._part}' ({error.strerror})") from None

    def finish(self) -> None:
        """Rename the partial file to its final name.

        Raises
        ------
        DiskError
            If it cannot be renamed.
        """
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
        """Close the file. The rows stay in the partial file, so that a run can continue it."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._part.exists() and not self._part.stat().st_size:
            self._part.unlink()
            self._about.unlink(missing_ok=True)

    def _drop_incomplete_row(self) -> None:
        """Drop what follows the last newline: a row whose writing was interrupted."""
        with self._part.open("rb+") as file:
            end = 0
            for line in file:
                if line.endswith(b"\n"):
                    end += len(line)
            file.truncate(end)
