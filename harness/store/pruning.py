"""All the stores of a folder: lists them, removes what is not needed, merges small segments.

Safe beside running evaluations of the same machine: segments are removed only after the one that
they were merged into is there, and who has them open goes on reading them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from harness.errors import DiskError
from harness.store import segment
from harness.store.segment import Segment
from harness.store.store import DAMAGED, LEFTOVERS, MODEL_FILE, Info, Store, segment_files

_STILL_WRITTEN = 3600  # seconds; a younger temporary file may be another process's
_SMALL = 4096  # rows; a segment with fewer is merged
_MERGED_BYTES = 64 << 20


@dataclass(frozen=True)
class Pruned:
    """What `prune` did.

    Parameters
    ----------
    removed
        Stores that were removed.
    leftovers
        Temporary and damaged files that were removed.
    merged
        Small segments that were merged.
    freed
        Bytes.
    """

    removed: tuple[Info, ...]
    leftovers: int
    merged: int
    freed: int


def stores(folder: Path) -> list[Info]:
    """Return what each store of a folder holds, the last used first."""
    found = [store.info() for store in _stores(folder)]
    return sorted(found, key=lambda info: info.last_used, reverse=True)


def store_of(info: Info) -> Store:
    """Return the store that `stores` lists, to verify it for instance."""
    return Store(info.folder.parent, info.fingerprint)


def prune(
    folder: Path,
    *,
    names: Sequence[str] = (),
    unused_days: float | None = None,
    max_bytes: int | None = None,
) -> Pruned:
    """Remove stores that are not needed; tidy up those that stay.

    Parameters
    ----------
    folder
        Folder of the stores.
    names
        Patterns (`*`, `?`) of model names or fingerprints: what matches is removed.
    unused_days
        What was not used for so many days is removed.
    max_bytes
        Of the rest, what was not used for longest is removed until so much is left.

    Raises
    ------
    DiskError
        If something cannot be removed or written.
    """
    removed: list[Info] = []
    kept: list[Info] = []
    now, total = datetime.now(UTC), 0
    for info in stores(folder):
        known_as = (str(info.model.get("name", "")), info.fingerprint)
        unwanted = any(fnmatchcase(name, pattern) for name in known_as for pattern in names)
        age = (now - info.last_used).total_seconds() / 86_400
        unwanted = unwanted or (unused_days is not None and age > unused_days)
        unwanted = unwanted or (max_bytes is not None and total + info.bytes > max_bytes)
        total += 0 if unwanted else info.bytes
        (removed if unwanted else kept).append(info)
    leftovers = merged = freed = 0
    try:
        for info in removed:
            shutil.rmtree(info.folder)
            freed += info.bytes
        for info in kept:
            for path in info.folder.iterdir():
                if _is_left_over(path):
                    freed += path.stat().st_size
                    path.unlink(missing_ok=True)
                    leftovers += 1
            merged += merge(store_of(info))
            os.utime(info.folder, times=(info.last_used.timestamp(),) * 2)  # tidying is no use
    except OSError as error:
        raise DiskError(f"cannot prune '{error.filename or folder}' ({error.strerror})") from None
    return Pruned(tuple(removed), leftovers, merged, freed)


def merge(store: Store) -> int:
    """Write small segments of a store together; return how many there were.

    Raises
    ------
    DiskError
        If the store cannot be written.
    """
    small: list[Segment] = []
    for path in segment_files(store.folder):
        with contextlib.suppress(FileNotFoundError, segment.Damaged, segment.Foreign):
            opened = segment.read(path, store.fingerprint)
            if len(opened.keys) < _SMALL:
                segment.check(opened)  # a flipped bit must not get a new checksum
                small.append(opened)
    count = 0
    while small:
        width = small[0].vectors.shape[1]
        room = max(1, _MERGED_BYTES // (4 * width))
        group: list[Segment] = []
        while small and small[0].vectors.shape[1] == width:
            room -= len(small[0].keys)
            if room < 0 and group:
                break
            group.append(small.pop(0))
        if len(group) > 1:
            keys = np.concatenate([each.keys for each in group])
            order = np.lexsort((keys[:, 1], keys[:, 0]))
            new = np.ones(len(keys), dtype=bool)
            new[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
            order = order[new]
            vectors = np.concatenate([each.vectors for each in group])
            segment.write(store.folder, store.fingerprint, keys[order], vectors[order])
            for each in group:
                each.path.unlink(missing_ok=True)
            count += len(group)
    store.refresh()
    return count


def _stores(folder: Path) -> list[Store]:
    found = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        fingerprint = _fingerprint(place) if place.is_dir() else None
        if fingerprint is not None:
            store = Store(folder, fingerprint)
            if store.folder == place:
                found.append(store)
    return found


def _fingerprint(place: Path) -> str | None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((place / MODEL_FILE).read_text(encoding="utf-8"))["fingerprint"])
    for path in segment_files(place):
        with contextlib.suppress(OSError, segment.Damaged):
            return segment.read_header(path)[0].get("fingerprint")
    return None


def _is_left_over(path: Path) -> bool:
    if path.suffix not in LEFTOVERS:
        return False
    return path.suffix == DAMAGED or time.time() - path.stat().st_mtime > _STILL_WRITTEN
