"""On-disk cache of expensive per-text answers, such as those of a language model.

One SQLite file in the cache folder holds the answers of one identity (a model with its options).
Several processes may read and write it at once. A kill loses only answers that were not added yet.
Knows no method.
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
LOCK_TIMEOUT = 60.0  # seconds that a process waits while another one writes
QUERY_KEYS = 500  # texts in one query: every build of SQLite allows at least 999


def default_folder() -> Path:
    """Return the folder of answer files, inside the cache folder."""
    return folders.cache() / "answers"


def files() -> list[Path]:
    """Return the answer files of the default folder, the least recently written first."""
    paths = default_folder().glob(f"*{SUFFIX}")
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path.name))


class AnswerCache:
    """Answers by text, kept on disk between runs.

    Parameters
    ----------
    name
        Name of the source of the answers, such as `anonymize`; the file's name begins with it.
    identity
        Everything that an answer depends on besides the text, as JSON-like values: the model's
        name and version, the prompt, the options. Caches with the same identity share answers.
    folder
        Folder of the file; by default `answers` in the cache folder.

    Examples
    --------
    >>> cache = AnswerCache("capitals", {"version": 1})  # doctest: +SKIP
    >>> cache.add({"a text": "A TEXT"})  # doctest: +SKIP
    >>> cache.get(["a text", "another text"])  # doctest: +SKIP
    {'a text': 'A TEXT'}
    """

    def __init__(self, name: str, identity: object, folder: Path | None = None) -> None:
        parent = folders.make(folder or default_folder())
        self.path = parent / f"{folders.safe_name(name)}-{digest(identity)}{SUFFIX}"

    def get(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the cached answers by text; a text without an answer is left out.

        Raises
        ------
        DiskError
            If the file cannot be read.
        """
        distinct = list(dict.fromkeys(texts))
        answers: dict[str, str] = {}
        with self._open() as database:
            for start in range(0, len(distinct), QUERY_KEYS):
                keys = distinct[start : start + QUERY_KEYS]
                marks = ",".join("?" * len(keys))
                query = f"SELECT text, answer FROM kept WHERE text IN ({marks})"  # noqa: S608  # only question marks
                answers.update(database.execute(query, keys))
        return answers

    def add(self, answers: Mapping[str, str]) -> None:
        """Add answers by text; they replace earlier answers to the same texts.

        Raises
        ------
        DiskError
            If the disk is full or the file cannot be written.
        """
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", answers.items())

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with (
                contextlib.closing(sqlite3.connect(self.path, timeout=LOCK_TIMEOUT)) as database,
                database,  # commits, or rolls back
            ):
                database.execute(
                    "CREATE TABLE IF NOT EXISTS kept (text TEXT PRIMARY KEY, answer TEXT NOT NULL)"
                )
                yield database
        except sqlite3.DatabaseError as error:
            raise DiskError(
                f"cannot use the answer cache '{self.path}' ({error}); "
                "if the file is damaged, delete it: the answers are then computed again"
            ) from None
