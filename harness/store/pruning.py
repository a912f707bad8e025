"""All stores of a folder: lists them, removes some, and merges small segments.

It may run while evaluations run: segments are deleted only after the merged segment is written, and
a process that has a deleted segment open can still read it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from harness.errors import DiskError
from harness.folders import Place
from harness.store.folder import Folder, folders_in, read_model_file
from harness.store.segment import Damaged, Foreign, Segment, rows_of
from harness.store.store import Info, KeyIndex, Store

_SMALL = 4096  # rows; segments with fewer rows are merged
_MERGED_BYTES = 64 << 20


@dataclass(frozen=True)
class Pruned:
    """What `prune` did.

    Parameters
    ----------
    removed
        The removed stores.
    leftovers
        Number of removed temporary files.
    merged
        Number of small segments that were merged.
    freed
        Number of bytes that were freed.
    """

    removed: tuple[Info, ...]
    leftovers: int
    merged: int
    freed: int


def stores(folder: Place) -> list[Info]:
    """Return the content of each store of a folder, the most recently used first."""
    infos = [store.info() for store in _stores(folder)]
    return sorted(infos, key=lambda info: info.last_used, reverse=True)


def store_of(info: Info) -> Store:
    """Return the store that `info` describes."""
    return Store(info.folder.parent, info.fingerprint)


def prune(
    folder: Place,
    *,
    names: Sequence[str] = (),
    unused_days: float | None = None,
    max_bytes: int | None = None,
) -> Pruned:
    """Remove stores; remove leftovers and merge small segments in the stores that remain.

    Parameters
    ----------
    folder
        Folder of the stores.
    names
        Patterns (`*`, `?`) of model names or fingerprints; stores that match are removed.
    unused_days
        Stores that were not used for more than this many days are removed.
    max_bytes
        The least recently used of the other stores are removed until their total size is at most
        this.

    Raises
    ------
    DiskError
        If something cannot be removed or written.
    """
    removed: list[Info] = []
    now, total = datetime.now(UTC), 0
    for info in stores(folder):
        own_names = (str(info.model.get("name", "")), info.fingerprint)
        remove = any(fnmatchcase(name, pattern) for name in own_names for pattern in names)
        age = (now - info.last_used).total_seconds() / 86_400
        remove = remove or (unused_days is not None and age > unused_days)
        remove = remove or (max_bytes is not None and total + info.bytes > max_bytes)
        total += 0 if remove else info.bytes
        removed += [info] if remove else []
    leftovers = merged = freed = 0
    try:
        for info in removed:
            store_of(info).files.delete()
            freed += info.bytes
        for store in _stores(folder):
            last_used = store.files.last_used()
            count, size = store.files.remove_leftovers()
            leftovers, freed = leftovers + count, freed + size
            merged += merge(store)
            store.files.touch(last_used)  # pruning does not count as use
    except OSError as error:
        raise DiskError(f"cannot prune '{error.filename or folder}' ({error.strerror})") from None
    return Pruned(tuple(removed), leftovers, merged, freed)


def merge(store: Store) -> int:
    """Merge the small segments of a store, and return how many were merged.

    Raises
    ------
    DiskError
        If the store cannot be written.
    """
    small: list[Segment] = []
    for name in store.files.names():
        with contextlib.suppress(FileNotFoundError, Damaged, Foreign):
            if rows_of(store.files.header(name)) < _SMALL:
                small.append(store.files.open(name, store.fingerprint))
    groups = [group for group in _groups(small) if len(group) > 1]
    for group in groups:
        index = KeyIndex(group)
        rows = index.gather(index.positions)
        store.files.write(store.fingerprint, index.keys, rows, packed=index.packed)
        store.files.send()
        store.files.remove([item.path.name for item in group])
    store.refresh()
    return sum(map(len, groups))


def _groups(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return neighbouring segments of one width in groups that fit into a merged segment."""
    groups: list[list[Segment]] = []
    width = room = 0
    for item in segments:
        room -= len(item.keys)
        if not groups or item.vectors.shape[1] != width or room < 0:
            width = item.vectors.shape[1]
            room = max(1, _MERGED_BYTES // (4 * width)) - len(item.keys)
            groups.append([])
        groups[-1].append(item)
    return groups


def _stores(folder: Place) -> list[Store]:
    stores = (_store(folder, files) for files in folders_in(folder))
    return [store for store in stores if store is not None]


def _store(folder: Place, files: Folder) -> Store | None:
    """Return the store in a folder; None if no file states its fingerprint."""
    for fingerprint in _fingerprints(files):
        with contextlib.suppress(UnicodeEncodeError):  # half of a character, so not a fingerprint
            store = Store(folder, fingerprint)
            if store.files.path == files.path:
                return store
    return None


def _fingerprints(files: Folder) -> Iterator[str]:
    stated = read_model_file(files).get("fingerprint")
    if isinstance(stated, str):
        yield stated
    for name in files.names():
        with contextlib.suppress(OSError, Damaged):
            yield files.header(name)[0].get("fingerprint", "")
