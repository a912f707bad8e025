"""The embeddings of one embedder on disk: what was encoded once is not encoded again.

A store is a folder of immutable segments (`segment.py`). There is no lock: several processes and
machines may write at once, each its own segments; a text in two of them has one vector up to
rounding, and the first is used. A kill loses at most the rows not yet flushed. What lies in many
stores together, and pruning, is the subject of `harness.store.pruning`.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from harness import folders
from harness.arrays import Vectors
from harness.digest import digest
from harness.store import segment
from harness.store.key_index import KeyIndex, keys_of
from harness.store.segment import Segment
from harness.store.writer import Writer

MODEL_FILE = "model.json"
"""Beside the segments: says of which model they are."""
DAMAGED = ".damaged"
LEFTOVERS = (DAMAGED, segment.TEMPORARY)
"""Suffixes of what `harness cache prune` removes."""


@dataclass(frozen=True)
class Checked:
    """What `verify` found of one segment.

    Parameters
    ----------
    name
        Its file.
    rows
        Number of vectors, 0 if that cannot be told.
    problem
        Why it is not whole (then it was set aside) or cannot be read; empty if it is whole.
    """

    name: str
    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the segment is whole."""
        return not self.problem


@dataclass(frozen=True)
class Info:
    """What a store holds.

    Parameters
    ----------
    folder, fingerprint
        Where it lies and whose it is.
    model
        What `describe` wrote.
    segments, rows, bytes
        How many segments, vectors in them, and bytes on disk.
    last_used
        When it was last read or written, in UTC.
    leftovers
        Damaged segments, and temporary files that a kill left or that are being written.
    """

    folder: Path
    fingerprint: str
    model: Mapping[str, Any]
    segments: int
    rows: int
    bytes: int
    last_used: datetime
    leftovers: int


class Store:
    """Vectors of one embedder by text.

    Parameters
    ----------
    folder
        Folder of all stores.
    fingerprint
        The embedder's fingerprint; stores of different fingerprints share nothing.

    Attributes
    ----------
    notices
        One line for each segment that is not used, for the caller to print.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        # The digest keeps apart what safe_name or a case-blind file system would join.
        self.folder = folder / f"{folders.safe_name(fingerprint)[:80]}-{digest(fingerprint)[:12]}"
        self.notices: list[str] = []
        self._segments: dict[str, Segment] = {}
        self._ignored: set[str] = set()
        self._index = KeyIndex.of(())
        self._stale = True
        self._touched = False

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts without a vector, in the order first seen."""
        distinct = list(dict.fromkeys(texts))
        found = self._current().find(keys_of(distinct))
        return [distinct[i] for i in np.flatnonzero(found < 0)]

    def get(self, texts: Sequence[str]) -> Vectors:
        """Return the (n, d) vectors of `texts`, in their order; a text may stand there twice.

        Raises
        ------
        KeyError
            If some have none; the message says how many.
        """
        index = self._current()
        found = index.find(keys_of(texts))
        lacking = int((found < 0).sum())
        if lacking:
            raise KeyError(f"{lacking} of {len(texts)} texts have no vector in '{self.folder}'")
        return index.gather(found)

    def refresh(self) -> None:
        """See the segments that others wrote since the last look."""
        self._stale = True

    def writer(self, rows: int = 8192, seconds: float = 30) -> Writer:
        """Return a writer that makes a segment every `rows` texts or `seconds`."""
        return Writer(
            self.folder, self.fingerprint, rows=rows, seconds=seconds, on_flush=self.refresh
        )

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write facts on the model (its name at least) beside the segments, for people."""
        content = {"fingerprint": self.fingerprint, **info}
        path = self.folder / MODEL_FILE
        text = json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n"
        with contextlib.suppress(OSError):
            if path.read_text(encoding="utf-8") == text:
                return
        folders.write_atomically(path, text.encode())

    def verify(self) -> list[Checked]:
        """Read every segment, compare it with its checksum, and set damaged ones aside."""
        report = []
        for path in segment_files(self.folder):
            rows = 0
            try:
                opened = segment.read(path, self.fingerprint)
                rows = len(opened.keys)
                segment.check(opened)
                report.append(Checked(path.name, rows))
            except FileNotFoundError:
                continue  # merged into another one meanwhile
            except segment.Damaged as error:
                self._set_aside(path, error)
                self._segments.pop(path.name, None)
                report.append(Checked(path.name, rows, str(error)))
            except (segment.Foreign, OSError) as error:
                report.append(Checked(path.name, rows, str(error)))
        self._stale = True
        return report

    def info(self) -> Info:
        """Return what the store holds, without reading vectors."""
        rows = size = leftovers = 0
        paths = segment_files(self.folder)
        for path in paths:
            with contextlib.suppress(segment.Damaged, OSError):
                size += path.stat().st_size
                rows += int(segment.read_header(path)[1]["vectors"]["shape"][0])
        with contextlib.suppress(OSError):
            leftovers = sum(p.suffix in LEFTOVERS for p in self.folder.iterdir())
        used = self.folder.stat().st_mtime if self.folder.is_dir() else 0
        return Info(
            folder=self.folder,
            fingerprint=self.fingerprint,
            model=_model(self.folder),
            segments=len(paths),
            rows=rows,
            bytes=size,
            last_used=datetime.fromtimestamp(used, UTC),
            leftovers=leftovers,
        )

    def _current(self) -> KeyIndex:
        if not self._stale:
            return self._index
        for _ in range(5):  # a segment may vanish while `harness cache prune` merges
            paths = {path.name: path for path in segment_files(self.folder)}
            opened = {n: s for n, s in self._segments.items() if n in paths}
            try:
                for name in paths.keys() - opened.keys() - self._ignored:
                    found = self._open(paths[name])
                    if found is not None:
                        opened[name] = found
            except FileNotFoundError:
                continue
            break
        opened = self._of_one_width(opened)
        if opened.keys() != self._segments.keys():
            self._segments = opened
            self._index = KeyIndex.of([opened[name] for name in sorted(opened)])
        if not self._touched:
            self._touched = True
            with contextlib.suppress(OSError):  # a store that may only be read
                os.utime(self.folder)  # `last used`
        self._stale = False
        return self._index

    def _open(self, path: Path) -> Segment | None:
        try:
            return segment.read(path, self.fingerprint)
        except FileNotFoundError:
            raise
        except segment.Damaged as error:
            self._set_aside(path, error)
        except segment.Foreign as error:
            self.notices.append(f"embeddings in '{path}' are not used: {error}")
        except OSError as error:  # says nothing of the segment: lack of memory, rights, network
            self.notices.append(
                f"embeddings in '{path}' are not used: they cannot be read now ({error.strerror})"
            )
        self._ignored.add(path.name)
        return None

    def _of_one_width(self, opened: dict[str, Segment]) -> dict[str, Segment]:
        kept: dict[str, Segment] = {}
        for name in sorted(opened):
            width = next(iter(kept.values())).vectors.shape[1] if kept else None
            if width is None or opened[name].vectors.shape[1] == width:
                kept[name] = opened[name]
            else:
                self._ignored.add(name)
                self._set_aside(
                    opened[name].path,
                    segment.Damaged(f"its vectors do not have the length {width} of the others"),
                )
        return kept

    def _set_aside(self, path: Path, why: Exception) -> None:
        with contextlib.suppress(OSError):  # a store that may only be read, or another was faster
            path.rename(path.with_name(path.name + DAMAGED))
        self.notices.append(
            f"a damaged segment of embeddings was set aside, its texts are encoded again: "
            f"'{path}': {why}"
        )


def segment_files(folder: Path) -> list[Path]:
    """Return the segments of a store's folder, the oldest first; none if it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(p for p in folder.iterdir() if p.name.endswith(segment.SUFFIX))
    return []


def _model(folder: Path) -> Mapping[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
    return {}
