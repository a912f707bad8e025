"""What a store contains, and what was found by verifying it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.folders import Place
from harness.store import header, model_file, segment
from harness.store.folder import Folder


@dataclass(frozen=True)
class Checked:
    """The result of verifying one segment.

    Parameters
    ----------
    name
        Name of the file.
    rows
        Number of vectors, 0 if unknown.
    problem
        Why the segment is damaged (then it was set aside) or cannot be read; empty if it is valid.
    """

    name: str
    rows: int
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the segment is valid."""
        return not self.problem


@dataclass(frozen=True)
class Info:
    """The content of a store.

    Parameters
    ----------
    folder
        Folder of the store.
    fingerprint
        Fingerprint of the embedder.
    model
        Facts about the model, as `describe` wrote them.
    segments, rows, bytes
        Number of segments, of vectors, and of bytes on disk.
    last_used
        Time of the last reading or writing, in UTC.
    leftovers
        Number of damaged segments and temporary files.
    """

    folder: Place
    fingerprint: str
    model: Mapping[str, Any]
    segments: int
    rows: int
    bytes: int
    last_used: datetime
    leftovers: int


def info_of(files: Folder, folder: Place, fingerprint: str) -> Info:
    """Return what a store contains, without reading vectors."""
    rows = size = 0
    names = files.names()
    files.prepare(names)
    for name in names:
        with contextlib.suppress(segment.Damaged, segment.Foreign, OSError):
            size += files.size(name)
            rows += header.layout_of(files.header(name)).n
    return Info(
        folder=folder,
        fingerprint=fingerprint,
        model=model_file.read(files),
        segments=len(names),
        rows=rows,
        bytes=size,
        last_used=files.last_used(),
        leftovers=len(files.leftovers()),
    )
