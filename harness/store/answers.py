"""Answers about texts that cost too much to ask for twice, such as a language model's; on disk.

One SQLite file for everything that shares a fingerprint, in the cache folder: several processes may
read and write it at once, and a kill loses at most what was not yet added. Knows no method.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness import folders
from harness.digest import digest
from harness.errors import DiskError

SUFFIX = ".sqlite"
PATIENCE = 60.0  # seconds that one process waits for another
AT_ONCE = 500  # keys in a question: SQLite takes 999 at the least


def default_folder() -> Path:
    """Return the folder of answers, in the cache folder."""
    return folders.cache() / "answers"


def files() -> list[Path]:
    """Return the files of answers that there are, the longest unused first."""
    found = default_folder().glob(f"*{SUFFIX}")
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))


class AnswerCache:
    """Answers by text.

    Parameters
    ----------
    what
        What gives the answers, such as `anonymize`: it begins the file's name.
    identity
        Everything that an answer depends on besides the text, as JSON-like values: the model's
        name and version, the prompt, the options. What shares it shares answers.
    folder
        Where the file lies; by default `answers` in the cache folder.
    """

    def __init__(self, what: str, identity: object, folder: Path | None = None) -> None:
        place = folders.make(folder or default_folder())
        self.path = place / f"{folders.safe_name(what)}-{digest(identity)}{SUFFIX}"

    def get(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the answers that are there, by text.

        Raises
        ------
        DiskError
            If the file cannot be read.
        """
        wanted = list(dict.fromkeys(texts))
        found: dict[str, str] = {}
        with self._open() as base:
            for start in range(0, len(wanted), AT_ONCE):
                part = wanted[start : start + AT_ONCE]
                marks = ",".join("?" * len(part))
                found.update(
                    base.execute(f"SELECT text, answer FROM kept WHERE text IN ({marks})", part)  # noqa: S608  # question marks alone
                )
        return found

    def add(self, answers: Mapping[str, str]) -> None:
        """Add answers; one that is there is replaced.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written.
        """
        with self._open() as base:
            base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", answers.items())

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with (
                contextlib.closing(sqlite3.connect(self.path, timeout=PATIENCE)) as base,
                base,  # commits, or rolls back
            ):
                base.execute(
                    "CREATE TABLE IF NOT EXISTS kept (text TEXT PRIMARY KEY, answer TEXT NOT NULL)"
                )
                yield base
        except sqlite3.DatabaseError as error:
            raise DiskError(
                f"cannot use '{self.path}' ({error}); if it is damaged, delete it: "
                "its answers are asked for anew"
            ) from None
